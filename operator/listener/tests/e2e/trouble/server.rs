//! An API server that stops answering, or goes away and comes back.

use std::time::{Duration, Instant};

use crate::listeners::Cluster;
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use jiff::Timestamp;
use lifecycle_tests::harness::{Case, case};

use super::{BINARIES, once_each, warnings, writes_to};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("a_frozen_api_server_is_waited_for", BINARIES, frozen),
        case(
            "an_api_server_that_was_killed_is_found_again",
            BINARIES,
            killed,
        ),
    ]
}

const AWAY: Duration = Duration::from_secs(8);
const MANY: usize = 30;

fn names(prefix: &str) -> Vec<String> {
    (0..MANY).map(|n| format!("{prefix}-{n:02}")).collect()
}

async fn expose(cluster: &Cluster, names: &[String]) -> Result<()> {
    try_join_all(names.iter().map(|n| cluster.expose(n, "cluster-internal")))
        .await
        .map(drop)
}

async fn all_ready(cluster: &Cluster, names: &[String]) -> Result<()> {
    try_join_all(names.iter().map(|n| cluster.ready(n)))
        .await
        .map(drop)
}

async fn frozen() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = freeze(&mut cluster).await;
    cluster.explain(outcome)
}

async fn freeze(cluster: &mut Cluster) -> Result<()> {
    let (since, before) = (Timestamp::now(), cluster.log().len());
    let pending = names("pending");
    expose(cluster, &pending).await?;
    cluster.server.freeze()?;
    tokio::time::sleep(AWAY).await;
    cluster.server.thaw()?;
    let began = Instant::now();
    all_ready(cluster, &pending).await?;
    eprintln!(
        "frozen for {AWAY:?}: all Ready {:.1?} later",
        began.elapsed()
    );
    cluster.check_operator()?;
    let log = cluster.log();
    once_each(&warnings(&log[before..], 10)?)?;
    let asked = cluster.requests().await?.since(since);
    for name in &pending {
        let services = writes_to(&asked, "services", name);
        ensure!(services.len() <= 2, "{}", services.lines());
    }
    let later = names("later");
    expose(cluster, &later).await?;
    all_ready(cluster, &later).await
}

async fn killed() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = kill(&mut cluster).await;
    cluster.explain(outcome)
}

async fn kill(cluster: &mut Cluster) -> Result<()> {
    let before = cluster.log().len();
    let pending = names("pending");
    expose(cluster, &pending).await?;
    cluster.server.kill_api_server()?;
    tokio::time::sleep(AWAY).await;
    cluster.check_operator()?;
    cluster.server.start_api_server().await?;
    let began = Instant::now();
    all_ready(cluster, &pending).await?;
    eprintln!(
        "killed for {AWAY:?}: all Ready {:.1?} later",
        began.elapsed()
    );
    let log = cluster.log();
    // Each way in which a connection ends, each watched kind, and the Lease.
    let told = warnings(&log[before..], 30)?;
    once_each(&told)?;
    eprintln!("killed: {} warnings", told.len());
    let later = names("later");
    expose(cluster, &later).await?;
    all_ready(cluster, &later).await
}
