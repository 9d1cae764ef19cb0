//! The Helm charts of `deploy/charts`. The tests cover the installed objects, as whole texts, and
//! the takeover of releases of the replaced charts, on a real API server. They cover the policies
//! beside the rights of the charts, the level of Pod Security and the rights of their Pods, and the
//! alerts of `deploy/monitoring`.

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
