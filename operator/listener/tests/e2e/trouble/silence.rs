//! Connections that die silently, and an API server that does not answer: the time until it is
//! noticed, and the reports about it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;

use super::BINARIES;
use super::way::ApiProxy;
use crate::PROGRAM;
use crate::listeners::Cluster;

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): watches_that_die_silently_are_begun_anew, b17_a_silent_api_server_makes_it_unready]
}

/// Within this much core time it is noticed.
const NOTICED: Duration = Duration::from_secs(45);

async fn watches_that_die_silently_are_begun_anew() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let (way, through) = ApiProxy::of_operator(&cluster)?;
    cluster.run_operator_with(&["--disable-leader-election"], through, &[])?;
    cluster.prepared().await?;
    cluster.expose("before", "cluster-internal").await?;
    cluster.ready("before").await?;
    way.lose();
    let began = Instant::now();
    cluster.expose("after", "cluster-internal").await?;
    let ready = cluster.ready_within("after", NOTICED).await;
    cluster.explain(ready.map(drop))?;
    eprintln!("connections lost: noticed after {:?}", began.elapsed());
    Ok(())
}

async fn b17_a_silent_api_server_makes_it_unready() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let probes = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let address = format!("--health-probe-bind-address={probes}");
    cluster.run_operator(&[&address]).await?;
    cluster.prepared().await?;
    eventually("it is ready", NOTICED, async || {
        let ready = http_get(probes, "/readyz")?;
        Ok(ready.starts_with("HTTP/1.1 200").then_some(()))
    })
    .await?;
    cluster.server.freeze()?;
    let began = Instant::now();
    // Each kind was heard of last at a time of its own, so they fall silent one after another.
    let expected = "cache of listeners: nothing was heard of the API server for 45 s";
    eventually(
        "it is not ready for want of Listeners",
        NOTICED + Duration::from_secs(10),
        async || {
            let ready = http_get(probes, "/readyz")?;
            let is_unready = ready.starts_with("HTTP/1.1 503");
            Ok((is_unready && ready.contains(expected)).then_some(()))
        },
    )
    .await?;
    eprintln!("frozen: told after {:?}", began.elapsed());
    // A new process would not hear more.
    let alive = http_get(probes, "/livez")?;
    ensure!(alive.starts_with("HTTP/1.1 200"), "{alive}");
    cluster.server.thaw()?;
    eventually("it is ready again", NOTICED, async || {
        let ready = http_get(probes, "/readyz")?;
        Ok(ready.starts_with("HTTP/1.1 200").then_some(()))
    })
    .await?;
    cluster.expose("later", "cluster-internal").await?;
    cluster.ready("later").await.map(drop)
}

fn http_get(probes: SocketAddr, path: &str) -> Result<String> {
    let Ok(mut stream) = TcpStream::connect(probes) else {
        return Ok(String::new());
    };
    stream.set_read_timeout(Some(NOTICED))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .context("no answer to a probe")?;
    Ok(answer)
}
