//! Merges overrides over a Service, as JSON, so that fields unknown to a Rust type survive. Reports
//! the reason for a rejected override. The API server itself validates the rest.

use serde_json::{Map, Value};

use super::field_path::FieldPath;

/// Metadata that belongs to the API server or to the one who writes: an override of it would break the write.
const NOT_TO_OVERRIDE: [&str; 9] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Returns true if an object among a Listener's overrides is about the Service of this name and
/// namespace.
pub(super) fn concerns(patch: &Map<String, Value>, namespace: &str, name: &str) -> bool {
    missed(patch, namespace, name).is_empty()
}

/// The fields that keep an override from being about the Service of this name and namespace, each with the value that it must have.
pub(super) fn missed<'a>(
    patch: &Map<String, Value>,
    namespace: &'a str,
    name: &'a str,
) -> Vec<(&'static str, &'a str)> {
    let metadata = patch.get("metadata");
    let outer = |field: &str| patch.get(field).and_then(Value::as_str);
    let inner = |field: &str| metadata.and_then(|m| m.get(field)).and_then(Value::as_str);
    let all = [
        ("apiVersion", outer("apiVersion"), "v1"),
        ("kind", outer("kind"), "Service"),
        ("name", inner("name"), name),
        ("namespace", inner("namespace"), namespace),
    ];
    all.into_iter()
        .filter(|(_, found, wanted)| found.unwrap_or_default() != *wanted)
        .map(|(field, _, wanted)| (field, wanted))
        .collect()
}

/// Merges one override: maps by key, `ports` by number, `selector` and other lists as a whole. A null has no effect.
pub(super) fn merge(service: &mut Value, patch: &Map<String, Value>) -> Result<(), String> {
    for (field, value) in patch.iter().filter(|(_, value)| !value.is_null()) {
        match field.as_str() {
            "apiVersion" | "kind" => same(service, field, value)?,
            "metadata" => merge_metadata(&mut service["metadata"], object(field, value)?)?,
            "spec" => merge_spec(&mut service["spec"], object(field, value)?)?,
            "status" => {}
            _ => service[field] = value.clone(),
        }
    }
    Ok(())
}

fn merge_metadata(metadata: &mut Value, patch: &Map<String, Value>) -> Result<(), String> {
    for (field, value) in patch.iter().filter(|(_, value)| !value.is_null()) {
        match field.as_str() {
            "name" | "namespace" => same(metadata, field, value)?,
            field if NOT_TO_OVERRIDE.contains(&field) => {
                return Err(format!(
                    "`metadata.{field}` cannot be overridden; leave it out"
                ));
            }
            "labels" | "annotations" => {
                object(field, value)?;
                deep(&mut metadata[field], value);
            }
            _ => deep(&mut metadata[field], value),
        }
    }
    Ok(())
}

fn merge_spec(spec: &mut Value, patch: &Map<String, Value>) -> Result<(), String> {
    for (field, value) in patch.iter().filter(|(_, value)| !value.is_null()) {
        match field.as_str() {
            "ports" => merge_ports(&mut spec["ports"], value)?,
            "selector" => spec["selector"] = Value::Object(object(field, value)?.clone()),
            _ => deep(&mut spec[field], value),
        }
    }
    Ok(())
}

fn merge_ports(ports: &mut Value, patch: &Value) -> Result<(), String> {
    let wrong = || "`spec.ports` must be a list whose entries each have a `port` number".to_owned();
    let mut merged = ports.as_array().cloned().unwrap_or_default();
    for entry in patch.as_array().ok_or_else(wrong)? {
        entry
            .get("port")
            .and_then(Value::as_i64)
            .ok_or_else(wrong)?;
        match position(&merged, entry) {
            Some(position) => deep(&mut merged[position], entry),
            None => merged.push(new_port(entry)),
        }
    }
    *ports = Value::Array(merged);
    Ok(())
}

