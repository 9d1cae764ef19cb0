//! Structure of the schemas within `anyOf`, `oneOf`, `allOf` and `not`: they only restrict values
//! whose fields and types are declared outside of them.

use serde_json::{Value, json};

use super::load::is_true;
use super::problem::{Bad, Kind, Problem};

/// Stands for the path of the whole schema within a message.
pub(crate) const ROOT: &str = "<schema>";

/// A field that says more than a restriction, and the state that it must have.
const FORBIDDEN: [(&str, &str); 11] = [
    ("type", "must be empty to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-embedded-resource",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-int-or-string",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-list-map-keys",
        "must be empty to be structural",
    ),
    (
        "x-kubernetes-list-type",
        "must be undefined to be structural",
    ),
    (
        "x-kubernetes-map-type",
        "must be undefined to be structural",
    ),
];

/// Fields of JSON schema that no definition may use.
const UNSUPPORTED: [&str; 6] = [
    "$ref",
    "additionalItems",
    "definitions",
    "dependencies",
    "id",
    "patternProperties",
];

/// Returns the errors of the junctors of a schema, and of those within them.
pub(super) fn problems(schema: &Value, path: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let is_either = schema
        .as_object()
        .is_some_and(|fields| is_true(fields, "x-kubernetes-int-or-string"));
    for (field, nested, at) in nested(schema, path) {
        // One way to write an integer or a string, alone or first of all conditions.
        let is_first = at.ends_with("allOf[0]");
        let skips = is_either && is_first && nested["anyOf"] == either;
        if is_either && field == "anyOf" && schema["anyOf"] == either {
            continue;
        }
        restricts(nested, &at, skips, &mut problems);
        is_declared(nested, Some(schema), path, &at, &mut problems);
    }
    problems
}

/// Returns the schemas of all junctors, with their fields and paths.
fn nested<'a>(schema: &'a Value, path: &str) -> Vec<(&'static str, &'a Value, String)> {
    let mut found = Vec::new();
    for field in ["anyOf", "allOf", "oneOf"] {
        let all = schema.get(field).and_then(Value::as_array);
        for (index, one) in all.into_iter().flatten().enumerate() {
            found.push((field, one, format!("{path}.{field}[{index}]")));
        }
    }
    if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
        found.push(("not", not, format!("{path}.not")));
    }
    found
}

fn restricts(schema: &Value, path: &str, skips_any: bool, problems: &mut Vec<Problem>) {
    for (field, one, at) in nested(schema, path) {
        if !(skips_any && field == "anyOf") {
            restricts(one, &at, false, problems);
        }
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        restricts(items, &format!("{path}.items"), false, problems);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let at = format!("{path}.properties[{name}]");
        restricts(property, &at, false, problems);
    }
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    };
    for (field, detail) in FORBIDDEN {
        let is_said = match field {
            "default" => schema.get(field).is_some_and(|value| !value.is_null()),
            _ => schema.get(field).is_some_and(says),
        };
        if is_said {
            let at = format!("{path}.{field}");
            problems.push(Problem::new(Kind::Forbidden, &at, Bad::Omitted, detail));
        }
    }
    if properties.is_some_and(|properties| properties.contains_key("metadata")) {
        let at = format!("{path}.properties[metadata]");
        let detail = "must not be specified in a nested context";
        problems.push(Problem::new(Kind::Forbidden, &at, Bad::Omitted, detail));
    }
}

