//! Mistakes that were planted on purpose, in logic and in the runtime: the generated suite finds each, and the rule that finds it is named here.
//! The rules are those of every suite; beside each group of mistakes stands the same lifecycle without one, which passes.

#[path = "driver/fan.rs"]
mod fan;
#[path = "planted/fans.rs"]
mod fans;
#[path = "driver/lamp.rs"]
mod lamp;
#[path = "planted/lamps.rs"]
mod lamps;
#[path = "planted/layer.rs"]
mod layer;
#[path = "planted/listeners.rs"]
mod listeners;
#[path = "planted/shares.rs"]
mod shares;
#[path = "driver/tag.rs"]
mod tag;
#[path = "driver/tap.rs"]
#[allow(dead_code, reason = "the driver's tests have logic of their own there")]
mod tap;
#[path = "planted/taps.rs"]
mod taps;
#[path = "driver/widget.rs"]
mod widget;
#[path = "planted/widgets.rs"]
mod widgets;
#[path = "planted/wrapped.rs"]
mod wrapped;

use lifecycle_runtime::testing::suite::{Oracle, Suite};

/// The mistake is found, by this rule.
#[track_caller]
fn found_by(oracle: Oracle, suite: Suite) {
    let report = suite.stop_at(oracle).run().expect("the suite is complete");
    let broken = report.broken();
    assert!(
        broken.contains(&oracle),
        "not found by `{oracle}`:\n{report}"
    );
    let named = report.failures.iter().find(|f| f.oracle == oracle);
    let named = named.expect("it is among the broken rules");
    eprintln!("[{oracle}] {}\n  when: {}", named.text, named.schedule);
}

/// There is no mistake: nothing is found, and everything that is declared was seen.
#[track_caller]
fn passes(suite: Suite) {
    let report = suite.run().expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.unseen().is_empty(), "{report}");
}