/// Returns the position of the port that an entry is about: the port of its number and protocol, or
/// else the first of its number.
fn position(ports: &[Value], entry: &Value) -> Option<usize> {
    let number = entry.get("port")?;
    let protocol = entry.get("protocol").filter(|p| !p.is_null());
    let mut of_number = (0..ports.len()).filter(|at| ports[*at].get("port") == Some(number));
    let exact = of_number
        .clone()
        .find(|at| protocol == ports[*at].get("protocol"));
    exact.or_else(|| of_number.next())
}

/// A port that only an override declares: no protocol means TCP here too.
fn new_port(entry: &Value) -> Value {
    let mut port = serde_json::json!({ "protocol": "TCP" });
    deep(&mut port, entry);
    port
}

/// Objects by key, anything else as a whole; a null has no effect.
fn deep(into: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        deep(&mut into[field], value);
    }
}

/// Returns the fields that an override sets to another value than the Service has without it. A
/// list or a selector is one field, except for `ports`.
pub(super) fn set(service: &Value, patch: &Map<String, Value>) -> Vec<FieldPath> {
    let mut set = Vec::new();
    for (field, value) in patch {
        let path = FieldPath::default().key(field);
        walk(path, &service[field.as_str()], value, &mut set);
    }
    set
}

fn walk(path: FieldPath, before: &Value, patch: &Value, set: &mut Vec<FieldPath>) {
    match (path.to_string().as_str(), patch) {
        (_, Value::Null) => {}
        // They identify the object, or have no effect.
        ("apiVersion" | "kind" | "metadata.name" | "metadata.namespace" | "status", _) => {}
        ("spec.ports", Value::Array(entries)) => {
            let ports = before.as_array().map_or(&[][..], Vec::as_slice);
            for entry in entries {
                let port = position(ports, entry).map_or(&Value::Null, |at| &ports[at]);
                walk(path.items(), port, entry, set);
            }
        }
        (said, Value::Object(fields)) if said != "spec.selector" && merges(before, fields) => {
            for (field, value) in fields {
                walk(path.key(field), &before[field.as_str()], value, set);
            }
        }
        _ if patch == before => {}
        _ => set.push(path),
    }
}

/// Returns true if an object is merged by key, and does not replace a value that is no object.
fn merges(before: &Value, fields: &Map<String, Value>) -> bool {
    let sets_any = fields.values().any(|value| !value.is_null());
    before.is_object() || before.is_null() && sets_any
}

fn object<'a>(field: &str, value: &'a Value) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("`{field}` must be an object"))
}

