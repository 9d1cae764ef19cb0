//! Values omitted from sent and compared objects. The API server would record them as ours but not
//! keep them.

use serde_json::Value;

/// Maps from text to text, in which an empty text is a regular value.
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

/// Returns the desired fields without `{}`, `[]`, `null` and `""`. Members of lists stay unchanged,
/// including `{}` in them, because `emptyDir: {}` is significant.
pub fn pruned(mut desired: Value) -> Value {
    prune(&mut desired, "", false);
    desired
}

fn prune(value: &mut Value, name: &str, in_list: bool) {
    match value {
        Value::Object(map) => map.retain(|key, inner| {
            prune(inner, key, in_list);
            match inner {
                Value::String(text) => !text.is_empty() || keeps_empty_text(name),
                Value::Object(map) => in_list || !map.is_empty(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    !is_nothing(inner, key)
                }
            }
        }),
        Value::Array(list) => list.iter_mut().for_each(|v| prune(v, name, true)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns true if a map of this name maps text to text.
pub(super) fn keeps_empty_text(name: &str) -> bool {
    TEXT_MAPS.contains(&name)
}

/// Nothing that the API server would keep in a field of this name.
pub(super) fn is_nothing(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.iter().all(|(key, inner)| {
            let is_text = inner.is_string() && keeps_empty_text(name);
            !is_text && is_nothing(inner, key)
        }),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
