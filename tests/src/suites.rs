//! Generated suites of the small lifecycles of this package, tools to seed bugs, and real servers
//! to run suites on.

pub mod gallery;
pub mod layer;
pub mod real;
pub mod sketches;
pub mod wrapped;

use lifecycle_suite::resources::{Invariant, Suite};

/// The mistake is found, by this rule.
#[track_caller]
pub fn found_by(invariant: Invariant, suite: Suite) {
    let report = suite
        .stop_at(invariant)
        .run()
        .expect("the suite is complete");
    let broken = report.broken();
    assert!(
        broken.contains(&invariant),
        "not found by `{invariant}`:\n{report}"
    );
    let named = report.failures.iter().find(|f| f.invariant == invariant);
    let named = named.expect("it is among the broken rules");
    eprintln!("[{invariant}] {}\n  when: {}", named.text, named.schedule);
}

/// Checks a suite without bugs: nothing is found, and everything that is declared was seen.
#[track_caller]
pub fn passes(suite: Suite) {
    let report = suite.run().expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.unseen().is_empty(), "{report}");
}
