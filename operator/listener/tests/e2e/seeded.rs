//! Seeded bugs in the runtime below Listeners, and in the promises of a load balancer; and the
//! columns of the Listener in the table of `docs/suite.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use lifecycle_listener::listener::Exposure;
use lifecycle_specs_listener::listener;
use lifecycle_suite::resources::{Baseline, Invariant, Suite};
use lifecycle_tests::harness::{Case, Need, case_within};
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::mistakes::suite::{planted, with_mistake};
use lifecycle_tests::mistakes::table::{self, Instrument, Verdict};
use lifecycle_tests::named;
use lifecycle_tests::suites::real::Real;
use serde_json::json;

use crate::suites;
use lifecycle_tests::suites::found_by;
use lifecycle_tests::suites::layer::changing;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![calculation(): a_service_that_is_seized_is_found, a_load_balancer_that_brings_something_else_is_found, the_suite_finds_what_the_table_says];
    cases.push(case_within(
        "a_mistake_on_a_real_server_is_found_as_the_table_says",
        &[Need::Binaries],
        WITHIN,
        on_a_real_server,
    ));
    cases
}

/// Upper bound on the duration. It includes the wait for runs that a seeded bug keeps from
/// settling.
const WITHIN: Duration = Duration::from_secs(900);
/// Time limit, which is much longer than a run without a bug takes.
const PATIENCE: Duration = Duration::from_secs(12);
/// How many API servers there are; most of a run is waiting.
const SERVERS: usize = 3;
/// How many schedules each mistake is shown.
const SCHEDULES: usize = 5;

fn plain() -> Suite {
    suites::listener().depth(3).faults(150, 0)
}

fn exposure() -> Exposure {
    Exposure {
        cluster_domain: "cluster.local".to_owned(),
    }
}

fn a_service_that_is_seized_is_found() {
    found_by(
        Invariant::HandsOff,
        plain().through(changing(|asked| {
            if asked.creates()
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("resourceVersion");
            }
        })),
    );
}

fn a_load_balancer_that_brings_something_else_is_found() {
    let without = suites::listener_without_promises(|| listener::machine(exposure()));
    found_by(
        Invariant::DeclaredPromise,
        without
            .depth(3)
            .faults(0, 0)
            .promise("balanced", |site| async move {
                let service = site.sibling_path("/api/v1", "services", site.name());
                site.edit(&service, |service| {
                    service["spec"]["type"] = json!("NodePort");
                })
                .await
            }),
    );
}

fn the_suite_finds_what_the_table_says() {
    let suite = || suites::listener().depth(2).faults(120, 10);
    let verdicts = Mistake::all().map(|mistake| (mistake, planted(mistake, suite())));
    table::hold(Instrument::Listener, &verdicts.collect());
}

/// The simulated server runs the Listener as it is, and the real one with the mistake.
async fn on_a_real_server() -> Result<()> {
    let servers = try_join_all((0..SERVERS).map(|_| Real::start(1))).await?;
    let servers: Vec<Arc<Real>> = servers.into_iter().map(Arc::new).collect();
    // Each run has a runtime of its own.
    let verdicts = tokio::task::spawn_blocking(move || {
        let rests = suites::listener().depth(2).baseline(SCHEDULES);
        let rests = rests.expect("the suite is complete");
        let next = Mutex::new(Mistake::all());
        let mut verdicts = BTreeMap::new();
        let work = &|real: &Arc<Real>| {
            let sound = rests.on(Arc::clone(real), |suite| suite);
            let sound = sound.expect("there are schedules");
            assert!(sound.failures.is_empty(), "without a mistake: {sound}");
            let all = std::iter::from_fn(|| next.lock().unwrap().next());
            let all = all.map(|mistake| (mistake, on_one(real, &rests, mistake)));
            all.collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let threads: Vec<_> = servers
                .iter()
                .map(|real| scope.spawn(move || work(real)))
                .collect();
            for thread in threads {
                verdicts.extend(thread.join().expect("the suite does not panic"));
            }
        });
        // It panics like any other check of a text.
        table::hold(Instrument::Real, &verdicts);
    });
    verdicts.await.context("the table is another one")
}

fn on_one(real: &Arc<Real>, rests: &Baseline, mistake: Mistake) -> Verdict {
    if mistake == Mistake::Lease {
        return Verdict::NotPlanted("no Lease");
    }
    if let Some(why) = mistake.absence(listener::IR) {
        return Verdict::NotPlanted(why);
    }
    let there = rests.on(Arc::clone(real), |suite| {
        let suite = with_mistake(mistake, suite);
        suite.patience(PATIENCE).stop_at_first()
    });
    let there = there.expect("there are schedules");
    let Some(failure) = there.failures.first() else {
        eprintln!("{mistake:?} on a real server: nothing shows it");
        return Verdict::Missed;
    };
    eprintln!("{mistake:?} on a real server: {there}");
    Verdict::Found(failure.invariant.to_string())
}
