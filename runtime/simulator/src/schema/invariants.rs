//! Invariants of a custom resource that hold for any schema. Embedded resources have a type, sets
//! have no duplicates, and lists with keys have each key once.

use serde_json::Value;

use super::load::is_true;
use super::problem::{Bad, Kind, Problem, child, list_keys};
use super::typed::equal;

/// Checks that embedded resources name their type.
pub(super) fn embedded(schema: &Value, path: &str, value: &Value, problems: &mut Vec<Problem>) {
    let is_embedded = schema
        .as_object()
        .is_some_and(|schema| is_true(schema, "x-kubernetes-embedded-resource"));
    if let (true, Some(fields)) = (is_embedded, value.as_object()) {
        for name in ["apiVersion", "kind"] {
            let field = child(path, name);
            match fields.get(name) {
                None => problems.push(Problem::new(Kind::Required, &field, Bad::Omitted, "")),
                Some(Value::String(text)) if !text.is_empty() => {}
                Some(Value::String(_)) => {
                    problems.push(Problem::new(
                        Kind::Invalid,
                        &field,
                        Bad::Value("".into()),
                        "must not be empty",
                    ));
                }
                Some(other) => {
                    let bad = Bad::Value(other.clone());
                    problems.push(Problem::new(Kind::Invalid, &field, bad, "must be a string"));
                }
            }
        }
    }
    check_children(schema, path, value, problems, embedded);
}

/// Sets have each value once, lists with keys have each key once.
pub(super) fn lists(schema: &Value, path: &str, value: &Value, problems: &mut Vec<Problem>) {
    if let Some(items) = value.as_array() {
        let is_set = schema
            .get("x-kubernetes-list-type")
            .is_some_and(|kind| kind == "set");
        let keys = list_keys(schema);
        let identity = |item: &Value| match &keys {
            None => item.clone(),
            Some(keys) => {
                let found = keys
                    .iter()
                    .filter_map(|key| Some(((*key).to_owned(), item.get(*key)?.clone())));
                Value::Object(found.collect())
            }
        };
        let is_object = |item: &Value| item.is_object() || item.is_null();
        let odd = items
            .iter()
            .position(|item| !is_object(item))
            .filter(|_| keys.is_some());
        if let Some(index) = odd {
            let detail = "must be an object for an array of list-type map";
            let bad = Bad::Value(items[index].clone());
            problems.push(Problem::new(
                Kind::Invalid,
                &format!("{path}[{index}]"),
                bad,
                detail,
            ));
        } else if is_set || keys.is_some() {
            let all: Vec<Value> = items.iter().map(identity).collect();
            for (index, item) in all.iter().enumerate() {
                // Only the second occurrence is named.
                if all[..index]
                    .iter()
                    .filter(|other| equal(other, item))
                    .count()
                    == 1
                {
                    let field = format!("{path}[{index}]");
                    problems.push(Problem::new(
                        Kind::Duplicate,
                        &field,
                        Bad::Value(item.clone()),
                        "",
                    ));
                }
            }
        }
    }
    check_children(schema, path, value, problems, lists);
}

type Walk = fn(&Value, &str, &Value, &mut Vec<Problem>);

fn check_children(
    schema: &Value,
    path: &str,
    value: &Value,
    problems: &mut Vec<Problem>,
    walk: Walk,
) {
    match value {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let rest = schema
                .get("additionalProperties")
                .filter(|rest| rest.is_object());
            for (name, value) in fields {
                match (properties.and_then(|properties| properties.get(name)), rest) {
                    (Some(schema), _) => walk(schema, &child(path, name), value, problems),
                    (None, Some(schema)) => {
                        walk(schema, &format!("{path}[{name}]"), value, problems)
                    }
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    walk(schema, &format!("{path}[{index}]"), item, problems);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
