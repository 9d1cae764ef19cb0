//! One problem of a custom resource, with the words of the real server, and how the place of a value is named.

use serde_json::Value;

use super::Cause;

/// Kind of the problem. It decides the reason, the first words, and the further evaluation of
/// rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Invalid,
    TypeInvalid,
    Required,
    Unsupported,
    TooLong,
    TooMany,
    Duplicate,
    Forbidden,
}

/// The value that is blamed, as far as the message shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bad {
    Value(Value),
    Omitted,
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    kind: Kind,
    pub(super) field: String,
    message: String,
}

impl Problem {
    pub(super) fn new(kind: Kind, field: &str, bad: Bad, detail: &str) -> Self {
        let first = match kind {
            Kind::Invalid | Kind::TypeInvalid => "Invalid value",
            Kind::Required => "Required value",
            Kind::Unsupported => "Unsupported value",
            Kind::TooLong => "Too long",
            Kind::TooMany => "Too many",
            Kind::Duplicate => "Duplicate value",
            Kind::Forbidden => "Forbidden",
        };
        let shows = !matches!(kind, Kind::Required | Kind::Forbidden | Kind::TooLong);
        let mut message = match bad {
            Bad::Value(value) if shows => format!("{first}: {value}"),
            Bad::Value(_) | Bad::Omitted => first.to_owned(),
        };
        if !detail.is_empty() {
            message = format!("{message}: {detail}");
        }
        Self {
            kind,
            field: field.to_owned(),
            message,
        }
    }

    pub(super) fn cause(self) -> Cause {
        let reason = match self.kind {
            Kind::Invalid => "FieldValueInvalid",
            Kind::TypeInvalid => "FieldValueTypeInvalid",
            Kind::Required => "FieldValueRequired",
            Kind::Unsupported => "FieldValueNotSupported",
            Kind::TooLong => "FieldValueTooLong",
            Kind::TooMany => "FieldValueTooMany",
            Kind::Duplicate => "FieldValueDuplicate",
            Kind::Forbidden => "FieldValueForbidden",
        };
        Cause {
            reason: reason.to_owned(),
            message: self.message,
            field: self.field,
        }
    }

    /// Returns true if the problem prevents the evaluation of rules.
    pub(super) fn blocks_rules(&self) -> bool {
        match self.kind {
            Kind::Unsupported
            | Kind::Required
            | Kind::TooLong
            | Kind::TooMany
            | Kind::TypeInvalid => true,
            Kind::Invalid | Kind::Duplicate | Kind::Forbidden => false,
        }
    }
}

/// The path of a field within another.
pub(super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Returns the keys that identify the items of a list.
pub(super) fn list_keys(schema: &Value) -> Option<Vec<&str>> {
    if schema.get("x-kubernetes-list-type")? != "map" {
        return None;
    }
    let keys = schema.get("x-kubernetes-list-map-keys")?.as_array()?;
    Some(keys.iter().filter_map(Value::as_str).collect())
}
