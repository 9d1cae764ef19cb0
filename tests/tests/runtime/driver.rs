//! Tests of the driver on a real API server: effects, drift, foreign objects, deletion, restarts
//! and cost.

mod around;
pub(super) mod book;
pub(super) mod door;
pub(super) mod fan;
mod hosted;
pub(super) mod lamp;
mod several;
pub(super) mod shop;
mod single;
pub(super) mod tag;
pub(super) mod tap;
mod trouble;
pub(super) mod widget;
pub(crate) mod world;

use lifecycle_tests::harness::{Case, Need};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        single::cases(),
        several::cases(),
        hosted::cases(),
        trouble::cases(),
        around::cases(),
    ];
    cases.into_iter().flatten().collect()
}
