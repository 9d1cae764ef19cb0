//! Values that a structural schema allows, as far as the schema states it, and smaller variants of
//! a value.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use regex::Regex;
use serde_json::{Map, Value, json};

/// Amount of optional fields that are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Least,
    Some,
    All,
}

/// Texts of the kinds that people write, the shortest first.
const TEXTS: [&str; 12] = [
    "a",
    "",
    "b-1",
    "10.0.0.1",
    "80",
    "1Gi",
    "30s",
    "a/b",
    "Web",
    "größer",
    "2026-01-01T00:00:00Z",
    "https://example.com/x",
];
/// More elements than these show nothing new.
const MOST: usize = 3;
/// A schema that is free below this depth stays empty.
const DEEPEST: usize = 12;

/// One value of a schema.
pub(super) fn value(schema: &Value, amount: Amount, random: &mut Pcg64Mcg) -> Value {
    Generator { amount, random }.value(schema, 0)
}

struct Generator<'a> {
    amount: Amount,
    random: &'a mut Pcg64Mcg,
}

impl Generator<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(listed) = schema["enum"].as_array() {
            let there = listed.iter().filter(|value| !value.is_null());
            let listed: Vec<Value> = there.cloned().collect();
            return self.one_of(&listed).cloned().unwrap_or_default();
        }
        if schema["x-kubernetes-int-or-string"] == json!(true) {
            let either = [json!(80), json!("80%"), json!("http")];
            return self.one_of(&either).cloned().unwrap_or_default();
        }
        match schema["type"].as_str() {
            Some("string") => self.text(schema),
            Some("integer") => self.integer(schema),
            Some("number") => self.number(schema),
            Some("boolean") => json!(self.is_there()),
            Some("array") => self.list(schema, depth),
            _ => self.fields(schema, depth),
        }
    }

    /// Returns true if an optional field is present.
    fn is_there(&mut self) -> bool {
        match self.amount {
            Amount::Least => false,
            Amount::All => true,
            Amount::Some => self.random.random_bool(0.5),
        }
    }

    fn one_of<'v, T>(&mut self, all: &'v [T]) -> Option<&'v T> {
        let at = match (self.amount, all.len()) {
            (_, 0) => return None,
            (Amount::Least, _) => 0,
            (Amount::All, many) => many - 1,
            (Amount::Some, many) => self.random.random_range(0..many),
        };
        all.get(at)
    }

    fn fields(&mut self, schema: &Value, depth: usize) -> Value {
        let mut fields = Map::new();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            let of_object =
                depth == 0 && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
            if of_object || depth > DEEPEST {
                continue;
            }
            // The spec of a kind is rarely left out, although its schema allows that.
            let is_needed =
                required.iter().any(|one| one == name) || (depth == 0 && name == "spec");
            if is_needed || self.is_there() {
                let value = self.value(part, depth + 1);
                fields.insert(name.clone(), value);
            }
        }
        let any = &schema["additionalProperties"];
        if any.is_object() && self.is_there() {
            for key in ["k", "example.com/k"] {
                let value = self.value(any, depth + 1);
                fields.insert(key.to_owned(), value);
            }
        }
        Value::Object(fields)
    }

    fn list(&mut self, schema: &Value, depth: usize) -> Value {
        let bound = |key: &str, otherwise: usize| {
            let bound = schema[key]
                .as_u64()
                .and_then(|bound| usize::try_from(bound).ok());
            bound.unwrap_or(otherwise)
        };
        let least = bound("minItems", 0);
        let most = bound("maxItems", MOST).min(least.max(MOST));
        let count = match self.amount {
            Amount::Least => least,
            Amount::All => most,
            Amount::Some => self.random.random_range(least..=most),
        };
        let keys = schema["x-kubernetes-list-map-keys"].as_array();
        let same = |one: &Value, other: &Value| match keys {
            Some(keys) => keys
                .iter()
                .filter_map(Value::as_str)
                .all(|key| one.get(key) == other.get(key)),
            None => schema["x-kubernetes-list-type"] == json!("set") && one == other,
        };
        let mut items: Vec<Value> = Vec::new();
        for _ in 0..count {
            let item = self.value(&schema["items"], depth + 1);
            if !items.iter().any(|other| same(other, &item)) {
                items.push(item);
            }
        }
        Value::Array(items)
    }

    fn text(&mut self, schema: &Value) -> Value {
        match schema["format"].as_str() {
            Some("date-time") => return json!("2026-01-02T03:04:05Z"),
            Some("date") => return json!("2026-01-02"),
            Some("byte") => return json!("aGVsbG8="),
            Some("duration") => return json!("30s"),
            _ => {}
        }
        let bound = |key: &str, otherwise: u64| schema[key].as_u64().unwrap_or(otherwise);
        let (least, most) = (bound("minLength", 0), bound("maxLength", u64::MAX));
        let pattern = schema["pattern"]
            .as_str()
            .and_then(|text| Regex::new(text).ok());
        let fits = |text: &&str| {
            let long = text.chars().count() as u64;
            (least..=most).contains(&long) && pattern.as_ref().is_none_or(|p| p.is_match(text))
        };
        let fitting: Vec<&str> = TEXTS.into_iter().filter(fits).collect();
        let filled = "x".repeat(usize::try_from(least).unwrap_or_default());
        json!(self.one_of(&fitting).copied().unwrap_or(&filled))
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let widest = match schema["format"].as_str() {
            Some("int32") => i64::from(i32::MAX),
            Some("uint32") => i64::from(u32::MAX),
            Some("uint16") => i64::from(u16::MAX),
            Some("uint8") => i64::from(u8::MAX),
            _ => i64::MAX,
        };
        let bound = |key: &str, otherwise: i64| {
            let number = schema[key].as_f64();
            number.map_or(otherwise, |number| number as i64)
        };
        let least = bound("minimum", -widest);
        let most = bound("maximum", widest);
        let all = [0, 1, -1, 7, 1234, least, most];
        let fitting: Vec<i64> = all
            .into_iter()
            .filter(|n| (least..=most).contains(n))
            .collect();
        json!(self.one_of(&fitting).copied().unwrap_or(least))
    }

    fn number(&mut self, schema: &Value) -> Value {
        let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
        let fits =
            |n: &f64| least.is_none_or(|least| *n >= least) && most.is_none_or(|most| *n <= most);
        let fitting: Vec<f64> = [0.5, -2.25, 1024.75].into_iter().filter(fits).collect();
        json!(self.one_of(&fitting).copied().or(least).unwrap_or(0.5))
    }
}

