//! What Listeners cost the API server, counted from its audit log by the operator's own user.

#[path = "cost/many.rs"]
mod many;
#[path = "cost/one.rs"]
mod one;
#[path = "cost/others.rs"]
mod others;

use std::process::ExitCode;

use lifecycle_tests::audit::Log;
use lifecycle_tests::harness::{Need, run};

const BINARIES: &[Need] = &[Need::Binaries];
const PROGRAM: &str = env!("CARGO_BIN_EXE_operator-under-test");

fn main() -> ExitCode {
    let cases = [one::cases(), many::cases(), others::cases()];
    run(cases.into_iter().flatten().collect())
}

/// Prints what was counted; events and Leases stand apart.
fn say(what: &str, log: &Log) {
    let c = log.counts();
    eprintln!(
        "{what}: {} writes, {} reads, {} watches, {} others; apart: {} events, {} Lease requests",
        c.writes, c.reads, c.watches, c.others, c.events, c.leases
    );
}
