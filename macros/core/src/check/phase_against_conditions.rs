//! If nothing is left to do, the phase of a state and the roll-up of the conditions must agree. The
//! phase is Ready exactly if every condition of `ready from` is True. Otherwise a user would read
//! one result from the phase and another from the conditions.
//!
//! ```text
//! goal Ready when ready => Ready;                          // refused if a condition of `ready from` is not True somewhere in it
//! ```

use std::collections::BTreeMap;

use crate::errors::Sink;
use crate::model::{Phase, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::{Explored, Unmet};
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC051",
    name: "phase_against_conditions",
    group: Group::Status,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let disagrees = |world: usize| {
        explored
            .unmet_when_idle(world)
            .is_some_and(|(state, unmet)| {
                let ready = space.lifecycle.states[state.0].phase == Some(Phase::Ready);
                ready != (unmet == Unmet::Nothing)
            })
    };
    let mut first: BTreeMap<StateId, usize> = BTreeMap::new();
    for world in space.live().filter(|world| disagrees(*world)) {
        if let Class::State(state) = space.classes[world] {
            first.entry(state).or_insert(world);
        }
    }
    for (id, example) in first {
        let state = &space.lifecycle.states[id.0];
        let claim = Claim {
            about: explored.idle_in(id),
            bad: &disagrees,
            expected: state.when.vars(),
        };
        let witness = minimal(space, &claim, example);
        let phase = state
            .phase
            .map_or("none".to_owned(), |phase| format!("{phase:?}"));
        let unmet = explored.unmet_when_idle(example).map(|(_, unmet)| unmet);
        let (what, note) = match unmet {
            Some(Unmet::Condition { condition, clause }) => {
                let condition = &space.lifecycle.conditions[condition.0];
                let clause = &condition.clauses[clause];
                let what = format!("condition `{}` is {:?}", condition.name, clause.status);
                (what, Some((clause.span, "this clause decides it")))
            }
            Some(Unmet::Nothing) | None => {
                let span = space.lifecycle.ready.as_ref().map(|ready| ready.span);
                let note = span.map(|span| (span, "these are all True"));
                ("every condition is True".to_owned(), note)
            }
        };
        let message = format!(
            "phase {phase} in `{}` but {what} in `{witness}`",
            state.name
        );
        let mut diagnostic = RULE.finding(state.name.span(), state.name.to_string(), message);
        if let Some((span, text)) = note {
            diagnostic = diagnostic.note(span, text);
        }
        sink.push(
            diagnostic
                .help("change the phase, or the clause of the condition that decides it there"),
        );
    }
}
