//! Row 23, for what one site has: Site, Listener, Connector and Secret come in every order, each once all before are told of, and all end the same.

use std::time::Instant;

use crate::place::{Place, TestEnv, report, says};
use anyhow::{Context, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::{Secret, Service};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, case};
use serde::Serialize;
use serde_json::{Value, json};

use super::support::{Echo, NEEDS, connect, listen};

pub(crate) fn cases() -> Vec<Case> {
    vec![case("s23_any_order_ends_the_same", NEEDS, orders)]
}

/// So many namespaces at a time: each has a router of its own.
const AT_ONCE: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Site,
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
    let made = rcgen::generate_simple_self_signed(vec!["backend".to_owned()])?;
    let secret = json!({
        "type": "kubernetes.io/tls",
        "stringData": { "tls.crt": made.cert.pem(), "tls.key": made.signing_key.serialize_pem(), "ca.crt": made.cert.pem() },
    });
    let orders = all(&[Step::Site, Step::Listener, Step::Connector, Step::Secret]);
    ensure!(orders.len() == 24, "{orders:?}");
    let began = Instant::now();
    let ends = stream::iter(orders)
        .map(|order| {
            let place = Place::new(env.clone(), "orders");
            let (echo, secret) = (&echo, &secret);
            async move {
                let end = end_of(place.await?, &order, echo, secret).await;
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

/// Makes all, one after the other; what there is in the end, without what no two namespaces have in common.
async fn end_of(mut place: Place, order: &[Step], echo: &Echo, secret: &Value) -> Result<Value> {
    let is_told = |told: &(String, String, Vec<String>)| !told.0.is_empty();
    for step in order {
        match step {
            Step::Site => place.site().await?,
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
            Step::Secret => place
                .make::<Secret>("tls", secret.clone())
                .await
                .map(drop)?,
        }
    }
    let site: Site = place.until("west", "the Site is Ready", is_ready).await?;
    let listener: Listener = place
        .until("backend", "the Listener is Ready", is_ready)
        .await?;
    let connector: Connector = place
        .until("shop", "the Connector is Ready", is_ready)
        .await?;
    let service = place.of::<Service>().get("backend").await?;
    let ports = service.spec.context("a Service has a spec")?.ports;
    let (status, told) = (
        listener.status.unwrap_or_default(),
        connector.status.unwrap_or_default(),
    );
    let end = json!({
        "site": lines(&site.status),
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

fn is_ready<K: Serialize>(object: &K) -> bool {
    says(object, "Ready", "OK")
}

/// A status without times: what it says, and each condition.
fn lines<S: Serialize>(status: &S) -> Value {
    json!(report(&json!({ "status": status })))
}
