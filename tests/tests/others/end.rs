//! Where two runs ended, side by side, once what a server may choose has a neutral name. Knows no operator.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// What is written by chance, and its name.
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

/// What is left of an object when what a server may choose is gone.
pub(crate) fn neutral(mut object: Value) -> Value {
    walk(&mut object);
    object
}

/// What was said of an object by events, each once.
pub(crate) fn said(events: Vec<Value>) -> Value {
    let said = events.into_iter().map(|event| {
        let of = &event["involvedObject"]["kind"];
        let said = json!([of, event["type"], event["reason"], event["message"]]);
        neutral(said).to_string()
    });
    json!(said.collect::<BTreeSet<_>>())
}

/// What differs, as lines.
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
            // Keys of lists stand in the names of fields that are managed.
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
                    (left, right) => tell(&path, left, right, text),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{path}[{index}]"), left, right, text);
            }
        }
        (left, right) if left == right => {}
        (left, right) => tell(path, Some(left), Some(right), text),
    }
}

fn tell(path: &str, ours: Option<&Value>, theirs: Option<&Value>, text: &mut String) {
    for (sign, value) in [('-', ours), ('+', theirs)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {sign} {path}: {value}");
        }
    }
}
