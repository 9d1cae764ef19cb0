//! The simulated cluster beside the real one: the same requests get the same answers.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod conformance;
mod differential;
mod kubectl;
mod schemas;
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    let servers = Arc::new(kubectl::Servers::default());
    let code = harness::run_suites([
        ("differential", differential::cases()),
        ("conformance", conformance::cases()),
        ("world", world::cases()),
        ("kubectl", kubectl::cases(&servers)),
        ("schemas", schemas::cases()),
    ]);
    drop(servers);
    code
}
