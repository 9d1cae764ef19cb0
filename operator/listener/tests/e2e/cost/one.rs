//! One Listener of each type, from its creation until it is Ready.

use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition};
use anyhow::{Result, ensure};
use jiff::Timestamp;
use lifecycle_tests::harness::{Case, case};
use serde_json::json;

use super::{BINARIES, print_counts};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "f6_a_listener_costs_two_writes_and_a_late_address_a_third",
        BINARIES,
        one_of_each_type,
    )]
}

/// Longer than everything that follows from a change by itself.
const AFTERMATH: Duration = Duration::from_secs(3);

async fn one_of_each_type() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let outcome = async {
        known_at_once(&cluster).await?;
        pod_is_there(&cluster).await?;
        late_address(&cluster).await
    };
    cluster.explain(outcome.await)
}

async fn known_at_once(cluster: &Cluster) -> Result<()> {
    let since = Timestamp::now();
    cluster.expose("inside", "cluster-internal").await?;
    cluster.ready("inside").await?;
    check(cluster, "ClusterIP", since, 2).await
}

async fn pod_is_there(cluster: &Cluster) -> Result<()> {
    cluster.node("first", &[("InternalIP", "10.0.0.1")]).await?;
    cluster.endpoints("node", &["first"]).await?;
    let since = Timestamp::now();
    cluster.expose("node", "external-unstable").await?;
    cluster.ready("node").await?;
    check(cluster, "NodePort with its Pod there", since, 2).await
}

async fn late_address(cluster: &Cluster) -> Result<()> {
    let since = Timestamp::now();
    cluster.expose("balanced", "external-stable").await?;
    let waiting = ExpectedCondition("Addressed", "Unknown", "WaitingForLoadBalancer");
    cluster.condition("balanced", waiting).await?;
    cluster
        .balance("balanced", json!([{ "ip": "192.0.2.1" }]))
        .await?;
    cluster.ready("balanced").await?;
    check(cluster, "LoadBalancer with a late address", since, 3).await
}

/// Nothing else runs on this API server, so every request is for the Listener in question.
async fn check(cluster: &Cluster, what: &str, since: Timestamp, writes: usize) -> Result<()> {
    tokio::time::sleep(AFTERMATH).await;
    let asked = cluster.requests().await?.since(since);
    print_counts(what, &asked);
    let counts = asked.counts();
    ensure!(
        counts.writes == writes && counts.reads == 0 && counts.events == 0,
        "{what}: wanted {writes} writes, no reads, no events: {counts:?}\n{}",
        asked.lines()
    );
    Ok(())
}
