//! Tests of user errors. Each error is reported only on the affected object and clears after the
//! user corrects it. Everything else continues to work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::place::{SOON, TestEnv, TestNamespace, has_report, report};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ListParams;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::eventually::{all, eventually_or_stuck};
use lifecycle_tests::harness::{Case, case};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::support::{Echo, NEEDS, connect, echoes, greeted, listen, shared, soon_greeted};

/// Of one host.
const CROWD: usize = 1000;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("a_host_that_means_nothing_is_told", nowhere),
        shared("contents_of_secrets_that_are_no_good", broken),
        shared("a_table_that_is_edited_or_deleted", edited),
        case("a_thousand_listeners_of_one_host", NEEDS, crowd),
    ]
}

async fn ready(place: &TestNamespace, name: &str) -> Result<Listener> {
    let what = format!("Listener {name} is Ready");
    let is = |l: &Listener| has_report(l, "Ready", "OK");
    place.until(name, &what, is).await
}

/// Of two Connectors of a key one has a host that no name server knows.
async fn nowhere(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "good", echo.at, json!({})).await?;
    connect(&place, "bad", echo.at, json!({ "host": "nowhere.invalid" })).await?;
    let unknown = "cannot resolve host `nowhere.invalid`";
    let told = |c: &Connector| {
        let (status, message, _) = report(c);
        status == "Error" && message.contains(unknown)
    };
    place.until("bad", unknown, told).await?;
    ready(&place, "backend").await?;
    let port = place.router_port("backend", 8080).await?;
    for _ in 0..5 {
        greeted(&place, port, "one").await?;
    }
    let good = json!({ "spec": { "host": "localhost" } });
    place.patch::<Connector>("bad", good).await?;
    let fine = |c: &Connector| has_report(c, "Ready", "OK");
    place.until("bad", "a name that is known", fine).await?;
    Ok(())
}

/// Tests an existing but unusable Secret: invalid PEM, and then the key of another certificate.
async fn broken(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    listen(&place, "plain", json!({})).await?;
    ready(&place, "plain").await?;
    let port = place.router_port("plain", 8080).await?;
    let mut stream = greeted(&place, port, "one").await?;
    let before = place.api::<Listener>().get("plain").await?;
    let pair = || rcgen::generate_simple_self_signed(vec!["secret".to_owned()]);
    let (one, other) = (pair()?, pair()?);
    let data = |certificate: &str, key: &str| json!({ "stringData": { "tls.crt": certificate, "tls.key": key } });
    place
        .make::<Secret>("tls", data("no certificate", "no key"))
        .await?;
    listen(&place, "secret", json!({ "tlsCredentials": "tls" })).await?;
    let told = |l: &Listener| {
        let (status, message, _) = report(l);
        status == "Error" && message.contains("tls") && !message.contains("not found")
    };
    place.until("secret", "it is no PEM", told).await?;
    let strange = data(&one.cert.pem(), &other.signing_key.serialize_pem());
    let (_, first, _) = report(&place.api::<Listener>().get("secret").await?);
    place.patch::<Secret>("tls", strange).await?;
    let other_reason = |l: &Listener| told(l) && report(l).1 != first;
    place
        .until("secret", "its key does not fit", other_reason)
        .await?;
    let good = data(&one.cert.pem(), &one.signing_key.serialize_pem());
    place.patch::<Secret>("tls", good).await?;
    ready(&place, "secret").await?;
    // The rotation brings files that do not match. This is reported, and the earlier valid files
    // stay in use.
    let strange = data(&one.cert.pem(), &other.signing_key.serialize_pem());
    place.patch::<Secret>("tls", strange).await?;
    let kept = |l: &Listener| {
        let (status, message, _) = report(l);
        status == "Error" && message.contains("the router serves its last valid files")
    };
    place
        .until("secret", "a bad rotation is told", kept)
        .await?;
    let secret = place.router_port("secret", 8080).await?;
    TcpStream::connect((place.address, secret)).await?;
    let good = data(&one.cert.pem(), &one.signing_key.serialize_pem());
    place.patch::<Secret>("tls", good).await?;
    ready(&place, "secret").await?;
    echoes(&mut stream, 10_000).await?;
    let after = place.api::<Listener>().get("plain").await?;
    ensure!(before.metadata.resource_version == after.metadata.resource_version);
    Ok(())
}

