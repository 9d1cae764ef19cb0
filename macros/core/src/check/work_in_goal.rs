//! An effect is still enabled in a goal state, so the object would be done and yet never settle.
//! Query in the goal the fact that the effect establishes, or narrow the `when` of the effect.
//!
//! ```text
//! goal Ready when service in { Stale, Current } => Ready;  // refused: `apply_service` is enabled while it is Stale
//! Making when service == Stale => Pending; goal Ready when service == Current => Ready;
//! ```

use std::collections::BTreeMap;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Assign, Effect, EffectId, Lifecycle, StateId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC025",
    name: "work_in_goal",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut first: BTreeMap<(EffectId, StateId), usize> = BTreeMap::new();
    for world in space.live() {
        if let (Class::State(state), Some(effect)) =
            (space.classes[world], space.choices[world].effect())
            && space.lifecycle.states[state.0].goal
        {
            first.entry((effect, state)).or_insert(world);
        }
    }
    for ((id, state_id), example) in first {
        let effect = &space.lifecycle.effects[id.0];
        let state = &space.lifecycle.states[state_id.0];
        let bad = |world: usize| space.choices[world].effect() == Some(id);
        let class = Class::State(state_id);
        let here = |world: &usize| space.classes[*world] == class;
        let target = space.lifecycle.inputs[effect.target.0].var;
        let claim = Claim {
            about: space.live().filter(here).collect(),
            bad: &bad,
            expected: target.into_iter().collect(),
        };
        let message = format!(
            "effect `{}` is still enabled in goal state `{}` with `{}`: the object would never settle",
            effect.name,
            state.name,
            minimal(space, &claim, example)
        );
        let found = RULE
            .finding(effect.name.span(), effect.name.to_string(), message)
            .note(state.name.span(), "this is the goal")
            .help(
                "put a state for this before the goal, or narrow the goal or the effect's `when`",
            );
        sink.push(undos_in_life(found, [effect]));
    }
}

/// Returns advice for the first effect with a `sets` that does not make its target Current.
pub(super) fn unsaid_target(
    lifecycle: &Lifecycle,
    effects: impl IntoIterator<Item = EffectId>,
) -> Option<String> {
    effects.into_iter().find_map(|id| {
        let effect = &lifecycle.effects[id.0];
        let target = &lifecycle.inputs[effect.target.0];
        let var = target.var?;
        let is_silent = |set: &Vec<Assign>| set.iter().all(|one| one.var != var);
        let is_apply = effect.verb == Verb::Apply && !target.many && effect.sets_written;
        let silent = is_apply && effect.sets.iter().any(is_silent);
        silent.then(|| {
            format!(
                "write `{} = Current` in the `sets` of `{}`: a written list replaces the default, so nothing declares what the write makes of its own object",
                target.name, effect.name
            )
        })
    })
}

/// Adds to a finding that undos with a `when` run in life, too, which their authors may not know.
pub(super) fn undos_in_life<'a>(
    found: Diagnostic,
    effects: impl IntoIterator<Item = &'a Effect>,
) -> Diagnostic {
    let undos = effects.into_iter().filter(|effect| effect.is_undo);
    undos.fold(found, |found, undo| match &undo.when {
        Some(when) => found.note(
            when.span,
            format!(
                "`{}` is an undo: with a `when` it runs wherever that holds, without one only on deletion",
                undo.name
            ),
        ),
        None => found,
    })
}
