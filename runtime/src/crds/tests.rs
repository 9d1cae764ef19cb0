//! Definitions on a scripted API server: what is written, and how long is waited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use lifecycle_client::scripted::{self, failure};

const LISTENERS: Kinds = Kinds {
    group_version: "listeners.stackable.tech/v1alpha1",
    manager: "listener-operator",
    printed_by: "listener-operator crd",
    definitions: listeners,
};

fn listeners() -> Vec<CustomResourceDefinition> {
    let kinds = [
        ("ListenerClass", "listenerclasses"),
        ("Listener", "listeners"),
        ("PodListeners", "podlisteners"),
    ];
    let definition = |(kind, plural): (&str, &str)| {
        let definition = json!({
            "metadata": { "name": format!("{plural}.listeners.stackable.tech") },
            "spec": {
                "group": "listeners.stackable.tech",
                "names": { "kind": kind, "plural": plural },
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1alpha1", "served": true, "storage": true,
                    "additionalPrinterColumns": [{ "name": "Class", "type": "string", "jsonPath": ".spec.className" }],
                    "schema": { "openAPIV3Schema": {
                        "description": "made up", "type": "object", "properties": { "spec": { "type": "object" } },
                    } },
                }],
            },
        });
        without_conversion(serde_json::from_value(definition).unwrap())
    };
    kinds.map(definition).into()
}

fn listed(items: Vec<Value>) -> (u16, Value) {
    let list = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList", "metadata": {}, "items": items,
    });
    (200, list)
}

/// The definition that a list by name asks for.
fn named(line: &str) -> Value {
    let all = listeners();
    let found = all
        .iter()
        .find(|d| line.contains(&format!("metadata.name%3D{}", d.name_any())));
    serde_json::to_value(found.unwrap()).unwrap()
}

fn discovered() -> (u16, Value) {
    let resources: Vec<_> = listeners()
        .iter()
        .map(|d| json!({ "name": d.spec.names.plural, "singularName": "", "namespaced": true, "kind": "K", "verbs": ["get"] }))
        .collect();
    (
        200,
        json!({ "kind": "APIResourceList", "groupVersion": LISTENERS.group_version, "resources": resources }),
    )
}

/// The reply to a write: the object as it was sent, or some definition where a patch was sent.
fn accepted(body: &Value) -> (u16, Value) {
    match body.is_array() {
        true => (
            200,
            json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {} }),
        ),
        false => (200, body.clone()),
    }
}

fn is_discovery(line: &str) -> bool {
    line == "GET /apis/listeners.stackable.tech/v1alpha1"
}

#[tokio::test]
async fn missing_definitions_are_applied() {
    let (client, asked) = scripted::recorded(|line, body| match line.starts_with("GET") {
        true => listed(vec![]),
        false => (201, body.clone()),
    });
    assert_eq!(maintain(&client, &LISTENERS).await.unwrap().len(), 3);
    let writes: Vec<_> = scripted::lines(&asked)
        .into_iter()
        .filter(|l| !l.starts_with("GET"))
        .collect();
    assert_eq!(
        writes[1],
        "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/listeners.listeners.stackable.tech?&force=true&fieldManager=listener-operator"
    );
}

#[tokio::test]
async fn definitions_that_say_the_same_are_not_written() {
    let (client, asked) = scripted::recorded(|line, _| {
        let mut live = named(line);
        live["spec"]["names"]["listKind"] = json!("Defaulted");
        live["status"] = json!({ "storedVersions": ["v1alpha1"] });
        listed(vec![live])
    });
    assert_eq!(maintain(&client, &LISTENERS).await.unwrap(), [""; 0]);
    assert_eq!(scripted::lines(&asked).len(), 3);
}

