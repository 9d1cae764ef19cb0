//! Connections through the routers of sites: edits lead them elsewhere, and nothing else touches them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::place::{TestNamespace, has_report};
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::harness::Case;
use serde_json::json;

use super::support::{Echo, connect, echoes, greeted, listen, refused, shared, soon_greeted};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("s41_no_connector_no_socket", closed),
        shared("s42_a_server_that_is_down", down),
        shared("s47_another_routing_key", key),
        shared("s48_another_port", port),
        shared("s49_another_host", host),
        shared("s51_unrelated_changes_drop_nothing", unrelated),
        shared("s60_s61_s62_pods_by_name", pods),
        shared("s60_names_of_pods_that_others_have_are_told", names),
    ]
}

async fn ready(place: &TestNamespace, name: &str) -> Result<Listener> {
    let what = format!("Listener {name} is Ready");
    place
        .until(name, &what, |l: &Listener| has_report(l, "Ready", "OK"))
        .await
}

/// A Site with one Listener that is Ready; the port of its router.
async fn ready_listener(place: &mut TestNamespace, echo: &Echo) -> Result<u16> {
    place.site().await?;
    listen(place, "backend", json!({})).await?;
    connect(place, "c", echo.at, json!({})).await?;
    ready(place, "backend").await?;
    place.router_port("backend", 8080).await
}

async fn closed(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    let port = ready_listener(&mut place, &echo).await?;
    let mut stream = greeted(&place, port, "one").await?;
    place.delete::<Connector>("c").await?;
    refused(&place, port).await?;
    // Its connections end with the Connector, as documented.
    ensure!(echoes(&mut stream, 1000).await.is_err());
    Ok(())
}

async fn down(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    let (port, at) = (ready_listener(&mut place, &echo).await?, echo.at);
    drop(echo);
    let failed = async || greeted(&place, port, "one").await.is_err();
    for _ in 0..100 {
        if failed().await {
            break;
        }
        tokio::task::yield_now().await;
    }
    ensure!(failed().await, "nobody is behind it");
    ready(&place, "backend").await?;
    let _again = Echo::start_at("two", at).await?;
    soon_greeted(&place, port, "two").await.map(drop)
}

async fn key(mut place: TestNamespace) -> Result<()> {
    let (one, other) = (Echo::start("one").await?, Echo::start("two").await?);
    let port = self::ready_listener(&mut place, &one).await?;
    connect(&place, "d", other.at, json!({ "routingKey": "other" })).await?;
    place
        .patch::<Listener>("backend", json!({ "spec": { "routingKey": "other" } }))
        .await?;
    soon_greeted(&place, port, "two").await?;
    ready(&place, "backend").await?;
    let what = "the Connector of the old key is alone";
    let alone = |c: &Connector| has_report(c, "Pending", "No matching listeners");
    place.until("c", what, alone).await.map(drop)
}

async fn port(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    let before = ready_listener(&mut place, &echo).await?;
    place
        .patch::<Listener>("backend", json!({ "spec": { "port": 9090 } }))
        .await?;
    let is = |service: &Service| {
        let ports = service
            .spec
            .iter()
            .flat_map(|spec| spec.ports.iter().flatten());
        ports.map(|port| port.port).collect::<Vec<_>>() == [9090]
    };
    place
        .until("backend", "the Service has the new port alone", is)
        .await?;
    ensure!(place.router_port("backend", 9090).await? == before);
    ready(&place, "backend").await?;
    greeted(&place, before, "one").await.map(drop)
}

async fn host(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    let before = ready_listener(&mut place, &echo).await?;
    let mut stream = greeted(&place, before, "one").await?;
    place
        .patch::<Listener>("backend", json!({ "spec": { "host": "frontend" } }))
        .await?;
    place
        .until("frontend", "the new Service is there", |_: &Service| true)
        .await?;
    place.gone::<Service>("backend").await?;
    ready(&place, "backend").await?;
    ensure!(place.router_port("frontend", 8080).await? == before);
    echoes(&mut stream, 1000).await
}

