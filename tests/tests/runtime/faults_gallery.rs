//! The generated suites of lifecycles that operators of others have: a certificate, a name, replicas by load, a count, a machine, a database, a login, a team; and where some of them end on a real API server.

use anyhow::{Context, Result, anyhow, ensure};
use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::named;
use lifecycle_tests::suites::real::Real;
use lifecycle_tests::suites::{gallery, sketches};

use crate::faults_sketches::passes;

/// How many schedules of each are run on a real API server as well.
const SCHEDULES: usize = 6;
/// Most of a run is waiting, so that several go on at the same time.
const SERVERS: usize = 3;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![calculation(): no_fault_changes_where_a_quota_ends, no_fault_changes_where_a_name_ends, no_fault_changes_where_an_autoscaler_ends, no_fault_changes_where_a_certificate_ends, no_fault_changes_where_a_machine_ends, no_fault_changes_where_a_database_ends, no_fault_changes_where_an_account_ends, no_fault_changes_where_a_tenant_ends, no_fault_changes_where_a_login_ends, no_fault_changes_where_a_leaf_ends];
    let name = "each_ends_on_a_real_api_server_where_it_does_on_the_simulated_one";
    cases.push(case(name, &[Need::Binaries], same_ends));
    cases
}

/// Those in which nothing waits for a clock or a poll, which last as long as they say there.
async fn same_ends() -> Result<()> {
    for (name, suite) in [
        ("quota", gallery::quota as fn() -> Suite),
        ("account", gallery::account),
        ("certificate", gallery::certificate),
        ("database", gallery::database),
        ("topic", sketches::topic),
    ] {
        let real = Real::start(SERVERS).await?;
        // Each run has a runtime of its own.
        let compared =
            tokio::task::spawn_blocking(move || suite().depth(2).same_on(real, SCHEDULES));
        let likeness = compared
            .await
            .with_context(|| format!("the suite of {name} panicked"))?;
        let likeness = likeness.map_err(|why| anyhow!(why))?;
        eprintln!("{name}: {likeness}");
        ensure!(likeness.failures.is_empty(), "{name}: {likeness}");
        ensure!(likeness.schedules == SCHEDULES, "{name}: {likeness}");
    }
    Ok(())
}

fn few(suite: Suite, depth: usize, never: &[&str]) {
    passes(suite.depth(depth).faults(60, 10), 60, never);
}

fn no_fault_changes_where_a_quota_ends() {
    few(gallery::quota(), 3, &[]);
}

fn no_fault_changes_where_an_account_ends() {
    few(gallery::account(), 3, &[]);
}

fn no_fault_changes_where_a_tenant_ends() {
    few(gallery::tenant(), 2, &[]);
}

fn no_fault_changes_where_a_login_ends() {
    few(gallery::login(), 2, &[]);
}

fn no_fault_changes_where_a_leaf_ends() {
    few(gallery::leaf(), 2, &[]);
}

fn no_fault_changes_where_a_name_ends() {
    few(gallery::dns(), 2, &[]);
}

fn no_fault_changes_where_an_autoscaler_ends() {
    few(gallery::autoscaler(), 3, &[]);
}

fn no_fault_changes_where_a_certificate_ends() {
    // What an answer that is not taken deletes is three moves away.
    few(gallery::certificate(), 2, &["effect delete_signing"]);
}

fn no_fault_changes_where_a_machine_ends() {
    few(gallery::machine(), 2, &[]);
}

fn no_fault_changes_where_a_database_ends() {
    few(gallery::database(), 3, &[]);
}
