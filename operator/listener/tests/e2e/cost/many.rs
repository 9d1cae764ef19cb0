//! Two hundred Listeners: created at once, left alone, and found again by a restarted operator.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::listeners::{Cluster, ExpectedCondition};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use jiff::Timestamp;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::audit::{Cost, Log};
use lifecycle_tests::eventually::{all, eventually_or_stuck};
use lifecycle_tests::harness::{Case, case};

use super::{BINARIES, print_counts};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "b19_b21_b58_f9_f10_f11_f13_two_hundred_listeners_are_made_left_alone_and_found_again",
        BINARIES,
        two_hundred,
    )]
}

const MANY: usize = 200;
const SETTLED: Duration = Duration::from_secs(30);
const AFTERMATH: Duration = Duration::from_secs(3);
/// Time limit for the next of them to finish.
const STUCK: Duration = Duration::from_secs(30);
/// As many writes as may be on their way at once.
const MOST: usize = 16;
const WATCHED: [&str; 6] = [
    "endpointslices",
    "listenerclasses",
    "listeners",
    "nodes",
    "persistentvolumes",
    "services",
];

async fn two_hundred() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = async {
        burst(&cluster).await?;
        settled(&cluster).await?;
        restart(&mut cluster).await
    };
    let outcome = outcome.await;
    cluster.explain(outcome)
}

async fn burst(cluster: &Cluster) -> Result<()> {
    let (since, began) = (Timestamp::now(), Instant::now());
    let names: Vec<String> = (0..MANY).map(|n| format!("web-{n:03}")).collect();
    // Ten at a time, faster than one operator can follow.
    for names in names.chunks(10) {
        try_join_all(names.iter().map(|n| cluster.expose(n, "cluster-internal"))).await?;
    }
    let created = began.elapsed();
    all_ready(cluster).await?;
    let ready = began.elapsed();
    tokio::time::sleep(AFTERMATH).await;
    let asked = cluster.requests().await?.since(since);
    print_counts(&format!("a burst of {MANY}"), &asked);
    let (half, most) = latencies(cluster, since).await?;
    let together = together(&asked.of_cost(Cost::Write));
    eprintln!(
        "a burst of {MANY}: created in {created:.1?}, all Ready after {ready:.1?}; creation to Ready {half:.2} s (p50), {most:.2} s (p99); {together} writes at once"
    );
    let counts = asked.counts();
    ensure!(counts.reads == 0, "{counts:?}\n{}", asked.lines());
    for name in &names {
        let of_one = asked.only(|e| &e.name == name && e.cost() == Cost::Write);
        ensure!(of_one.len() == 2, "{name}: {}", of_one.lines());
    }
    ensure!(
        counts.writes == 2 * MANY,
        "writes of something else: {counts:?}"
    );
    ensure!((1..=MOST).contains(&together), "{together} writes at once");
    Ok(())
}

async fn all_ready(cluster: &Cluster) -> Result<()> {
    let listeners = cluster.namespaced::<Listener>();
    let ready = ExpectedCondition("Ready", "True", "Ready");
    eventually_or_stuck("all to be Ready", STUCK, async || {
        let listed = listeners.list(&Default::default()).await?.items;
        let count = listed.iter().filter(|l| ready.holds_in(l)).count();
        Ok(all(count, MANY))
    })
    .await
}

/// Seconds from the answer to a creation until the last status was written: the half and the 99th of a hundred.
async fn latencies(cluster: &Cluster, since: Timestamp) -> Result<(f64, f64)> {
    let log = cluster.server.audit().await?.since(since);
    let listeners = log.of_resource("listeners");
    let (mut created, mut reported) = (BTreeMap::new(), BTreeMap::new());
    for entry in listeners.iter() {
        match (entry.verb.as_str(), entry.subresource.as_str()) {
            ("create", "") => {
                created.insert(entry.name.clone(), entry.answered);
            }
            ("patch", "status") => {
                reported.insert(entry.name.clone(), entry.answered);
            }
            _ => {}
        }
    }
    let mut seconds: Vec<f64> = reported
        .iter()
        .filter_map(|(name, at)| Some(at.duration_since(*created.get(name)?).as_secs_f64()))
        .collect();
    ensure!(seconds.len() == MANY, "{} of {MANY} found", seconds.len());
    seconds.sort_by(f64::total_cmp);
    Ok((seconds[MANY / 2], seconds[MANY * 99 / 100]))
}

