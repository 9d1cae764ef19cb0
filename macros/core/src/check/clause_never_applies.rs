//! A warning: a clause of a condition never applies, because the clauses above it take all of its
//! worlds or because its predicate is contradictory. An `Ignored` state counts for no clause,
//! because no status is written in it. A `Suspended` state counts only for conditions that query
//! nothing except the facts that decide it. All other conditions stay unchanged.
//!
//! ```text
//! Unknown "Working" otherwise; False "Taken" when bucket == Taken;   // a warning: the second never applies
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::ConditionId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::{Explored, clause_of};

pub(super) const RULE: Rule = Rule {
    code: "LC054",
    name: "clause_never_applies",
    group: Group::Status,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (at, condition) in space.lifecycle.conditions.iter().enumerate() {
        let worlds = space
            .reporting_worlds(ConditionId(at))
            .map(|world| space.worlds.get(world));
        let used: BTreeSet<usize> = worlds
            .filter_map(|world| clause_of(condition, world))
            .collect();
        for (position, clause) in condition.clauses.iter().enumerate() {
            if used.contains(&position) {
                continue;
            }
            let message = format!(
                "condition `{}`: clause {} never applies",
                condition.name,
                position + 1
            );
            sink.push(
                RULE.finding(clause.span, condition.name.to_string(), message)
                    .help("the first clause that fits counts: move it up, or remove it"),
            );
        }
    }
}
