//! What an API server gives back of a definition that it was sent: whole numbers without a fraction, and no field that says no more than its absence.
//! So definitions are compared by what they mean, and not by how they are written.

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

/// Fields of a schema that say something even if they are empty or `false`.
const SAID: [&str; 5] = ["default", "example", "items", "additionalProperties", "not"];

/// Whether two schemas describe, allow and demand the same.
pub(super) fn is_same_schema(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let count = |schema: &Map<String, Value>| schema.iter().filter(says).count();
            let same = |(name, wanted): (&String, &Value)| {
                let live = live.get(name);
                live.is_some_and(|live| is_same_field(name, live, wanted))
            };
            count(live) == count(wanted) && wanted.iter().filter(says).all(same)
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

/// Whether two values are the same, whichever way their numbers are written.
pub(super) fn is_same(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Number(live), Value::Number(wanted)) => is_same_number(live, wanted),
        (Value::Array(live), Value::Array(wanted)) => in_pairs(live, wanted, is_same),
        (Value::Object(live), Value::Object(wanted)) => by_name(live, wanted, is_same),
        (live, wanted) => live == wanted,
    }
}

/// A whole number may be written with a fraction of zero; two without one are told apart to the last digit.
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

/// Whether a field of a schema is given back.
fn says((name, value): &(&String, &Value)) -> bool {
    SAID.contains(&name.as_str()) || value.is_number() || !is_unsaid(value)
}

/// Whether a value is the one that its field has where it is not written.
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
