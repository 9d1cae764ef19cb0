//! Tables for Stale and Current: each row is a desired object, a live one with managed fields, and the comparison.

use serde_json::{Value, json};

use super::*;

const MANAGER: &str = "us/service";

fn service(spec: Value, managed: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "web", "labels": { "app": "web" }, "managedFields": managed },
        "spec": spec,
    })
}

fn applied(fields: Value) -> Value {
    json!({ "manager": MANAGER, "operation": "Apply", "fieldsV1": fields })
}

fn updated(manager: &str, fields: Value) -> Value {
    json!({ "manager": manager, "operation": "Update", "fieldsV1": fields })
}

fn check(desired: Value, live: &Value, expected: Comparison) {
    let ours = Ours::for_manager(live, MANAGER, &["old".to_owned()], "");
    assert_eq!(
        compare(&pruned(desired.clone()), live, &ours),
        expected,
        "{desired}\n{live}"
    );
}

fn behind_at(at: &str) -> Comparison {
    Comparison::Behind { at: at.to_owned() }
}

fn surplus_at(at: &str, migrate: bool) -> Comparison {
    Comparison::Surplus {
        at: at.to_owned(),
        migrate,
    }
}

fn ports(protocols: &[(u16, &str)]) -> Value {
    let all = protocols.iter();
    all.map(|(port, protocol)| {
        json!({ "port": port, "protocol": protocol, "targetPort": port, "nodePort": 30000 + port })
    })
    .collect()
}

fn owned_ports(protocols: &[(u16, &str)]) -> Value {
    let all = protocols.iter().map(|(port, protocol)| {
        let key = format!("k:{{\"port\":{port},\"protocol\":\"{protocol}\"}}");
        (key, json!({ ".": {}, "f:port": {}, "f:protocol": {} }))
    });
    Value::Object(all.collect())
}

#[test]
fn defaults_of_the_server_do_not_matter() {
    let live = service(
        json!({ "type": "ClusterIP", "clusterIP": "10.0.0.1", "sessionAffinity": "None", "ports": ports(&[(80, "TCP")]) }),
        json!([applied(
            json!({ "f:spec": { "f:type": {}, "f:ports": owned_ports(&[(80, "TCP")]) } })
        )]),
    );
    check(
        json!({ "spec": { "type": "ClusterIP", "clusterIP": "", "ports": [{ "port": 80 }] } }),
        &live,
        Comparison::Current,
    );
}

#[test]
fn a_changed_and_a_missing_leaf_are_behind() {
    let live = service(json!({ "type": "NodePort" }), json!([]));
    check(
        json!({ "spec": { "type": "ClusterIP" } }),
        &live,
        behind_at("spec.type"),
    );
    check(
        json!({ "metadata": { "labels": { "team": "a" } } }),
        &live,
        behind_at("metadata.labels.team"),
    );
    check(
        json!({ "spec": { "ports": [{ "port": 80 }] } }),
        &live,
        behind_at("spec.ports"),
    );
}

#[test]
fn members_of_a_list_map_are_found_by_their_keys() {
    let live = service(
        json!({ "ports": ports(&[(53, "TCP"), (53, "UDP")]) }),
        json!([applied(
            json!({ "f:spec": { "f:ports": owned_ports(&[(53, "TCP"), (53, "UDP")]) } })
        )]),
    );
    let both = json!([{ "port": 53 }, { "port": 53, "protocol": "UDP" }]);
    check(
        json!({ "spec": { "ports": both } }),
        &live,
        Comparison::Current,
    );
    check(
        json!({ "spec": { "ports": [{ "port": 53, "protocol": "UDP" }] } }),
        &live,
        surplus_at("spec.ports.{\"port\":53,\"protocol\":\"TCP\"}", false),
    );
    check(
        json!({ "spec": { "ports": [{ "port": 53, "protocol": "UDP", "nodePort": 1 }, { "port": 53 }] } }),
        &live,
        behind_at("spec.ports[0].nodePort"),
    );
    check(
        json!({ "spec": { "ports": [{ "port": 53 }, { "port": 53, "protocol": "UDP" }, { "port": 80 }] } }),
        &live,
        behind_at("spec.ports[2]"),
    );
}