fn same(of: &Value, field: &str, wanted: &Value) -> Result<(), String> {
    if &of[field] == wanted {
        return Ok(());
    }
    Err(format!(
        "`{field}` is {wanted} but must stay {}; leave it out",
        of[field]
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "l", "namespace": "n", "labels": { "a": "1" } },
            "spec": {
                "selector": { "mount": "l", "x": "y" },
                "ports": [
                    { "name": "http", "port": 80, "protocol": "TCP" },
                    { "name": "dns", "port": 53, "protocol": "TCP" },
                    { "name": "dns-udp", "port": 53, "protocol": "UDP" },
                ],
            },
        })
    }

    fn check(patch: Value, path: &str, expected: Value) {
        let mut service = base();
        merge(&mut service, patch.as_object().unwrap()).unwrap();
        assert_eq!(
            service.pointer(path).cloned().unwrap_or(Value::Null),
            expected
        );
    }

    fn refused(patch: Value) -> String {
        merge(&mut base(), patch.as_object().unwrap()).unwrap_err()
    }

    #[test]
    fn maps_merge_by_key_and_null_has_no_effect() {
        let patch = json!({ "metadata": { "labels": { "b": "2", "a": null }, "annotations": { "k8s/foo": "" } } });
        check(
            patch.clone(),
            "/metadata/labels",
            json!({ "a": "1", "b": "2" }),
        );
        check(patch, "/metadata/annotations", json!({ "k8s/foo": "" }));
        check(
            json!({ "spec": null, "metadata": { "labels": null } }),
            "",
            base(),
        );
    }

    #[test]
    fn selector_is_replaced_as_a_whole() {
        check(
            json!({ "spec": { "selector": { "z": "1" } } }),
            "/spec/selector",
            json!({ "z": "1" }),
        );
    }

    #[test]
    fn ports_merge_by_number() {
        let patch = json!({ "spec": { "ports": [{ "port": 80, "nodePort": 30080 }, { "port": 81, "name": "new" }] } });
        check(
            patch.clone(),
            "/spec/ports/0",
            json!({ "name": "http", "port": 80, "protocol": "TCP", "nodePort": 30080 }),
        );
        check(
            patch,
            "/spec/ports/3",
            json!({ "name": "new", "port": 81, "protocol": "TCP" }),
        );
    }

    #[test]
    fn a_number_with_two_protocols_is_told_apart_by_protocol() {
        let patch =
            json!({ "spec": { "ports": [{ "port": 53, "protocol": "UDP", "nodePort": 30053 }] } });
        check(patch.clone(), "/spec/ports/2/nodePort", json!(30053));
        check(patch, "/spec/ports/1/nodePort", Value::Null);
    }

    #[test]
    fn the_protocol_of_the_only_port_of_a_number_can_be_changed() {
        check(
            json!({ "spec": { "ports": [{ "port": 80, "protocol": "UDP" }] } }),
            "/spec/ports/0/protocol",
            json!("UDP"),
        );
    }

    #[test]
    fn other_lists_are_replaced_and_unknown_fields_survive() {
        let patch = json!({ "spec": { "loadBalancerSourceRanges": ["10.0.0.0/8"], "fromTheFuture": { "x": [1] } } });
        check(
            patch.clone(),
            "/spec/loadBalancerSourceRanges",
            json!(["10.0.0.0/8"]),
        );
        check(patch, "/spec/fromTheFuture/x", json!([1]));
    }

    #[test]
    fn identity_cannot_be_overridden() {
        assert_eq!(
            refused(json!({ "metadata": { "name": "other" } })),
            "`name` is \"other\" but must stay \"l\"; leave it out"
        );
        refused(json!({ "metadata": { "namespace": "other" } }));
        refused(json!({ "kind": "Pod" }));
        refused(json!({ "metadata": { "uid": "1" } }));
        check(
            json!({ "kind": "Service", "metadata": { "name": "l", "namespace": "n" } }),
            "",
            base(),
        );
    }

    #[test]
    fn wrong_types_that_we_look_into_are_refused_by_us() {
        for patch in [
            json!({ "spec": 1 }),
            json!({ "metadata": [] }),
            json!({ "metadata": { "labels": "x" } }),
            json!({ "spec": { "ports": {} } }),
            json!({ "spec": { "ports": [{ "name": "no-number" }] } }),
            json!({ "spec": { "selector": "x" } }),
        ] {
            assert!(!refused(patch).is_empty());
        }
    }

    #[test]
    fn an_override_of_another_object_misses_the_fields_that_differ() {
        let found = |patch: Value| missed(patch.as_object().unwrap(), "n", "l");
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "l", "namespace": "n" } });
        assert_eq!(found(pod), [("kind", "Service")]);
        assert_eq!(
            found(json!({ "kind": "", "metadata": { "name": 7 } })),
            [
                ("apiVersion", "v1"),
                ("kind", "Service"),
                ("name", "l"),
                ("namespace", "n")
            ]
        );
    }

    #[test]
    fn only_the_service_of_this_name_and_namespace_is_concerned() {
        let patch = |kind: &str, name: &str, namespace: Value| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": namespace } });
        let concerned = |patch: Value| concerns(patch.as_object().unwrap(), "n", "l");
        assert!(concerned(patch("Service", "l", json!("n"))));
        assert!(!concerned(patch("Service", "l", Value::Null)));
        assert!(!concerned(patch("Service", "l", json!("m"))));
        assert!(!concerned(patch("Service", "m", json!("n"))));
        assert!(!concerned(patch("Pod", "l", json!("n"))));
        assert!(!concerned(json!({})));
    }
}
