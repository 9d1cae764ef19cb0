//! SIGTERM and SIGINT at bad moments: the process ends with 0 within five seconds, and the Lease is free.

use std::time::{Duration, Instant};

use crate::listeners::{Cluster, ExpectedCondition, GRACE, SOON};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Service;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::amount::amount;
use lifecycle_tests::harness::{Case, case, eventually};
use rustix::process::Signal;

use super::BINARIES;
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b6_f14_it_ends_in_the_middle_of_two_hundred_listeners",
            BINARIES,
            busy,
        ),
        case(
            "b6_f14_it_ends_although_the_api_server_does_not_answer",
            BINARIES,
            unanswered,
        ),
    ]
}

/// Stops the operator and returns the time that it took.
fn stop(cluster: &mut Cluster, when: &str) -> Result<Duration> {
    stop_by(cluster, Signal::TERM, when)
}

fn stop_by(cluster: &mut Cluster, signal: Signal, when: &str) -> Result<Duration> {
    let began = Instant::now();
    let status = cluster.stop_operator_by(signal)?;
    let took = began.elapsed();
    eprintln!("{signal:?} {when}: {took:.2?}");
    ensure!(status.success(), "{when}: {status} after {took:?}");
    Ok(took)
}

async fn holder(cluster: &Cluster) -> Result<Option<String>> {
    let leases = cluster.namespaced::<Lease>();
    let lease = leases
        .get_opt("listeners.stackable.tech-controller")
        .await?;
    let holder = lease.and_then(|l| l.spec).and_then(|s| s.holder_identity);
    Ok(holder.filter(|h| !h.is_empty()))
}

async fn busy() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = in_the_middle(&mut cluster).await;
    cluster.explain(outcome)
}

async fn in_the_middle(cluster: &mut Cluster) -> Result<()> {
    let many = usize::try_from(amount("PENDING", 200, 1000))?;
    stop(cluster, "at rest")?;
    ensure!(holder(cluster).await?.is_none(), "the Lease is given back");
    let names: Vec<String> = (0..many).map(|n| format!("web-{n:04}")).collect();
    for names in names.chunks(20) {
        try_join_all(names.iter().map(|n| cluster.expose(n, "external-stable"))).await?;
    }
    cluster.run_operator(&[]).await?;
    let services = cluster.namespaced::<Service>();
    let made =
        async || Ok::<_, anyhow::Error>(services.list(&Default::default()).await?.items.len());
    eventually("the first Services", SOON, async || {
        Ok((made().await? > 20).then_some(()))
    })
    .await?;
    stop(cluster, &format!("in the middle of {many} Listeners"))?;
    let left = made().await?;
    ensure!(left < many, "it was over already");
    ensure!(holder(cluster).await?.is_none(), "the Lease is given back");
    tokio::time::sleep(Duration::from_secs(2)).await;
    ensure!(made().await? == left, "something was written after its end");

    cluster.run_operator(&[]).await?;
    let waiting = ExpectedCondition("Addressed", "Unknown", "WaitingForLoadBalancer");
    let listeners = cluster.namespaced::<Listener>();
    let limit = SOON * u32::try_from(3 * many.div_ceil(200))?;
    eventually("all to wait for a load balancer", limit, async || {
        let all = listeners.list(&Default::default()).await?.items;
        Ok(all.iter().all(|l| waiting.holds_in(l)).then_some(()))
    })
    .await?;
    stop(cluster, &format!("with {many} Listeners that wait"))?;

    cluster.run_operator(&[]).await?;
    eventually("it holds the Lease again", SOON, async || {
        holder(cluster).await
    })
    .await?;
    stop_by(
        cluster,
        Signal::INT,
        &format!("with {many} Listeners that wait"),
    )?;
    ensure!(holder(cluster).await?.is_none(), "the Lease is given back");
    Ok(())
}

async fn unanswered() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = no_answer(&mut cluster).await;
    cluster.explain(outcome)
}

async fn no_answer(cluster: &mut Cluster) -> Result<()> {
    let standby = cluster.replica("standby", "standby", &[])?;
    eventually("the other to wait", SOON, async || {
        Ok(standby
            .log()
            .contains("waiting for the Lease")
            .then_some(()))
    })
    .await?;
    let (leader, began) = (holder(cluster).await?, Instant::now());
    let status = standby.terminate(GRACE)?;
    eprintln!(
        "SIGTERM as the one that waits for the Lease: {:.2?}",
        began.elapsed()
    );
    ensure!(status.success(), "{status}");
    ensure!(
        leader.is_some() && holder(cluster).await? == leader,
        "the Lease stays where it is"
    );

    let names: Vec<String> = (0..50).map(|n| format!("web-{n:02}")).collect();
    try_join_all(names.iter().map(|n| cluster.expose(n, "cluster-internal"))).await?;
    cluster.server.freeze()?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let stopped = stop(cluster, "while the API server is frozen");
    cluster.server.thaw()?;
    stopped?;

    cluster.run_operator(&["--disable-leader-election"]).await?;
    cluster.ready("web-49").await?;
    cluster.server.kill_api_server()?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    stop(cluster, "while there is no API server").map(drop)
}
