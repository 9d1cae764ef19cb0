//! Our part of a live object, and fingerprints as keys for the memory of our own writes.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use super::Ours;
use super::fields::ManagerFields;
use super::members::{Items, MemberKey, MemberKeys};

/// Returns the live values at our paths and at the desired paths.
pub fn under_our_paths(desired: &Value, live: &Value, ours: &Ours<'_>) -> Value {
    let mut parts: Vec<Value> = ours.all().map(|entry| select(entry, live)).collect();
    parts.push(along(desired, live));
    Value::Array(parts)
}

fn select(entry: ManagerFields<'_>, live: &Value) -> Value {
    if entry.is_empty() {
        return live.clone();
    }
    let mut selected = Map::new();
    let items = Items::from_value(live, &MemberKeys::from_entries(&[entry]));
    for (name, inner) in entry {
        let found = match (name.strip_prefix("f:"), MemberKey::parse(name)) {
            (Some(field), _) => live.get(field).cloned(),
            (None, Some(key)) => items.find(&key).cloned(),
            (None, None) => None,
        };
        if let (Some(found), Some(inner)) = (found, inner.as_object()) {
            selected.insert(name.clone(), select(inner, &found));
        }
    }
    Value::Object(selected)
}

fn along(desired: &Value, live: &Value) -> Value {
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) => desired
            .iter()
            .filter_map(|(key, inner)| Some((key.clone(), along(inner, live.get(key)?))))
            .collect(),
        _ => live.clone(),
    }
}

/// A number that differs when the value does; equal in every run of the same program.
pub fn fingerprint(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(b) => (1u8, b).hash(hasher),
        Value::Number(n) => (2u8, n.to_string()).hash(hasher),
        Value::String(s) => (3u8, s).hash(hasher),
        Value::Array(list) => {
            (4u8, list.len()).hash(hasher);
            list.iter().for_each(|v| feed(v, hasher));
        }
        Value::Object(map) => {
            (5u8, map.len()).hash(hasher);
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, v) in sorted {
                key.hash(hasher);
                feed(v, hasher);
            }
        }
    }
}
