//! Failures that arise and are fixed beyond the site: a server that is down, and an expired
//! certificate.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Secret;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::harness::{Case, eventually};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::support::{Echo, connect, listen, shared, soon_greeted};
use crate::place::{SOON, TestNamespace, has_report, report};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("s42_a_connector_names_its_server_that_is_down", down),
        shared(
            "a_certificate_that_is_over_is_served_until_it_is_renewed",
            expired,
        ),
    ]
}

fn is_matched(listener: &Listener) -> bool {
    let flag = listener.status.as_ref();
    flag.and_then(|status| status.has_matching_connector) == Some(true)
}

/// Tests that the failure is detected without any client, and that only the router reports it.
async fn down(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let (echo, other) = (Echo::start("one").await?, Echo::start("two").await?);
    listen(&place, "backend", json!({})).await?;
    listen(&place, "other", json!({ "routingKey": "other" })).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let of_other = json!({ "routingKey": "other" });
    connect(&place, "d", other.at, of_other).await?;
    let ready = |c: &Connector| has_report(c, "Ready", "OK");
    for name in ["c", "d"] {
        place.until(name, "it is matched", ready).await?;
    }
    let at = echo.at;
    drop(echo);
    let is = |c: &Connector| report(c).0 == "Error";
    let told: Connector = place.until("c", "its server is down", is).await?;
    let (_, message, conditions) = report(&told);
    let (begin, end) = (
        format!("cannot connect to {at}: Connection refused"),
        "; start the server, or correct host and port",
    );
    ensure!(
        message.starts_with(&begin) && message.ends_with(end),
        "{message}"
    );
    let expected = [
        format!("Configured=False Error {message}"),
        "Matched=True Ready OK".to_owned(),
        format!("Ready=False Error {message}"),
    ];
    ensure!(conditions == expected, "{conditions:?}");
    ensure!(told.status.unwrap_or_default().has_matching_listener == Some(true));
    place.wait_until_idle().await?;
    let listener = place.api::<Listener>().get("backend").await?;
    let stays = has_report(&listener, "Ready", "OK") && is_matched(&listener);
    ensure!(stays, "{:?}", report(&listener));
    let beside = place.api::<Connector>().get("d").await?;
    ensure!(ready(&beside), "{:?}", report(&beside));
    let _back = Echo::start_at("one", at).await?;
    place.until("c", "its server is back", ready).await?;
    let port = place.router_port("backend", 8080).await?;
    soon_greeted(&place, port, "one").await.map(drop)
}

/// A pair for the host `web` that is good until a year, and its Secret.
fn good_until(year: i32) -> Result<(CertificateDer<'static>, Value)> {
    let mut params = CertificateParams::new(["web".to_owned()])?;
    params.not_after = date_time_ymd(year, 1, 1);
    let key = KeyPair::generate()?;
    let made = params.self_signed(&key)?;
    let secret = json!({
        "type": "kubernetes.io/tls",
        "stringData": { "tls.crt": made.pem(), "tls.key": key.serialize_pem(), "ca.crt": made.pem() },
    });
    Ok((made.der().clone(), secret))
}

/// A handshake of a client that trusts one certificate.
async fn shaken(
    place: &TestNamespace,
    port: u16,
    trusted: &CertificateDer<'static>,
) -> Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone())?;
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect((place.address, port)).await?;
    let connector = TlsConnector::from(Arc::new(config));
    let shaken = connector.connect(ServerName::try_from("web")?, stream);
    Ok(timeout(SOON, shaken).await??)
}

/// Waits until the metrics contain the expiry of the certificate of the profile `tls`.
async fn until_ends(place: &TestNamespace, expected: &str) -> Result<()> {
    let line =
        format!("\nrouter_certificate_expiry_timestamp_seconds{{profile=\"tls\"}} {expected}\n");
    eventually("the metrics say when it ends", SOON, async || {
        let mut stream = TcpStream::connect((place.address, 9090)).await?;
        let request = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer.contains(&line).then_some(()))
    })
    .await
}

async fn expired(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let (of_before, secret) = good_until(2001)?;
    place.make::<Secret>("tls", secret).await?;
    listen(&place, "web", json!({ "tlsCredentials": "tls" })).await?;
    let over = "its certificate expired at Jan  1 00:00:00 2001 +00:00: renew it";
    let said = format!("sslProfile `tls`: {over}; it is served until then");
    let told = |l: &Listener| has_report(l, "Error", &said) && is_matched(l);
    let listener: Listener = place.until("web", "its certificate is over", told).await?;
    let expected = [
        format!("Configured=False Error {said}"),
        "Matched=True Ready OK".to_owned(),
        format!("Ready=False Error {said}"),
    ];
    let (_, _, conditions) = report(&listener);
    ensure!(conditions == expected, "{conditions:?}");
    until_ends(&place, "978307200").await?;
    let port = place.router_port("web", 8080).await?;
    let refused = shaken(&place, port, &of_before).await;
    let refused = format!("{:#}", refused.err().context("it is over")?);
    ensure!(refused.contains("expired"), "{refused}");
    let (of_now, secret) = good_until(4000)?;
    place.patch::<Secret>("tls", secret).await?;
    let ready = |l: &Listener| has_report(l, "Ready", "OK") && is_matched(l);
    place.until("web", "the new one counts", ready).await?;
    until_ends(&place, "64060588800").await?;
    let mut stream = shaken(&place, port, &of_now).await?;
    let mut greeting = [0; 3];
    timeout(SOON, stream.read_exact(&mut greeting)).await??;
    ensure!(&greeting == b"one", "{greeting:?}");
    // Each of both is logged once.
    let log = place.router_log();
    let lines = |level: &str, part: &str| {
        let all = log.lines();
        all.filter(|line| line.contains(level) && line.contains(part))
            .count()
    };
    let counts = (lines("WARN", over), lines("INFO", "is good again"));
    ensure!(counts == (1, 1), "{counts:?}: {log}");
    Ok(())
}
