//! The Helm charts of `deploy/charts`: what they install, as whole texts; that they take over the releases of the charts that
//! they replace, on a real API server; and what the policies beside their rights forbid.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod folders;
mod policy;
mod texts;
mod upgrades;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("policy", policy::cases()),
        ("texts", texts::cases()),
        ("upgrades", upgrades::cases()),
    ])
}
