//! Final states of two runs, side by side, with neutral names for everything that a server may
//! choose. This module does not depend on any operator.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// Patterns of values chosen by chance, each with its neutral name.
static CHOSEN: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "UID",
        ),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r"\b\d{1,3}(\.\d{1,3}){3}\b", "ADDRESS"),
        ("-[bcdfghjklmnpqrstvwxz2456789]{5}$", "-NAME"),
    ]
    .map(|(pattern, name)| (Regex::new(pattern).unwrap(), name))
});

/// Returns an object without the values that a server may choose.
pub(crate) fn neutral(mut object: Value) -> Value {
    walk(&mut object);
    object
}

/// Returns the messages of events about an object, each once.
pub(crate) fn distinct_events(events: Vec<Value>) -> Value {
    let said = events.into_iter().map(|event| {
        let of = &event["involvedObject"]["kind"];
        let said = json!([of, event["type"], event["reason"], event["message"]]);
        neutral(said).to_string()
    });
    json!(said.collect::<BTreeSet<_>>())
}

/// Returns the differences, as lines.
pub(crate) fn differences(simulated: &Value, real: &Value) -> String {
    let mut text = String::new();
    compare("", simulated, real, &mut text);
    text
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("resourceVersion");
            if let Some(node) = map.get_mut("nodeName") {
                *node = json!("NODE");
            }
            // The names of managed fields contain list keys.
            let named = std::mem::take(map).into_iter();
            map.extend(named.map(|(key, value)| (chosen(key), value)));
            map.values_mut().for_each(walk);
            if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
                entries.sort_by_key(Value::to_string);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(walk),
        Value::String(text) => *text = chosen(std::mem::take(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn chosen(text: String) -> String {
    CHOSEN.iter().fold(text, |text, (pattern, name)| {
        pattern.replace_all(&text, *name).into_owned()
    })
}

fn compare(path: &str, ours: &Value, theirs: &Value, text: &mut String) {
    match (ours, theirs) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let path = format!("{path}.{key}");
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => compare(&path, left, right, text),
                    (left, right) => write_difference(&path, left, right, text),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{path}[{index}]"), left, right, text);
            }
        }
        (left, right) if left == right => {}
        (left, right) => write_difference(path, Some(left), Some(right), text),
    }
}

fn write_difference(path: &str, ours: Option<&Value>, theirs: Option<&Value>, text: &mut String) {
    for (sign, value) in [('-', ours), ('+', theirs)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {sign} {path}: {value}");
        }
    }
}
