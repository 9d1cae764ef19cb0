//! Restarts of the controller, of routers and of the API server: nothing that works is disturbed.

use std::sync::Arc;
use std::time::Duration;

use crate::place::{TestEnv, TestNamespace, has_report};
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Secret;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::router::{LOCAL_CA, LOCAL_SERVER};
use lifecycle_tests::audit::Entry;
use lifecycle_tests::harness::{Case, case};
use rustix::process::Signal;
use serde_json::json;

use super::support::{Echo, NEEDS, connect, echoes, greeted, listen, shared, soon_greeted};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("s52_a_controller_that_restarts", NEEDS, controller),
        shared(
            "router_and_controller_agree_again_with_new_certificates",
            renewal,
        ),
        shared("s53_a_router_that_restarts", router),
        shared("s53_a_router_that_does_not_answer_for_a_while", silent),
        shared("s31_s55_s56_a_secret_is_missing_comes_and_goes", secret),
    ]
}

async fn ready(place: &TestNamespace, name: &str) -> Result<Listener> {
    let what = format!("Listener {name} is Ready");
    place
        .until(name, &what, |l: &Listener| has_report(l, "Ready", "OK"))
        .await
}

/// Creates a site whose Listener leads to a server. Returns the server, the Ready Listener, and the
/// port of the router.
async fn serving(place: &mut TestNamespace) -> Result<(Echo, Listener, u16)> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(place, "backend", json!({})).await?;
    connect(place, "c", echo.at, json!({})).await?;
    let before = ready(place, "backend").await?;
    let port = place.router_port("backend", 8080).await?;
    Ok((echo, before, port))
}

/// In the middle of a transfer; and it writes nothing when it is back.
async fn controller() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let mut place = TestNamespace::new(Arc::clone(&env), "restarts").await?;
    place.site().await?;
    let echo = Echo::start("one").await?;
    for n in 0..5 {
        listen(&place, &format!("l{n}"), json!({})).await?;
    }
    connect(&place, "c", echo.at, json!({})).await?;
    let mut before = Vec::new();
    for n in 0..5 {
        ready(&place, &format!("l{n}")).await?;
        before.push(place.router_port(&format!("l{n}"), 8080).await?);
    }
    let mut stream = greeted(&place, before[4], "one").await?;
    echoes(&mut stream, 100_000).await?;
    let table = place.table().await?;
    let count = place.wait_until_idle().await?.len();
    env.kill_controller()?;
    echoes(&mut stream, 100_000).await?;
    env.run_controller()?;
    // Objects created after the start are reconciled last, so all earlier ones were reconciled.
    listen(&place, "late", json!({})).await?;
    ready(&place, "late").await?;
    echoes(&mut stream, 100_000).await?;
    for (n, port) in before.iter().enumerate() {
        ensure!(place.router_port(&format!("l{n}"), 8080).await? == *port);
    }
    let after = place.wait_until_idle().await?;
    let of_late = ["listeners", "services"];
    let others = after[count..]
        .iter()
        .filter(|e| e.name != "late" || !of_late.contains(&e.resource.as_str()));
    let others: Vec<_> = others.map(Entry::line).collect();
    // The table is written once, for the late Listener, and the Site reports it.
    let (sites, tables): (Vec<_>, Vec<_>) = others.iter().partition(|l| l.contains("sites/west"));
    ensure!(
        sites.len() <= 1 && tables.len() == 1 && tables[0].contains("configmaps/skupper-router"),
        "{others:?}"
    );
    ensure!(place.table().await?.metadata.uid == table.metadata.uid);
    Ok(())
}

/// Tests that router and controller agree again after their mutual authority and certificate are
/// removed and replaced. No other part is affected.
async fn renewal(mut place: TestNamespace) -> Result<()> {
    let (_echo, before, port) = serving(&mut place).await?;
    let mut stream = greeted(&place, port, "one").await?;
    for name in [LOCAL_CA, LOCAL_SERVER] {
        let old = place.api::<Secret>().get(name).await?;
        let old_certificate = place.api::<Secret>().get(LOCAL_SERVER).await?;
        place.delete::<Secret>(name).await?;
        let is_other = |old: Secret| move |new: &Secret| new.data != old.data;
        place.until(name, "there is another", is_other(old)).await?;
        let shown = "the router has another certificate";
        place
            .until(LOCAL_SERVER, shown, is_other(old_certificate))
            .await?;
        // A new Listener gets a status, so the controller reaches the router.
        let late = format!("after-{name}");
        listen(&place, &late, json!({})).await?;
        ready(&place, &late).await?;
        echoes(&mut stream, 100_000).await?;
    }
    let after = ready(&place, "backend").await?;
    ensure!(before.metadata.resource_version == after.metadata.resource_version);
    Ok(())
}

/// Tests that a restarted router serves its earlier configuration again. Statuses do not change for
/// that.
async fn router(mut place: TestNamespace) -> Result<()> {
    let (_echo, before, port) = serving(&mut place).await?;
    greeted(&place, port, "one").await?;
    place.kill_router()?;
    place.run_router().await?;
    soon_greeted(&place, port, "one").await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = ready(&place, "backend").await?;
    ensure!(before.metadata.resource_version == after.metadata.resource_version);
    Ok(())
}

/// Answers that are lost for a few seconds are no news, and connections wait for the router.
async fn silent(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    ready(&place, "backend").await?;
    let port = place.router_port("backend", 8080).await?;
    let mut stream = greeted(&place, port, "one").await?;
    let before = place.wait_until_idle().await?.len();
    place.signal_router(Signal::STOP)?;
    // As many as ten questions have no answer.
    tokio::time::sleep(Duration::from_secs(5)).await;
    place.signal_router(Signal::CONT)?;
    echoes(&mut stream, 100_000).await?;
    ensure!(
        place.wait_until_idle().await?.len() == before,
        "a lost answer was told"
    );
    Ok(())
}

/// Rows 31, 55 and 56.
async fn secret(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    listen(&place, "plain", json!({})).await?;
    ready(&place, "plain").await?;
    listen(&place, "secret", json!({ "tlsCredentials": "tls" })).await?;
    let missing = "TLS credentials secret \"tls\" not found";
    let is_missing = |l: &Listener| has_report(l, "Error", missing);
    place.until("secret", missing, is_missing).await?;
    ready(&place, "plain").await?;
    let made = rcgen::generate_simple_self_signed(vec!["secret".to_owned()])?;
    let data = json!({
        "type": "kubernetes.io/tls",
        "stringData": { "tls.crt": made.cert.pem(), "tls.key": made.signing_key.serialize_pem(), "ca.crt": made.cert.pem() },
    });
    place.make::<Secret>("tls", data).await?;
    ready(&place, "secret").await?;
    place.delete::<Secret>("tls").await?;
    let listener = place.until("secret", missing, is_missing).await?;
    let flag = listener.status.unwrap_or_default().has_matching_connector;
    ensure!(flag == Some(true), "the match is told beside the error");
    ready(&place, "plain").await.map(drop)
}
