//! Fields that a JSON body names more than once. The last one counts, and the user is warned.
//! Independent of kinds.

use std::collections::BTreeSet;
use std::fmt::{self, Formatter};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Returns the warnings about such fields and about unknown fields, in the order of the body.
/// Returns none for a body that is not JSON.
pub(crate) fn field_warnings(body: &[u8], unknown: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let seed = FieldSeed {
        path: String::new(),
        unknown,
        found: &mut found,
    };
    let read = seed.deserialize(&mut serde_json::Deserializer::from_slice(body));
    match read {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// Returns the warning about an unknown field.
pub(crate) fn unknown(path: &str) -> String {
    format!("unknown field \"{path}\"")
}

/// A value, and where it is.
struct FieldSeed<'a> {
    path: String,
    unknown: &'a [String],
    found: &'a mut Vec<String>,
}

impl FieldSeed<'_> {
    fn push_warning(&mut self, said: String) {
        if !self.found.contains(&said) {
            self.found.push(said);
        }
    }

    fn child(&mut self, path: String) -> FieldSeed<'_> {
        FieldSeed {
            path,
            unknown: self.unknown,
            found: self.found,
        }
    }
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = match self.path.as_str() {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            if self.unknown.contains(&path) {
                self.push_warning(unknown(&path));
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if !seen.insert(key) {
                self.push_warning(format!("duplicate field \"{path}\""));
            }
            map.next_value_seed(self.child(path))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let path = format!("{}[{index}]", self.path);
            if list.next_element_seed(self.child(path))?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_is_told_once_where_the_body_names_it_again() {
        let body = br#"{"a": 1, "b": [{"c": null, "c": {"d": 1.5, "d": true}}], "u": {"e": 1, "e": 2}, "a": "x", "a": 2}"#;
        let unknown = ["u".to_owned()];
        let expected = [
            r#"duplicate field "b[0].c""#,
            r#"duplicate field "b[0].c.d""#,
            r#"unknown field "u""#,
            r#"duplicate field "a""#,
        ];
        assert_eq!(super::field_warnings(body, &unknown), expected);
        assert!(super::field_warnings(b"{\"a\": 1, \"a\": 2", &[]).is_empty());
        assert!(super::field_warnings(b"[]", &[]).is_empty());
    }
}
