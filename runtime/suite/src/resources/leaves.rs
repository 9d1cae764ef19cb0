//! Leaves of values, by which two contributions to one object are compared. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns a value in which list items are keyed by their names, if they have one.
pub(super) fn keyed(value: &Value) -> Value {
    const NAMES: [&str; 5] = ["name", "port", "key", "type", "uid"];
    let name = |item: &Value| {
        let name = NAMES.iter().find_map(|name| item.get(name))?;
        Some(
            name.as_str()
                .map_or_else(|| name.to_string(), str::to_owned),
        )
    };
    match value {
        Value::Array(items) => {
            let named = items.iter().map(|item| Some((name(item)?, keyed(item))));
            let named: Option<serde_json::Map<_, _>> = named.collect();
            let whole = || Value::Array(items.iter().map(keyed).collect());
            named.map_or_else(whole, Value::Object)
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, field)| (key.clone(), keyed(field)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Collects all leaves of a value by path, without the fields of an object's identity that every
/// manager sets.
pub(super) fn leaves(value: &Value, path: String, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let identity = path.is_empty() && matches!(key.as_str(), "apiVersion" | "kind");
                let of_meta = path == "/metadata"
                    && matches!(
                        key.as_str(),
                        "name" | "namespace" | "uid" | "resourceVersion" | "ownerReferences"
                    );
                if !identity && !of_meta {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    leaves(inner, format!("{path}/{key}"), found);
                }
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                leaves(item, format!("{path}/{n}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.insert(path, value.clone());
        }
    }
}
