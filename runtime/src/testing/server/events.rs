//! Events, which two groups show in two ways. They are stored as the core group has them.

use serde_json::{Map, Value};

use super::kinds::Kind;
use super::object;

/// The core group's name of a field, and that of `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Whether objects of this kind are stored as another kind.
pub(crate) fn is_other_view(kind: &Kind) -> bool {
    kind.is("events.k8s.io", "events")
}

/// From what is stored to `events.k8s.io`.
pub(crate) fn to_view(object: Value) -> Value {
    rename(object, |(core, view)| (core, view))
}

/// From `events.k8s.io` to what is stored.
pub(crate) fn to_store(object: Value) -> Value {
    rename(object, |(core, view)| (view, core))
}

fn rename(
    object: Value,
    names: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(map) = object else {
        return object;
    };
    let renamed: Map<String, Value> = map
        .into_iter()
        .map(|(key, value)| {
            let pair = NAMES.into_iter().map(&names).find(|(from, _)| *from == key);
            (pair.map_or(key, |(_, to)| to.to_owned()), value)
        })
        .collect();
    Value::Object(renamed)
}

/// What the core group fills in.
pub(crate) fn default(event: &mut Value) {
    let Some(map) = event.as_object_mut() else {
        return;
    };
    for field in ["firstTimestamp", "lastTimestamp", "eventTime"] {
        map.entry(field).or_insert(Value::Null);
    }
    for field in ["reportingComponent", "reportingInstance"] {
        object::fill(map, field, "");
    }
    object::fill(map, "source", Value::Object(Map::new()));
    if !map.get("source").is_some_and(Value::is_object) {
        map.insert("source".to_owned(), Value::Object(Map::new()));
    }
}
