//! One step of a path into an object as `managedFields` writes it, and paths as messages show them.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use serde_json::Value;

/// A scalar with an order: numbers, strings, booleans, lists, maps, null.
#[derive(Clone, Debug)]
pub(super) struct Ordered(pub(super) Value);

/// A step: a field, an item by its keys, an item by its value, an item by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    Field(String),
    Keys(Vec<(String, Ordered)>),
    Value(Ordered),
    Index(i64),
}

impl Ordered {
    fn rank(&self) -> u8 {
        match &self.0 {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left.cmp(&right),
                (_, _) => {
                    let floats = (left.as_f64(), right.as_f64());
                    let (left, right) = (floats.0.unwrap_or(0.0), floats.1.unwrap_or(0.0));
                    left.total_cmp(&right)
                }
            },
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
                self.0.to_string().cmp(&other.0.to_string())
            }
            (_, _) => self.rank().cmp(&other.rank()),
        }
    }
}

impl Element {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// The key of this step in `fieldsV1`, such as `f:spec` or `k:{"name":"web"}`.
    pub(super) fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Keys(keys) => {
                let pairs = keys.iter().map(|(name, value)| {
                    format!("{}:{}", json(&Value::from(name.as_str())), json(&value.0))
                });
                format!("k:{{{}}}", pairs.collect::<Vec<_>>().join(","))
            }
            Self::Value(value) => format!("v:{}", json(&value.0)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Parses a key of `fieldsV1` into a path element. Returns `None` for a key of an unknown kind.
    ///
    /// # Errors
    /// It is malformed.
    pub(super) fn decode(key: &str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = key.split_once(':') else {
            return Err(format!("missing colon: {key}"));
        };
        match kind {
            "f" => Ok(Some(Self::field(rest))),
            "v" => {
                let value = serde_json::from_str(rest).map_err(|error| error.to_string())?;
                Ok(Some(Self::Value(Ordered(value))))
            }
            "k" => {
                let keys: serde_json::Map<String, Value> =
                    serde_json::from_str(rest).map_err(|error| error.to_string())?;
                let keys = keys.into_iter().map(|(name, value)| (name, Ordered(value)));
                Ok(Some(Self::Keys(keys.collect())))
            }
            "i" => {
                let index = rest.parse();
                index
                    .map(Self::Index)
                    .map(Some)
                    .map_err(|_| rest.to_owned())
            }
            _ => Ok(None),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(formatter, ".{name}"),
            Self::Keys(keys) => {
                let pairs = keys
                    .iter()
                    .map(|(name, value)| format!("{name}={}", format_value(&value.0)));
                write!(formatter, "[{}]", pairs.collect::<Vec<_>>().join(","))
            }
            Self::Value(value) => write!(formatter, "[={}]", format_value(&value.0)),
            Self::Index(index) => write!(formatter, "[{index}]"),
        }
    }
}

/// A path as messages show it: `.spec.ports[port=80,protocol="TCP"].nodePort`.
pub(super) fn show(path: &[Element]) -> String {
    path.iter().fold(String::new(), |mut text, element| {
        // Writing to a string does not fail.
        let _ = write!(text, "{element}");
        text
    })
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(format_value).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", format_value(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// JSON as Go writes it: characters of HTML are escaped.
fn json(value: &Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_survive_a_round_trip() {
        for key in [
            "f:spec",
            "k:{\"port\":80,\"protocol\":\"TCP\"}",
            "v:\"a\"",
            "v:1",
            "i:3",
        ] {
            let element = Element::decode(key).unwrap().unwrap();
            assert_eq!(element.encode(), key);
        }
        assert_eq!(Element::decode("x:new").unwrap(), None);
        assert!(Element::decode("nothing").is_err());
        assert!(Element::decode("k:[").is_err());
    }

    #[test]
    fn paths_are_shown_as_in_messages() {
        let keys = vec![
            ("port".to_owned(), Ordered(json!(80))),
            ("protocol".to_owned(), Ordered(json!("TCP"))),
        ];
        let path = [
            Element::field("spec"),
            Element::field("ports"),
            Element::Keys(keys),
            Element::field("nodePort"),
        ];
        assert_eq!(
            show(&path),
            ".spec.ports[port=80,protocol=\"TCP\"].nodePort"
        );
        assert_eq!(show(&[Element::Value(Ordered(json!("a")))]), "[=\"a\"]");
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert_eq!(Ordered(json!(1)), Ordered(json!(1.0)));
        assert!(Ordered(json!(2)) < Ordered(json!("1")));
    }
}
