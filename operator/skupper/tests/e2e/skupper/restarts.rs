//! Restarts of the controller, of routers and of the API server: nothing that works is disturbed.

use std::sync::Arc;
use std::time::Duration;

use crate::place::{Place, TestEnv, says};
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

async fn ready(place: &Place, name: &str) -> Result<Listener> {
    let what = format!("Listener {name} is Ready");
    place
        .until(name, &what, |l: &Listener| says(l, "Ready", "OK"))
        .await
}

/// A site whose Listener leads to a server; the server, the Listener as it is Ready, and the port of the router.
async fn serving(place: &mut Place) -> Result<(Echo, Listener, u16)> {
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
    let mut place = Place::new(Arc::clone(&env), "restarts").await?;
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
    let count = place.rests().await?.len();
    env.kill_controller()?;
    echoes(&mut stream, 100_000).await?;
    env.run_controller()?;
    // What comes after the start is reconciled, so all before was looked at.
    listen(&place, "late", json!({})).await?;
    ready(&place, "late").await?;
    echoes(&mut stream, 100_000).await?;
    for (n, port) in before.iter().enumerate() {
        ensure!(place.router_port(&format!("l{n}"), 8080).await? == *port);
    }
    let after = place.rests().await?;
    let of_late = ["listeners", "services"];
    let others = after[count..]
        .iter()
        .filter(|e| e.name != "late" || !of_late.contains(&e.resource.as_str()));
    let others: Vec<_> = others.map(Entry::line).collect();
    // One write of the table, for the late one, of which the Site tells.
    let (sites, tables): (Vec<_>, Vec<_>) = others.iter().partition(|l| l.contains("sites/west"));
    ensure!(
        sites.len() <= 1 && tables.len() == 1 && tables[0].contains("configmaps/skupper-router"),
        "{others:?}"
    );
    ensure!(place.table().await?.metadata.uid == table.metadata.uid);
    Ok(())
}

/// The authority and the certificate by which router and controller know each other go, and with new ones they agree again; nobody else notices.
async fn renewal(mut place: Place) -> Result<()> {
    let (_echo, before, port) = serving(&mut place).await?;
    let mut stream = greeted(&place, port, "one").await?;
    for name in [LOCAL_CA, LOCAL_SERVER] {
        let old = place.of::<Secret>().get(name).await?;
        let old_certificate = place.of::<Secret>().get(LOCAL_SERVER).await?;
        place.delete::<Secret>(name).await?;
        let is_other = |old: Secret| move |new: &Secret| new.data != old.data;
        place.until(name, "there is another", is_other(old)).await?;
        let shown = "the router has another certificate";
        place
            .until(LOCAL_SERVER, shown, is_other(old_certificate))
            .await?;
        // What comes now is told of, so the controller hears of the router.
        let late = format!("after-{name}");
        listen(&place, &late, json!({})).await?;
        ready(&place, &late).await?;
        echoes(&mut stream, 100_000).await?;
    }
    let after = ready(&place, "backend").await?;
    ensure!(before.metadata.resource_version == after.metadata.resource_version);
    Ok(())
}

/// It serves again what it has read before; statuses do not change for that.
async fn router(mut place: Place) -> Result<()> {
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
async fn silent(mut place: Place) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    ready(&place, "backend").await?;
    let port = place.router_port("backend", 8080).await?;
    let mut stream = greeted(&place, port, "one").await?;
    let before = place.rests().await?.len();
    place.signal_router(Signal::STOP)?;
    // As many as ten questions have no answer.
    tokio::time::sleep(Duration::from_secs(5)).await;
    place.signal_router(Signal::CONT)?;
    echoes(&mut stream, 100_000).await?;
    ensure!(
        place.rests().await?.len() == before,
        "a lost answer was told"
    );
    Ok(())
}

/// Rows 31, 55 and 56.
async fn secret(mut place: Place) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    listen(&place, "plain", json!({})).await?;
    ready(&place, "plain").await?;
    listen(&place, "secret", json!({ "tlsCredentials": "tls" })).await?;
    let missing = "TLS credentials secret \"tls\" not found";
    let is_missing = |l: &Listener| says(l, "Error", missing);
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
