//! Types of CEL expressions, by the schema that they are about. Reports only what is certainly
//! wrong: an expression whose type is not known fits everywhere.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::escaped;

/// Type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Not known here, or of any type.
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Timestamp,
    Duration,
    List(Box<Type>),
    /// With texts as keys.
    Map(Box<Type>),
    /// With declared fields only.
    Object(BTreeMap<String, Type>),
    /// An old value that may be absent.
    Optional,
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("dyn"),
            Self::Null => formatter.write_str("null"),
            Self::Bool => formatter.write_str("bool"),
            Self::Int => formatter.write_str("int"),
            Self::Uint => formatter.write_str("uint"),
            Self::Double => formatter.write_str("double"),
            Self::Text => formatter.write_str("string"),
            Self::Bytes => formatter.write_str("bytes"),
            Self::Timestamp => formatter.write_str("google.protobuf.Timestamp"),
            Self::Duration => formatter.write_str("google.protobuf.Duration"),
            Self::List(item) => write!(formatter, "list({item})"),
            Self::Map(value) => write!(formatter, "map(string, {value})"),
            Self::Object(_) => formatter.write_str("object"),
            Self::Optional => formatter.write_str("optional_type(dyn)"),
        }
    }
}

impl Type {
    /// Returns the type of the values of a schema.
    pub(super) fn from_schema(schema: &Value, is_root: bool) -> Self {
        let is_set = |field: &str| schema.get(field) == Some(&Value::Bool(true));
        if is_set("x-kubernetes-int-or-string") {
            return Self::Any;
        }
        let text = |field: &str| schema.get(field).and_then(Value::as_str);
        match text("type").unwrap_or_default() {
            "boolean" => Self::Bool,
            "integer" => Self::Int,
            "number" => Self::Double,
            "string" => match text("format").unwrap_or_default() {
                "byte" => Self::Bytes,
                "date" | "date-time" => Self::Timestamp,
                "duration" => Self::Duration,
                _ => Self::Text,
            },
            "array" => {
                let items = schema.get("items");
                let item = items.map_or(Self::Any, |items| Self::from_schema(items, false));
                Self::List(Box::new(item))
            }
            "object" => {
                let is_open = is_set("x-kubernetes-preserve-unknown-fields")
                    && schema.get("properties").is_none();
                match schema.get("additionalProperties") {
                    Some(rest) if rest.is_object() => {
                        Self::Map(Box::new(Self::from_schema(rest, false)))
                    }
                    Some(Value::Bool(true)) => Self::Any,
                    _ if is_open && !is_root => Self::Any,
                    _ => Self::object(schema, is_root),
                }
            }
            _ => Self::Any,
        }
    }

    fn object(schema: &Value, is_root: bool) -> Self {
        let is_set = |field: &str| schema.get(field) == Some(&Value::Bool(true));
        let mut fields = BTreeMap::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            fields.insert(escaped(name), Self::from_schema(property, false));
        }
        if is_root || is_set("x-kubernetes-embedded-resource") {
            for name in ["apiVersion", "kind"] {
                fields.insert(name.to_owned(), Self::Text);
            }
            // A schema may declare more about names, and nothing else.
            let names = ["name", "generateName"].map(|name| (name.to_owned(), Self::Text));
            fields.insert("metadata".to_owned(), Self::Object(names.into()));
        }
        Self::Object(fields)
    }

    /// Returns true if two values of these types may be equal.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any | Self::Null | Self::Optional, _)
            | (_, Self::Any | Self::Null | Self::Optional) => true,
            (Self::List(one), Self::List(other)) | (Self::Map(one), Self::Map(other)) => {
                one.agrees(other)
            }
            // A map of literals may stand for an object.
            (Self::Object(_) | Self::Map(_), Self::Object(_) | Self::Map(_)) => true,
            (one, other) => one == other || (one.is_number() && other.is_number()),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }
}
