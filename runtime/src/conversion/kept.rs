//! Content that one version can express and another cannot: its path, and the value that the other
//! version has at that path. It is restored if the value at that path has not changed since.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Place in an object that the other version cannot represent.
#[derive(Debug, Deserialize, Serialize)]
struct LostField {
    /// From the object down.
    path: Vec<String>,
    /// Value before the conversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said: Option<Value>,
    /// Value after the conversion there and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead: Option<Value>,
}

/// Returns the text of fields lost by a round trip, or `None` if nothing is lost.
pub(super) fn lost(before: &Value, again: &Value) -> Option<String> {
    let mut places = Vec::new();
    differ(&mut Vec::new(), (Some(before), Some(again)), &mut places);
    let text = serde_json::to_string(&places);
    text.ok().filter(|_| !places.is_empty())
}

fn differ(
    path: &mut Vec<String>,
    both: (Option<&Value>, Option<&Value>),
    places: &mut Vec<LostField>,
) {
    if both.0 == both.1 {
        return;
    }
    if let (Some(Value::Object(said)), Some(Value::Object(instead))) = both {
        let more = instead.keys().filter(|key| !said.contains_key(*key));
        for key in said.keys().chain(more) {
            path.push(key.clone());
            differ(path, (said.get(key), instead.get(key)), places);
            path.pop();
        }
        return;
    }
    places.push(LostField {
        path: path.clone(),
        said: both.0.cloned(),
        instead: both.1.cloned(),
    });
}

/// Restores the content that was kept. A text that cannot be decoded was written by another
/// controller or user, and is ignored.
pub(super) fn restore(object: &mut Value, text: &str) {
    let places: Vec<LostField> = serde_json::from_str(text).unwrap_or_default();
    for place in places {
        let Some((last, above)) = place.path.split_last() else {
            continue;
        };
        if value_at(object, &place.path) == place.instead.as_ref() {
            set(object, above, (last, place.said));
        }
    }
}

fn value_at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.get(key))
}

fn set(object: &mut Value, above: &[String], (last, value): (&str, Option<Value>)) {
    let mut parent = object;
    for key in above {
        let Some(fields) = parent.as_object_mut() else {
            return;
        };
        let next = fields.entry(key.clone());
        parent = next.or_insert_with(|| Value::Object(Map::new()));
    }
    let Some(fields) = parent.as_object_mut() else {
        return;
    };
    match value {
        Some(value) => {
            fields.insert(last.to_owned(), value);
        }
        None => {
            fields.remove(last);
        }
    }
}

/// Takes an annotation out of metadata.
pub(super) fn take(metadata: &mut Value, key: &str) -> Option<String> {
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(key)?.as_str()?.to_owned();
    if annotations.is_empty() {
        metadata.as_object_mut()?.remove("annotations");
    }
    Some(text)
}

/// Puts one in.
pub(super) fn set_annotation(metadata: &mut Value, key: &str, text: String) {
    set(
        metadata,
        &["annotations".to_owned()],
        (key, Some(Value::String(text))),
    );
}
