//! Services lead through the router to Pods, and follow edits.

use crate::place::has_report;
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use serde_json::json;

use super::env::TestNamespace;

/// A Listener, its port edited, its host edited, and its Connector removed.
pub(crate) async fn lead(place: TestNamespace) -> Result<()> {
    place.site().await?;
    place.echo("server").await?;
    place.connect(json!({})).await?;
    place.listen("backend", json!({})).await?;
    place.ready("backend").await?;
    let first = place.service_address("backend", 8080).await?;
    place.wait_for_answer(&first, "server").await?;
    let port = target(&place, "backend").await?;

    place.listen("backend", json!({ "port": 9090 })).await?;
    let second = place.service_address("backend", 9090).await?;
    place.wait_for_answer(&second, "server").await?;
    place.refused(&first).await?;
    ensure!(target(&place, "backend").await? == port);

    let host = json!({ "port": 9090, "host": "frontend" });
    place.listen("backend", host).await?;
    let third = place.service_address("frontend", 9090).await?;
    place.wait_for_answer(&third, "server").await?;
    place.gone::<Service>("backend").await?;
    place.refused(&second).await?;
    ensure!(target(&place, "frontend").await? == port);
    place.ready("backend").await?;

    place.delete::<Connector>("echo").await?;
    let unmatched = |l: &Listener| has_report(l, "Pending", "No matching connectors");
    place
        .until("backend", "nothing serves it", unmatched)
        .await?;
    place.refused(&third).await
}

/// The port of the router behind a Service, which has one.
async fn target(place: &TestNamespace, name: &str) -> Result<IntOrString> {
    let service = place.api::<Service>().get(name).await?;
    let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
    let [port] = ports.as_slice() else {
        anyhow::bail!("Service {name} has {} ports", ports.len());
    };
    Ok(port.target_port.clone().unwrap_or(IntOrString::Int(0)))
}
