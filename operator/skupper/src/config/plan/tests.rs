//! What is planned for small namespaces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::config::router_config::{self, RouterConfig};

const SITE: SiteIdentity<'static> = SiteIdentity {
    name: "west",
    uid: "uid-west",
    edge: false,
    version: "0.1.0",
};

fn listener(name: &str, spec: Value) -> Listener {
    let mut whole = json!({ "routingKey": "backend", "host": name, "port": 8080 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let listener = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": whole,
    });
    serde_json::from_value(listener).expect("it is a Listener")
}

fn connector(name: &str, spec: Value) -> Connector {
    let mut whole = json!({ "routingKey": "backend", "port": 8080 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let connector = json!({ "metadata": { "name": name }, "spec": whole });
    serde_json::from_value(connector).expect("it is a Connector")
}

fn pod(name: &str, app: &str) -> Pod {
    let pod = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "labels": { "app": app } },
        "status": { "phase": "Running", "podIP": "10.0.0.1", "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    serde_json::from_value(pod).expect("it is a Pod")
}

fn planned(
    before: Option<&ConfigMap>,
    listeners: &[Listener],
    connectors: &[Connector],
    pods: &[Pod],
) -> ConfigMap {
    let connectors: Vec<_> = connectors.iter().collect();
    let workloads = workloads(&connectors, &pods.iter().collect::<Vec<_>>());
    let listeners: Vec<_> = listeners.iter().collect();
    let before = router_config::before(before, &[]);
    let planned = super::router_config(
        (&SITE, Platform::Kubernetes),
        &before,
        &listeners,
        &workloads,
    );
    serde_json::from_value(planned.as_json().clone()).expect("it is a ConfigMap")
}

fn hosts(map: &ConfigMap) -> Vec<String> {
    RouterConfig::of(map).hosts().map(str::to_owned).collect()
}

#[test]
fn what_cannot_be_offered_or_goes_away_gets_nothing() {
    let mut going = listener("going", json!({}));
    going.metadata.deletion_timestamp = going.metadata.creation_timestamp.clone();
    let bad = listener("bad", json!({ "host": "{bad}" }));
    let udp = listener("udp", json!({ "type": "udp" }));
    let open = listener("open", json!({ "requireClientCert": true }));
    let map = planned(
        None,
        &[going, bad, udp, open, listener("fine", json!({}))],
        &[],
        &[],
    );
    assert_eq!(hosts(&map), ["fine"]);
}

#[test]
fn planning_again_changes_nothing() {
    let listeners = [
        listener(
            "a",
            json!({ "exposePodsByName": true, "tlsCredentials": "tls" }),
        ),
        listener("b", json!({ "host": "a" })),
    ];
    let connectors = [connector(
        "c",
        json!({ "selector": "app=x", "exposePodsByName": true }),
    )];
    let pods = [pod("x-0", "x"), pod("x-1", "x"), pod("y", "y")];
    let first = planned(None, &listeners, &connectors, &pods);
    assert_eq!(hosts(&first), ["a", "x-0", "x-1"]);
    assert_eq!(planned(Some(&first), &listeners, &connectors, &pods), first);
    let secrets: Vec<_> = secrets(&first).into_iter().collect();
    assert_eq!(secrets, ["skupper-router-state", "tls"]);
}

/// Row 63 of the acceptance table: only the very key counts, and both sides must ask for it.
#[test]
fn s63_a_longer_key_exposes_no_pods() {
    let exposed = json!({ "exposePodsByName": true });
    let selecting = |key: &str, app: &str, expose: bool| {
        let spec = json!({ "routingKey": key, "selector": format!("app={app}"), "exposePodsByName": expose });
        connector(&format!("c-{app}"), spec)
    };
    let connectors = [
        selecting("backend", "one", true),
        selecting("backend.v2", "two", true),
        selecting("backendother", "three", true),
        selecting("backend", "four", false),
    ];
    let pods = [
        pod("one", "one"),
        pod("two", "two"),
        pod("three", "three"),
        pod("four", "four"),
    ];
    let map = planned(None, &[listener("backend", exposed)], &connectors, &pods);
    assert_eq!(hosts(&map), ["backend", "one"]);
    let map = planned(None, &[listener("backend", json!({}))], &connectors, &pods);
    assert_eq!(hosts(&map), ["backend"], "row 62");
}

/// Its port of the router would be of no use: the Service of that name leads elsewhere.
#[test]
fn a_pod_named_like_an_existing_host_is_told_to_its_listener() {
    let listeners = [
        listener("web", json!({ "exposePodsByName": true })),
        listener("db", json!({ "routingKey": "other" })),
    ];
    let selecting = json!({ "selector": "app=x", "exposePodsByName": true });
    let connectors = [connector("c", selecting)];
    let pods = [pod("db", "x"), pod("x-1", "x")];
    let map = planned(None, &listeners, &connectors, &pods);
    let config = RouterConfig::of(&map);
    assert_eq!(config.of_host("db")[0].name, "db");
    let lost = config.lost_of("uid-web").expect("it is told");
    assert_eq!((lost.first.as_str(), lost.count), ("db", 1));
    assert_eq!(planned(Some(&map), &listeners, &connectors, &pods), map);
    let free = planned(Some(&map), &listeners[..1], &connectors, &pods);
    assert!(RouterConfig::of(&free).lost_of("uid-web").is_none());
    assert_eq!(hosts(&free), ["db", "web", "x-1"]);
}

#[test]
fn an_edited_text_is_written_anew_and_ports_stay() {
    let listeners = [listener("a", json!({})), listener("b", json!({}))];
    let first = planned(None, &listeners, &[], &[]);
    let mut edited = first.clone();
    let data = edited.data.get_or_insert_default();
    data.insert(DOCUMENT.to_owned(), "[]".to_owned());
    assert_eq!(planned(Some(&edited), &listeners, &[], &[]), first);
    // Without the allocations, the ports of the document are kept: those of `b` alone are left in it.
    let alone = planned(Some(&first), &listeners[1..], &[], &[]);
    let mut without = alone.clone();
    without.data.get_or_insert_default().remove(CLAIMS);
    let again = planned(Some(&without), &listeners, &[], &[]);
    let ports: BTreeMap<_, _> = ["uid-a", "uid-b"]
        .iter()
        .map(|uid| {
            (
                *uid,
                RouterConfig::of(&again)
                    .allocation(uid)
                    .expect("it has one")
                    .router_port,
            )
        })
        .collect();
    assert_eq!(ports, [("uid-a", 1024), ("uid-b", 1025)].into());
}

/// A thousand on one host fit, each behind its own port.
#[test]
fn a_thousand_listeners_of_one_host_fit() {
    let listeners: Vec<_> = (1..=1000)
        .map(|n| listener(&format!("l{n}"), json!({ "host": "db", "port": n })))
        .collect();
    let map = planned(None, &listeners, &[], &[]);
    assert_eq!(RouterConfig::of(&map).of_host("db").len(), 1000);
    let size: usize = map.data.iter().flatten().map(|(_, text)| text.len()).sum();
    assert!(size < ROOM, "{size}");
}

#[test]
fn who_does_not_fit_is_told_and_others_stay() {
    let key = "k".repeat(2000);
    let listeners: Vec<_> = (0..300)
        .map(|n| {
            listener(
                &format!("l{n:03}"),
                json!({ "routingKey": key, "host": format!("h{n}") }),
            )
        })
        .collect();
    let map = planned(None, &listeners, &[], &[]);
    let config = RouterConfig::of(&map);
    let full = listeners
        .iter()
        .filter(|l| config.is_full_for(&l.uid().unwrap_or_default()));
    let full = full.count();
    assert!(
        (1..300).contains(&full) && config.hosts().count() == 300 - full,
        "{full}"
    );
    assert_eq!(planned(Some(&map), &listeners, &[], &[]), map);
    let size: usize = map.data.iter().flatten().map(|(_, text)| text.len()).sum();
    assert!(size < ROOM, "{size}");
}
