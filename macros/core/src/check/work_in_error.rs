//! A warning: effects run in a state that waits for a person. Such a state is Error and waits only
//! for the owner of the object (`wakes self`). It may also be Pending and `wakes` only the object
//! itself and single objects that are only read, such as an approval. It then wakes no clock, no
//! poll, nothing of ours and no set. The object has an error, or an approval is missing, and the
//! effects write meanwhile. Let their `when` require the correct value. Deletions and undos may
//! run, because they clean up. Records may run, because they are notes on the object itself. A
//! state that reports a refusal concerns one write, and other writes may go on.
//!
//! ```text
//! Invalid when shape == Bad => Error wakes self;
//! effects { apply service; }                            // warned: also from an object that is `Bad`
//! effects { apply service when shape == Fine; }
//! Waiting when !consent => Pending wakes approval;      // warned, too: made before anybody consents
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::errors::Sink;
use crate::model::{
    EffectId, InputId, Lifecycle, Mode, Origin, Phase, Source, State, StateId, Use, VarId, Verb,
};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC169",
    name: "work_in_error",
    group: Group::Liveness,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_state: BTreeMap<StateId, (usize, BTreeSet<EffectId>)> = BTreeMap::new();
    for world in space.live() {
        if let (Class::State(state), Some(effect)) = (space.classes[world], makes(space, world))
            && waits(space.lifecycle, &space.lifecycle.states[state.0])
        {
            let first = by_state.entry(state);
            first.or_insert((world, BTreeSet::new())).1.insert(effect);
        }
    }
    for (id, (example, effects)) in by_state {
        let bad = |world: usize| makes(space, world).is_some();
        let state = &space.lifecycle.states[id.0];
        let claim = Claim {
            about: explored.worlds_of(Class::State(id)).collect(),
            bad: &bad,
            expected: state.when.vars(),
        };
        let names = effects
            .iter()
            .map(|effect| &space.lifecycle.effects[effect.0].name);
        let quoted: Vec<String> = names.clone().map(|name| format!("`{name}`")).collect();
        let name = &state.name;
        let (writes, facts) = (quoted.join(" or "), minimal(space, &claim, example));
        let message = match state.phase {
            Some(Phase::Pending) => format!(
                "`{name}` reports that it waits for another controller or user, but meanwhile {writes} writes, for example with `{facts}`"
            ),
            _ => format!(
                "in `{name}` nothing helps but that its owner edits the object, and meanwhile {writes} writes, for example with `{facts}`"
            ),
        };
        let found = RULE.finding(name.span(), name.to_string(), message);
        let found = names.fold(found, |found, effect| {
            found.note(effect.span(), format!("`{effect}` is declared here"))
        });
        sink.push(found.help(format!("let its `when` read what keeps the object out of `{name}`; if this is intended, `allow` this and say why")));
    }
}

/// The effect that runs in a world and makes something.
fn makes(space: &Space<'_>, world: usize) -> Option<EffectId> {
    let effect = space.choices[world].effect()?;
    let declared = &space.lifecycle.effects[effect.0];
    let mode = space.lifecycle.inputs[declared.target.0].mode;
    let is_note = matches!(mode, Mode::Record | Mode::Noted);
    (!declared.is_undo && !is_note && declared.verb != Verb::Delete).then_some(effect)
}

/// Returns true if the state waits for the owner alone to correct something, or for a person before
/// it continues. Excludes a state that reports a refusal, because it concerns one write.
fn waits(lifecycle: &Lifecycle, state: &State) -> bool {
    let is_read = |input: InputId| {
        let input = &lifecycle.inputs[input.0];
        input.mode == Mode::Watched && !input.many
    };
    let is_person = |one: &Use| match one.source {
        Source::This => true,
        Source::Input(input) => is_read(input),
        Source::Request | Source::Field(_) | Source::Value(_) | Source::Fact(_) => false,
    };
    let people = |wakes: &Vec<Use>| wakes.iter().all(is_person);
    let only_self = |wakes: &Vec<Use>| wakes.iter().all(|one| one.source == Source::This);
    let is_refusal = |var: &VarId| matches!(lifecycle.vars[var.0].origin, Origin::Refused(_));
    let waits = match state.phase {
        Some(Phase::Error) => state.wakes.as_ref().is_some_and(only_self),
        Some(Phase::Pending) => state.wakes.as_ref().is_some_and(people) && !state.goal,
        Some(Phase::Ready | Phase::Suspended | Phase::Ignored) | None => false,
    };
    waits && !state.when.vars().iter().any(is_refusal)
}
