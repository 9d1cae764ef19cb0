//! A condition has no value in some world. Conditions are total functions of the facts: end the
//! condition with an `otherwise` clause. In an `Ignored` state no status is written, so no value is
//! needed. In a `Suspended` state, a condition that queries more than the facts that decide the
//! state is not written anew.
//!
//! ```text
//! condition Up { True when ready; }                        // refused: no value for `!ready`
//! condition Up { True when ready; Unknown "Starting" otherwise; }
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::ConditionId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::{Explored, clause_of};
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC052",
    name: "condition_without_value",
    group: Group::Status,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (at, condition) in space.lifecycle.conditions.iter().enumerate() {
        let told = || space.reporting_worlds(ConditionId(at));
        let bad = |world: usize| clause_of(condition, space.worlds.get(world)).is_none();
        let Some(example) = told().find(|world| bad(*world)) else {
            continue;
        };
        let claim = Claim {
            about: told().collect(),
            bad: &bad,
            expected: BTreeSet::new(),
        };
        let message = format!(
            "condition `{}` has no value for `{}`; end it with an `otherwise` clause",
            condition.name,
            minimal(space, &claim, example)
        );
        let name = condition.name.to_string();
        sink.push(
            RULE.finding(condition.name.span(), name, message)
                .help("for example `Unknown \"Waiting\" otherwise;`"),
        );
    }
}
