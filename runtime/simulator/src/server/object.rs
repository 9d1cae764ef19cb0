//! Short ways into the JSON of an object. Knows `metadata`, and no kind.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Returns a text field of `metadata`, or an empty text.
pub(crate) fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    text(&object["metadata"], field)
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    meta(object, "name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

/// The object under a field, made where it is not one.
pub(crate) fn map<'a>(value: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let slot = &mut value[field];
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("it was made one")
}

pub(crate) fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    map(object, "metadata")
}

/// Sets a field, or removes it if there is no value.
pub(crate) fn set(map: &mut Map<String, Value>, field: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(field.to_owned(), value),
        None => map.remove(field),
    };
}

/// Sets a field that is absent or null.
pub(crate) fn fill(map: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    let slot = map.entry(field).or_insert(Value::Null);
    if slot.is_null() {
        *slot = value.into();
    }
}

/// Sets a text that is missing or empty.
pub(crate) fn fill_text(object: &mut Value, field: &str, value: &str) {
    if text(object, field).is_empty()
        && let Some(map) = object.as_object_mut()
    {
        map.remove(field);
        fill(map, field, value);
    }
}

/// Takes a field from another object, absent or not.
pub(crate) fn keep(new: &mut Value, old: &Value, field: &str) {
    let Some(map) = new.as_object_mut() else {
        return;
    };
    set(map, field, old.get(field).cloned());
}

pub(crate) fn labels(object: &Value) -> BTreeMap<String, String> {
    let labels = object["metadata"]["labels"].as_object();
    let texts = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    texts.collect()
}

pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(crate) fn finalizers(object: &Value) -> Vec<String> {
    let all = list(&object["metadata"], "finalizers").iter();
    all.filter_map(|one| one.as_str().map(str::to_owned))
        .collect()
}

pub(crate) fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    let value = (!finalizers.is_empty()).then(|| Value::from(finalizers.to_vec()));
    set(metadata(object), "finalizers", value);
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Nulls, and in `metadata` also empty maps and lists, are as good as absent.
pub(crate) fn tidy(object: &mut Value, custom: bool) {
    if let Some(map) = object.as_object_mut().filter(|_| !custom) {
        map.retain(|_, value| !value.is_null());
    }
    metadata(object).retain(|_, value| match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
}
