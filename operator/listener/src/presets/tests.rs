//! Presets on a scripted API server: created classes, unchanged classes, and the reports.

use kube::runtime::events::Reporter;
use serde_json::json;

use super::*;
use lifecycle_client::scripted;

fn recorder(client: &Client) -> Recorder {
    let controller = "listener.listeners.stackable.tech".to_owned();
    Recorder::new(
        client.clone(),
        Reporter {
            controller,
            instance: None,
        },
    )
}

const CLASSES: &str = "/apis/listeners.stackable.tech/v1alpha1/listenerclasses";

/// Answers as a cluster with these classes that accepts every write.
fn cluster(line: &str, body: &Value, existing: &Value) -> (u16, Value) {
    let Some(name) = line.strip_prefix(&format!("GET {CLASSES}/")) else {
        return (201, body.clone());
    };
    let found = existing
        .as_array()
        .unwrap()
        .iter()
        .find(|class| class["metadata"]["name"] == name);
    match found {
        Some(class) => (200, class.clone()),
        None => scripted::failure(404, "NotFound", "not found"),
    }
}

/// Runs on a cluster with these classes; returns the writes, with bodies.
async fn written(preset: Preset, existing: Value) -> Vec<(String, Value)> {
    let (client, asked) = scripted::recorded(move |line, body| cluster(line, body, &existing));
    ensure(&client, preset, &recorder(&client)).await.unwrap();
    let asked = asked.lock().unwrap();
    asked
        .iter()
        .filter(|(line, _)| !line.starts_with("GET"))
        .cloned()
        .collect()
}

fn existing(name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": name, "uid": "u1" }, "spec": spec,
    })
}

fn summary(preset: Preset) -> Vec<String> {
    let line = |class: &ListenerClass| {
        format!(
            "{} {} {}",
            class.name_any(),
            class.spec.service_type.as_str(),
            class.spec.pinned_node_ports
        )
    };
    classes(preset).iter().map(line).collect()
}

#[test]
fn m5_presets_are_those_of_the_contract() {
    assert_eq!(summary(Preset::None), [""; 0]);
    assert_eq!(
        summary(Preset::EphemeralNodes),
        [
            "cluster-internal ClusterIP false",
            "external-unstable NodePort false",
            "external-stable LoadBalancer false"
        ]
    );
    assert_eq!(
        summary(Preset::StableNodes),
        [
            "cluster-internal ClusterIP false",
            "external-unstable NodePort false",
            "external-stable NodePort true"
        ]
    );
}

#[tokio::test]
async fn no_preset_asks_nothing() {
    let (client, asked) = scripted::recorded(|_, _| panic!("nothing is to be asked"));
    ensure(&client, Preset::None, &recorder(&client))
        .await
        .unwrap();
    assert_eq!(scripted::lines(&asked), [""; 0]);
}

#[tokio::test]
async fn missing_classes_are_created_under_the_old_name() {
    let written = written(Preset::StableNodes, json!([])).await;
    assert_eq!(written.len(), 3);
    for (line, _) in &written {
        assert_eq!(
            line,
            &format!("POST {CLASSES}?&fieldManager=listeners.stackable.tech")
        );
    }
    assert_eq!(written[2].1["metadata"]["name"], "external-stable");
    assert_eq!(written[2].1["spec"]["pinnedNodePorts"], true);
}

#[tokio::test]
async fn classes_made_by_the_old_operator_are_equal_and_nothing_is_written() {
    let old = |service_type: &str, pinned: bool| {
        json!({
            "serviceType": service_type, "loadBalancerAllocateNodePorts": true, "loadBalancerClass": null,
            "serviceAnnotations": {}, "preferredAddressType": "HostnameConservative", "pinnedNodePorts": pinned,
            "serviceOverrides": { "apiVersion": "v1", "kind": "Service", "metadata": {} },
        })
    };
    let classes = json!([
        existing("cluster-internal", old("ClusterIP", false)),
        existing("external-unstable", old("NodePort", false)),
        existing("external-stable", old("LoadBalancer", false)),
    ]);
    assert_eq!(written(Preset::EphemeralNodes, classes).await, []);
}

#[tokio::test]
async fn m5_b2_a_class_that_differs_is_left_alone_and_an_event_names_the_field() {
    let classes = json!([
        existing("cluster-internal", json!({ "serviceType": "ClusterIP" })),
        existing("external-unstable", json!({ "serviceType": "NodePort" })),
        existing("external-stable", json!({ "serviceType": "LoadBalancer" })),
    ]);
    let written = written(Preset::StableNodes, classes).await;
    let (line, event) = &written[0];
    assert_eq!(
        (written.len(), line.as_str()),
        (1, "POST /apis/events.k8s.io/v1/namespaces/default/events?")
    );
    assert_eq!(
        (&event["type"], &event["reason"]),
        (&json!("Normal"), &json!("PresetDiffers"))
    );
    assert_eq!(event["regarding"]["name"], "external-stable");
    assert_eq!(event["regarding"]["uid"], "u1");
    assert_eq!(
        event["note"],
        "`spec.pinnedNodePorts`: false, true; `spec.serviceType`: \"LoadBalancer\", \"NodePort\" (in the cluster, preset stable-nodes); \
         the operator never changes the class, and its Listeners keep their addresses: to use the preset, create a class with another name"
    );
}

#[tokio::test]
async fn a_class_that_cannot_be_read_is_left_alone() {
    let classes = json!([
        existing("cluster-internal", json!({ "serviceType": "ClusterIP" })),
        existing("external-unstable", json!({ "serviceType": "NodePort" })),
        existing("external-stable", json!({ "serviceType": 7 })),
    ]);
    assert_eq!(written(Preset::StableNodes, classes).await, []);
}

#[tokio::test]
async fn a_class_that_somebody_created_at_the_same_time_is_fine_and_a_refusal_is_not() {
    let run = |code, reason: &'static str| async move {
        let (client, _) = scripted::recorded(move |line, body| match line.starts_with("GET") {
            true => cluster(line, body, &json!([])),
            false => scripted::failure(code, reason, "no"),
        });
        ensure(&client, Preset::StableNodes, &recorder(&client)).await
    };
    run(409, "AlreadyExists").await.unwrap();
    let refused = run(403, "Forbidden").await.unwrap_err();
    assert_eq!(
        cause::in_one_line(&refused),
        "ListenerClass `cluster-internal` of the preset cannot be created: no"
    );
}
