//! Server-side apply and the book-keeping of other writes, on built-in kinds and a custom resource.

use serde_json::{Value, json};

use super::*;

const T0: &str = "2026-01-01T00:00:00Z";
const T1: &str = "2026-01-01T00:00:01Z";

fn writer(manager: &'static str, time: &'static str) -> Writer<'static> {
    Writer {
        manager,
        subresource: None,
        api_version: "v1",
        time,
        reset: &[],
    }
}

fn config_map() -> &'static Schema {
    Schema::builtin("", "v1", "ConfigMap").unwrap()
}

fn service() -> &'static Schema {
    Schema::builtin("", "v1", "Service").unwrap()
}

fn map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": data})
}

fn ports(ports: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "default"}, "spec": {"ports": ports}})
}

fn owned(object: &Value, manager: &str) -> Value {
    let list = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = list.iter().find(|entry| entry["manager"] == manager);
    entry
        .map(|entry| entry["fieldsV1"].clone())
        .unwrap_or_default()
}

#[test]
fn the_first_apply_owns_what_it_sets_and_no_identity() {
    let made = apply(
        config_map(),
        None,
        &map(json!({"a": "1"})),
        &writer("one", T0),
        false,
    )
    .unwrap();
    assert_eq!(made["data"], json!({"a": "1"}));
    let entry = json!([{
        "manager": "one", "operation": "Apply", "apiVersion": "v1", "time": T0,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}},
    }]);
    assert_eq!(made["metadata"]["managedFields"], entry);
}

#[test]
fn an_apply_of_the_same_changes_nothing() {
    let made = apply(
        config_map(),
        None,
        &map(json!({"a": "1"})),
        &writer("one", T0),
        false,
    )
    .unwrap();
    let again = apply(
        config_map(),
        Some(&made),
        &map(json!({"a": "1"})),
        &writer("one", T1),
        false,
    )
    .unwrap();
    assert_eq!(made, again);
}

#[test]
fn what_an_applier_drops_goes_unless_another_owns_it() {
    let one = apply(
        config_map(),
        None,
        &map(json!({"a": "1", "b": "2"})),
        &writer("one", T0),
        false,
    )
    .unwrap();
    let two = apply(
        config_map(),
        Some(&one),
        &map(json!({"b": "2"})),
        &writer("two", T0),
        false,
    )
    .unwrap();
    let less = apply(
        config_map(),
        Some(&two),
        &map(json!({})),
        &writer("one", T1),
        false,
    )
    .unwrap();
    assert_eq!(less["data"], json!({"b": "2"}));
    assert_eq!(owned(&less, "two"), json!({"f:data": {"f:b": {}}}));
}

#[test]
fn another_value_is_a_conflict_that_can_be_forced() {
    let one = apply(
        config_map(),
        None,
        &map(json!({"a": "1"})),
        &writer("one", T0),
        false,
    )
    .unwrap();
    let wanted = map(json!({"a": "2"}));
    let refusal = apply(config_map(), Some(&one), &wanted, &writer("two", T1), false).unwrap_err();
    assert_eq!(refusal.code, 409);
    assert_eq!(
        refusal.message,
        "Apply failed with 1 conflict: conflict with \"one\": .data.a"
    );
    assert_eq!(refusal.causes[0].field, ".data.a");
    let forced = apply(config_map(), Some(&one), &wanted, &writer("two", T1), true).unwrap();
    assert_eq!(forced["data"], json!({"a": "2"}));
    assert_eq!(owned(&forced, "one"), Value::Null);
}

#[test]
fn several_conflicts_are_listed_by_manager() {
    let mut made = map(json!({"a": "1", "b": "1"}));
    update(config_map(), None, &mut made, &writer("edit", T0));
    let made = apply(
        config_map(),
        Some(&made),
        &map(json!({"b": "1"})),
        &writer("one", T0),
        false,
    )
    .unwrap();
    let wanted = map(json!({"a": "2", "b": "2"}));
    let refusal = apply(
        config_map(),
        Some(&made),
        &wanted,
        &writer("two", T1),
        false,
    )
    .unwrap_err();
    let lines = [
        "Apply failed with 3 conflicts: conflicts with \"edit\" using v1:",
        "- .data.a",
        "- .data.b",
        "conflicts with \"one\":",
        "- .data.b",
    ];
    assert_eq!(refusal.message, lines.join("\n"));
    assert_eq!(refusal.causes.len(), 3);
}

#[test]
fn items_are_told_apart_by_keys_and_their_defaults() {
    let one = ports(json!([{"port": 80}, {"port": 53, "protocol": "UDP"}]));
    let made = apply(service(), None, &one, &writer("one", T0), false).unwrap();
    let two = ports(json!([{"port": 80, "protocol": "TCP", "name": "web"}]));
    let made = apply(service(), Some(&made), &two, &writer("two", T0), false).unwrap();
    let list =
        json!([{"port": 80, "protocol": "TCP", "name": "web"}, {"port": 53, "protocol": "UDP"}]);
    assert_eq!(made["spec"]["ports"], list);
    let fields = json!({"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {
        ".": {}, "f:port": {}, "f:protocol": {}, "f:name": {},
    }}}});
    assert_eq!(owned(&made, "two"), fields);
}

