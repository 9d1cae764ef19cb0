//! The generated suite of the Listener on a real kube-apiserver: for each fault that can be made
//! there, every run settles as on the simulated server, with equal objects.

use crate::suites;
use anyhow::{Context, Result, anyhow, ensure};
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::suites::real::Real;

/// How many schedules are run on both.
const SCHEDULES: usize = 45;
/// Most of a run is waiting, so that several go on at the same time.
const SERVERS: usize = 3;

pub(crate) fn cases() -> Vec<Case> {
    let name = "a_listener_ends_on_a_real_api_server_where_it_does_on_the_simulated_one";
    vec![case(name, &[Need::Binaries], same_ends)]
}

async fn same_ends() -> Result<()> {
    let real = Real::start(SERVERS).await?;
    // Each run has a runtime of its own.
    let compared = tokio::task::spawn_blocking(|| {
        let suite = suites::listener().depth(2);
        suite.same_on(real, SCHEDULES)
    });
    let likeness = compared.await.context("the suite panicked")?;
    let likeness = likeness.map_err(|why| anyhow!(why))?;
    eprintln!("{likeness}");
    ensure!(likeness.failures.is_empty(), "{likeness}");
    ensure!(likeness.schedules == SCHEDULES, "{likeness}");
    ensure!(likeness.faults.len() >= 12, "{likeness}");
    Ok(())
}
