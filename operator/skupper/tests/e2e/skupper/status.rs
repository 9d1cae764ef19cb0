//! Tests of the statuses of Listeners and Connectors while a router runs.

use std::time::Duration;

use crate::place::{TestNamespace, has_report, report};
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::Case;
use serde_json::json;
use tokio::net::TcpListener;

use super::support::{
    Echo, connect, echoes, greeted, listen, shared, soon_greeted, writes_nothing,
};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("s26_a_fresh_listener_without_a_match", fresh),
        shared("s06_s28_a_match_in_the_own_site", matched),
        shared("s29_the_last_connector_goes", unmatched),
        shared("s32_conditions_are_kept_clean", hygiene),
        shared("s33_nothing_is_written_at_rest", idle_minute),
        shared("s64_an_occupied_port_is_told", occupied),
        shared("s66_a_connector_says_the_same", connector),
        shared("s66_a_listener_without_its_secret_is_no_match", unserved),
        shared("what_another_controller_has_told_is_cleared", left_over),
        shared("a_site_says_whether_its_router_runs", site),
        shared("a_site_that_asks_for_more_serves_what_there_is", asking),
        shared("a_connector_without_pods_or_target", selectors),
    ]
}

async fn until<'a, K>(
    place: &TestNamespace,
    name: &str,
    status: &'a str,
    message: &'a str,
) -> Result<K>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
{
    let what = format!("{} {name} says {status}: {message}", K::kind(&()));
    place
        .until(name, &what, |object: &K| {
            has_report(object, status, message)
        })
        .await
}

async fn fresh(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    listen(&place, "backend", json!({})).await?;
    let listener: Listener = until(&place, "backend", "Pending", "No matching connectors").await?;
    let (_, _, conditions) = report(&listener);
    let wanted = [
        "Configured=True Ready OK",
        "Matched=False Pending No matching connectors",
        "Ready=False Pending No matching connectors",
    ];
    ensure!(conditions == wanted, "{conditions:?}");
    let status = listener.status.unwrap_or_default();
    ensure!(status.has_matching_connector.is_none());
    Ok(())
}

async fn matched(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let listener: Listener = until(&place, "backend", "Ready", "OK").await?;
    let (_, _, conditions) = report(&listener);
    let wanted = [
        "Configured=True Ready OK",
        "Matched=True Ready OK",
        "Ready=True Ready OK",
    ];
    ensure!(conditions == wanted, "{conditions:?}");
    ensure!(listener.status.unwrap_or_default().has_matching_connector == Some(true));
    // Row 6: the port of the Service's target is the one that is really bound.
    let port = place.router_port("backend", 8080).await?;
    soon_greeted(&place, port, "one").await.map(drop)
}

async fn unmatched(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    until::<Listener>(&place, "backend", "Ready", "OK").await?;
    place.delete::<Connector>("c").await?;
    let listener: Listener = until(&place, "backend", "Pending", "No matching connectors").await?;
    ensure!(
        listener
            .status
            .unwrap_or_default()
            .has_matching_connector
            .is_none()
    );
    Ok(())
}

/// Times change when a condition flips and not otherwise; the generation is always the newest.
async fn hygiene(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    listen(&place, "backend", json!({})).await?;
    let before: Listener = until(&place, "backend", "Pending", "No matching connectors").await?;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let edit = json!({ "spec": { "routingKey": "other" } });
    place.patch::<Listener>("backend", edit).await?;
    let after: Listener = until(&place, "backend", "Pending", "No matching connectors").await?;
    ensure!(after.metadata.generation > before.metadata.generation);
    let times = |listener: &Listener, wanted: &[&str]| -> Vec<_> {
        let conditions = listener
            .status
            .iter()
            .flat_map(|s| s.common.conditions.iter().flatten());
        let found = conditions.filter(|c| wanted.contains(&c.type_.as_str()));
        found.map(|c| c.last_transition_time.clone()).collect()
    };
    let kept = ["Matched", "Ready"];
    ensure!(
        times(&before, &kept) == times(&after, &kept),
        "nothing has flipped: {after:?}"
    );
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({ "routingKey": "other" })).await?;
    let ready: Listener = until(&place, "backend", "Ready", "OK").await?;
    ensure!(
        times(&ready, &kept) != times(&after, &kept),
        "both have flipped"
    );
    let conditions = ready
        .status
        .iter()
        .flat_map(|s| s.common.conditions.iter().flatten());
    for condition in conditions {
        let reason = condition.reason.as_str();
        ensure!(
            ["Ready", "Pending", "Error"].contains(&reason),
            "{condition:?}"
        );
    }
    Ok(())
}

