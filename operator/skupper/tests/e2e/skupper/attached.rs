//! Workloads of other namespaces.

use std::net::SocketAddr;

use crate::place::{TestNamespace, has_report};
use anyhow::{Context, Result, ensure};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::harness::Case;
use serde_json::json;

use super::support::{Echo, listen, shared, soon_greeted};

pub(crate) fn cases() -> Vec<Case> {
    vec![shared("s65_a_workload_of_another_namespace", attached)]
}

/// Tests that it serves once both sides refer to each other, and that each side reports the missing
/// part until then.
async fn attached(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let shop = TestNamespace::new(std::sync::Arc::clone(&place.env), "shop").await?;
    let echo = Echo::start_at("shop", SocketAddr::new(shop.address, 0)).await?;
    listen(&place, "backend", json!({})).await?;
    let spec = json!({ "spec": { "siteNamespace": place.namespace, "selector": "app=web", "port": echo.at.port() } });
    shop.make::<AttachedConnector>("web", spec).await?;
    let says_of = |status: &'static str, message: String| {
        move |object: &AttachedConnector| has_report(object, status, &message)
    };
    let unbound = "No matching AttachedConnectorBinding in site namespace".to_owned();
    shop.until("web", "nobody accepts it", says_of("Error", unbound))
        .await?;
    let binding = json!({ "spec": { "connectorNamespace": "elsewhere", "routingKey": "backend" } });
    place
        .make::<AttachedConnectorBinding>("web", binding)
        .await?;
    let denied = format!(
        "AttachedConnectorBinding {}/web does not allow AttachedConnector in {} (only elsewhere)",
        place.namespace, shop.namespace
    );
    shop.until("web", "another one is accepted", says_of("Error", denied))
        .await?;
    let unoffered =
        |b: &AttachedConnectorBinding| has_report(b, "Error", "No matching AttachedConnector");
    place.until("web", "nobody offers it", unoffered).await?;
    let allow = json!({ "spec": { "connectorNamespace": shop.namespace } });
    place
        .patch::<AttachedConnectorBinding>("web", allow)
        .await?;
    let unselected = "No matches for selector";
    shop.until("web", unselected, says_of("Error", unselected.to_owned()))
        .await?;
    shop.workload("web-0", "web", echo.at.ip()).await?;
    shop.until("web", "its Pod is found", says_of("Ready", "OK".to_owned()))
        .await?;
    let ready = |b: &AttachedConnectorBinding| has_report(b, "Ready", "OK");
    let binding = place.until("web", "it leads there", ready).await?;
    let status = binding.status.context("it has a status")?;
    ensure!(status.has_matching_listener == Some(true));
    place
        .until("backend", "the Listener is Ready", |l: &Listener| {
            has_report(l, "Ready", "OK")
        })
        .await?;
    let port = place.router_port("backend", 8080).await?;
    soon_greeted(&place, port, "shop").await?;
    shop.delete::<AttachedConnector>("web").await?;
    let unmatched = |l: &Listener| has_report(l, "Pending", "No matching connectors");
    place
        .until("backend", "nothing serves it any more", unmatched)
        .await?;
    place
        .until("web", "nobody offers it again", unoffered)
        .await
        .map(drop)
}
