//! The adaptor against a management agent of its own process, over sockets of loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "adaptor/answers.rs"]
mod answers;
#[path = "adaptor/convergence.rs"]
mod convergence;
#[path = "adaptor/documents.rs"]
mod documents;
#[path = "adaptor/liars.rs"]
mod liars;
#[path = "adaptor/lost.rs"]
mod lost;
#[path = "adaptor/network.rs"]
mod network;
#[path = "adaptor/program.rs"]
mod program;
#[path = "adaptor/proxies.rs"]
mod proxies;
#[path = "adaptor/real.rs"]
mod real;
#[path = "adaptor/requests.rs"]
mod requests;
#[path = "adaptor/secrets.rs"]
mod secrets;
#[path = "adaptor/site.rs"]
mod site;
#[path = "adaptor/support.rs"]
mod support;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("answers", answers::cases()),
        ("convergence", convergence::cases()),
        ("documents", documents::cases()),
        ("liars", liars::cases()),
        ("lost", lost::cases()),
        ("network", network::cases()),
        ("program", program::cases()),
        ("proxies", proxies::cases()),
        ("real", real::cases()),
        ("requests", requests::cases()),
        ("secrets", secrets::cases()),
    ])
}
