//! Skupper sites from end to end: their suites on a simulated and on a real API server, on real nodes, and from files.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod edits;
mod explain;
mod faults_skupper;
mod files;
mod grants;
mod place;
mod seeded;
mod skupper;
mod skupper_cluster;
mod suites;

use std::path::Path;
use std::process::ExitCode;

use lifecycle_tests::harness;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_skupper-operator");
/// Name under which this program starts as the router, which is compiled in.
const ROUTER: &str = "lifecycle-router";

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    if Path::new(&name)
        .file_name()
        .is_some_and(|name| name == ROUTER)
    {
        return lifecycle_router::program::main();
    }
    let code = harness::run_suites([
        ("skupper_cluster", skupper_cluster::cases()),
        ("skupper", skupper::cases()),
        ("edits", edits::cases()),
        ("explain", explain::cases()),
        ("faults_skupper", faults_skupper::cases()),
        ("files", files::cases()),
        ("grants", grants::cases()),
        ("seeded", seeded::cases()),
    ]);
    place::TestEnv::end_shared();
    skupper_cluster::env::TestEnv::end_shared();
    code
}