#[test]
fn a_dropped_field_of_ours_is_surplus_and_one_of_others_is_not() {
    let spec = json!({ "type": "NodePort", "externalTrafficPolicy": "Local" });
    let fields = json!({ "f:spec": { "f:type": {}, "f:externalTrafficPolicy": {} } });
    let desired = json!({ "spec": { "type": "NodePort" } });
    let rows = [
        (
            applied(fields.clone()),
            surplus_at("spec.externalTrafficPolicy", false),
        ),
        (
            updated(MANAGER, fields.clone()),
            surplus_at("spec.externalTrafficPolicy", true),
        ),
        (
            updated("old", fields.clone()),
            surplus_at("spec.externalTrafficPolicy", true),
        ),
        (
            updated(
                "kubectl-edit",
                json!({ "f:spec": { "f:externalTrafficPolicy": {} } }),
            ),
            Comparison::Current,
        ),
    ];
    for (entry, expected) in rows {
        check(
            desired.clone(),
            &service(spec.clone(), json!([entry])),
            expected,
        );
    }
}

#[test]
fn an_equal_object_is_taken_over_without_a_write() {
    let live = service(
        json!({ "type": "NodePort", "ports": ports(&[(80, "TCP")]) }),
        json!([updated(
            "old",
            json!({ "f:spec": { "f:type": {}, "f:ports": owned_ports(&[(80, "TCP")]) } })
        )]),
    );
    check(
        json!({ "spec": { "type": "NodePort", "ports": [{ "port": 80 }] } }),
        &live,
        Comparison::Current,
    );
}

#[test]
fn owned_nothing_is_no_surplus() {
    let live = service(
        json!({ "type": "ClusterIP" }),
        json!([applied(
            json!({ "f:metadata": { "f:annotations": {} }, "f:spec": { "f:type": {}, "f:loadBalancerClass": {} } })
        )]),
    );
    check(
        json!({ "spec": { "type": "ClusterIP" } }),
        &live,
        Comparison::Current,
    );
}

/// The replaced operator applies `annotations: {}`, and a controller of load balancers adds some of its own.
#[test]
fn members_of_others_in_a_map_that_was_applied_empty_are_no_surplus() {
    let empty = json!({ "f:metadata": { "f:annotations": {} }, "f:spec": { "f:type": {} } });
    let theirs = json!({ "f:metadata": { "f:annotations": { ".": {}, "f:x": {} } } });
    let live = |ours: Value, theirs: Value| {
        let mut live = service(
            json!({ "type": "ClusterIP" }),
            json!([ours, updated("balancer", theirs)]),
        );
        live["metadata"]["annotations"] = json!({ "x": "1" });
        live
    };
    let desired = json!({ "spec": { "type": "ClusterIP" } });
    for ours in [applied(empty.clone()), updated("old", empty.clone())] {
        check(
            desired.clone(),
            &live(ours, theirs.clone()),
            Comparison::Current,
        );
    }
    // If others also own the map as a whole, our part is the whole map.
    let whole = json!({ "f:metadata": { "f:annotations": {} } });
    check(
        desired,
        &live(applied(empty), whole),
        surplus_at("metadata.annotations", false),
    );
}

#[test]
fn labels_may_be_empty_texts() {
    let entry = applied(json!({ "f:metadata": { "f:labels": { "f:x": {} } } }));
    let mut live = service(json!({}), json!([entry]));
    let desired = json!({ "metadata": { "labels": { "x": "" } } });
    check(desired.clone(), &live, behind_at("metadata.labels.x"));
    let mut bare = live.clone();
    bare["metadata"]
        .as_object_mut()
        .map(|meta| meta.remove("labels"));
    check(desired.clone(), &bare, behind_at("metadata.labels"));
    live["metadata"]["labels"]["x"] = json!("");
    check(desired, &live, Comparison::Current);
    check(
        json!({ "metadata": {} }),
        &live,
        surplus_at("metadata.labels.x", false),
    );
    check(
        json!({ "metadata": { "labels": { "app": "web" } } }),
        &live,
        surplus_at("metadata.labels.x", false),
    );
}

