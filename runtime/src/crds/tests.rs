//! Definitions on a scripted API server: the writes, and the duration of waits.

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

/// Returns the definition that a list request names.
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
async fn m4_missing_definitions_are_applied() {
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
async fn b4_definitions_that_say_the_same_are_not_written() {
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

const PAGES: Kinds = Kinds {
    group_version: "example.org/v1",
    manager: "page-operator",
    printed_by: "page-operator crds",
    definitions: pages,
};

/// A definition in all the words that an API server leaves out or writes otherwise.
fn pages() -> Vec<CustomResourceDefinition> {
    let definition = json!({
        "metadata": { "name": "pages.example.org" },
        "spec": {
            "group": "example.org", "scope": "Namespaced", "preserveUnknownFields": false,
            "names": { "kind": "Page", "plural": "pages", "shortNames": [], "categories": [] },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "deprecated": false, "subresources": { "status": {} },
                "additionalPrinterColumns": [{ "name": "Port", "type": "integer", "jsonPath": ".spec.port", "priority": 0, "description": "" }],
                "schema": { "openAPIV3Schema": {
                    "type": "object", "required": [], "nullable": false,
                    "properties": {
                        "port": { "type": "integer", "minimum": 0.0, "maximum": 65535.0, "default": 80.0, "description": "" },
                        "sizes": { "type": "array", "items": { "type": "number", "enum": [1.0, 2.5], "allOf": [] } },
                        "rest": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {} },
                    },
                } },
            }],
        },
    });
    vec![serde_json::from_value(definition).unwrap()]
}

/// The same as a real API server gives it back.
fn stored() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "pages.example.org", "uid": "1", "resourceVersion": "7", "generation": 1 },
        "spec": {
            "group": "example.org", "scope": "Namespaced", "conversion": { "strategy": "None" },
            "names": { "kind": "Page", "listKind": "PageList", "plural": "pages", "singular": "page" },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "additionalPrinterColumns": [{ "name": "Port", "type": "integer", "jsonPath": ".spec.port" }],
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "port": { "type": "integer", "minimum": 0, "maximum": 65535, "default": 80 },
                        "sizes": { "type": "array", "items": { "type": "number", "enum": [1, 2.5] } },
                        "rest": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {} },
                    },
                } },
            }],
        },
        "status": { "storedVersions": ["v1"] },
    })
}

/// Returns the definitions that are written over this installed one.
async fn written_over(live: Value) -> Vec<String> {
    let (client, _) = scripted::recorded(move |line, body| match line.starts_with("GET") {
        true => listed(vec![live.clone()]),
        false => accepted(body),
    });
    maintain(&client, &PAGES).await.unwrap()
}

#[tokio::test]
async fn a_definition_that_the_server_writes_otherwise_and_completes_says_the_same() {
    assert_eq!(written_over(stored()).await, [""; 0]);
}

#[tokio::test]
async fn what_a_definition_says_otherwise_is_written_whatever_the_server_completes() {
    let version = "/spec/versions/0";
    let schema = format!("{version}/schema/openAPIV3Schema");
    let changes = [
        (format!("{version}/subresources"), json!({})),
        (
            format!("{version}/additionalPrinterColumns/0/priority"),
            json!(1),
        ),
        (format!("{schema}/nullable"), json!(true)),
        (format!("{schema}/properties/port/minimum"), json!(1)),
        (
            format!("{schema}/properties/port/exclusiveMinimum"),
            json!(true),
        ),
        (format!("{schema}/properties/port/multipleOf"), json!(0)),
        (format!("{schema}/properties/port/default"), json!(0)),
        (format!("{schema}/properties/sizes/items/enum/1"), json!(2)),
        (format!("{schema}/properties/rest/default"), json!(null)),
    ];
    for (place, value) in changes {
        let mut live = stored();
        let (parent, field) = place.rsplit_once('/').unwrap();
        let parent = live.pointer_mut(parent).unwrap();
        match parent.is_array() {
            true => parent[1] = value,
            false => parent[field] = value,
        }
        assert_eq!(written_over(live).await, ["pages.example.org"], "{place}");
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
async fn b3_definitions_that_come_a_minute_late_are_waited_for_with_few_requests() {
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
