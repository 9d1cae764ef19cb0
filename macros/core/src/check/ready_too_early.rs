//! A warning: a state is Ready although a due promise leads out of it, or changes the clause of a
//! condition. A user who waits for the object takes it for done, and the promised change then shows
//! that it was not. Put a state for that case above it, or require the promised change in this
//! state.
//!
//! ```text
//! starts: health == Starting sets { health = Up } or { health = Down };
//! Broken when health == Down => Error wakes self; goal Ready when service == Current => Ready;         // warned: also while it starts
//! Starting when health == Starting => Pending; goal Ready when service == Current => Ready;
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::{Phase, Promise, State, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::explored::{Explored, Unmet, clause_of};
use crate::space::graph::forced;
use crate::space::promised::Mover;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC163",
    name: "ready_too_early",
    group: Group::Status,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (at, state) in space.lifecycle.states.iter().enumerate() {
        let id = StateId(at);
        if state.phase != Some(Phase::Ready) {
            continue;
        }
        // Another rule reports a condition that contradicts Ready.
        let mut idle = explored.idle_in(id);
        idle.retain(|world| !is_unmet(explored, *world));
        for (number, promise) in space.lifecycle.promises.iter().enumerate() {
            // Another rule reports a promise that counts nowhere.
            let mut moves = explored.drives.graph.all().iter();
            if !moves.any(|one| one.mover == Mover::Promise(number)) {
                continue;
            }
            let early = |world: usize| leads_on(space, promise, world);
            if let Some(&example) = idle.iter().find(|world| early(**world)) {
                let claim = Claim {
                    about: idle.clone(),
                    bad: &early,
                    expected: promise.when.vars(),
                };
                let witness = minimal(space, &claim, example);
                sink.push(diagnostic(state, promise, &witness));
                break;
            }
        }
    }
}

fn is_unmet(explored: &Explored<'_>, world: usize) -> bool {
    let unmet = explored.unmet_when_idle(world);
    unmet.is_some_and(|(_, unmet)| unmet != Unmet::Nothing)
}

/// Returns true if a promise is due in a world, and may lead to a world with another state or
/// condition.
fn leads_on(space: &Space<'_>, promise: &Promise, world: usize) -> bool {
    let at = space.worlds.get(world);
    let mut sets = promise.sets.iter();
    at.holds(&promise.when)
        && sets.any(|set| {
            let set: Vec<_> = set.iter().map(|one| (one.var, one.value)).collect();
            let ends = space.worlds.reached(&forced(space.lifecycle, at, &set));
            ends.iter().any(|end| differs(space, world, *end as usize))
        })
}

/// Returns true if the state or a clause of a condition differs.
fn differs(space: &Space<'_>, one: usize, other: usize) -> bool {
    let clause = |condition, world| clause_of(condition, space.worlds.get(world));
    let mut conditions = space.lifecycle.conditions.iter();
    space.classes[one] != space.classes[other]
        || conditions.any(|condition| clause(condition, one) != clause(condition, other))
}

fn diagnostic(state: &State, promise: &Promise, witness: &str) -> Diagnostic {
    let (name, promised) = (&state.name, &promise.name);
    let message = format!(
        "state `{name}` is Ready with `{witness}`, although `{promised}` is due there and changes what is reported"
    );
    RULE.finding(name.span(), name.to_string(), message)
        .note(promised.span(), "this is what is promised")
        .help(format!(
            "put a state that waits for it above `{name}`; or, if an object is done without it, let `{promised}` be due only where it is waited for"
        ))
}
