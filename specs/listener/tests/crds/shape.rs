//! What a schema says of each field, in one line each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Every field below `schema` with its shape; a keyword that the shape cannot say stands out as such.
fn flatten(schema: &Value, path: &str, required: bool, into: &mut BTreeMap<String, String>) {
    let mut words = vec![schema["type"].as_str().unwrap_or("any").to_owned()];
    let mut rest = Vec::new();
    for (keyword, value) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "type" | "description" | "properties" | "items" | "required" | "title" => {}
            "additionalProperties" => words.insert(1, "{}".into()),
            "x-kubernetes-preserve-unknown-fields" => words.insert(1, "free".into()),
            "format" => words.insert(1, value.as_str().unwrap().into()),
            "nullable" => words.push("?".into()),
            "enum" => {
                let all: Vec<_> = value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|v| v.as_str())
                    .collect();
                rest.push(
                    all.iter()
                        .map(|v| v.unwrap_or("null"))
                        .collect::<Vec<_>>()
                        .join("|"),
                );
            }
            "default" => rest.push(format!("={value}")),
            other => rest.push(format!("{other}={value}")),
        }
    }
    if required {
        words.push("!".into());
    }
    rest.sort_by_key(|word| word.starts_with('='));
    words.extend(rest);
    into.insert(path.to_owned(), words.join(" "));
    descend(schema, path, into);
}

pub(crate) fn descend(schema: &Value, path: &str, into: &mut BTreeMap<String, String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        flatten(property, &inner, required.contains(&json!(name)), into);
    }
    for (keyword, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[keyword].is_object() {
            flatten(&schema[keyword], &format!("{path}{suffix}"), false, into);
        }
    }
}

/// The fields below `schema` are those expected, and additions that are optional.
pub(crate) fn check(kind: &str, schema: &Value, expected: &[(&str, &str)], additions: &[&str]) {
    let mut emitted = BTreeMap::new();
    descend(schema, "", &mut emitted);
    let (added, contract): (BTreeMap<_, _>, BTreeMap<_, _>) = emitted
        .into_iter()
        .partition(|(path, _)| additions.iter().any(|addition| path.starts_with(addition)));
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(path, shape)| ((*path).into(), (*shape).into()))
        .collect();
    assert_eq!(contract, expected, "{kind}");
    for addition in additions {
        let shape = &added[*addition];
        assert!(!shape.contains('!'), "{kind}.{addition} is {shape}");
    }
}
