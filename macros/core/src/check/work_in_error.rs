//! A warning: effects run in a state that is Error and waits for nobody but the owner of the object (`wakes self`). What is wrong is what the object says, and
//! they write from it meanwhile. Let their `when` ask for what is right. Deletions and undos may run: they clear away; and records: they are notes on the object itself.
//! A state that tells of a refusal is about one write, and others may go on.
//!
//! ```text
//! Invalid when shape == Bad => Error wakes self;
//! effects { apply service; }                            // warned: also from an object that is `Bad`
//! effects { apply service when shape == Fine; }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::errors::Sink;
use crate::model::{
    EffectId, Lifecycle, Mode, Origin, Phase, Source, State, StateId, Use, VarId, Verb,
};
use crate::rule::{Rule, Run, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC169",
    name: "work_in_error",
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_state: BTreeMap<StateId, (usize, BTreeSet<EffectId>)> = BTreeMap::new();
    for world in space.live() {
        if let (Class::State(state), Some(effect)) = (space.classes[world], makes(space, world))
            && waits_for_its_owner(space.lifecycle, &space.lifecycle.states[state.0])
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
        let message = format!(
            "in `{name}` nothing helps but that its owner edits the object, and meanwhile {} writes, for example with `{}`",
            quoted.join(" or "),
            minimal(space, &claim, example)
        );
        let found = RULE.warning(name.span(), name.to_string(), message);
        let found = names.fold(found, |found, effect| {
            found.note(effect.span(), format!("`{effect}` is declared here"))
        });
        sink.push(found.help(format!("let its `when` ask for what keeps the object out of `{name}`; if it is right all the same, `allow` this and say why")));
    }
}

/// The effect that runs in a world and makes something.
fn makes(space: &Space<'_>, world: usize) -> Option<EffectId> {
    let effect = space.choices[world].effect()?;
    let declared = &space.lifecycle.effects[effect.0];
    let is_note = space.lifecycle.inputs[declared.target.0].mode == Mode::Record;
    (!declared.is_undo && !is_note && declared.verb != Verb::Delete).then_some(effect)
}

fn waits_for_its_owner(lifecycle: &Lifecycle, state: &State) -> bool {
    let only_self = |wakes: &Vec<Use>| wakes.iter().all(|one| one.source == Source::This);
    let is_refusal = |var: &VarId| matches!(lifecycle.vars[var.0].origin, Origin::Refused(_));
    state.phase == Some(Phase::Error)
        && state.wakes.as_ref().is_some_and(only_self)
        && !state.when.vars().iter().any(is_refusal)
}
