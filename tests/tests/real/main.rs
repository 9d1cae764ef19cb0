//! Tests of the real API server and the real cluster that tests run against: the properties that
//! other suites rely on.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod api_server;
mod cluster;
mod shop;
mod wiki;
#[path = "../examples/wiki.rs"]
mod wiki_operator;
mod workloads;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("cluster", cluster::cases()),
        ("api_server", api_server::cases()),
        ("shop", shop::cases()),
        ("wiki", wiki::cases()),
    ])
}
