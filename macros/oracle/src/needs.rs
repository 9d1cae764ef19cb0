//! The names that must be known before an effect can be called enabled.

use std::collections::BTreeSet;

use crate::syntax::{Effect, Life, atoms};

/// Returns the names that must be known before an effect can be called enabled.
pub(crate) fn needed(life: &Life, effect: &str) -> BTreeSet<String> {
    let Some(effect) = life.effect(effect) else {
        return BTreeSet::new();
    };
    let mut needed: BTreeSet<String> = BTreeSet::new();
    let before = life
        .effects
        .iter()
        .take_while(|other| other.name != effect.name);
    for rival in before.filter(|other| builds_the_same(other, effect)) {
        needed.extend(runs_by(life, rival));
    }
    needed.extend(runs_by(life, effect));
    needed.remove(&format!("?{}", effect.name));
    needed
}

/// Returns true if both effects build the same object, or the same set.
pub(crate) fn builds_the_same(one: &Effect, other: &Effect) -> bool {
    let both = [one, other].iter().all(|effect| effect.verb == "apply");
    both && (&one.on, one.each) == (&other.on, other.each)
}

/// Returns true if permissions decide which of several effects builds something.
pub(crate) fn is_one_of_several(life: &Life, effect: &Effect) -> bool {
    life.effects
        .iter()
        .filter(|other| builds_the_same(other, effect))
        .count()
        > 1
}

/// Returns the names that decide whether an effect may run.
fn runs_by(life: &Life, effect: &Effect) -> BTreeSet<String> {
    let mut needed: BTreeSet<String> = atoms(effect.when.as_ref()).into_iter().collect();
    needed.extend(effect.from.iter().cloned());
    // An object of another owner is written only if this owner exists.
    let owner = life.input(&effect.on).and_then(|input| input.of.clone());
    needed.extend(owner.filter(|_| ["apply", "adopt", "create"].contains(&effect.verb.as_str())));
    needed.insert(effect.on.clone());
    let shown = life.verdict_input(effect);
    needed.insert(shown.to_owned());
    needed.extend(atoms(
        life.input(shown).and_then(|input| input.given.as_ref()),
    ));
    needed.extend(effect.sets.iter().flatten().map(|(fact, _)| fact.clone()));
    needed.extend(atoms(
        life.input(&effect.on)
            .and_then(|input| input.given.as_ref()),
    ));
    for value in effect.from.iter().filter_map(|name| life.value(name)) {
        needed.extend(atoms(value.given.as_ref()));
    }
    needed.extend(turn_of(life, &effect.name));
    let mut aside = life.states.clone();
    aside.retain(|state| state.is_ignored() || state.is_suspended());
    needed.extend(aside.iter().flat_map(|state| state.when.atoms()));
    needed
}

/// Returns the names that decide the turn of an effect on deletion.
fn turn_of(life: &Life, effect: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let is_undo = life
        .effects
        .iter()
        .any(|other| other.undo.as_deref() == Some(effect));
    let is_step = life.steps.iter().any(|step| step.effect == effect);
    for step in life.steps.iter().filter(|_| is_undo || is_step) {
        all.extend(step.until.atoms());
        if step.effect == effect {
            all.extend(atoms(step.when.as_ref()));
        }
    }
    all
}