/// Requires that fields and items of a nested schema are declared outside of all junctors.
fn is_declared(
    schema: &Value,
    outer: Option<&Value>,
    path: &str,
    at: &str,
    problems: &mut Vec<Problem>,
) {
    let Some(outer) = outer else {
        let detail = format!("because it is defined in {ROOT}{at}");
        problems.push(Problem::new(Kind::Required, path, Bad::Omitted, &detail));
        return;
    };
    for (_, one, at) in nested(schema, at) {
        is_declared(one, Some(outer), path, &at, problems);
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let outer = outer.get("items");
        let (path, at) = (format!("{path}.items"), format!("{at}.items"));
        is_declared(items, outer, &path, &at, problems);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let found = outer.get("properties").and_then(|all| all.get(name));
        // Any name may be a key of such a map.
        let rest = outer.get("additionalProperties");
        if found.is_none() && rest.is_some_and(|rest| *rest != Value::Bool(false)) {
            continue;
        }
        let step = format!(".properties[{name}]");
        let (path, at) = (format!("{path}{step}"), format!("{at}{step}"));
        is_declared(property, found, &path, &at, problems);
    }
}

/// Returns an error for each field that definitions may not use.
pub(super) fn unsupported(schema: &Value, path: &str) -> Vec<Problem> {
    let found = UNSUPPORTED.into_iter().filter(|field| {
        let value = schema.get(*field);
        value.is_some_and(|value| !value.is_null() && *value != "" && *value != json!({}))
    });
    found
        .map(|field| {
            let at = format!("{path}.{field}");
            let detail = format!("{field} is not supported");
            Problem::new(Kind::Forbidden, &at, Bad::Omitted, &detail)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::errors_of;

    #[test]
    fn what_is_within_a_junctor_only_restricts() {
        let volts = json!({"type": "object", "description": "mains", "required": ["volts"],
            "properties": {"volts": {"type": "integer"}}});
        let found = errors_of(json!({"type": "object", "oneOf": [volts]}));
        let wanted = [
            (
                ".properties[p].oneOf[0].properties[volts].type",
                "Forbidden: must be empty to be structural",
            ),
            (
                ".properties[p].oneOf[0].type",
                "Forbidden: must be empty to be structural",
            ),
            (
                ".properties[p].oneOf[0].description",
                "Forbidden: must be empty to be structural",
            ),
            (
                ".properties[p].properties[volts]",
                "Required value: because it is defined in <schema>.properties[p].oneOf[0].properties[volts]",
            ),
        ];
        let wanted: Vec<(String, String)> = wanted
            .iter()
            .map(|(field, message)| ((*field).to_owned(), (*message).to_owned()))
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn each_field_that_says_more_is_forbidden_in_each_junctor() {
        for (field, detail) in super::FORBIDDEN {
            let value = match detail {
                "must be false to be structural" => json!(true),
                _ if field == "x-kubernetes-list-map-keys" => json!(["k"]),
                _ => json!("object"),
            };
            for junctor in ["anyOf", "allOf", "oneOf", "not"] {
                let nested = json!({field: value});
                let (nested, at) = match junctor {
                    "not" => (nested, "not".to_owned()),
                    _ => (json!([nested]), format!("{junctor}[0]")),
                };
                let found = errors_of(json!({"type": "object", junctor: nested}));
                let wanted = (
                    format!(".properties[p].{at}.{field}"),
                    format!("Forbidden: {detail}"),
                );
                assert_eq!(found, [wanted]);
            }
        }
    }

    #[test]
    fn restrictions_and_integers_or_strings_are_accepted() {
        let either = json!([{"type": "integer"}, {"type": "string"}]);
        for good in [
            json!({"x-kubernetes-int-or-string": true, "anyOf": either}),
            json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": either}, {"pattern": "a"}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}},
                "oneOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}],
                "anyOf": [{"properties": {"a": {"enum": ["x"]}, "b": {"items": {"maxLength": 3}}}}]}),
            json!({"type": "object", "additionalProperties": {"type": "string"}, "anyOf": [{"properties": {"a": {"maxLength": 3}}}]}),
        ] {
            assert_eq!(errors_of(good.clone()), [], "{good}");
        }
    }

    #[test]
    fn references_are_not_supported() {
        let found = errors_of(json!({"type": "object", "$ref": "#/definitions/a"}));
        let wanted = (
            ".properties[p].$ref".to_owned(),
            "Forbidden: $ref is not supported".to_owned(),
        );
        assert_eq!(found, [wanted]);
    }
}
