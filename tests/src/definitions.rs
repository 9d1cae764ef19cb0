//! Summary of a definition's schema, one line for each field, and a check of it against a published
//! contract. This module does not depend on any kind.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The fields below `schema` are those expected, and additions that are optional.
#[track_caller]
pub fn check(kind: &str, schema: &Value, expected: &[(&str, &str)], additions: &[&str]) {
    let (added, contract): (BTreeMap<_, _>, BTreeMap<_, _>) = fields(schema)
        .into_iter()
        .partition(|(path, _)| additions.iter().any(|addition| path.starts_with(addition)));
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(path, line)| ((*path).into(), (*line).into()))
        .collect();
    assert_eq!(contract, expected, "{kind}");
    for addition in additions {
        let line = &added[*addition];
        assert!(!line.contains('!'), "{kind}.{addition} is {line}");
    }
}

/// Returns every field below `schema` by its path; `[]` is an item, `{}` a value of a map. A bang
/// marks a required field, a question mark a nullable one. A keyword without a short form stands
/// out as such.
pub fn fields(schema: &Value) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    descend(schema, "", &mut lines);
    lines
}

fn descend(schema: &Value, path: &str, into: &mut BTreeMap<String, String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let required = required.contains(&json!(name));
        into.insert(inner.clone(), line(property, required));
        descend(property, &inner, into);
    }
    for (keyword, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[keyword].is_object() {
            let inner = format!("{path}{suffix}");
            into.insert(inner.clone(), line(&schema[keyword], false));
            descend(&schema[keyword], &inner, into);
        }
    }
}

fn line(schema: &Value, required: bool) -> String {
    let mut line = vec![schema["type"].as_str().unwrap_or("any").to_owned()];
    let mut rest = Vec::new();
    let none = Map::new();
    for (keyword, value) in schema.as_object().unwrap_or(&none) {
        match keyword.as_str() {
            "type" | "description" | "properties" | "items" | "required" | "title" => {}
            "additionalProperties" => line.insert(1, "{}".into()),
            "x-kubernetes-preserve-unknown-fields" => line.insert(1, "free".into()),
            "format" => line.insert(1, text(value)),
            "nullable" => line.push("?".into()),
            "enum" => {
                let values = value.as_array().into_iter().flatten();
                rest.push(values.map(text).collect::<Vec<_>>().join("|"));
            }
            "default" => rest.push(format!("={value}")),
            other => rest.push(format!("{other}={value}")),
        }
    }
    if required {
        line.push("!".into());
    }
    rest.sort_by_key(|part| part.starts_with('='));
    line.extend(rest);
    line.join(" ")
}

/// A string without its quotes.
fn text(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_of_a_field_is_in_its_line() {
        let narrowed = json!({"properties": {
            "port": {"type": "integer", "minimum": 1},
            "scope": {"type": "string", "nullable": true, "enum": ["Node", "Cluster", null]},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        }, "required": ["port"]});
        let fields = fields(&narrowed);
        assert_eq!(fields["port"], "integer ! minimum=1");
        assert_eq!(fields["scope"], "string ? Node|Cluster|null");
        assert_eq!(fields["tags"], "object {}");
        assert_eq!(fields["tags{}"], "string");
    }

    #[test]
    #[should_panic(expected = "Thing.spec.size is integer !")]
    fn an_addition_that_is_required_is_an_error() {
        let sized = json!({"properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
        }});
        check("Thing", &sized, &[("spec", "object")], &["spec.size"]);
    }
}
