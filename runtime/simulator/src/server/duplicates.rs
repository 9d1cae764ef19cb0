//! Fields that a body of JSON names more than once: of each the last counts, and people are told. Knows no kinds.

use std::collections::BTreeSet;
use std::fmt::{self, Formatter};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The paths of such fields, in the order in which they are met again; none of what is no JSON.
pub(crate) fn of(body: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let seed = Place {
        path: String::new(),
        found: &mut found,
    };
    let read = seed.deserialize(&mut serde_json::Deserializer::from_slice(body));
    match read {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// A value, and where it is.
struct Place<'a> {
    path: String,
    found: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = match self.path.as_str() {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            if !seen.insert(key) && !self.found.contains(&path) {
                self.found.push(path.clone());
            }
            map.next_value_seed(Place {
                path,
                found: &mut *self.found,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let place = Place {
                path: format!("{}[{index}]", self.path),
                found: &mut *self.found,
            };
            if list.next_element_seed(place)?.is_none() {
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
    fn each_is_named_once_by_its_path() {
        let body = br#"{"a": 1, "b": [{"c": null, "c": {"d": 1.5, "d": true}}], "a": "x", "a": 2}"#;
        assert_eq!(super::of(body), ["b[0].c", "b[0].c.d", "a"]);
        assert!(super::of(b"{\"a\": 1, \"a\": 2").is_empty());
        assert!(super::of(b"[]").is_empty());
    }
}
