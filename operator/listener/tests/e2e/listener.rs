//! The Listener lifecycle on a real API server: the objects that it makes, repairs, and leaves
//! alone.

mod addresses;
mod healing;
mod helm;
mod service;
mod swapped;
mod tools;
mod unreadable;

use lifecycle_tests::harness::{Case, Need};

const BINARIES: &[Need] = &[Need::Binaries];
const CONTROLLERS: &[Need] = &[Need::Binaries, Need::ControllerManager];

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        service::cases(),
        addresses::cases(),
        healing::cases(),
        unreadable::cases(),
        tools::cases(),
        helm::cases(),
        swapped::cases(),
    ];
    cases.into_iter().flatten().collect()
}
