//! Two operators at once: only one writes at a time, through a hand-over, a crash, and a Lease that
//! another holder takes.

use std::time::{Duration, Instant};

use crate::listeners::{Cluster, GRACE, OPERATOR, SOON};
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::audit::{Cost, Log};
use lifecycle_tests::harness::{Case, case, eventually};
use lifecycle_tests::process::Process;
use rustix::process::Signal;
use serde_json::json;

use super::BINARIES;
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b5_one_writes_at_a_time_through_a_hand_over_and_a_crash",
            BINARIES,
            hand_over,
        ),
        case("a_stolen_lease_stops_writes", BINARIES, stolen),
        case(
            "a_leader_that_was_suspended_does_not_go_on_writing",
            BINARIES,
            suspended,
        ),
    ]
}

const LEASE: &str = "listeners.stackable.tech-controller";
/// How long a Lease counts after its holder's last sign of life.
pub(super) const DURATION: Duration = Duration::from_secs(15);
/// Within this much core time a replica leads once the Lease was given back; it looks every 2 s.
const HANDED_OVER: Duration = Duration::from_secs(6);
/// Within this much core time a replica leads once the Lease has expired.
const TAKEN_OVER: Duration = Duration::from_secs(10);

/// Waits until a replica with this name holds the Lease.
pub(super) async fn led_by(cluster: &Cluster, name: &str, limit: Duration) -> Result<()> {
    let leases = cluster.namespaced::<Lease>();
    let prefix = format!("{name}-");
    eventually(&format!("{name} to lead"), limit, async || {
        let lease = leases.get_opt(LEASE).await?;
        let holder = lease.and_then(|l| l.spec).and_then(|s| s.holder_identity);
        Ok(holder.is_some_and(|h| h.starts_with(&prefix)).then_some(()))
    })
    .await
}

/// Returns the spec of the Lease.
async fn lease(cluster: &Cluster) -> Result<LeaseSpec> {
    let lease = cluster.namespaced::<Lease>().get(LEASE).await?;
    lease.spec.context("a Lease has a spec")
}

pub(super) async fn expose(cluster: &Cluster, prefix: &str, many: usize) -> Result<()> {
    let names: Vec<String> = (0..many).map(|n| format!("{prefix}-{n:02}")).collect();
    for names in names.chunks(5) {
        try_join_all(names.iter().map(|n| cluster.expose(n, "cluster-internal"))).await?;
    }
    Ok(())
}

pub(super) async fn ready(cluster: &Cluster, prefix: &str, many: usize) -> Result<()> {
    let names: Vec<String> = (0..many).map(|n| format!("{prefix}-{n:02}")).collect();
    try_join_all(names.iter().map(|n| cluster.ready(n)))
        .await
        .map(drop)
}

/// The writes of an operator for Listeners.
pub(super) fn writes(log: &Log, user: &str) -> Log {
    let all = log.of_user(user).of_cost(Cost::Write);
    all.only(|e| matches!(e.resource.as_str(), "services" | "listeners"))
}

async fn hand_over() -> Result<()> {
    let cluster = Cluster::without_operator(PROGRAM, Default::default()).await?;
    let first = cluster.replica("first", "first", &[])?;
    let second = cluster.replica("second", "second", &[])?;
    let logs = [
        ("first", cluster.server.folder().join("first.log")),
        ("second", cluster.server.folder().join("second.log")),
    ];
    let outcome = pass_on(&cluster, first, second).await;
    let said = || {
        logs.map(|(name, path)| {
            format!(
                "{name}:\n{}",
                std::fs::read_to_string(path).unwrap_or_default()
            )
        })
        .join("\n")
    };
    outcome.with_context(said)
}

async fn pass_on(cluster: &Cluster, first: Process, second: Process) -> Result<()> {
    let leads = |p: &Process| p.log().contains(" leading ");
    eventually("one of them to lead", 2 * SOON, async || {
        Ok((leads(&first) || leads(&second)).then_some(()))
    })
    .await?;
    let ((leader, standby), (one, two)) = match leads(&first) {
        true => ((first, second), ("first", "second")),
        false => ((second, first), ("second", "first")),
    };
    led_by(cluster, one, SOON).await?;
    eventually("the other to be ready", SOON, async || {
        Ok(standby.log().contains("all caches are there").then_some(()))
    })
    .await?;
    let classes = cluster.all::<ListenerClass>();
    let class = async || Ok(classes.get_opt("external-stable").await?);
    eventually("the preset classes", SOON, class).await?;
    let since = Timestamp::now();
    expose(cluster, "before", 40).await?;
    // It has to be stopped in the middle of its work, so the work must have begun.
    let services = cluster.namespaced::<Service>();
    let begun = async || {
        let all = services.list(&ListParams::default()).await?;
        let made = all.iter().any(|one| one.name_any().starts_with("before"));
        Ok(made.then_some(()))
    };
    eventually("the leader to write", SOON, begun).await?;
    let began = Instant::now();
    ensure!(leader.terminate(GRACE)?.success(), "it ends well");
    led_by(cluster, two, HANDED_OVER).await?;
    eprintln!("hand-over at SIGTERM: {:.2?}", began.elapsed());
    expose(cluster, "after", 20).await?;
    ready(cluster, "before", 40).await?;
    ready(cluster, "after", 20).await?;
    let log = cluster.server.audit().await?.since(since);
    let (by_one, by_two) = (writes(&log, one), writes(&log, two));
    eprintln!(
        "hand-over: {} writes of the one, {} of the other",
        by_one.len(),
        by_two.len()
    );
    let last = by_one.iter().map(|e| e.received).max();
    let last = last.context("the one wrote")?;
    let next = by_two
        .iter()
        .map(|e| e.received)
        .min()
        .context("the other wrote")?;
    ensure!(last < next, "{}\n{}", by_one.lines(), by_two.lines());
    crash(cluster, standby, two).await
}