/// Tests that a settled minute causes no writes in this namespace.
async fn idle_minute(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    listen(&place, "second", json!({ "host": "backend", "port": 81 })).await?;
    listen(&place, "alone", json!({ "routingKey": "alone" })).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    until::<Listener>(&place, "backend", "Ready", "OK").await?;
    until::<Listener>(&place, "second", "Ready", "OK").await?;
    until::<Connector>(&place, "c", "Ready", "OK").await?;
    until::<Listener>(&place, "alone", "Pending", "No matching connectors").await?;
    until::<Site>(&place, "west", "Ready", "OK").await?;
    writes_nothing(&place, Duration::from_secs(60)).await
}

async fn occupied(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    // The first port that a Listener gets.
    let occupied = TcpListener::bind((place.address, 1024)).await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let is = |listener: &Listener| {
        let (status, message, conditions) = report(listener);
        status == "Error"
            && message.contains("Address already in use")
            && conditions[0].starts_with("Configured=False Error cannot listen on")
    };
    let listener = place
        .until("backend", "it says the error of the socket", is)
        .await?;
    let flag = listener.status.unwrap_or_default().has_matching_connector;
    ensure!(flag == Some(true), "the match is told beside the error");
    drop(occupied);
    until::<Listener>(&place, "backend", "Ready", "OK")
        .await
        .map(drop)
}

async fn connector(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let alone: Connector = until(&place, "c", "Pending", "No matching listeners").await?;
    ensure!(
        alone
            .status
            .unwrap_or_default()
            .has_matching_listener
            .is_none()
    );
    listen(&place, "backend", json!({})).await?;
    let ready: Connector = until(&place, "c", "Ready", "OK").await?;
    ensure!(ready.status.unwrap_or_default().has_matching_listener == Some(true));
    place.delete::<Listener>("backend").await?;
    until::<Connector>(&place, "c", "Pending", "No matching listeners")
        .await
        .map(drop)
}

/// Tests a Listener that accepts no clients, so that no connection reaches the Connector.
async fn unserved(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    listen(&place, "secret", json!({ "tlsCredentials": "tls" })).await?;
    let missing = "TLS credentials secret \"tls\" not found";
    until::<Listener>(&place, "secret", "Error", missing).await?;
    place.wait_until_idle().await?;
    let alone = place.api::<Connector>().get("c").await?;
    let said = "No matching listeners";
    ensure!(has_report(&alone, "Pending", said), "{:?}", report(&alone));
    let flag = alone.status.unwrap_or_default().has_matching_listener;
    ensure!(flag.is_none());
    listen(&place, "plain", json!({})).await?;
    until::<Connector>(&place, "c", "Ready", "OK")
        .await
        .map(drop)
}

/// Tests statuses as the existing implementation leaves them: written by updates, so that no apply
/// of this operator removes any part of them.
async fn left_over(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    listen(&place, "backend", json!({})).await?;
    until::<Listener>(&place, "backend", "Pending", "No matching connectors").await?;
    until::<Site>(&place, "west", "Ready", "OK").await?;
    let row = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "Ready", "message": "OK",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let rows = |kinds: &[&str]| Vec::from_iter(kinds.iter().map(|kind| row(kind)));
    let params = PatchParams {
        field_manager: Some("controller".to_owned()),
        ..PatchParams::default()
    };
    let told = json!({ "status": {
        "status": "Ready", "message": "OK", "hasMatchingConnector": true,
        "conditions": rows(&["Configured", "Matched", "Ready"]),
    } });
    let listeners = place.api::<Listener>();
    listeners
        .patch_status("backend", &params, &Patch::Merge(told))
        .await?;
    let told = json!({ "status": {
        "defaultIssuer": "another-ca", "endpoints": [{ "name": "edge", "host": "h", "port": "1" }],
        "conditions": rows(&["Configured", "Running", "Resolved", "Ready"]),
    } });
    let sites = place.api::<Site>();
    sites
        .patch_status("west", &params, &Patch::Merge(told))
        .await?;
    let cleared = |listener: &Listener| {
        let status = listener.status.clone().unwrap_or_default();
        status.has_matching_connector.is_none()
            && has_report(listener, "Pending", "No matching connectors")
    };
    place.until("backend", "its flag is gone", cleared).await?;
    let cleared = |site: &Site| {
        let status = site.status.clone().unwrap_or_default();
        let resolved = report(site).2.iter().any(|row| row.starts_with("Resolved"));
        !resolved
            && status.endpoints.is_none()
            && status.default_issuer.as_deref() == Some("skupper-site-ca")
    };
    place
        .until("west", "its addresses are gone", cleared)
        .await?;
    // And that was all.
    place.wait_until_idle().await.map(drop)
}

