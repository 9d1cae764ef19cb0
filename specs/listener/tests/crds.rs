//! The emitted definitions against the published contract of `listeners.stackable.tech/v1alpha1`, written down by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use lifecycle_specs_listener::{
    crds,
    listener::{Listener, ListenerPort},
    listener_class::{ListenerClass, PreferredAddressType, ServiceType},
    pod_listeners::PodListeners,
};
use lifecycle_tests::definitions;
use serde_json::{Value, json};

const FREE: &str = "object free";

/// Every field: `[]` is an item, `{}` is a value of a map. A bang marks a required field, a
/// question mark a nullable field.
const LISTENER_CLASS: &[(&str, &str)] = &[
    ("spec", "object !"),
    (
        "spec.serviceType",
        "string ! NodePort|LoadBalancer|ClusterIP",
    ),
    ("spec.loadBalancerAllocateNodePorts", "boolean =true"),
    ("spec.loadBalancerClass", "string ?"),
    ("spec.serviceAnnotations", "object {} ={}"),
    ("spec.serviceAnnotations{}", "string"),
    (
        "spec.serviceExternalTrafficPolicy",
        "string ? Cluster|Local",
    ),
    (
        "spec.preferredAddressType",
        "string HostnameConservative|Hostname|IP =\"HostnameConservative\"",
    ),
    ("spec.pinnedNodePorts", "boolean =false"),
    (
        "spec.serviceOverrides",
        r#"object free ={"apiVersion":"v1","kind":"Service","metadata":{}}"#,
    ),
];

/// Fields of the Listener, with bounds of ours. The bounds limit the controller's memory for
/// objects that any user may create.
const LISTENER: &[(&str, &str)] = &[
    ("spec", "object !"),
    ("spec.className", "string ?"),
    (
        "spec.extraPodSelectorLabels",
        "object {} maxProperties=64 ={}",
    ),
    ("spec.extraPodSelectorLabels{}", "string"),
    ("spec.ports", "array ? maxItems=1000"),
    ("spec.ports[]", "object"),
    ("spec.ports[].name", "string !"),
    ("spec.ports[].port", "integer int32 !"),
    ("spec.ports[].protocol", "string ?"),
    ("spec.publishNotReadyAddresses", "boolean ? =true"),
    ("spec.objectOverrides", "array maxItems=64 =[]"),
    ("spec.objectOverrides[]", FREE),
    // The default reports a Listener that has not been reconciled yet and has no status.
    ("status", r#"object ? ={"observedGeneration":-1}"#),
    ("status.serviceName", "string ?"),
    ("status.ingressAddresses", "array ?"),
    ("status.ingressAddresses[]", "object"),
    ("status.ingressAddresses[].address", "string !"),
    (
        "status.ingressAddresses[].addressType",
        "string ! Hostname|IP",
    ),
    ("status.ingressAddresses[].ports", "object {} !"),
    ("status.ingressAddresses[].ports{}", "integer int32"),
    ("status.nodePorts", "object {} ?"),
    ("status.nodePorts{}", "integer int32"),
];

/// Fields that this project adds. They are optional, so that every object that was valid stays
/// valid.
const LISTENER_ADDITIONS: &[&str] = &[
    "spec.externalNames",
    "spec.serviceAnnotations",
    "status.conditions",
    "status.observedClass",
    "status.observedGeneration",
    "status.phase",
];

const LISTENER_CLASS_ADDITIONS: &[&str] = &[
    "spec.additionalNodeAddressTypes",
    "spec.allowedExternalNameSuffixes",
    "spec.allowedNamespaces",
    "spec.allowedOverrides",
];

const POD_LISTENERS: &[(&str, &str)] = &[
    ("spec", "object !"),
    ("spec.listeners", "object {} !"),
    ("spec.listeners{}", "object"),
    ("spec.listeners{}.scope", "string ! Node|Cluster"),
    ("spec.listeners{}.ingressAddresses", "array ?"),
    ("spec.listeners{}.ingressAddresses[]", "object"),
    ("spec.listeners{}.ingressAddresses[].address", "string !"),
    (
        "spec.listeners{}.ingressAddresses[].addressType",
        "string ! Hostname|IP",
    ),
    ("spec.listeners{}.ingressAddresses[].ports", "object {} !"),
    (
        "spec.listeners{}.ingressAddresses[].ports{}",
        "integer int32",
    ),
];

fn definition(kind: &str) -> Value {
    let all = serde_json::to_value(crds()).unwrap();
    let found = all
        .as_array()
        .unwrap()
        .iter()
        .find(|d| d["spec"]["names"]["kind"] == kind);
    found.unwrap().clone()
}

fn schema(kind: &str) -> Value {
    definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

fn check(kind: &str, expected: &[(&str, &str)], additions: &[&str]) {
    definitions::check(kind, &schema(kind), expected, additions);
}

#[test]
fn m1_listener_class_equals_the_contract_but_for_optional_additions() {
    check("ListenerClass", LISTENER_CLASS, LISTENER_CLASS_ADDITIONS);
}

#[test]
fn m1_listener_equals_the_contract_but_for_optional_additions() {
    check("Listener", LISTENER, LISTENER_ADDITIONS);
}

#[test]
fn m1_pod_listeners_equals_the_contract() {
    check("PodListeners", POD_LISTENERS, &[]);
}

#[test]
fn b4_names_scopes_versions_and_subresources_equal_the_contract() {
    for (kind, plural, singular, scope, status) in [
        (
            "ListenerClass",
            "listenerclasses",
            "listenerclass",
            "Cluster",
            false,
        ),
        ("Listener", "listeners", "listener", "Namespaced", true),
        (
            "PodListeners",
            "podlisteners",
            "podlisteners",
            "Namespaced",
            false,
        ),
    ] {
        let definition = definition(kind);
        let spec = &definition["spec"];
        assert_eq!(
            definition["metadata"]["name"],
            format!("{plural}.listeners.stackable.tech")
        );
        assert_eq!(spec["group"], "listeners.stackable.tech");
        assert_eq!(
            spec["names"],
            json!({ "kind": kind, "plural": plural, "singular": singular })
        );
        assert_eq!(spec["scope"], scope);
        assert_eq!(spec["conversion"], json!({ "strategy": "None" }));
        let versions = spec["versions"].as_array().unwrap();
        assert_eq!(versions.len(), 1);
        assert_eq!(versions[0]["name"], "v1alpha1");
        assert_eq!(
            (&versions[0]["served"], &versions[0]["storage"]),
            (&json!(true), &json!(true))
        );
        assert_eq!(versions[0]["subresources"].is_object(), status, "{kind}");
        assert_eq!(schema(kind)["required"], json!(["spec"]));
    }
}

#[test]
fn conditions_are_a_list_map_by_type() {
    let conditions = &schema("Listener")["properties"]["status"]["properties"]["conditions"];
    assert_eq!(conditions["x-kubernetes-list-type"], "map");
    assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
}

#[test]
fn b36_listener_is_printed_with_class_address_ready_and_age() {
    let columns = definition("Listener")["spec"]["versions"][0]["additionalPrinterColumns"].clone();
    let columns: Vec<_> = columns
        .as_array()
        .unwrap()
        .iter()
        .map(|column| {
            (
                column["name"].as_str().unwrap(),
                column["jsonPath"].as_str().unwrap(),
            )
        })
        .map(|(name, path)| format!("{name} {path}"))
        .collect();
    assert_eq!(
        columns,
        [
            "Class .spec.className",
            "Address .status.ingressAddresses[0].address",
            "Ready .status.conditions[?(@.type==\"Ready\")].status",
            "Age .metadata.creationTimestamp",
        ]
    );
}

/// Fills in the schema defaults of absent fields, one level below `spec`.
fn defaulted(kind: &str, mut object: Value) -> Value {
    let schema = schema(kind);
    for (name, property) in schema["properties"]["spec"]["properties"]
        .as_object()
        .unwrap()
    {
        if object["spec"].get(name).is_none() && property.get("default").is_some() {
            object["spec"][name] = property["default"].clone();
        }
    }
    object
}

#[test]
fn a_class_with_only_required_fields_decodes_to_the_defaults_of_the_schema() {
    let least = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": "c" }, "spec": { "serviceType": "NodePort" },
    });
    let decoded: ListenerClass = serde_json::from_value(least.clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&decoded).unwrap(),
        defaulted("ListenerClass", least)
    );
    assert_eq!(decoded.spec.service_type, ServiceType::NodePort);
    assert_eq!(
        decoded.spec.preferred_address_type,
        PreferredAddressType::HostnameConservative
    );
    assert_eq!(
        decoded.spec,
        lifecycle_specs_listener::listener_class::ListenerClassSpec::new(ServiceType::NodePort)
    );
}

