//! `lifecycle-operator explain` from a user's perspective, at the prompt and as a plugin of
//! kubectl: the content of `docs/explain.md`, run in the sandbox, and other pages whose commands
//! need one.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod network;
mod page;
mod rights;
mod sandbox;
mod watch;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("network", network::cases()),
        ("page", page::cases()),
        ("rights", rights::cases()),
        ("watch", watch::cases()),
    ])
}