/// The most requests that the API server was working on at once.
fn together(log: &Log) -> usize {
    let mut moments: Vec<(Timestamp, i32)> = Vec::new();
    for entry in log.iter() {
        moments.extend([(entry.received, 1), (entry.answered, -1)]);
    }
    // At one and the same instant, an end comes first.
    moments.sort();
    let running = moments.iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    usize::try_from(running.max().unwrap_or_default()).unwrap_or_default()
}

async fn settled(cluster: &Cluster) -> Result<()> {
    let since = Timestamp::now();
    tokio::time::sleep(SETTLED).await;
    let asked = cluster.requests().await?.since(since);
    print_counts(&format!("{} settled seconds", SETTLED.as_secs()), &asked);
    let counts = asked.counts();
    ensure!(
        asked.len() == counts.watches + counts.leases,
        "{counts:?}\n{}",
        asked.lines()
    );
    // The Lease is renewed every 2 s, and each of the 6 watches is begun anew every 30 s, or it might be dead.
    let seconds = usize::try_from(SETTLED.as_secs()).unwrap_or_default();
    ensure!(counts.leases <= seconds / 2 + 1, "{counts:?}");
    ensure!(counts.watches <= 6 * (seconds / 30 + 1), "{counts:?}");
    Ok(())
}

async fn restart(cluster: &mut Cluster) -> Result<()> {
    // The log of all processes is one file.
    let before = cluster.log().len();
    ensure!(cluster.stop_operator()?.success(), "it ended with an error");
    let (since, began) = (Timestamp::now(), Instant::now());
    cluster.run_operator(&[]).await?;
    let looked = eventually_or_stuck("a reconcile of each", STUCK, async || {
        let looked = passes(&cluster.log()[before..]).len();
        Ok(all(looked, MANY))
    });
    looked.await?;
    let looked = began.elapsed();
    tokio::time::sleep(AFTERMATH).await;
    let asked = cluster.requests().await?.since(since);
    print_counts(&format!("a restart with {MANY}"), &asked);
    eprintln!("a restart with {MANY}: all were looked at after {looked:.1?}");
    ensure!(asked.counts().writes == 0, "{}", asked.lines());
    ensure!(asked.counts().events == 0, "{}", asked.lines());
    for kind in WATCHED {
        let of_kind = asked.of_resource(kind);
        // Volumes of the replaced operator without labels are listed once, apart from the watches.
        let lists = of_kind
            .iter()
            .filter(|e| e.verb == "list" && !e.uri.contains("labelSelector="));
        let lists = lists.count();
        let streamed = of_kind
            .iter()
            .filter(|e| e.uri.contains("sendInitialEvents=true"));
        ensure!(
            lists + streamed.count() == 1 && of_kind.counts().watches == 1,
            "{kind}: {}",
            of_kind.lines()
        );
    }
    let apart = asked.of_cost(Cost::Read);
    eprintln!("a restart with {MANY}: the reads are\n{}", apart.lines());
    let definitions = apart.of_resource("customresourcedefinitions").len();
    let classes = apart.of_resource("listenerclasses").len();
    let volumes = apart.of_resource("persistentvolumes").len();
    ensure!(
        definitions <= 3
            && classes <= 3
            && volumes <= 1
            && definitions + classes + volumes == apart.len(),
        "{}",
        apart.lines()
    );
    Ok(())
}

/// Returns the Listeners that were reconciled.
fn passes(log: &str) -> BTreeSet<String> {
    let looked = log.lines().filter(|line| line.contains("looked class="));
    let object = |line: &str| -> Option<String> {
        let (_, rest) = line.split_once("pass{object=")?;
        Some(rest.split_once('}')?.0.to_owned())
    };
    looked.filter_map(object).collect()
}
