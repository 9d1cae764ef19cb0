//! Row 23: Site, Link, Listener, Connector and Secret come in every order, each once all before have a status, and all end the same.

use std::time::Instant;

use crate::place::{TestEnv, TestNamespace, has_report, report};
use anyhow::{Context, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::{Secret, Service};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, case};
use serde::Serialize;
use serde_json::{Value, json};

use super::links::{Hub, is_linked};
use super::support::{Echo, NEEDS, connect, listen};

pub(crate) fn cases() -> Vec<Case> {
    vec![case("s23_any_order_ends_the_same", NEEDS, orders)]
}

/// The uid of no Site.
const NOBODY: &str = "6f8f4a52-3c1e-4d7b-9a51-0f2f6f0c1b77";
/// Number of concurrent namespaces, each with a router of its own.
const AT_ONCE: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Site,
    Link,
    Listener,
    Connector,
    Secret,
}

/// All orders of these.
fn all(steps: &[Step]) -> Vec<Vec<Step>> {
    if steps.is_empty() {
        return vec![Vec::new()];
    }
    let begun_with = |first: &Step| {
        let rest: Vec<Step> = steps.iter().copied().filter(|step| step != first).collect();
        let first = *first;
        all(&rest)
            .into_iter()
            .map(move |rest| [vec![first], rest].concat())
    };
    steps.iter().flat_map(begun_with).collect()
}

async fn orders() -> Result<()> {
    let env = TestEnv::shared().await?;
    let echo = Echo::start("one").await?;
    let hub = Hub::start(env.clone()).await?;
    let nobody = hub.secret(NOBODY).await?;
    let orders = all(&[
        Step::Site,
        Step::Link,
        Step::Listener,
        Step::Connector,
        Step::Secret,
    ]);
    ensure!(orders.len() == 120, "{orders:?}");
    let began = Instant::now();
    let ends = stream::iter(orders)
        .map(|order| {
            let place = TestNamespace::new(env.clone(), "orders");
            let (echo, hub) = (&echo, (&hub, &nobody));
            async move {
                let end = end_of(place.await?, &order, echo, hub).await;
                let end = end.with_context(|| format!("in the order {order:?}"))?;
                anyhow::Ok((order, end))
            }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<Vec<_>>()
        .await?;
    eprintln!("{} orders took {:.1?}", ends.len(), began.elapsed());
    let (first, wanted) = &ends[0];
    for (order, end) in &ends {
        ensure!(
            end == wanted,
            "{first:?} ends in {wanted:#}, and {order:?} in {end:#}"
        );
    }
    Ok(())
}

/// Runs all steps, one after the other. Returns the final objects, without the parts that differ
/// between any two namespaces.
async fn end_of(
    mut place: TestNamespace,
    order: &[Step],
    echo: &Echo,
    (hub, nobody): (&Hub, &Value),
) -> Result<Value> {
    let is_told = |told: &(String, String, Vec<String>)| !told.0.is_empty();
    for step in order {
        match step {
            Step::Site => {
                place.site().await?;
                // Only now the owner of the certificate is known.
                if place.api::<Secret>().get_opt("tls").await?.is_some() {
                    let secret = secret(&place, hub).await?;
                    place.patch::<Secret>("tls", secret).await.map(drop)?;
                }
            }
            Step::Link => {
                place.make::<Link>("hub", hub.link("tls", 1)).await?;
                let told = |l: &Link| is_told(&report(l));
                place.until("hub", "the Link has a status", told).await?;
            }
            Step::Listener => {
                listen(&place, "backend", json!({ "tlsCredentials": "tls" })).await?;
                let told = |l: &Listener| is_told(&report(l));
                place
                    .until("backend", "the Listener has a status", told)
                    .await?;
            }
            Step::Connector => {
                connect(&place, "shop", echo.at, json!({})).await?;
                let told = |c: &Connector| is_told(&report(c));
                place
                    .until("shop", "the Connector has a status", told)
                    .await?;
            }
            Step::Secret => {
                let secret = match place.api::<Site>().get_opt("west").await? {
                    Some(_) => secret(&place, hub).await?,
                    None => nobody.clone(),
                };
                place.make::<Secret>("tls", secret).await.map(drop)?;
            }
        }
    }
    let link: Link = place.until("hub", "the Link is Ready", is_linked).await?;
    let site: Site = place.until("west", "the Site is Ready", is_ready).await?;
    let listener: Listener = place
        .until("backend", "the Listener is Ready", is_ready)
        .await?;
    let connector: Connector = place
        .until("shop", "the Connector is Ready", is_ready)
        .await?;
    let service = place.api::<Service>().get("backend").await?;
    let ports = service.spec.context("a Service has a spec")?.ports;
    let (status, told) = (
        listener.status.unwrap_or_default(),
        connector.status.unwrap_or_default(),
    );
    let end = json!({
        "site": lines(&site.status),
        "link": lines(&link.status),
        "listener": [lines(&Some(&status.common)), json!(status.has_matching_connector)],
        "connector": [lines(&Some(&told.common)), json!(told.has_matching_listener)],
        "ports": ports,
        "labels": service.metadata.labels,
        "table": place.table().await?.data,
    });
    // Each order has a namespace of its own.
    let own = [
        site.metadata.uid,
        listener.metadata.uid,
        site.metadata.namespace,
    ];
    let text = own
        .iter()
        .flatten()
        .fold(end.to_string(), |text, uid| text.replace(uid, "own"));
    Ok(serde_json::from_str(&text)?)
}

/// Creates a Secret that identifies the Site of a namespace at the hub.
async fn secret(place: &TestNamespace, hub: &Hub) -> Result<Value> {
    let uid = place.api::<Site>().get("west").await?.metadata.uid;
    hub.secret(&uid.context("a Site has a uid")?).await
}

fn is_ready<K: Serialize>(object: &K) -> bool {
    has_report(object, "Ready", "OK")
}

/// Returns a status without times: its message, and each condition.
fn lines<S: Serialize>(status: &S) -> Value {
    json!(report(&json!({ "status": status })))
}
