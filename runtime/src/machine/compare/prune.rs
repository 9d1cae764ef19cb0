//! What is left out of what we send and compare: values that the API server would make ours and yet not keep.

use serde_json::Value;

/// Maps from text to text, in which an empty text is a value like any other.
const TEXT_MAPS: [&str; 9] = [
    "annotations",
    "binaryData",
    "data",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "selector",
    "stringData",
];

/// Desired fields without `{}`, `[]`, `null` and `""`, but with the members of lists as they are and `{}` in them: `emptyDir: {}` says something.
pub fn pruned(desired: &Value) -> Value {
    prune(desired, "", false)
}

fn prune(value: &Value, name: &str, in_list: bool) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter_map(|(key, inner)| {
                let inner = prune(inner, key, in_list);
                let says_something = match &inner {
                    Value::String(text) => !text.is_empty() || keeps_empty_text(name),
                    Value::Object(map) => in_list || !map.is_empty(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                        !is_nothing(&inner)
                    }
                };
                says_something.then(|| (key.clone(), inner))
            });
            Value::Object(kept.collect())
        }
        Value::Array(list) => list.iter().map(|v| prune(v, name, true)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Whether a map of this name is one from text to text.
pub(super) fn keeps_empty_text(name: &str) -> bool {
    TEXT_MAPS.contains(&name)
}

/// Nothing that the API server would keep.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
