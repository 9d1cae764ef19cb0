//! Seeded bugs in the code that a generated suite runs.

use lifecycle_suite::resources::Suite;

use super::Mistake;
use super::table::Verdict;

/// The suite of a lifecycle, run with a mistake.
pub fn with_mistake(mistake: Mistake, suite: Suite) -> Suite {
    let subject = suite.ir().name;
    suite
        .running(move |machine| mistake.machine(machine))
        .through(move |client| mistake.line(subject, client))
}

/// Returns the verdict of a suite on a seeded bug, with the rule that finds it.
#[track_caller]
pub fn planted(mistake: Mistake, suite: Suite) -> Verdict {
    let name = suite.ir().name;
    if let Some(why) = mistake.absence(suite.ir()) {
        return Verdict::NotPlanted(why);
    }
    let suite = with_mistake(mistake, suite).stop_at_first();
    let report = suite.run().expect("the suite is complete");
    let Some(failure) = report.failures.first() else {
        eprintln!("{mistake:?} in {name}: nothing shows it");
        return Verdict::Missed;
    };
    let (rule, text, when) = (failure.invariant, &failure.text, &failure.schedule);
    eprintln!("{mistake:?} in {name}: [{rule}] {text}\n  when: {when}");
    Verdict::Found(rule.to_string())
}
