//! Addresses of each type of Service under each preference, as the status reports them.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use crate::listeners::{Cluster, ExpectedCondition, SOON, addresses, message};
use anyhow::{Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Node, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{Patch, WatchEvent, WatchParams};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::BINARIES;
use crate::PROGRAM;

const PREFERENCES: [&str; 3] = ["HostnameConservative", "Hostname", "IP"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m17_m20_a_cluster_ip_is_told_by_name_or_by_address",
            BINARIES,
            inside,
        ),
        case(
            "m17_m19_a_load_balancer_is_told_as_it_answers",
            BINARIES,
            balanced,
        ),
        case(
            "m18_m19_nodes_are_told_as_pods_move_and_volumes_reserve_them",
            BINARIES,
            on_nodes,
        ),
        case(
            "b23_b24_b57_a_vanished_node_takes_only_its_own_address_along",
            BINARIES,
            vanished_node,
        ),
        case(
            "b58_addresses_stay_and_keep_their_order_while_pods_are_rolled_and_the_operator_restarts",
            BINARIES,
            rolled,
        ),
        case(
            "b54_b59_a_class_adds_kinds_of_addresses_of_nodes_and_allows_external_names",
            BINARIES,
            added,
        ),
    ]
}

/// A class of each preference, named for it in lower case.
async fn classes(cluster: &Cluster, service_type: &str) -> Result<()> {
    for preference in PREFERENCES {
        let class = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "ListenerClass",
            "metadata": { "name": preference.to_lowercase() },
            "spec": { "serviceType": service_type, "preferredAddressType": preference },
        });
        cluster.make(cluster.all::<ListenerClass>(), class).await?;
    }
    Ok(())
}

/// Waits until a Listener reports exactly these addresses.
async fn wait_for_addresses(cluster: &Cluster, name: &str, wanted: &[String]) -> Result<Listener> {
    let listeners = cluster.namespaced::<Listener>();
    let what = format!("addresses {wanted:?} of Listener {name}");
    let found = eventually(&what, SOON, async || {
        let listener = listeners.get(name).await?;
        Ok((addresses(&listener) == wanted).then_some(listener))
    })
    .await;
    let now = listeners.get(name).await?;
    found.map_err(|e| e.context(format!("now: {:?}; {}", now.status, cluster.log())))
}

async fn inside() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    classes(&cluster, "ClusterIP").await?;
    for preference in PREFERENCES.map(str::to_lowercase) {
        cluster.expose(&preference, &preference).await?;
        let listener = cluster.ready(&preference).await?;
        let service = cluster.namespaced::<Service>().get(&preference).await?;
        let ip = service.spec.and_then(|s| s.cluster_ip).unwrap_or_default();
        let name = format!("{preference}.default.svc.cluster.test:8080");
        let wanted = if preference == "ip" {
            format!("{ip}:8080")
        } else {
            name
        };
        ensure!(
            addresses(&listener) == [wanted],
            "{preference}: {:?}",
            listener.status
        );
    }
    Ok(())
}

async fn balanced() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    classes(&cluster, "LoadBalancer").await?;
    let answers: [(&str, Value, [&str; 3]); 3] = [
        (
            "both",
            json!([{ "ip": "192.0.2.1", "hostname": "lb.example.org" }]),
            ["lb.example.org", "lb.example.org", "192.0.2.1"],
        ),
        ("onlyip", json!([{ "ip": "192.0.2.1" }]), ["192.0.2.1"; 3]),
        (
            "onlyname",
            json!([{ "hostname": "lb.example.org" }]),
            ["lb.example.org"; 3],
        ),
    ];
    for (answer, ingress, wanted) in answers {
        for (preference, wanted) in PREFERENCES.map(str::to_lowercase).iter().zip(wanted) {
            let name = format!("{answer}-{preference}");
            cluster.expose(&name, preference).await?;
            let waiting = ExpectedCondition("Addressed", "Unknown", "WaitingForLoadBalancer");
            let waiting = cluster.condition(&name, waiting).await?;
            let published = waiting.status.and_then(|s| s.ingress_addresses);
            ensure!(
                published == Some(Vec::new()),
                "none yet is an empty list: {published:?}"
            );
            cluster.balance(&name, ingress.clone()).await?;
            let listener = cluster.ready(&name).await?;
            ensure!(
                addresses(&listener) == [format!("{wanted}:8080")],
                "{name}: {:?}",
                listener.status
            );
        }
    }
    Ok(())
}

/// The node port that the API server chose.
async fn node_port(cluster: &Cluster, name: &str) -> Result<i32> {
    let services = cluster.namespaced::<Service>();
    eventually("a node port", SOON, async || {
        let service = services.get_opt(name).await?.and_then(|s| s.spec);
        Ok(service.and_then(|s| s.ports?.first()?.node_port))
    })
    .await
}

