//! Each bug of the list, seeded into small lifecycles until the suite of one of them finds it. The
//! results are its column of the table in `docs/suite.md`.

use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::Case;
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::mistakes::suite::planted;
use lifecycle_tests::mistakes::table::{self, Instrument, Verdict};
use lifecycle_tests::named;
use lifecycle_tests::suites::{gallery, sketches};

use super::{fans, widgets};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): small_lifecycles_show_what_the_table_says]
}

/// The quickest first.
const SUITES: [fn() -> Suite; 7] = [
    widgets::plain,
    || sketches::rollout().depth(2).faults(80, 10),
    fans::suite,
    || sketches::bucket().depth(2).faults(80, 10),
    || sketches::skupper().depth(2).faults(80, 10),
    || sketches::skupper_listener().depth(2).faults(80, 10),
    || gallery::app().depth(2).faults(80, 10),
];

fn verdict(mistake: Mistake) -> Verdict {
    let mut verdict = None;
    for suite in SUITES {
        let suite = suite();
        let name = suite.ir().name;
        match planted(mistake, suite) {
            Verdict::Found(rule) => return Verdict::Found(format!("{rule}, {name}")),
            Verdict::Missed => verdict = Some(Verdict::Missed),
            absent @ Verdict::NotPlanted(_) => verdict = verdict.or(Some(absent)),
        }
    }
    verdict.expect("there is a suite")
}

fn small_lifecycles_show_what_the_table_says() {
    let verdicts = Mistake::all().map(|mistake| (mistake, verdict(mistake)));
    table::hold(Instrument::Suite, &verdicts.collect());
}
