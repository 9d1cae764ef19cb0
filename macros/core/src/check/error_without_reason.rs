//! An Error state in which no condition of `ready from` is False with a reason. A person has to act
//! in such a state, so the conditions must state the error. Unknown would only report that
//! something is still in progress. If every condition is True, the phase is wrong (LC051).
//!
//! ```text
//! Taken when service == Foreign => Error wakes service;
//! condition Made { Unknown "Taken" when service == Foreign; .. }     // refused if no other says more; `False "Taken"` tells a person to act
//! ```

use std::collections::BTreeMap;

use crate::errors::Sink;
use crate::model::{ConditionStatus, Phase, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::{Explored, Unmet, clause_of};
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC053",
    name: "error_without_reason",
    group: Group::Status,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let untold = |world: usize| {
        let (state, unmet) = explored.unmet_when_idle(world)?;
        let error = space.lifecycle.states[state.0].phase == Some(Phase::Error);
        let silent = unmet != Unmet::Nothing && !has_error_reason(explored, world);
        (error && silent).then_some((state, unmet))
    };
    let mut first: BTreeMap<StateId, (usize, Unmet)> = BTreeMap::new();
    for world in space.live() {
        if let Some((state, unmet)) = untold(world) {
            first.entry(state).or_insert((world, unmet));
        }
    }
    for (id, (example, unmet)) in first {
        let state = &space.lifecycle.states[id.0];
        let bad = |world: usize| untold(world).is_some();
        let claim = Claim {
            about: explored.idle_in(id),
            bad: &bad,
            expected: state.when.vars(),
        };
        let what = match unmet {
            Unmet::Nothing => continue,
            Unmet::Condition { condition, clause } => {
                let condition = &space.lifecycle.conditions[condition.0];
                let clause = &condition.clauses[clause];
                let reason = match (&clause.reason, clause.status) {
                    (None, ConditionStatus::False) => " without a reason",
                    (Some(_), _)
                    | (
                        None,
                        ConditionStatus::True
                        | ConditionStatus::Unknown
                        | ConditionStatus::Absent
                        | ConditionStatus::Omit,
                    ) => "",
                };
                format!(
                    "the first unmet condition there is `{}` = {:?}{reason}",
                    condition.name, clause.status
                )
            }
        };
        let message = format!(
            "state `{}` is Error but {what}, for example with `{}`",
            state.name,
            minimal(space, &claim, example)
        );
        sink.push(
            RULE.finding(state.name.span(), state.name.to_string(), message)
                .help("let a condition of `ready from` be `False` with a reason there"),
        );
    }
}

/// Returns true if one of the conditions of the roll-up states the error.
fn has_error_reason(explored: &Explored<'_>, world: usize) -> bool {
    let space = explored.space;
    let asked = space.lifecycle.ready.iter().flat_map(|ready| &ready.from);
    let mut clauses = asked.filter_map(|id| {
        let condition = &space.lifecycle.conditions[id.0];
        let at = clause_of(condition, space.worlds.get(world))?;
        Some(&condition.clauses[at])
    });
    clauses.any(|clause| clause.status == ConditionStatus::False && clause.reason.is_some())
}
