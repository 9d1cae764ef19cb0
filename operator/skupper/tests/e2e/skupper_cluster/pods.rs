//! Pods that are reached by their names, and Pods of another namespace.

use crate::place::has_report;
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use serde_json::json;

use super::env::TestNamespace;

/// Three Pods, one of them replaced, and then none exposed.
pub(crate) async fn by_name(place: TestNamespace) -> Result<()> {
    place.site().await?;
    for name in ["echo-0", "echo-1", "echo-2"] {
        place.echo(name).await?;
    }
    let exposed = json!({ "exposePodsByName": true });
    place.connect(exposed.clone()).await?;
    place.listen("echo", exposed).await?;
    place.ready("echo").await?;
    for name in ["echo-0", "echo-1", "echo-2"] {
        place.runs(name).await?;
        let way = place.service_address(name, 8080).await?;
        place.wait_for_answer(&way, name).await?;
        for _ in 0..3 {
            ensure!(place.exchanged(&way)?.as_deref() == Some(name), "{way}");
        }
    }

    let stale = place.service_address("echo-2", 8080).await?;
    place.delete::<Pod>("echo-2").await?;
    place.gone::<Service>("echo-2").await?;
    place.refused(&stale).await?;
    place.echo("echo-3").await?;
    let fresh = place.service_address("echo-3", 8080).await?;
    place.wait_for_answer(&fresh, "echo-3").await?;

    let hidden = json!({ "exposePodsByName": false });
    place.listen("echo", hidden).await?;
    for name in ["echo-0", "echo-1", "echo-3"] {
        place.gone::<Service>(name).await?;
    }
    let way = place.service_address("echo", 8080).await?;
    ensure!(place.exchanged(&way)?.is_some());
    Ok(())
}

/// A Pod of another namespace, offered there and accepted here.
pub(crate) async fn attached(place: TestNamespace) -> Result<()> {
    place.site().await?;
    let shop = TestNamespace::new(place.env.clone(), "shop").await?;
    shop.echo("till").await?;
    let offered = json!({ "spec": { "siteNamespace": place.namespace, "selector": "app=echo", "port": 7007 } });
    shop.apply::<AttachedConnector>("till", offered).await?;
    let accepted = json!({ "spec": { "connectorNamespace": "shop", "routingKey": "backend" } });
    place
        .apply::<AttachedConnectorBinding>("till", accepted)
        .await?;
    place.listen("backend", json!({})).await?;
    place.ready("backend").await?;
    let ready = |b: &AttachedConnectorBinding| has_report(b, "Ready", "OK");
    place.until("till", "the binding is Ready", ready).await?;
    let way = place.service_address("backend", 8080).await?;
    place.wait_for_answer(&way, "till").await
}