async fn on_nodes() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    classes(&cluster, "NodePort").await?;
    let first = [
        ("InternalIP", "10.0.0.1"),
        ("ExternalIP", "192.0.2.1"),
        ("Hostname", "first.example.org"),
    ];
    cluster.node("a-first", &first).await?;
    cluster
        .node(
            "b-second",
            &[
                ("InternalIP", "10.0.0.2"),
                ("Hostname", "second.example.org"),
            ],
        )
        .await?;
    let wanted = [
        ["192.0.2.1", "10.0.0.2"],
        ["first.example.org", "second.example.org"],
        ["192.0.2.1", "10.0.0.2"],
    ];
    for (preference, [one, two]) in PREFERENCES.map(str::to_lowercase).iter().zip(wanted) {
        cluster.expose(preference, preference).await?;
        cluster
            .condition(
                preference,
                ExpectedCondition("Addressed", "Unknown", "NoPod"),
            )
            .await?;
        let port = node_port(&cluster, preference).await?;
        let at = |host: &str| format!("{host}:{port}");
        cluster.endpoints(preference, &["b-second"]).await?;
        wait_for_addresses(&cluster, preference, &[at(two)]).await?;
        cluster
            .endpoints(preference, &["b-second", "a-first", "a-first"])
            .await?;
        let listener = wait_for_addresses(&cluster, preference, &[at(one), at(two)]).await?;
        let ports = listener
            .status
            .and_then(|s| s.node_ports)
            .unwrap_or_default();
        ensure!(ports == [("http".to_owned(), port)].into(), "{ports:?}");
        cluster.endpoints(preference, &[]).await?;
        wait_for_addresses(&cluster, preference, &[]).await?;
        cluster
            .volume(&format!("{preference}-volume"), preference, "a-first")
            .await?;
        wait_for_addresses(&cluster, preference, &[at(one)]).await?;
        cluster.ready(preference).await?;
    }
    Ok(())
}

async fn vanished_node() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    for (node, ip) in [("a", "10.0.0.1"), ("b", "10.0.0.2"), ("c", "10.0.0.3")] {
        cluster.node(node, &[("InternalIP", ip)]).await?;
    }
    cluster.expose("web", "external-unstable").await?;
    let port = node_port(&cluster, "web").await?;
    for node in ["a", "b", "c"] {
        cluster
            .volume(&format!("volume-{node}"), "web", node)
            .await?;
    }
    let at = |hosts: &[&str]| {
        hosts
            .iter()
            .map(|h| format!("{h}:{port}"))
            .collect::<Vec<_>>()
    };
    wait_for_addresses(&cluster, "web", &at(&["10.0.0.1", "10.0.0.2", "10.0.0.3"])).await?;
    let nodes = cluster.all::<k8s_openapi::api::core::v1::Node>();
    nodes.delete("b", &Default::default()).await?;
    wait_for_addresses(&cluster, "web", &at(&["10.0.0.1", "10.0.0.3"])).await?;
    let listener = cluster
        .condition(
            "web",
            ExpectedCondition("Addressed", "True", "PinnedNodeGone"),
        )
        .await?;
    let said = message(&listener, "Addressed");
    ensure!(
        said.contains("Node `b` is gone") && said.contains("volume-b"),
        "{said}"
    );
    nodes.delete("a", &Default::default()).await?;
    nodes.delete("c", &Default::default()).await?;
    cluster
        .condition("web", ExpectedCondition("Ready", "False", "PinnedNodeGone"))
        .await?;
    cluster.node("c", &[("InternalIP", "10.0.0.9")]).await?;
    wait_for_addresses(&cluster, "web", &at(&["10.0.0.9"]))
        .await
        .map(drop)
}

/// Tests a class that adds every permitted address, and another one that adds none, over one node.
async fn added() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let addresses = [
        ("InternalIP", "10.0.0.1"),
        ("InternalIP", "fd00::1"),
        ("InternalDNS", "a.internal"),
        ("Hostname", "a"),
    ];
    cluster.node("a", &addresses).await?;
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "adding" },
        "spec": {
            "serviceType": "NodePort",
            "additionalNodeAddressTypes": ["InternalDNS", "InternalIP"],
            "allowedExternalNameSuffixes": ["example.org"],
        },
    });
    cluster.make(cluster.all::<ListenerClass>(), class).await?;
    let names = json!(["web.example.net", "web.example.org"]);
    let ports = json!([{ "name": "http", "port": 8080 }]);
    for (name, class) in [("open", "adding"), ("plain", "external-unstable")] {
        let spec = json!({ "className": class, "ports": ports, "externalNames": names });
        cluster.create(name, spec).await?;
        cluster.endpoints(name, &["a"]).await?;
    }
    let refused = ExpectedCondition("ExternalNamesAllowed", "False", "ExternalNameNotAllowed");
    for (name, class, all) in [
        (
            "open",
            "adding",
            &["10.0.0.1", "a.internal", "fd00::1", "web.example.org"][..],
        ),
        ("plain", "external-unstable", &["10.0.0.1"]),
    ] {
        let port = node_port(&cluster, name).await?;
        let all: Vec<_> = all.iter().map(|one| format!("{one}:{port}")).collect();
        wait_for_addresses(&cluster, name, &all).await?;
        cluster.ready(name).await?;
        let listener = cluster.condition(name, refused).await?;
        let said = message(&listener, "ExternalNamesAllowed");
        let expected = format!("ListenerClass `{class}` does not allow `web.example.net`");
        ensure!(said.starts_with(&expected), "{said}");
    }
    let allowed = json!({ "spec": { "externalNames": ["web.example.org"] } });
    cluster.patch::<Listener>("open", allowed).await?;
    let listeners = cluster.namespaced::<Listener>();
    eventually("the condition goes with the name", SOON, async || {
        let said = message(&listeners.get("open").await?, "ExternalNamesAllowed");
        Ok(said.is_empty().then_some(()))
    })
    .await?;
    for name in [
        "192.0.2.1",
        "Web.example.org",
        "a..example.org",
        "*.example.org",
    ] {
        let spec = json!({ "className": "adding", "ports": ports, "externalNames": [name] });
        ensure!(
            cluster.create("bad", spec).await.is_err(),
            "{name} is taken"
        );
    }
    Ok(())
}

