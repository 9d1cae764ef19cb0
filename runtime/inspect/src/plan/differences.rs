//! Field-by-field differences between two objects. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan::planned::Field;

/// Fields that the server maintains for itself.
const OF_THE_SERVER: [&str; 7] = [
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.managedFields",
    "metadata.uid",
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.selfLink",
];
/// Keys that identify the elements of a list.
const KEYS: [&str; 4] = ["name", "type", "uid", "key"];
/// Placeholder for a value that must stay private.
const HIDDEN: &str = "(hidden)";

/// Fields that differ, in the order of the paths.
pub(crate) fn differences(kind: &str, before: &Value, after: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    walk("", Some(before), Some(after), &mut fields);
    fields.retain(|field| !is_of_the_server(&field.path));
    if kind == "Secret" {
        fields.iter_mut().for_each(hide);
    }
    fields
}

fn is_of_the_server(path: &str) -> bool {
    let top = matches!(path, "apiVersion" | "kind");
    top || OF_THE_SERVER.iter().any(|own| {
        let rest = path.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// Hides the content of a Secret. The plan may report that it changes, but not its value.
fn hide(field: &mut Field) {
    let is_content = ["data", "stringData"].iter().any(|content| {
        let rest = field.path.strip_prefix(content);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    });
    let copies = field.path.contains("last-applied-configuration");
    if is_content || copies {
        for value in [&mut field.from, &mut field.to] {
            *value = value.as_ref().map(|_| HIDDEN.into());
        }
    }
}

fn walk(path: &str, before: Option<&Value>, after: Option<&Value>, into: &mut Vec<Field>) {
    if before == after {
        return;
    }
    let inner = |value: Option<&Value>| value.is_some_and(is_inner);
    if !(inner(before) || inner(after)) || mixed(before, after) {
        into.push(Field {
            path: path.to_owned(),
            from: before.cloned(),
            to: after.cloned(),
        });
        return;
    }
    let (before, after) = (parts(before, after), parts(after, before));
    let names: BTreeSet<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    let find = |parts: &[(String, Value)], name: &str| {
        let found = parts.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.clone())
    };
    for name in names {
        let path = joined(path, name);
        let (before, after) = (find(&before, name), find(&after, name));
        walk(&path, before.as_ref(), after.as_ref(), into);
    }
}

/// Returns true if a value is a container with content. An empty container is printed as it is.
fn is_inner(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns true if a list is compared with a map, or either with a scalar.
fn mixed(before: Option<&Value>, after: Option<&Value>) -> bool {
    let sort = |value: &Value| (value.is_object(), value.is_array());
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    sort(before) != sort(after)
}

/// Returns the parts of a value: fields of a map, or elements of a list by their distinguishing
/// key, else by position.
fn parts(value: Option<&Value>, other: Option<&Value>) -> Vec<(String, Value)> {
    match value {
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        Some(Value::Array(list)) => {
            let others = other.and_then(Value::as_array);
            let both = list.iter().chain(others.into_iter().flatten());
            let key = KEYS.into_iter().find(|key| {
                both.clone().all(|element| element[key].is_string())
                    && is_unique(list, key)
                    && others.is_none_or(|others| is_unique(others, key))
            });
            let named = list.iter().enumerate().map(|(at, element)| {
                let name = match key {
                    Some(key) => {
                        format!("[{key}={}]", element[key].as_str().unwrap_or_default())
                    }
                    None => format!("[{at}]"),
                };
                (name, element.clone())
            });
            named.collect()
        }
        Some(_) | None => Vec::new(),
    }
}

fn is_unique(list: &[Value], key: &str) -> bool {
    let names: BTreeSet<_> = list.iter().filter_map(|one| one[key].as_str()).collect();
    names.len() == list.len()
}

fn joined(path: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match (path, name.starts_with('[')) {
        (path, true) => format!("{path}{name}"),
        ("", false) => name.to_owned(),
        (path, false) if name.chars().all(is_plain) => format!("{path}.{name}"),
        (path, false) => format!("{path}[{name:?}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: &str, before: Value, after: Value, expected: &[(&str, Value, Value)]) {
        let found = differences(kind, &before, &after);
        let found: Vec<_> = found
            .into_iter()
            .map(|f| (f.path, f.from.unwrap_or_default(), f.to.unwrap_or_default()))
            .collect();
        let expected = expected
            .iter()
            .map(|(path, from, to)| (path.to_string(), from.clone(), to.clone()));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn elements_are_told_apart_by_their_name_or_else_by_their_place() {
        let ports = |http: u16| {
            json!({ "spec": { "ports": [
            { "name": "a", "port": 1 }, { "name": "http", "port": http },
        ], "args": ["x", http] } })
        };
        let port = "spec.ports[name=http].port";
        check(
            "Service",
            ports(80),
            ports(81),
            &[
                ("spec.args[1]", json!(80), json!(81)),
                (port, json!(80), json!(81)),
            ],
        );
    }

    #[test]
    fn what_comes_and_goes_has_one_side() {
        let before = json!({ "metadata": { "labels": { "a.io/b": "1" }, "uid": "u", "resourceVersion": "4" } });
        let after = json!({ "metadata": { "annotations": { "c": "2" }, "resourceVersion": "5" } });
        check(
            "Pod",
            before,
            after,
            &[
                ("metadata.annotations.c", Value::Null, json!("2")),
                (r#"metadata.labels["a.io/b"]"#, json!("1"), Value::Null),
            ],
        );
    }

    #[test]
    fn what_a_secret_holds_is_not_told() {
        let of = |value: &str| json!({ "type": "Opaque", "data": { "password": value } });
        let hidden = json!(HIDDEN);
        check(
            "Secret",
            of("YQ=="),
            of("Yg=="),
            &[("data.password", hidden.clone(), hidden)],
        );
    }

    #[test]
    fn another_sort_of_value_is_told_whole() {
        check(
            "X",
            json!({ "spec": { "a": [1] } }),
            json!({ "spec": { "a": { "b": 1 } } }),
            &[("spec.a", json!([1]), json!({ "b": 1 }))],
        );
        check(
            "X",
            json!({}),
            json!({ "a": [] }),
            &[("a", Value::Null, json!([]))],
        );
    }
}