/// The process ends without a word: another waits for the end of its Lease.
async fn crash(cluster: &Cluster, mut leader: Process, name: &str) -> Result<()> {
    let third = cluster.replica("third", "third", &[])?;
    eventually("the third to wait", SOON, async || {
        Ok(third.log().contains("waiting for the Lease").then_some(()))
    })
    .await?;
    leader.kill()?;
    let (since, began) = (Timestamp::now(), Instant::now());
    let last = lease(cluster).await?.renew_time.context("it was renewed")?;
    expose(cluster, "orphan", 5).await?;
    led_by(cluster, "third", DURATION + TAKEN_OVER).await?;
    eprintln!("taken over {:.1?} after SIGKILL", began.elapsed());
    let next = lease(cluster)
        .await?
        .acquire_time
        .context("it was acquired")?;
    let between = next.0.duration_since(last.0);
    ensure!(
        between >= SignedDuration::try_from(DURATION)?,
        "too early: {between:?}"
    );
    ready(cluster, "orphan", 5).await?;
    let log = cluster.server.audit().await?.since(since);
    ensure!(
        writes(&log, name).is_empty(),
        "{}",
        writes(&log, name).lines()
    );
    ensure!(third.terminate(GRACE)?.success(), "it ends well");
    Ok(())
}

async fn stolen() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(steal(&cluster).await)
}

async fn steal(cluster: &Cluster) -> Result<()> {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string();
    let thief = json!({ "spec": { "holderIdentity": "thief", "renewTime": now, "leaseDurationSeconds": 30 } });
    cluster.patch::<Lease>(LEASE, thief).await?;
    eventually("it to notice", SOON, async || {
        Ok(cluster.log().contains("no longer leading").then_some(()))
    })
    .await?;
    let since = Timestamp::now();
    expose(cluster, "web", 5).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = cluster.requests().await?.since(since);
    let written = asked.only(|e| matches!(e.cost(), Cost::Write | Cost::Event));
    ensure!(written.is_empty(), "{}", written.lines());
    let made = cluster.namespaced::<Service>().get_opt("web-00").await?;
    ensure!(made.is_none(), "{made:?}");

    let began = Instant::now();
    cluster
        .patch::<Lease>(LEASE, json!({ "spec": { "holderIdentity": null } }))
        .await?;
    ready(cluster, "web", 5).await?;
    eprintln!(
        "a Lease that was given back: Ready after {:.1?}",
        began.elapsed()
    );

    let leases = cluster.namespaced::<Lease>();
    leases.delete(LEASE, &DeleteParams::default()).await?;
    eventually("a new Lease", SOON, async || {
        Ok(leases.get_opt(LEASE).await?)
    })
    .await?;
    expose(cluster, "again", 1).await?;
    ready(cluster, "again", 1).await
}

async fn suspended() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let standby = cluster.replica("standby", "standby", &[])?;
    let outcome = suspend(&cluster, &standby).await;
    let outcome = outcome.map_err(|e| e.context(standby.failure("shows")));
    cluster.explain(outcome)
}

/// As a machine that sleeps: nothing in the process runs, and all its times are over when it wakes.
async fn suspend(cluster: &Cluster, standby: &Process) -> Result<()> {
    eventually("the other to wait", SOON, async || {
        let waits = standby.log().contains("waiting for the Lease");
        Ok(waits.then_some(()))
    })
    .await?;
    let began = Instant::now();
    let exposing = expose(cluster, "web", 60);
    let suspending = async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        cluster.signal_operator(Signal::STOP)
    };
    let (exposed, suspended) = tokio::join!(exposing, suspending);
    exposed.and(suspended)?;
    led_by(cluster, "standby", DURATION + SOON).await?;
    eprintln!("taken over {:.1?} after SIGSTOP", began.elapsed());
    ready(cluster, "web", 60).await?;
    let since = Timestamp::now();
    cluster.signal_operator(Signal::CONT)?;
    expose(cluster, "more", 10).await?;
    ready(cluster, "more", 10).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let log = cluster.server.audit().await?.since(since);
    let (before, after) = (writes(&log, OPERATOR), writes(&log, "standby"));
    // Requests in flight may still arrive, and their guards keep them from changing anything.
    let effective = before.iter().filter(|e| e.code < 400).count();
    ensure!(effective == 0 && before.len() <= 16, "{}", before.lines());
    ensure!(after.len() == 20, "{}", after.lines());
    ensure!(cluster.log().contains("no longer leading"), "it says so");
    Ok(())
}
