//! The controllers of the world, each case on the simulated server and on a real one.

mod copied;
mod garbage;
mod place;
mod running;

use lifecycle_tests::harness::Case;

pub(crate) fn cases() -> Vec<Case> {
    let cases = [copied::cases(), garbage::cases(), running::cases()];
    cases.into_iter().flatten().collect()
}
