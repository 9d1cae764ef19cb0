//! A warning: a state is Ready although a due promise leads out of it, or changes the clause of a
//! condition. A user who waits for the object takes it for done, and the promised change then shows
//! that it was not. Put a state for that case above it, or require the promised change in this
//! state. Likewise, a state is Ready while an object that the operator writes has no place: the
//! object under its name belongs to another controller or user, or is still being deleted. A state
//! that asks for this object accepts it as it is.
//!
//! ```text
//! starts: health == Starting sets { health = Up } or { health = Down };
//! Broken when health == Down => Error wakes self; goal Ready when service == Current => Ready;         // warned: also while it starts
//! Starting when health == Starting => Pending; goal Ready when service == Current => Ready;
//! Making when web in { Absent, Stale } => Pending; goal Ready when service == Current => Ready;        // warned: also with web == Foreign
//! Taken when web == Foreign => Error wakes web, self;
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::{EffectId, InputId, Mode, Phase, Promise, State, StateId, VarId, Verb, Verdict};
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
        let inputs = (0..space.lifecycle.inputs.len()).map(InputId);
        for found in inputs.flat_map(|input| without_place(space, state, &idle, input)) {
            sink.push(found);
        }
    }
}

/// Reports a state that is Ready while an object of ours cannot be written. Without the obstacle,
/// the operator would write the object there, and the state would be another.
fn without_place(
    space: &Space<'_>,
    state: &State,
    idle: &[usize],
    input: InputId,
) -> Vec<Diagnostic> {
    let declared = &space.lifecycle.inputs[input.0];
    let is_ours = matches!(declared.mode, Mode::Owned | Mode::Group);
    let Some(var) = declared
        .var
        .filter(|var| is_ours && !state.when.vars().contains(var))
    else {
        return Vec::new();
    };
    let (missing, obstacles) = match declared.many {
        true => (Verdict::Behind, [Verdict::Foreign].as_slice()),
        false => (
            Verdict::Absent,
            [Verdict::Foreign, Verdict::Terminating].as_slice(),
        ),
    };
    let values = &space.lifecycle.vars[var.0];
    let Some(missing) = values.position(missing) else {
        return Vec::new();
    };
    let of = |obstacle: &Verdict| {
        let value = values.position(*obstacle)?;
        let writer = |world: usize| {
            let at = space.worlds.get(world);
            let is_obstacle = at.is_asked(var) && at.value(var) == value;
            let written = is_obstacle.then(|| written_if(space, input, world, (var, missing)));
            written.flatten()
        };
        let (example, effect) = idle.iter().find_map(|at| Some((*at, writer(*at)?)))?;
        let bad = |world: usize| writer(world).is_some();
        let claim = Claim {
            about: idle.to_vec(),
            bad: &bad,
            expected: [var].into(),
        };
        let witness = minimal(space, &claim, example);
        Some(obstructed(
            space,
            state,
            (input, effect),
            *obstacle,
            &witness,
        ))
    };
    obstacles.iter().filter_map(of).collect()
}

/// Returns the effect that would write an object wherever a world leads if the object were
/// missing, if the state were another there, too.
fn written_if(
    space: &Space<'_>,
    input: InputId,
    world: usize,
    missing: (VarId, usize),
) -> Option<EffectId> {
    let change = forced(space.lifecycle, space.worlds.get(world), &[missing]);
    let ends = space.worlds.reached(&change);
    let mut effects = (0..space.lifecycle.effects.len()).map(EffectId);
    effects.find(|effect| {
        let declared = &space.lifecycle.effects[effect.0];
        let runs = |end: &u32| {
            let end = *end as usize;
            let permissions = &space.permissions;
            space.classes[end] != space.classes[world]
                && permissions.would_run(*effect, space.worlds.get(end))
        };
        (declared.verb, declared.target) == (Verb::Apply, input)
            && !ends.is_empty()
            && ends.iter().all(runs)
    })
}

fn obstructed(
    space: &Space<'_>,
    state: &State,
    (input, effect): (InputId, EffectId),
    obstacle: Verdict,
    witness: &str,
) -> Diagnostic {
    let object = &space.lifecycle.inputs[input.0];
    let effect = &space.lifecycle.effects[effect.0].name;
    let (name, object, many) = (&state.name, &object.name, object.many);
    let (why, above) = if obstacle == Verdict::Terminating {
        (
            format!("`{object}` is still being deleted"),
            format!("Removing when {object} == Terminating => Pending;"),
        )
    } else {
        let what = if many { "a name in" } else { "the name of" };
        (
            format!("another controller or user holds {what} `{object}`"),
            format!("Taken when {object} == Foreign => Error wakes {object}, self;"),
        )
    };
    let message = format!(
        "state `{name}` is Ready with `{witness}`, although {why} and `{effect}` cannot write it"
    );
    RULE.finding(name.span(), name.to_string(), message)
        .note(effect.span(), "this effect would write it")
        .help(format!(
            "put a state for that above `{name}`, such as `{above}`; or require `{object} == Current` in `{name}`"
        ))
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
