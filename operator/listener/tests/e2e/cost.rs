//! Cost of Listeners for the API server, counted from its audit log by the operator's own user.

mod many;
mod one;
mod others;

use lifecycle_tests::audit::Log;
use lifecycle_tests::harness::{Case, Need};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    let cases = [one::cases(), many::cases(), others::cases()];
    cases.into_iter().flatten().collect()
}

/// Prints the counts; events and Leases are separate.
fn print_counts(what: &str, log: &Log) {
    let c = log.counts();
    eprintln!(
        "{what}: {} writes, {} reads, {} watches, {} others; apart: {} events, {} Lease requests",
        c.writes, c.reads, c.watches, c.others, c.events, c.leases
    );
}
