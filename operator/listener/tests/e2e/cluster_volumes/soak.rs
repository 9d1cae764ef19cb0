//! A seeded soak on a real cluster: users edit specs and objects of the operator, Pods come and go,
//! a node is lost, operators are killed. Afterwards the cluster matches the specs, nothing is left
//! over, and nothing is written. Prints figures.

mod compare;
mod dice;
mod faults;
mod memory;
mod specs;
mod work;
mod writers;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::future::try_join3;
use jiff::Timestamp;
use kube::ResourceExt;
use lifecycle_tests::amount::amount;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, Deadline, calculation, case_within};

use super::pods::is_ready;
use super::{LIMIT, NODES, operator};
use crate::installed::{Account, Installed};
use compare::differences;
use faults::Faults;
use memory::Memory;
use work::Work;

/// After the last operation, of core time: kubelet publishes each volume again, and a Lease may have to run out.
const SETTLED_WITHIN: Duration = Duration::from_secs(240);
/// Interval between two checks of the whole cluster.
const AGAIN: Duration = Duration::from_secs(1);
/// How long nothing may be written in the end.
const QUIET: Duration = Duration::from_secs(5);
/// In KiB, of one process of a debug build.
const MEMORY: u32 = 128 * 1024;
/// Number of differences that an error shows.
const MOST: usize = 10;

/// `SOAK=1800` sets the duration in seconds, and `SOAK_SEED=2` chooses other operations.
pub(super) fn cases() -> Vec<Case> {
    let lasts = Duration::from_secs(amount("SOAK", 100, 1800));
    let seed = amount("SOAK_SEED", 1, 1);
    let name = "b45_after_a_soak_the_cluster_is_what_the_specs_ask_for";
    vec![
        case_within(name, NODES, lasts + LIMIT, move || soak(lasts, seed)),
        calculation("the_slope_of_samples_is_that_of_their_line", a_slope),
        calculation(
            "a_replica_that_writes_after_its_successor_shows_in_the_audit_log",
            two_writers,
        ),
    ]
}

async fn soak(lasts: Duration, seed: u64) -> Result<()> {
    eprintln!("SOAK={} SOAK_SEED={seed}", lasts.as_secs());
    let site = Installed::start(2, operator()).await?;
    let mut work = Work::new(&site.cluster.client(), seed);
    let mut memory = Memory::new(site.cluster.init(), lasts);
    let mut faults = Faults::new(site, lasts);
    work.begin().await?;
    is_as_specified(&mut work, &faults, seed).await?;
    let before = lives(&faults.site).await?;
    let began = Instant::now();
    let over = || began.elapsed() > lasts;
    try_join3(work.go_on(over), faults.go_on(began), memory.go_on(began))
        .await
        .with_context(|| format!("SOAK_SEED={seed}"))?;
    // Regardless of the earlier choices, an address changes once more under a running Pod.
    work.turn().await?;
    faults.nodes_are_ready().await?;
    faults.site.is_available().await?;
    let ended = Instant::now();
    is_as_specified(&mut work, &faults, seed).await?;
    let took = ended.elapsed();
    let after = lives(&faults.site).await?;
    ensure!(
        before == after,
        "the Pod that stays was replaced or restarted: uid and restarts were {before:?} and are {after:?}"
    );
    is_quiet(&faults.site).await?;
    let writers = writers::one_at_a_time(&faults.site.cluster).await?;
    eprintln!(
        "seed {seed}, {lasts:?}: {work}; {}; as specified {took:.1?} after it; {writers} Pods of the controller wrote, one after the other; {memory}",
        faults.counts()
    );
    memory.is_below(MEMORY)?;
    faults.site.cluster.stop()
}

/// Waits until the cluster matches the specs. An error names objects, with the expected state, the
/// observed state, and the last operations.
async fn is_as_specified(work: &mut Work, faults: &Faults, seed: u64) -> Result<()> {
    let mut deadline = Deadline::new(SETTLED_WITHIN);
    loop {
        work.tend().await?;
        let found = differences(&faults.site, &work.specs).await?;
        if found.is_empty() {
            return Ok(());
        }
        if deadline.is_over() {
            let lines = found.iter().take(MOST).map(|(object, difference)| {
                let history = work.history(object);
                format!("{difference}; the last operations on it: [{history}]")
            });
            let lines: Vec<String> = lines.collect();
            let (many, told) = (found.len(), faults.site.describe_pods());
            bail!(
                "SOAK_SEED={seed}: the cluster differs from its specs in {many} places:\n{}\n{told}",
                lines.join("\n")
            );
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Returns the uid and the restarts of the Pod with changing addresses, on the node that is never
/// lost.
async fn lives(site: &Installed) -> Result<(Option<String>, i32)> {
    let pod = is_ready(site, "stays-0").await?;
    let statuses = pod.status.iter();
    let containers = statuses.flat_map(|status| &status.container_statuses);
    let restarts = containers.flatten().map(|one| one.restart_count).sum();
    Ok((pod.uid(), restarts))
}

/// Checks that no process of the operator writes while nothing changes.
async fn is_quiet(site: &Installed) -> Result<()> {
    let since = Timestamp::now();
    tokio::time::sleep(QUIET).await;
    for account in [Account::Controller, Account::Node] {
        let all = site.requests(account).await?.since(since);
        let late = all.of_cost(Cost::Write);
        ensure!(late.is_empty(), "written at rest: {}", late.lines());
    }
    Ok(())
}

fn a_slope() {
    assert_eq!(memory::slope(&[(0.0, 10), (1.0, 14), (2.0, 18)]), Some(4.0));
    assert_eq!(memory::slope(&[(1.0, 10), (1.0, 14)]), None);
}

fn two_writers() {
    let write = |pod: &str, second: u32| {
        let user = "system:serviceaccount:listener-operator:listener-operator-controller";
        let entry = serde_json::json!({
            "verb": "patch",
            "user": { "username": user, "extra": { "authentication.kubernetes.io/pod-name": [pod] } },
            "objectRef": { "resource": "services" },
            "responseStatus": { "code": 200 },
            "requestReceivedTimestamp": format!("2026-01-01T00:00:0{second}.000000Z"),
        });
        format!("{entry}\n")
    };
    let in_order = |lines: [String; 3]| writers::in_order(&lines.concat()).unwrap();
    let sound = in_order([write("a", 1), write("b", 3), write("a", 2)]);
    assert_eq!(sound, ["a", "b"]);
    let unsound = in_order([write("a", 1), write("b", 2), write("a", 3)]);
    assert_eq!(unsound, ["a", "b", "a"]);
}