#[test]
fn sets_and_atomic_lists_compare_by_value_and_order() {
    let owned =
        json!({ "f:metadata": { "f:finalizers": { "v:\"a\"": {} } }, "f:spec": { "f:args": {} } });
    let live = json!({
        "metadata": { "finalizers": ["b", "a"], "managedFields": [applied(owned)] },
        "spec": { "args": ["x", "y"] },
    });
    let desired = |finalizers: Value, args: Value| json!({ "metadata": { "finalizers": finalizers }, "spec": { "args": args } });
    check(
        desired(json!(["a"]), json!(["x", "y"])),
        &live,
        Comparison::Current,
    );
    check(
        desired(json!(["a"]), json!(["y", "x"])),
        &live,
        behind_at("spec.args"),
    );
    check(
        desired(json!(["a"]), json!(["x"])),
        &live,
        behind_at("spec.args"),
    );
    check(
        desired(json!(["b"]), json!(["x", "y"])),
        &live,
        surplus_at("metadata.finalizers.\"a\"", false),
    );
}

#[test]
fn status_entries_are_not_entries_of_the_object() {
    let mut entry = applied(json!({ "f:spec": { "f:type": {} } }));
    entry["subresource"] = json!("status");
    let live = service(json!({ "type": "NodePort" }), json!([entry]));
    check(
        json!({ "metadata": { "labels": { "app": "web" } } }),
        &live,
        Comparison::Current,
    );
}

#[test]
fn pruning_keeps_what_says_something() {
    let desired = json!({
        "metadata": { "annotations": {}, "labels": { "x": "" } },
        "spec": { "clusterIP": "", "selector": { "a": "" }, "externalIPs": [], "affinity": { "deep": { "er": null } },
                  "volumes": [{ "name": "v", "emptyDir": {}, "note": null }], "zero": 0, "off": false },
    });
    let kept = json!({
        "metadata": { "labels": { "x": "" } },
        "spec": { "selector": { "a": "" }, "volumes": [{ "name": "v", "emptyDir": {} }], "zero": 0, "off": false },
    });
    assert_eq!(pruned(desired), kept);
    assert_eq!(pruned(kept.clone()), kept);
}

#[test]
fn migration_leaves_one_entry_of_ours_and_all_others() {
    let live = service(
        json!({ "type": "NodePort" }),
        json!([
            updated("kubectl", json!({ "f:spec": { "f:x": {} } })),
            applied(json!({ "f:spec": { "f:type": {} } })),
            updated("old", json!({ "f:spec": { "f:externalTrafficPolicy": {} }, "f:metadata": { "f:labels": { "f:app": {} } } })),
            { "manager": "old", "operation": "Update", "subresource": "status", "fieldsV1": { "f:status": {} } },
        ]),
    );
    let mut after = live.clone();
    after["metadata"]["managedFields"] = migrated(&live, MANAGER, &["old".to_owned()], &[]);
    let ours = Ours::for_manager(&after, MANAGER, &["old".to_owned()], "");
    assert!(ours.stuck.is_empty());
    assert_eq!(
        ours.applied.map(|m| Value::Object(m.clone())),
        Some(
            json!({ "f:spec": { "f:type": {}, "f:externalTrafficPolicy": {} }, "f:metadata": { "f:labels": { "f:app": {} } } })
        ),
    );
    assert_eq!(
        after["metadata"]["managedFields"].as_array().map(Vec::len),
        Some(3)
    );
}

#[test]
fn fingerprints_follow_our_paths_only() {
    let entry =
        applied(json!({ "f:spec": { "f:type": {}, "f:ports": owned_ports(&[(80, "TCP")]) } }));
    let live = |kind: &str, affinity: &str| {
        service(
            json!({ "type": kind, "sessionAffinity": affinity, "ports": ports(&[(80, "TCP")]) }),
            json!([entry.clone()]),
        )
    };
    let print = |live: &Value| {
        let ours = Ours::for_manager(live, MANAGER, &[], "");
        fingerprint(&under_our_paths(
            &json!({ "spec": { "type": "x" } }),
            live,
            &ours,
        ))
    };
    assert_eq!(print(&live("A", "None")), print(&live("A", "ClientIP")));
    assert_ne!(print(&live("A", "None")), print(&live("B", "None")));
}
