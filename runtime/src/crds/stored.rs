//! Normalization that an API server applies to a definition: whole numbers lose their fraction, and
//! fields that mean no more than their absence are dropped. Definitions are therefore compared by
//! their meaning, and not by their spelling.

use serde_json::{Map, Number, Value};

/// Fields of a schema that hold values of the kind, which are kept as they were written.
const VALUES: [&str; 3] = ["default", "enum", "example"];

/// Fields of a schema that hold schemas by names of the author.
const NAMED: [&str; 4] = [
    "properties",
    "patternProperties",
    "definitions",
    "dependencies",
];

/// Fields of a schema that are significant even if they are empty or `false`.
const SAID: [&str; 5] = ["default", "example", "items", "additionalProperties", "not"];

/// Returns true if two schemas describe, allow and require the same.
pub(super) fn is_same_schema(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let count = |schema: &Map<String, Value>| schema.iter().filter(is_returned).count();
            let same = |(name, wanted): (&String, &Value)| {
                let live = live.get(name);
                live.is_some_and(|live| is_same_field(name, live, wanted))
            };
            count(live) == count(wanted) && wanted.iter().filter(is_returned).all(same)
        }
        (Value::Array(live), Value::Array(wanted)) => in_pairs(live, wanted, is_same_schema),
        (live, wanted) => is_same(live, wanted),
    }
}

fn is_same_field(name: &str, live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (live, wanted) if VALUES.contains(&name) => is_same(live, wanted),
        (Value::Object(live), Value::Object(wanted)) if NAMED.contains(&name) => {
            by_name(live, wanted, is_same_schema)
        }
        (live, wanted) => is_same_schema(live, wanted),
    }
}

/// Returns true if two values are equal, regardless of how their numbers are written.
pub(super) fn is_same(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Number(live), Value::Number(wanted)) => is_same_number(live, wanted),
        (Value::Array(live), Value::Array(wanted)) => in_pairs(live, wanted, is_same),
        (Value::Object(live), Value::Object(wanted)) => by_name(live, wanted, is_same),
        (live, wanted) => live == wanted,
    }
}

/// Returns true if two numbers are equal. A whole number may have a fraction of zero. Two numbers
/// without a fraction are compared exactly.
fn is_same_number(live: &Number, wanted: &Number) -> bool {
    match live.is_f64() || wanted.is_f64() {
        true => live.as_f64() == wanted.as_f64(),
        false => live == wanted,
    }
}

fn in_pairs(live: &[Value], wanted: &[Value], same: fn(&Value, &Value) -> bool) -> bool {
    let mut pairs = live.iter().zip(wanted);
    live.len() == wanted.len() && pairs.all(|(live, wanted)| same(live, wanted))
}

fn by_name(
    live: &Map<String, Value>,
    wanted: &Map<String, Value>,
    same: fn(&Value, &Value) -> bool,
) -> bool {
    let mut wanted_fields = wanted.iter();
    live.len() == wanted.len()
        && wanted_fields.all(|(name, wanted)| live.get(name).is_some_and(|live| same(live, wanted)))
}

/// Returns true if the API server returns this field of a schema.
fn is_returned((name, value): &(&String, &Value)) -> bool {
    SAID.contains(&name.as_str()) || value.is_number() || !is_unsaid(value)
}

/// Returns true if a value equals the value of the absent field.
pub(super) fn is_unsaid(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
