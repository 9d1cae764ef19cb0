//! Two records side by side, once everything that two servers may choose freely has a neutral name. Knows no case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use super::api::Exchange;

/// Returns the differences, as lines; empty if there are none.
pub(crate) fn differences(simulated: &[Exchange], real: &[Exchange]) -> String {
    let (left, right) = (neutral(simulated), neutral(real));
    let mut text = String::new();
    for (index, (ours, theirs)) in left.iter().zip(&right).enumerate() {
        if ours.code == theirs.code && ours.body == theirs.body {
            continue;
        }
        let _ = writeln!(text, "{}", real[index].request);
        if ours.code != theirs.code {
            let _ = writeln!(
                text,
                "  - {} {}\n  + {} {}",
                ours.code, ours.body, theirs.code, theirs.body
            );
            continue;
        }
        diff("", &ours.body, &theirs.body, &mut text);
    }
    if left.len() != right.len() {
        let _ = writeln!(text, "{} and {} answers", left.len(), right.len());
    }
    text
}

fn diff(path: &str, ours: &Value, theirs: &Value, text: &mut String) {
    match (ours, theirs) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let below = format!("{path}.{key}");
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => diff(&below, left, right, text),
                    (left, right) => write_difference(&below, left, right, text),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                diff(&format!("{path}[{index}]"), left, right, text);
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

/// Values that the server chose, by the order in which they were first seen.
#[derive(Default)]
struct Names {
    uids: BTreeMap<String, usize>,
    versions: Vec<u64>,
}

fn neutral(transcript: &[Exchange]) -> Vec<Exchange> {
    let mut names = Names::default();
    for exchange in transcript {
        names.learn(&exchange.body);
    }
    names.versions.sort_unstable();
    names.versions.dedup();
    let neutral = transcript.iter().map(|exchange| {
        let mut exchange = exchange.clone();
        names.replace("", &mut exchange.body);
        sort_causes(&mut exchange.body);
        exchange
    });
    neutral.collect()
}

/// Brings the causes of a refusal into one order: the properties of a schema are a map in Go, which is walked in another order each time.
fn sort_causes(body: &mut Value) {
    let Some(causes) = body
        .pointer_mut("/details/causes")
        .and_then(Value::as_array_mut)
        .filter(|causes| causes.len() > 1)
    else {
        return;
    };
    causes.sort_by_key(Value::to_string);
    let Some(Value::String(message)) = body.get_mut("message") else {
        return;
    };
    let parts = message
        .split_once(": [")
        .and_then(|(head, list)| Some((head, list.strip_suffix(']')?)));
    if let Some((head, list)) = parts {
        let mut words: Vec<&str> = list.split(", ").collect();
        words.sort_unstable();
        *message = format!("{head}: [{}]", words.join(", "));
    }
}

/// Brings the entries of managed fields into one order: theirs is that of their times, which are rounded to seconds, so that it hangs on where a second ends.
fn sort_entries(entries: &mut Value) {
    let Some(entries) = entries.as_array_mut() else {
        return;
    };
    entries.sort_by_key(|entry| {
        let names = ["operation", "manager", "apiVersion", "subresource"];
        names.map(|name| entry[name].as_str().unwrap_or_default().to_owned())
    });
}

impl Names {
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                // A list has the version of everything, which others change as well.
                let is_list = map.get("items").is_some_and(Value::is_array);
                for (key, value) in map.iter().filter(|(key, _)| !is_list || *key != "metadata") {
                    match (key.as_str(), value.as_str()) {
                        ("resourceVersion", Some(version)) => {
                            self.versions.extend(version.parse::<u64>())
                        }
                        ("uid", Some(uid)) if uid.len() == 36 => {
                            let next = self.uids.len();
                            self.uids.entry(uid.to_owned()).or_insert(next);
                        }
                        _ => self.learn(value),
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|value| self.learn(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn replace(&self, key: &str, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    self.replace(key, value);
                    if key == "managedFields" {
                        sort_entries(value);
                    }
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.replace(key, value)),
            Value::String(text) => *text = self.neutral(key, text),
            Value::Number(number) if ["nodePort", "healthCheckNodePort"].contains(&key) => {
                let given = number.as_u64().is_some_and(|number| number >= 30_086);
                if given {
                    *value = "a node port".into();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn neutral(&self, key: &str, text: &str) -> String {
        match key {
            "resourceVersion" => {
                // The newest that was seen and is not newer: of an object its own.
                let rank = text.parse::<u64>().ok().and_then(|version| {
                    let older = self.versions.partition_point(|known| *known <= version);
                    older.checked_sub(1)
                });
                return rank.map_or_else(|| text.to_owned(), |rank| format!("version {rank}"));
            }
            "continue" => return "a token".to_owned(),
            "clusterIP" | "clusterIPs"
                if text.starts_with("10.96.") && !text.starts_with("10.96.0.") =>
            {
                return "an address".to_owned();
            }
            _ => {}
        }
        if is_time(text) {
            return "a time".to_owned();
        }
        let mut text = text.to_owned();
        for (uid, rank) in &self.uids {
            text = text.replace(uid, &format!("uid {rank}"));
        }
        text
    }
}

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}
