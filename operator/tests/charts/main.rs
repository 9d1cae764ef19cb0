//! The Helm charts of `deploy/charts`: what they install, as whole texts; that they take over the releases of the charts that
//! they replace, on a real API server; what the policies beside their rights forbid; under which level of Pod Security and with which rights their Pods run;
//! and the alerts of `deploy/monitoring`.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod folders;
mod monitoring;
mod policy;
mod scope;
mod security;
mod texts;
mod upgrades;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("monitoring", monitoring::cases()),
        ("policy", policy::cases()),
        ("scope", scope::cases()),
        ("security", security::cases()),
        ("texts", texts::cases()),
        ("upgrades", upgrades::cases()),
    ])
}