async fn unrelated(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    let port = ready_listener(&mut place, &echo).await?;
    let mut stream = greeted(&place, port, "one").await?;
    listen(&place, "second", json!({ "routingKey": "second" })).await?;
    connect(&place, "d", echo.at, json!({ "routingKey": "second" })).await?;
    ready(&place, "second").await?;
    echoes(&mut stream, 1000).await?;
    place
        .patch::<Listener>("second", json!({ "spec": { "host": "third", "port": 81 } }))
        .await?;
    place
        .until("third", "the edit is applied", |_: &Service| true)
        .await?;
    place.delete::<Listener>("second").await?;
    place.delete::<Connector>("d").await?;
    place.gone::<Service>("third").await?;
    echoes(&mut stream, 1000).await?;
    let other = listen(&place, "other", json!({})).await?;
    ready(&place, &kube::ResourceExt::name_any(&other)).await?;
    echoes(&mut stream, 1000).await
}

/// Rows 60, 61 and 62: each Pod has a Service that reaches exactly it, as long as the Pod exists
/// and the Service is requested.
async fn pods(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    // Pods with addresses of their own, all on the port of the Connector.
    let first = Echo::start("web-0").await?;
    let port = first.at.port();
    let at = |last: u8| -> IpAddr { Ipv4Addr::new(127, 0, 0, last).into() };
    let second = Echo::start_at("web-1", SocketAddr::new(at(2), port)).await?;
    let third = Echo::start_at("web-2", SocketAddr::new(at(3), port)).await?;
    for (name, echo) in [("web-0", &first), ("web-1", &second), ("web-2", &third)] {
        place.workload(name, "web", echo.at.ip()).await?;
    }
    listen(&place, "web", json!({ "exposePodsByName": true })).await?;
    let spec = json!({ "spec": { "routingKey": "backend", "port": port, "selector": "app=web", "exposePodsByName": true } });
    place.make::<Connector>("web", spec).await?;
    ready(&place, "web").await?;
    for name in ["web-0", "web-1", "web-2"] {
        let service: Service = place
            .until(name, "a Service named as the Pod", |_| true)
            .await?;
        let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
        ensure!(
            ports.len() == 1 && (ports[0].port, ports[0].name.as_deref()) == (8080, Some("web"))
        );
        let own = place.router_port(name, 8080).await?;
        for _ in 0..3 {
            soon_greeted(&place, own, name).await?;
        }
    }
    // Row 61: one is replaced.
    let stale = place.router_port("web-2", 8080).await?;
    place.delete::<Pod>("web-2").await?;
    place.gone::<Service>("web-2").await?;
    let fourth = Echo::start_at("web-3", SocketAddr::new(at(4), port)).await?;
    place.workload("web-3", "web", fourth.at.ip()).await?;
    place
        .until("web-3", "its Service appears", |_: &Service| true)
        .await?;
    let own = place.router_port("web-3", 8080).await?;
    soon_greeted(&place, own, "web-3").await?;
    if own != stale {
        refused(&place, stale).await?;
    }
    // Row 62.
    place
        .patch::<Listener>("web", json!({ "spec": { "exposePodsByName": false } }))
        .await?;
    for name in ["web-0", "web-1", "web-3"] {
        place.gone::<Service>(name).await?;
    }
    ready(&place, "web").await.map(drop)
}

/// Row 60: of three Pods, one has the name of a Listener's host, and one has the name of another
/// user's Service. Both are reported, and the third is reachable.
async fn names(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("free").await?;
    for name in ["free", "host", "mine"] {
        place.workload(name, "web", echo.at.ip()).await?;
    }
    let mine = json!({ "spec": { "ports": [{ "port": 1, "protocol": "TCP" }] } });
    place.make::<Service>("mine", mine).await?;
    listen(&place, "host", json!({ "routingKey": "other" })).await?;
    place
        .until("host", "the host is had", |_: &Service| true)
        .await?;
    listen(&place, "web", json!({ "exposePodsByName": true })).await?;
    let spec = json!({ "spec": { "routingKey": "backend", "port": echo.at.port(), "selector": "app=web", "exposePodsByName": true } });
    place.make::<Connector>("web", spec).await?;
    let foreign = "Service mine already exists in namespace";
    let taken = "Listener host with host host and port 8080 already exists in namespace";
    let said = format!("{foreign}\n{taken}");
    let told = |l: &Listener| has_report(l, "Error", &said);
    place.until("web", "both are told", told).await?;
    let own = place.router_port("free", 8080).await?;
    soon_greeted(&place, own, "free").await?;
    place.delete::<Service>("mine").await?;
    let left = |l: &Listener| has_report(l, "Error", taken);
    place.until("web", "one is left", left).await?;
    place.delete::<Listener>("host").await?;
    ready(&place, "web").await?;
    let own = place.router_port("host", 8080).await?;
    soon_greeted(&place, own, "free").await.map(drop)
}
