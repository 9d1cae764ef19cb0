//! A mistake in the runtime below Sites: their column of the table in `docs/suite.md`.

use lifecycle_skupper::data_plane::DataPlane;
use lifecycle_tests::harness::Case;
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::mistakes::suite::planted;
use lifecycle_tests::mistakes::table::{self, Instrument, Verdict};
use lifecycle_tests::named;

use crate::suites;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): a_site_shows_what_the_table_says]
}

/// Covers only the bugs that no other suite can reveal: suites of a Site take long.
fn a_site_shows_what_the_table_says() {
    let verdict = |mistake: Mistake| {
        if mistake == Mistake::Planning {
            return planted(
                mistake,
                suites::site(DataPlane::Embedded).depth(2).faults(0, 0),
            );
        }
        Verdict::NotPlanted("in the other suites")
    };
    let verdicts = Mistake::all().map(|mistake| (mistake, verdict(mistake)));
    table::hold(Instrument::Sites, &verdicts.collect());
}
