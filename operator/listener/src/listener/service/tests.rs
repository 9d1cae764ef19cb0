//! Golden Services: every field that is sent, for each type.

use lifecycle_specs_listener::listener::ListenerSpec;
use lifecycle_specs_listener::listener_class::ListenerClassSpec;
use proptest::prelude::*;

use super::*;

const MOUNT: &str = "listener.stackable.tech/mnt.c0ffee00000000000000000000000042";

fn listener(spec: Value) -> Listener {
    let mut listener = Listener::new("web", serde_json::from_value::<ListenerSpec>(spec).unwrap());
    listener.metadata.namespace = Some("apps".into());
    listener.metadata.uid = Some("c0ffee00-0000-0000-0000-000000000042".into());
    listener
}

fn class(spec: Value) -> ListenerClass {
    ListenerClass::new(
        "c",
        serde_json::from_value::<ListenerClassSpec>(spec).unwrap(),
    )
}

fn built(listener: &Listener, class: &ListenerClass) -> Value {
    build(This::new(listener), class).unwrap()
}

fn http() -> Value {
    json!({ "ports": [{ "name": "http", "port": 80 }] })
}

fn check(class_spec: Value, expected_spec: Value) {
    let service = built(&listener(http()), &class(class_spec));
    let mut expected = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "web",
            "namespace": "apps",
            "labels": {
                "app.kubernetes.io/instance": "web",
                "app.kubernetes.io/managed-by": "listeners.stackable.tech_listener",
                "app.kubernetes.io/name": "listener",
            },
            "ownerReferences": [{
                "apiVersion": "listeners.stackable.tech/v1alpha1",
                "kind": "Listener",
                "name": "web",
                "uid": "c0ffee00-0000-0000-0000-000000000042",
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "selector": { MOUNT: "web" },
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP" }],
            "publishNotReadyAddresses": true,
        },
    });
    for (field, value) in expected_spec.as_object().unwrap() {
        expected["spec"][field] = value.clone();
    }
    assert_eq!(service, expected);
}

#[test]
fn cluster_ip_has_nothing_of_the_other_types() {
    check(
        json!({
            "serviceType": "ClusterIP", "serviceExternalTrafficPolicy": "Local",
            "loadBalancerClass": "x", "loadBalancerAllocateNodePorts": false, "pinnedNodePorts": true,
        }),
        json!({ "type": "ClusterIP" }),
    );
}

#[test]
fn m8_node_port_takes_the_traffic_policy_only_if_asked() {
    check(
        json!({ "serviceType": "NodePort", "loadBalancerClass": "x" }),
        json!({ "type": "NodePort" }),
    );
    check(
        json!({ "serviceType": "NodePort", "serviceExternalTrafficPolicy": "Local" }),
        json!({ "type": "NodePort", "externalTrafficPolicy": "Local" }),
    );
}

#[test]
fn m8_load_balancer_always_says_whether_it_allocates_node_ports() {
    check(
        json!({ "serviceType": "LoadBalancer" }),
        json!({ "type": "LoadBalancer", "allocateLoadBalancerNodePorts": true }),
    );
    check(
        json!({
            "serviceType": "LoadBalancer", "serviceExternalTrafficPolicy": "Cluster",
            "loadBalancerClass": "x", "loadBalancerAllocateNodePorts": false,
        }),
        json!({
            "type": "LoadBalancer", "externalTrafficPolicy": "Cluster",
            "loadBalancerClass": "x", "allocateLoadBalancerNodePorts": false,
        }),
    );
}

