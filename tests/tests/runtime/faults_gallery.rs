//! The generated suites of lifecycles that operators of others have: a certificate, a name, replicas by load, a count, a machine, a database, a login, a team, an issuer, a workload, a route, a program that is migrated; and where some of them end on a real API server.

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

/// A suite and its name.
type Named = (&'static str, fn() -> Suite);

/// Suites of which some schedules also end on a real API server. They do not wait for a clock or a
/// poll, which take real time there.
pub(crate) const REAL: [Named; 6] = [
    ("quota", gallery::quota),
    ("account", gallery::account),
    ("certificate", gallery::certificate),
    ("database", gallery::database),
    ("topic", sketches::topic),
    ("workload", gallery::workload),
];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![calculation(): no_fault_changes_where_a_quota_ends, no_fault_changes_where_a_name_ends, no_fault_changes_where_an_autoscaler_ends, no_fault_changes_where_a_certificate_ends, no_fault_changes_where_a_machine_ends, no_fault_changes_where_a_database_ends, no_fault_changes_where_an_account_ends, no_fault_changes_where_an_app_ends, no_fault_changes_where_a_front_ends, no_fault_changes_where_a_tenant_ends, no_fault_changes_where_a_lodge_ends, no_fault_changes_where_a_login_ends, no_fault_changes_where_a_leaf_ends, no_fault_changes_where_an_issuer_ends, no_fault_changes_where_a_workload_ends, no_fault_changes_where_a_route_ends, no_fault_changes_where_a_postgres_cluster_ends, no_fault_changes_where_a_managed_bucket_ends];
    let name = "each_ends_on_a_real_api_server_where_it_does_on_the_simulated_one";
    cases.push(case(name, &[Need::Binaries], same_ends));
    cases
}

async fn same_ends() -> Result<()> {
    for (name, suite) in REAL {
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

#[track_caller]
fn few(name: &str, suite: Suite, depth: usize, never: &[&str]) {
    passes(name, suite.faults(60, 10), depth, 60, never);
}

fn no_fault_changes_where_a_quota_ends() {
    few("quota", gallery::quota(), 3, &[]);
}

fn no_fault_changes_where_an_account_ends() {
    few("account", gallery::account(), 3, &[]);
}

fn no_fault_changes_where_an_app_ends() {
    few("app", gallery::app(), 3, &[]);
}

fn no_fault_changes_where_a_front_ends() {
    few("front", sketches::front(), 2, &[]);
}

fn no_fault_changes_where_a_lodge_ends() {
    few("lodge", gallery::lodge(), 3, &[]);
}

fn no_fault_changes_where_a_tenant_ends() {
    few("tenant", gallery::tenant(), 2, &[]);
}

fn no_fault_changes_where_a_login_ends() {
    few("login", gallery::login(), 2, &[]);
}

fn no_fault_changes_where_a_leaf_ends() {
    few("leaf", gallery::leaf(), 2, &[]);
}

fn no_fault_changes_where_an_issuer_ends() {
    few("issuer", gallery::issuer(), 2, &[]);
}

fn no_fault_changes_where_a_workload_ends() {
    few("workload", gallery::workload(), 3, &[]);
}

fn no_fault_changes_where_a_route_ends() {
    few("httproute", gallery::httproute(), 3, &[]);
}

fn no_fault_changes_where_a_postgres_cluster_ends() {
    few("postgres", gallery::postgres(), 2, &[]);
}

fn no_fault_changes_where_a_managed_bucket_ends() {
    few("managed-bucket", gallery::managed_bucket(), 2, &[]);
}

fn no_fault_changes_where_a_name_ends() {
    few("dns", gallery::dns(), 2, &[]);
}

fn no_fault_changes_where_an_autoscaler_ends() {
    few("autoscaler", gallery::autoscaler(), 3, &[]);
}

fn no_fault_changes_where_a_certificate_ends() {
    // Three moves lead to the deletion that an unused answer causes.
    few(
        "certificate",
        gallery::certificate(),
        2,
        &["effect delete_signing"],
    );
}

fn no_fault_changes_where_a_machine_ends() {
    few("machine", gallery::machine(), 2, &[]);
}

fn no_fault_changes_where_a_database_ends() {
    few("database", gallery::database(), 3, &[]);
}
