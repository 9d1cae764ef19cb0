//! Seeded bugs in logic and in the runtime. The generated suite finds each of them, and the rule
//! that finds it is named here. The rules are those of every suite. Each group of bugs has a
//! correct version of the lifecycle beside it, which passes.

mod crossed;
mod fans;
mod lamps;
mod shares;
mod shops;
mod taps;
mod widgets;

use lifecycle_tests::harness::Case;
use lifecycle_tests::suites::layer;
use lifecycle_tests::suites::{found_by, passes};

use super::driver::{book, fan, lamp, shop, tag, tap, widget};

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        crossed::cases(),
        fans::cases(),
        lamps::cases(),
        shares::cases(),
        shops::cases(),
        taps::cases(),
        widgets::cases(),
    ];
    cases.into_iter().flatten().collect()
}
