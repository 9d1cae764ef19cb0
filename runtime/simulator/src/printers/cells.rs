//! Small pieces that the cells of several kinds are made of.

use jiff::Timestamp;
use serde_json::Value;

use super::age::since;

/// Returns the text at a pointer, or an empty text.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the text at a pointer, or the given replacement.
pub(super) fn text_or<'a>(object: &'a Value, pointer: &str, none: &'a str) -> &'a str {
    Some(text(object, pointer))
        .filter(|text| !text.is_empty())
        .unwrap_or(none)
}

/// Returns the whole number at a pointer, or 0.
pub(super) fn number(object: &Value, pointer: &str) -> i64 {
    object
        .pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or_default()
}

/// Returns the boolean at a pointer, or the given default.
pub(super) fn truth(object: &Value, pointer: &str, none: bool) -> bool {
    object
        .pointer(pointer)
        .and_then(Value::as_bool)
        .unwrap_or(none)
}

/// Returns the items at a pointer, or none if there is no list.
pub(super) fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// How many fields an object at a pointer has.
pub(super) fn size(object: &Value, pointer: &str) -> usize {
    object
        .pointer(pointer)
        .and_then(Value::as_object)
        .map_or(0, serde_json::Map::len)
}

/// The value of a field, unless it is null or not there.
pub(super) fn given<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get(field).filter(|value| !value.is_null())
}

/// The name of an object.
pub(super) fn name(object: &Value) -> Value {
    text(object, "/metadata/name").into()
}

/// How long an object has been there.
pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    since(time(object, "/metadata/creationTimestamp"), now).into()
}

/// The time at a pointer.
pub(super) fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    text(object, pointer).parse().ok()
}

/// Returns true if an object is being deleted.
pub(super) fn is_deleting(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Strings with commas between them.
pub(super) fn joined<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(",")
}

/// The field of each item, with commas between them.
pub(super) fn joined_field(items: &[Value], field: &str) -> Value {
    joined(
        items
            .iter()
            .map(|item| item[field].as_str().unwrap_or_default()),
    )
    .into()
}

/// `a=1,b=2`, or `<none>`.
pub(super) fn labels(object: &Value, pointer: &str) -> Value {
    let pairs = object
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut pairs: Vec<_> = pairs
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    or_none(pairs.join(","))
}

/// Returns a label selector in kubectl's syntax. An absent selector selects nothing and is printed
/// as `nothing`.
pub(super) fn selector(object: &Value, pointer: &str, nothing: &str) -> Value {
    let Some(selector) = object
        .pointer(pointer)
        .filter(|selector| !selector.is_null())
    else {
        return nothing.into();
    };
    let mut requirements: Vec<(String, String)> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        requirements.push((
            key.clone(),
            format!("{key}={}", value.as_str().unwrap_or_default()),
        ));
    }
    for expression in items(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<&str> = items(expression, "/values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let said = match text(expression, "/operator") {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return "<error>".into(),
        };
        requirements.push((key.to_owned(), said));
    }
    requirements.sort();
    let said: Vec<String> = requirements.into_iter().map(|(_, said)| said).collect();
    or_none(said.join(","))
}

fn or_none(text: String) -> Value {
    Some(text)
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| "<none>".to_owned())
        .into()
}

/// The first three, and how many more there are; `<unset>` for none.
pub(super) fn first_three(all: &[String]) -> Value {
    match all.len() {
        0 => "<unset>".into(),
        1..=3 => all.join(",").into(),
        count => format!("{} + {} more...", all[..3].join(","), count - 3).into(),
    }
}