#[test]
fn an_item_that_nobody_wants_any_more_goes() {
    let one = ports(json!([{"port": 80}, {"port": 443}]));
    let made = apply(service(), None, &one, &writer("one", T0), false).unwrap();
    let less = apply(
        service(),
        Some(&made),
        &ports(json!([{"port": 443}])),
        &writer("one", T1),
        false,
    )
    .unwrap();
    assert_eq!(less["spec"]["ports"], json!([{"port": 443}]));
}

#[test]
fn what_does_not_fit_the_schema_is_refused_without_a_reason() {
    let check = |wanted: Value, expected: &str| {
        let refusal = apply(service(), None, &wanted, &writer("one", T0), false).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (500, ""));
        let start = "failed to create typed patch object (default/a; /v1, Kind=Service): ";
        assert_eq!(refusal.message, format!("{start}{expected}"));
    };
    let mut unknown = ports(json!([]));
    unknown["spec"]["nonsense"] = json!(1);
    check(unknown, ".spec.nonsense: field not declared in schema");
    check(
        ports(json!([{"port": 80}, {"port": 80}])),
        ".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]",
    );
    check(
        ports(json!([{"port": "x"}])),
        ".spec.ports[port=\"x\",protocol=\"TCP\"].port: expected numeric (int or float), got string",
    );
}

#[test]
fn an_update_gives_what_it_changed_to_its_manager() {
    let mut made = map(json!({"a": "1"}));
    update(config_map(), None, &mut made, &writer("one", T0));
    assert_eq!(owned(&made, "one"), json!({"f:data": {".": {}, "f:a": {}}}));
    made["metadata"]["uid"] = json!("u");
    let mut changed = made.clone();
    changed["data"] = json!({"a": "2", "b": "1"});
    update(config_map(), Some(&made), &mut changed, &writer("two", T1));
    assert_eq!(owned(&changed, "one"), json!({"f:data": {}}));
    assert_eq!(
        owned(&changed, "two"),
        json!({"f:data": {"f:a": {}, "f:b": {}}})
    );
    let mut same = changed.clone();
    update(
        config_map(),
        Some(&changed),
        &mut same,
        &writer("three", T1),
    );
    assert_eq!(same, changed);
}

#[test]
fn entries_that_are_cleared_stay_away_until_the_next_apply() {
    let mut made = map(json!({"a": "1"}));
    update(config_map(), None, &mut made, &writer("one", T0));
    let mut cleared = made.clone();
    cleared["metadata"]["managedFields"] = json!([{}]);
    update(config_map(), Some(&made), &mut cleared, &writer("one", T1));
    assert!(cleared["metadata"].get("managedFields").is_none());
    let applied = apply(
        config_map(),
        Some(&cleared),
        &map(json!({"b": "1"})),
        &writer("two", T1),
        false,
    )
    .unwrap();
    assert_eq!(
        owned(&applied, "before-first-apply"),
        json!({"f:data": {".": {}, "f:a": {}}})
    );
}

#[test]
fn a_status_is_owned_apart() {
    let deployment = Schema::builtin("apps", "v1", "Deployment").unwrap();
    let mut made = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"replicas": 1}, "status": {"replicas": 3},
    });
    let spec = Writer {
        api_version: "apps/v1",
        reset: &[&["status"]],
        ..writer("one", T0)
    };
    update(deployment, None, &mut made, &spec);
    assert_eq!(owned(&made, "one"), json!({"f:spec": {"f:replicas": {}}}));
    let mut reported = made.clone();
    reported["status"] = json!({"replicas": 1});
    let status = Writer {
        subresource: Some("status"),
        reset: &[&["spec"]],
        time: T1,
        ..spec
    };
    update(deployment, Some(&made), &mut reported, &status);
    let list = reported["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(list[1]["subresource"], "status");
    assert_eq!(list[1]["fieldsV1"], json!({"f:status": {"f:replicas": {}}}));
}

#[test]
fn custom_resources_merge_as_they_declare() {
    let schema = Schema::of_crd(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}}}))
    .unwrap();
    let object = |spec: Value| json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec});
    let one = object(json!({"set": ["a", "b"], "whole": {"x": "1"}, "free": {"p": {"q": 1}}}));
    let made = apply(&schema, None, &one, &writer("one", T0), false).unwrap();
    let two = object(json!({"set": ["c"], "free": {"p": {"r": [1]}}}));
    let made = apply(&schema, Some(&made), &two, &writer("two", T0), false).unwrap();
    assert_eq!(
        made["spec"],
        json!({"set": ["a", "b", "c"], "whole": {"x": "1"}, "free": {"p": {"q": 1, "r": [1]}}})
    );
    let fields = json!({"f:spec": {
        "f:set": {"v:\"a\"": {}, "v:\"b\"": {}}, "f:whole": {}, "f:free": {"f:p": {".": {}, "f:q": {}}},
    }});
    assert_eq!(owned(&made, "one"), fields);
    let clash = object(json!({"whole": {"y": "1"}}));
    let refusal = apply(&schema, Some(&made), &clash, &writer("three", T1), false).unwrap_err();
    assert_eq!(refusal.causes[0].field, ".spec.whole");
}
