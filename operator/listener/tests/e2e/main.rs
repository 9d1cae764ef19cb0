//! The Listener operator from end to end: its suites on a simulated and on a real API server, and on real nodes.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod beside;
mod churn;
mod cluster_volumes;
mod conversion;
mod cost;
mod csi_sanity;
mod edits;
mod explain;
mod faults_listener;
mod faults_real;
mod installed;
mod listener;
mod listener_pods;
mod listener_volume;
mod listeners;
mod plan;
mod replaced;
mod replayed;
mod scraped;
mod seeded;
mod settling;
mod simulated;
mod suites;
mod trouble;
mod volume_suite;
mod waiting;

use std::process::ExitCode;

use lifecycle_tests::harness;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_listener-operator");

fn main() -> ExitCode {
    if let Some(ended) = listener_volume::full_disk::inside() {
        return ended;
    }
    harness::run_suites([
        ("beside", beside::cases()),
        ("churn", churn::cases()),
        ("cluster_volumes", cluster_volumes::cases()),
        ("listener_volume", listener_volume::cases()),
        ("faults_listener", faults_listener::cases()),
        ("volume_suite", volume_suite::cases()),
        // One of them waits for a minute and a half: late, it would wait alone.
        ("seeded", seeded::cases()),
        ("faults_real", faults_real::cases()),
        ("trouble", trouble::cases()),
        ("listener", listener::cases()),
        ("cost", cost::cases()),
        ("conversion", conversion::cases()),
        ("edits", edits::cases()),
        ("explain", explain::cases()),
        ("plan", plan::cases()),
        ("replayed", replayed::cases()),
        ("csi_sanity", csi_sanity::cases()),
        ("scraped", scraped::cases()),
        ("listener_pods", listener_pods::cases()),
        ("simulated", simulated::cases()),
        ("waiting", waiting::cases()),
    ])
}
