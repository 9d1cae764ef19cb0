//! The Listener lifecycle on a real API server: what it makes, how it heals, what it leaves alone.

#[path = "listener/addresses.rs"]
mod addresses;
#[path = "listener/healing.rs"]
mod healing;
#[path = "listener/service.rs"]
mod service;

use std::process::ExitCode;

use lifecycle_tests::harness::{Need, run};

const BINARIES: &[Need] = &[Need::Binaries];
const CONTROLLERS: &[Need] = &[Need::Binaries, Need::ControllerManager];
const PROGRAM: &str = env!("CARGO_BIN_EXE_operator-under-test");

fn main() -> ExitCode {
    let cases = [service::cases(), addresses::cases(), healing::cases()];
    run(cases.into_iter().flatten().collect())
}
