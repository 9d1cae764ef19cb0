//! Tests of the defaults of built-in kinds: each object with its defaults.

use serde_json::{Value, json};

use super::super::builtin::kinds;

/// Checks the value at a pointer once the defaults of an object are filled in.
fn check(resource: &str, mut object: Value, pointer: &str, expected: Value) {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let kinds = kinds();
    super::default(kinds.get(group, plural).unwrap(), &mut object);
    let found = object.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(found, expected, "{resource} {pointer}: {object}");
}

#[test]
fn ports_of_network_policies_are_of_tcp() {
    let policies = "networkpolicies.networking.k8s.io";
    let rule = json!({"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}]});
    let ports = json!([{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]);
    for direction in ["ingress", "egress"] {
        let object = json!({"spec": {direction: [rule]}});
        let pointer = format!("/spec/{direction}/0/ports");
        check(policies, object, &pointer, ports.clone());
    }
    let object = json!({"spec": {"egress": [rule]}});
    let kinds = json!(["Ingress", "Egress"]);
    check(policies, object, "/spec/policyTypes", kinds);
}

#[test]
fn a_pod_has_defaults_that_a_template_has_not() {
    let port = json!({"containerPort": 80});
    let resources = json!({"limits": {"cpu": "1"}});
    let container = json!({"name": "c", "image": "i", "ports": [port], "resources": resources});
    let spec = json!({"hostNetwork": true, "containers": [container]});
    let pod = || json!({"spec": spec});
    let first = "/spec/containers/0";
    check(
        "pods",
        pod(),
        &format!("{first}/ports/0/hostPort"),
        80.into(),
    );
    let requests = format!("{first}/resources/requests");
    check("pods", pod(), &requests, json!({"cpu": "1"}));
    let set = || json!({"spec": {"template": {"spec": spec}}});
    let first = "/spec/template/spec/containers/0";
    let deployments = "deployments.apps";
    check(
        deployments,
        set(),
        &format!("{first}/ports/0/hostPort"),
        Value::Null,
    );
    check(
        deployments,
        set(),
        &format!("{first}/ports/0/protocol"),
        "TCP".into(),
    );
    check(
        deployments,
        set(),
        &format!("{first}/resources/requests"),
        Value::Null,
    );
}

#[test]
fn hooks_and_fields_of_pods_have_defaults() {
    let field = json!({"fieldRef": {"fieldPath": "metadata.name"}});
    let full = json!({"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}});
    let hook = json!({"preStop": {"httpGet": {"port": 80}}});
    let container = json!({"name": "c", "image": "i", "lifecycle": hook, "livenessProbe": {"grpc": {"port": 1}}});
    let sources =
        json!([{"serviceAccountToken": {"path": "t"}}, {"downwardAPI": {"items": [field]}}]);
    let volumes = json!([{"name": "a", "downwardAPI": {"items": [field]}}, {"name": "b", "projected": {"sources": sources}}]);
    let pod = || json!({"spec": {"containers": [container], "volumes": volumes}});
    let get = json!({"path": "/", "port": 80, "scheme": "HTTP"});
    let first = "/spec/containers/0";
    check(
        "pods",
        pod(),
        &format!("{first}/lifecycle/preStop/httpGet"),
        get,
    );
    check(
        "pods",
        pod(),
        &format!("{first}/livenessProbe/grpc/service"),
        "".into(),
    );
    check(
        "pods",
        pod(),
        "/spec/volumes/0/downwardAPI/items/0",
        full.clone(),
    );
    let sources = "/spec/volumes/1/projected/sources";
    let token = format!("{sources}/0/serviceAccountToken/expirationSeconds");
    check("pods", pod(), &token, 3600.into());
    check(
        "pods",
        pod(),
        &format!("{sources}/1/downwardAPI/items/0"),
        full,
    );
}

#[test]
fn controllers_take_labels_and_selectors_from_their_templates() {
    let labels = json!({"a": "b"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": []}});
    let object = || json!({"metadata": {"name": "n"}, "spec": {"template": template}});
    let controllers = "replicationcontrollers";
    check(controllers, object(), "/spec/selector", labels.clone());
    check(controllers, object(), "/spec/replicas", 1.into());
    check(controllers, object(), "/metadata/labels", labels.clone());
    let policy = "/spec/template/spec/dnsPolicy";
    check(controllers, object(), policy, "ClusterFirst".into());
    check("jobs.batch", object(), "/metadata/labels", labels);
}

#[test]
fn kinds_around_pods_have_their_defaults() {
    let limit = json!({"type": "Container", "max": {"cpu": "2"}, "default": {"memory": "1Gi"}, "min": {"disk": "1"}});
    let limits = || json!({"spec": {"limits": [limit]}});
    let all = json!({"cpu": "2", "memory": "1Gi"});
    check("limitranges", limits(), "/spec/limits/0/default", all);
    let all = json!({"cpu": "2", "memory": "1Gi", "disk": "1"});
    check(
        "limitranges",
        limits(),
        "/spec/limits/0/defaultRequest",
        all,
    );
    let classes = "priorityclasses.scheduling.k8s.io";
    let policy = "PreemptLowerPriority".into();
    check(classes, json!({"value": 1}), "/preemptionPolicy", policy);
    let class = json!({"spec": {"parameters": {"kind": "K", "name": "n"}}});
    let classes = "ingressclasses.networking.k8s.io";
    check(classes, class, "/spec/parameters/scope", "Cluster".into());
    let node = json!({"status": {"capacity": {"cpu": "4"}}});
    check("nodes", node, "/status/allocatable", json!({"cpu": "4"}));
    let set = json!({"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}});
    let kept = json!({"whenDeleted": "Retain", "whenScaled": "Delete"});
    let pointer = "/spec/persistentVolumeClaimRetentionPolicy";
    check("statefulsets.apps", set, pointer, kept);
}
