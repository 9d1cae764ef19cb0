//! Unmodified operators of other projects, on the simulated cluster and on a real API server. Each
//! does its job on both, with the same end. All of this program runs in a network that has only
//! loopback, so that none of it can reach another host.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod alone;
mod end;
mod official;
mod place;
mod ray;
mod snapshots;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    if let Err(error) = alone::enter() {
        eprintln!("{error:#}");
        return ExitCode::FAILURE;
    }
    harness::run_suites([
        ("alone", alone::cases()),
        ("snapshots", snapshots::cases()),
        ("ray", ray::cases()),
        ("official", official::cases()),
    ])
}