/// Tests edits by hand. Each time the earlier ports come back: from the rest of the table, or else
/// from the targets of the Services.
async fn edited(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    for name in ["first", "a", "b"] {
        listen(&place, name, json!({})).await?;
        ready(&place, name).await?;
    }
    // So the others have not the ports that they would be given anew.
    place.delete::<Listener>("first").await?;
    let gone = |t: &ConfigMap| {
        !t.data
            .iter()
            .flatten()
            .any(|(_, text)| text.contains("listener/first"))
    };
    place.until("skupper-router", "one is gone", gone).await?;
    let table = |t: &ConfigMap| t.data.clone().unwrap_or_default();
    let before = table(&place.table().await?);
    let ports = (
        place.router_port("a", 8080).await?,
        place.router_port("b", 8080).await?,
    );
    let edits: [Value; 3] = [
        json!({ "data": { "skrouterd.json": "{" } }),
        json!({ "data": { "claims": "[" } }),
        json!({ "data": { "claims": null, "skrouterd.json": "[]" } }),
    ];
    for edit in edits {
        place.patch::<ConfigMap>("skupper-router", edit).await?;
        let same = |t: &ConfigMap| table(t) == before;
        place
            .until("skupper-router", "it is restored", same)
            .await?;
        soon_greeted(&place, ports.0, "one").await?;
    }
    place.delete::<ConfigMap>("skupper-router").await?;
    let same = |t: &ConfigMap| table(t) == before;
    place.until("skupper-router", "it is back", same).await?;
    ready(&place, "a").await?;
    ready(&place, "b").await?;
    soon_greeted(&place, ports.0, "one").await?;
    soon_greeted(&place, ports.1, "one").await.map(drop)
}

/// Each has a port of the one Service, and all are reached.
async fn crowd() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let mut place = TestNamespace::new(env, "crowd").await?;
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let start = Instant::now();
    let place = &place;
    let spec = |n: usize| json!({ "host": "crowd", "port": 2000 + n });
    let made = |n: usize| async move { listen(place, &format!("l{n}"), spec(n)).await };
    for some in (0..CROWD).collect::<Vec<_>>().chunks(50) {
        try_join_all(some.iter().map(|n| made(*n))).await?;
    }
    let listeners = place.api::<Listener>();
    eventually_or_stuck("all Listeners are Ready", SOON, async || {
        // A list of all of them is work as well.
        sleep(Duration::from_secs(1)).await;
        let listed = listeners.list(&ListParams::default()).await?.items;
        let ready = listed
            .iter()
            .filter(|l| has_report(*l, "Ready", "OK"))
            .count();
        Ok(all(ready, CROWD))
    })
    .await?;
    eprintln!(
        "{CROWD} Listeners of one host Ready after {:.1} s",
        start.elapsed().as_secs_f64()
    );
    for n in (0..CROWD).step_by(97) {
        let port = place.router_port("crowd", 2000 + i32::try_from(n)?).await?;
        soon_greeted(place, port, "one").await?;
    }
    // All write the same Service: each of its versions once, and no more of them than the Site has decided on.
    let writes = place.wait_until_idle().await?;
    let of = |resource: &str| writes.iter().filter(|e| e.resource == resource).count();
    let (tables, services) = (of("configmaps"), of("services"));
    eprintln!("{tables} writes of the table, {services} of the Service");
    ensure!(services <= tables, "{services} > {tables}");
    Ok(())
}