/// The addresses of a Listener as a watch shows them, from a version on.
fn watched(cluster: &Cluster, name: &str, version: String) -> Arc<Mutex<Vec<Vec<String>>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (listeners, shown) = (cluster.namespaced::<Listener>(), Arc::clone(&seen));
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    tokio::spawn(async move {
        let Ok(stream) = listeners.watch(&params, &version).await else {
            return;
        };
        let mut stream = pin!(stream);
        while let Some(Ok(event)) = stream.next().await {
            if let WatchEvent::Modified(listener) = event {
                let mut shown = shown.lock().expect("nobody panics with it");
                shown.push(addresses(&listener));
            }
        }
    });
    seen
}

/// Moves the Pods behind the Listener `web` to these nodes, each as a new Pod. The node `c` gets an
/// address by which the change is visible.
async fn roll(cluster: &Cluster, step: usize, nodes: &[&str]) -> Result<()> {
    let endpoint = |(number, node): (usize, &&str)| json!({ "addresses": [format!("10.85.{step}.{}", number + 2)], "nodeName": node });
    let endpoints: Vec<Value> = nodes.iter().enumerate().map(endpoint).collect();
    let patch = Patch::Merge(json!({ "endpoints": endpoints }));
    let slices = cluster.namespaced::<EndpointSlice>();
    slices.patch("web-1", &Default::default(), &patch).await?;
    let address = json!({ "type": "InternalIP", "address": format!("10.0.1.{step}") });
    let patch = Patch::Merge(json!({ "status": { "addresses": [address] } }));
    let nodes = cluster.all::<Node>();
    nodes.patch_status("c", &Default::default(), &patch).await?;
    Ok(())
}

/// Volumes keep two nodes, and Pods come and go on three; of all that is seen meanwhile nothing lacks a node or has another order.
async fn rolled() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    for (node, ip) in [("a", "10.0.0.1"), ("b", "10.0.0.2"), ("c", "10.0.1.0")] {
        cluster.node(node, &[("InternalIP", ip)]).await?;
    }
    cluster.expose("web", "external-unstable").await?;
    let port = node_port(&cluster, "web").await?;
    for node in ["b", "a"] {
        let volume = format!("volume-{node}");
        cluster.volume(&volume, "web", node).await?;
    }
    cluster.endpoints("web", &["c", "a", "b"]).await?;
    let all = |step: usize| {
        let hosts = [
            "10.0.0.1".to_owned(),
            "10.0.0.2".to_owned(),
            format!("10.0.1.{step}"),
        ];
        hosts.map(|host| format!("{host}:{port}"))
    };
    let listener = wait_for_addresses(&cluster, "web", &all(0)).await?;
    let version = listener.metadata.resource_version.unwrap_or_default();
    let seen = watched(&cluster, "web", version);

    let steps: [&[&str]; 5] = [
        &["a", "c", "b", "c"],
        &["c", "a"],
        &["c"],
        &["b", "c", "c"],
        &["c", "b", "a"],
    ];
    for (step, nodes) in (1..).zip(steps) {
        let restarts = step % 2 == 0;
        if restarts {
            ensure!(cluster.stop_operator()?.success(), "it ends well");
        }
        roll(&cluster, step, nodes).await?;
        if restarts {
            cluster.run_operator(&[]).await?;
        }
        wait_for_addresses(&cluster, "web", &all(step)).await?;
    }
    let shown = || seen.lock().expect("nobody panics with it").clone();
    eventually("the last status is seen", SOON, async || {
        let shown = shown();
        let is_last = shown.last().is_some_and(|last| *last == all(5));
        Ok(is_last.then_some(()))
    })
    .await?;
    let mut expected = (0..=5).map(all).peekable();
    for one in shown() {
        while expected.next_if(|next| one != *next).is_some() {}
        ensure!(expected.peek().is_some(), "{one:?} in {:?}", shown());
    }
    Ok(())
}
