//! The controllers of the world, each case on the simulated server and on a real one.

#[path = "world/garbage.rs"]
mod garbage;
#[path = "world/place.rs"]
mod place;
#[path = "world/running.rs"]
mod running;

use std::process::ExitCode;

use lifecycle_tests::harness::run;

fn main() -> ExitCode {
    let cases = [garbage::cases(), running::cases()];
    run(cases.into_iter().flatten().collect())
}