/// The same value with one thing left out, or one text or number that is simpler.
pub(super) fn smaller(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => {
            let without = fields.keys().map(|key| {
                let mut fewer = fields.clone();
                fewer.remove(key);
                Value::Object(fewer)
            });
            let with = fields.iter().flat_map(|(key, value)| {
                smaller(value).into_iter().map(|value| {
                    let mut other = fields.clone();
                    other.insert(key.clone(), value);
                    Value::Object(other)
                })
            });
            without.chain(with).collect()
        }
        Value::Array(items) => {
            let without = (0..items.len()).map(|at| {
                let mut fewer = items.clone();
                fewer.remove(at);
                Value::Array(fewer)
            });
            let with = items.iter().enumerate().flat_map(|(at, value)| {
                smaller(value).into_iter().map(move |value| {
                    let mut other = items.clone();
                    other[at] = value;
                    Value::Array(other)
                })
            });
            without.chain(with).collect()
        }
        Value::String(text) if text.len() > 1 => vec![json!("a")],
        Value::Number(number) => {
            let simple = [0, 1]
                .into_iter()
                .filter(|n| number.as_i64().is_none_or(|own| own > *n));
            simple.map(|n| json!(n)).collect()
        }
        Value::String(_) | Value::Null | Value::Bool(_) => Vec::new(),
    }
}