#[test]
fn a_listener_with_only_required_fields_decodes_to_the_defaults_of_the_schema() {
    let least = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "l" }, "spec": {},
    });
    let decoded: Listener = serde_json::from_value(least.clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&decoded).unwrap(),
        defaulted("Listener", least)
    );
    assert_eq!(decoded.spec.ports, None);
    assert_eq!(decoded.status, None);
}

#[test]
fn m2_what_the_old_schema_accepts_decodes_without_loss() {
    let listener = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "l" },
        "spec": {
            "className": null, "publishNotReadyAddresses": null, "extraPodSelectorLabels": {},
            "ports": [{ "name": "a", "port": 70000, "protocol": null }, { "name": "a", "port": -1, "protocol": "XYZ" }],
            "objectOverrides": [{ "anything": [1, { "x": null }] }],
        },
        "status": { "serviceName": null, "ingressAddresses": [], "nodePorts": null },
    });
    let decoded: Listener = serde_json::from_value(listener.clone()).unwrap();
    assert!(decoded.spec.publishes_not_ready_addresses());
    let ports = decoded.spec.ports.clone().unwrap();
    assert_eq!(
        ports[0],
        ListenerPort {
            name: "a".into(),
            port: 70000,
            protocol: None
        }
    );
    assert_eq!(ports[1].protocol.as_deref(), Some("XYZ"));
    assert_eq!(
        serde_json::to_value(&decoded.spec.object_overrides).unwrap(),
        listener["spec"]["objectOverrides"]
    );
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass", "metadata": { "name": "c" },
        "spec": { "serviceType": "LoadBalancer", "loadBalancerClass": null, "serviceOverrides": { "spec": { "unknown": 1 } } },
    });
    let decoded: ListenerClass = serde_json::from_value(class).unwrap();
    assert_eq!(
        serde_json::to_value(decoded.spec.service_overrides).unwrap(),
        json!({ "spec": { "unknown": 1 } })
    );
    let pod = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "PodListeners", "metadata": { "name": "pod-1" },
        "spec": { "listeners": { "data": { "scope": "Node", "ingressAddresses": null } } },
    });
    let decoded: PodListeners = serde_json::from_value(pod).unwrap();
    assert_eq!(decoded.spec.listeners["data"].ingress_addresses, None);
}