async fn site(mut place: TestNamespace) -> Result<()> {
    place.make::<Site>("west", json!({ "spec": {} })).await?;
    let pending = |site: &Site| {
        let (status, message, conditions) = report(site);
        let configured = conditions.iter().any(|c| c == "Configured=True Ready OK");
        status == "Pending" && message == "No router pod is ready" && configured
    };
    place
        .until("west", "it waits for its router", pending)
        .await?;
    place.run_router().await?;
    let site: Site = until(&place, "west", "Ready", "OK").await?;
    let status = site.status.unwrap_or_default();
    ensure!(status.sites_in_network == Some(1));
    ensure!(status.network.unwrap_or_default()[0].services.is_none());
    services(&place).await?;
    let controller = status.controller.unwrap_or_default();
    let named = (controller.namespace.as_deref(), controller.name.as_deref());
    ensure!(named == (Some("skupper"), Some("skupper-controller")));
    place
        .patch::<Site>("west", json!({ "spec": { "linkAccess": "default" } }))
        .await?;
    // Nothing gives addresses to Services here.
    let unsaid = "RouterAccess skupper-router: Service skupper-router has no address yet";
    let waits = |site: &Site| {
        let (status, message, _) = report(site);
        status == "Pending" && message.starts_with(unsaid)
    };
    place
        .until("west", "it waits for an address", waits)
        .await?;
    let none = json!({ "spec": { "linkAccess": "none" } });
    place.patch::<Site>("west", none).await?;
    until::<Site>(&place, "west", "Ready", "OK").await.map(drop)
}

/// Checks that the Site lists the services that its router serves and offers, and removes them when
/// they go.
async fn services(place: &TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    listen(place, "backend", json!({})).await?;
    connect(place, "c", echo.at, json!({})).await?;
    let shown = |site: &Site| {
        let network = site.status.as_ref().and_then(|s| s.network.clone());
        let mut network = network.unwrap_or_default();
        json!(network.pop().and_then(|own| own.services))
    };
    let all = json!([{ "routingKey": "backend", "connectors": ["127.0.0.1"], "listeners": ["listener/backend"] }]);
    let told = |site: &Site| shown(site) == all;
    place.until("west", "both are told", told).await?;
    place.delete::<Listener>("backend").await?;
    place.delete::<Connector>("c").await?;
    let gone = |site: &Site| shown(site).is_null();
    place.until("west", "nothing is left", gone).await.map(drop)
}

/// Tests a Site like the sample of the existing implementation, and then other unsupported
/// settings: each is reported, and everything else is served.
async fn asking(mut place: TestNamespace) -> Result<()> {
    let sample = json!({ "spec": { "linkAccess": "default", "ha": true } });
    place.make::<Site>("west", sample).await?;
    place.run_router().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    until::<Listener>(&place, "backend", "Ready", "OK").await?;
    let port = place.router_port("backend", 8080).await?;
    let mut stream = soon_greeted(&place, port, "one").await?;
    let pair = "spec.ha is not supported, so the site has one router: leave it out";
    let edge = "Edge sites cannot have HA enabled";
    let access = "Unsupported value for LinkAccess: carrier-pigeon";
    let wishes = [
        (json!({}), pair),
        (json!({ "linkAccess": null, "edge": true }), edge),
        (
            json!({ "linkAccess": "carrier-pigeon", "edge": null, "ha": null }),
            access,
        ),
    ];
    for (wish, said) in wishes {
        place.patch::<Site>("west", json!({ "spec": wish })).await?;
        let told = |site: &Site| {
            let runs = report(site).2.contains(&"Running=True Ready OK".to_owned());
            let network = site.status.as_ref().and_then(|s| s.network.as_ref());
            has_report(site, "Error", said) && runs && network.is_some_and(|all| all.len() == 1)
        };
        place.until("west", said, told).await?;
        echoes(&mut stream, 1000).await?;
        greeted(&place, port, "one").await?;
    }
    Ok(())
}

async fn selectors(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    place
        .make::<Connector>(
            "empty",
            json!({ "spec": { "routingKey": "k", "port": 1, "host": "" } }),
        )
        .await?;
    let said = "Connector must define a non-empty spec.host or spec.selector";
    until::<Connector>(&place, "empty", "Error", said).await?;
    let spec = json!({ "spec": { "routingKey": "k", "port": 1, "selector": "app=web" } });
    place.make::<Connector>("web", spec).await?;
    until::<Connector>(&place, "web", "Error", "No matches for selector").await?;
    place
        .workload("web-0", "web", [127, 0, 0, 1].into())
        .await?;
    let found: Connector = until(&place, "web", "Pending", "No matching listeners").await?;
    let pods = found
        .status
        .unwrap_or_default()
        .selected_pods
        .unwrap_or_default();
    ensure!(pods.len() == 1 && pods[0].name == "web-0" && pods[0].ip == "127.0.0.1");
    place.delete::<Pod>("web-0").await?;
    until::<Connector>(&place, "web", "Error", "No matches for selector")
        .await
        .map(drop)
}