#[tokio::test]
async fn a_field_more_or_less_in_a_schema_is_written_over() {
    for (change, value) in [
        (
            "/spec/versions/0/schema/openAPIV3Schema/description",
            json!("old"),
        ),
        ("/spec/versions/0/additionalPrinterColumns", json!([])),
        ("/spec/conversion", json!({ "strategy": "Webhook" })),
        (
            "/spec/versions/0/schema/openAPIV3Schema/properties",
            json!({ "spec": {}, "more": {} }),
        ),
    ] {
        let (client, _) = scripted::recorded(move |line, body| match line.starts_with("GET") {
            true => {
                let mut live = named(line);
                if let Some(place) = live.pointer_mut(change) {
                    *place = value.clone();
                }
                listed(vec![live])
            }
            false => accepted(body),
        });
        assert!(
            !maintain(&client, &LISTENERS).await.unwrap().is_empty(),
            "{change}"
        );
    }
}

#[tokio::test]
async fn a_left_over_conversion_webhook_is_taken_away_first() {
    let (client, asked) = scripted::recorded(|line, body| match line.starts_with("GET") {
        true => {
            let mut live = named(line);
            live["spec"]["conversion"] =
                json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": ["v1"] } });
            listed(vec![live])
        }
        false => accepted(body),
    });
    assert_eq!(maintain(&client, &LISTENERS).await.unwrap().len(), 3);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 9);
    assert_eq!(
        asked[1].1,
        json!([{ "op": "replace", "path": "/spec/conversion", "value": { "strategy": "None" } }])
    );
    assert_eq!(
        asked[2].1["spec"]["conversion"],
        json!({ "strategy": "None" })
    );
}

#[tokio::test]
async fn all_kinds_must_be_served() {
    let served_by = |reply: (u16, Value)| async move {
        let (client, _) = scripted::recorded(move |_, _| reply.clone());
        served(&client, &LISTENERS).await
    };
    assert!(served_by(discovered()).await.unwrap());
    let mut two = discovered();
    two.1["resources"].as_array_mut().unwrap().pop();
    assert!(!served_by(two).await.unwrap());
    assert!(
        !served_by(failure(404, "NotFound", "page not found"))
            .await
            .unwrap()
    );
    assert!(
        served_by(failure(503, "ServiceUnavailable", "not yet"))
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn definitions_that_come_a_minute_late_are_waited_for_with_few_requests() {
    let begin = tokio::time::Instant::now();
    let (client, asked) = scripted::recorded(move |line, _| match is_discovery(line) {
        true if begin.elapsed() >= Duration::from_secs(60) => discovered(),
        true => failure(404, "NotFound", "page not found"),
        false => listed(vec![]),
    });
    prepare(&client, &LISTENERS, false).await;
    let waited = begin.elapsed();
    assert!(
        waited >= Duration::from_secs(60) && waited <= Duration::from_secs(76),
        "{waited:?}"
    );
    let discoveries = scripted::lines(&asked)
        .iter()
        .filter(|line| is_discovery(line))
        .count();
    assert!(discoveries <= 10, "{discoveries}");
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_down_for_a_while_is_waited_for() {
    let refusals = Arc::new(AtomicUsize::new(5));
    let (client, asked) = scripted::recorded(move |line, body| {
        let left = refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        });
        match left {
            Ok(_) => failure(500, "InternalError", "etcd is away"),
            Err(_) if is_discovery(line) => discovered(),
            Err(_) if line.starts_with("GET") => listed(vec![]),
            Err(_) => (201, body.clone()),
        }
    });
    prepare(&client, &LISTENERS, true).await;
    let writes = scripted::lines(&asked)
        .iter()
        .filter(|line| line.starts_with("PATCH"))
        .count();
    assert_eq!(writes, 3);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_stays_down_does_not_stop_what_is_served_already() {
    let begin = tokio::time::Instant::now();
    let (client, _) = scripted::recorded(|line, _| match line {
        line if is_discovery(line) => discovered(),
        line if line.starts_with("GET") => listed(vec![]),
        _ => failure(500, "InternalError", "failed calling webhook"),
    });
    prepare(&client, &LISTENERS, true).await;
    assert!(begin.elapsed() > Duration::from_secs(5) && begin.elapsed() < Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn missing_rights_do_not_stop_what_is_served_already() {
    let (client, asked) = scripted::recorded(|line, _| match is_discovery(line) {
        true => discovered(),
        false => failure(403, "Forbidden", "no"),
    });
    prepare(&client, &LISTENERS, true).await;
    assert_eq!(scripted::lines(&asked).len(), 2);
}