#[test]
fn m6_m24_b32_our_labels_win_over_inherited_ones_and_the_rest_is_kept() {
    let mut listener = listener(http());
    listener.metadata.labels = Some(
        [
            ("app.kubernetes.io/name", "kafka"),
            ("x", ""),
            ("k8s/foo", "bar"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into(),
    );
    listener.metadata.annotations = Some([("not".to_owned(), "ours".to_owned())].into());
    let service = built(&listener, &class(json!({ "serviceType": "ClusterIP" })));
    assert_eq!(
        service["metadata"]["labels"],
        json!({
            "app.kubernetes.io/instance": "web",
            "app.kubernetes.io/managed-by": "listeners.stackable.tech_listener",
            "app.kubernetes.io/name": "listener",
            "k8s/foo": "bar",
            "x": "",
        })
    );
    assert_eq!(service["metadata"].get("annotations"), None);
}

#[test]
fn b32_annotations_of_the_class_are_set_and_empty_values_stay() {
    let class = class(
        json!({ "serviceType": "ClusterIP", "serviceAnnotations": { "a": "", "k8s/foo": "bar" } }),
    );
    let service = built(&listener(http()), &class);
    assert_eq!(
        service["metadata"]["annotations"],
        json!({ "a": "", "k8s/foo": "bar" })
    );
}

#[test]
fn m10_b31_publish_not_ready_addresses_null_and_unset_mean_true_and_false_is_not_sent() {
    for (said, sent) in [
        (json!({}), json!(true)),
        (json!({ "publishNotReadyAddresses": null }), json!(true)),
        (json!({ "publishNotReadyAddresses": true }), json!(true)),
        (json!({ "publishNotReadyAddresses": false }), Value::Null),
    ] {
        let mut spec = http();
        spec.as_object_mut()
            .unwrap()
            .extend(said.as_object().unwrap().clone());
        let service = built(
            &listener(spec),
            &class(json!({ "serviceType": "ClusterIP" })),
        );
        assert_eq!(service["spec"]["publishNotReadyAddresses"], sent, "{said}");
    }
}

#[test]
fn extra_labels_narrow_the_selector_and_cannot_replace_the_mount() {
    let mut spec = http();
    spec["extraPodSelectorLabels"] = json!({ "role": "main", MOUNT: "other" });
    let service = built(
        &listener(spec),
        &class(json!({ "serviceType": "ClusterIP" })),
    );
    assert_eq!(
        service["spec"]["selector"],
        json!({ "role": "main", MOUNT: "web" })
    );
}

fn entry(name: &str, patch: Value) -> Value {
    let mut entry = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": "apps" } });
    overrides::merge(&mut entry, patch.as_object().unwrap()).unwrap();
    entry
}

#[test]
fn m11_of_one_annotation_at_all_levels_the_last_wins() {
    let annotated = |value: &str| json!({ "metadata": { "annotations": { "a": value } } });
    let mut spec = http();
    let class = class(json!({
        "serviceType": "ClusterIP", "serviceAnnotations": { "a": "class", "b": "class" },
        "serviceOverrides": annotated("override of the class"),
    }));
    let annotations =
        |spec: &Value| built(&listener(spec.clone()), &class)["metadata"]["annotations"].clone();
    assert_eq!(
        annotations(&spec),
        json!({ "a": "override of the class", "b": "class" })
    );
    spec["objectOverrides"] = json!([
        entry("web", annotated("first")),
        entry("web", annotated("last")),
        entry("other", annotated("x"))
    ]);
    assert_eq!(annotations(&spec), json!({ "a": "last", "b": "class" }));
}

#[test]
fn b55_of_annotations_the_class_wins_over_the_listener_and_overrides_win_over_both() {
    let class = class(json!({
        "serviceType": "ClusterIP", "serviceAnnotations": { "both": "class", "class": "class" },
    }));
    let mut spec = http();
    let own = json!({ "both": "own", "own": "", "overridden": "own" });
    spec["serviceAnnotations"] = own;
    let annotated = json!({ "metadata": { "annotations": { "overridden": "override" } } });
    spec["objectOverrides"] = json!([entry("web", annotated)]);
    assert_eq!(
        built(&listener(spec), &class)["metadata"]["annotations"],
        json!({ "both": "class", "class": "class", "overridden": "override", "own": "" })
    );
}

#[test]
fn an_override_of_the_type_also_takes_the_fields_of_the_old_type_away() {
    let class = class(json!({
        "serviceType": "LoadBalancer", "serviceExternalTrafficPolicy": "Local", "loadBalancerClass": "x",
        "serviceOverrides": { "spec": { "type": "ClusterIP" } },
    }));
    let service = built(&listener(http()), &class);
    assert_eq!(
        service["spec"],
        json!({
            "type": "ClusterIP", "selector": { MOUNT: "web" }, "publishNotReadyAddresses": true,
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP" }],
        })
    );
}

#[test]
fn b34_a_replaced_selector_keeps_the_mount_label() {
    let class = class(json!({
        "serviceType": "ClusterIP", "serviceOverrides": { "spec": { "selector": { "role": "main" } } },
    }));
    let mut spec = http();
    spec["extraPodSelectorLabels"] = json!({ "gone": "yes" });
    let service = built(&listener(spec), &class);
    assert_eq!(
        service["spec"]["selector"],
        json!({ "role": "main", MOUNT: "web" })
    );
}

#[test]
fn b20_fields_that_no_rust_type_knows_survive_and_empty_ones_are_not_sent() {
    let class = class(json!({
        "serviceType": "ClusterIP",
        "serviceOverrides": { "spec": { "fromTheFuture": { "x": 1 }, "clusterIP": "", "externalIPs": [], "sessionAffinityConfig": {} } },
    }));
    let service = built(&listener(http()), &class);
    assert_eq!(service["spec"]["fromTheFuture"], json!({ "x": 1 }));
    for empty in ["clusterIP", "externalIPs", "sessionAffinityConfig"] {
        assert_eq!(service["spec"].get(empty), None, "{empty}");
    }
}

/// JSON as an administrator may write it, with names that a Service has.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1..70_000i64).prop_map(Value::from),
        prop_oneof![
            Just(""),
            Just("web"),
            Just("apps"),
            Just("None"),
            Just("ClusterIP"),
            Just("TCP")
        ]
        .prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("metadata"),
        Just("spec"),
        Just("name"),
        Just("namespace"),
        Just("labels"),
        Just("ports"),
        Just("port"),
        Just("selector"),
        Just("type"),
        Just("ownerReferences"),
        Just("app.kubernetes.io/name"),
        Just(MOUNT),
        Just("status"),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_overrides_are_identity_is_kept_or_no_service_is_built(
        metadata in json_value(), spec in json_value(), port in -5..66_000i32
    ) {
        let mut class = class(json!({ "serviceType": "NodePort" }));
        class.spec.service_overrides = json!({ "metadata": metadata, "spec": spec }).as_object().unwrap().clone();
        let listener = listener(json!({ "ports": [{ "name": "http", "port": port }] }));
        if let Ok(service) = build(This::new(&listener), &class) {
            prop_assert_eq!(&service["metadata"]["name"], "web");
            prop_assert_eq!(&service["metadata"]["namespace"], "apps");
            prop_assert_eq!(&service["metadata"]["labels"]["app.kubernetes.io/name"], "listener");
            prop_assert_eq!(&service["metadata"]["ownerReferences"][0]["controller"], true);
            prop_assert_eq!(&service["spec"]["selector"][MOUNT], "web");
            prop_assert!(!service["spec"]["ports"].as_array().unwrap().is_empty());
        }
    }
}
