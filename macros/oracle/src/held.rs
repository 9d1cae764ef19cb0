//! Held facts: the values that mean that a resource is ours, and the effects that acquire, keep and
//! clean it up.

use crate::syntax::{Effect, Fact, Life};

/// Returns the values of a held fact that mean that nothing is ours.
pub(crate) fn free(fact: &Fact) -> Vec<String> {
    let first = || fact.domain.iter().take(1).cloned().collect();
    fact.free.clone().unwrap_or_else(first)
}

/// Returns true if the effect may acquire something.
pub(crate) fn acquires(life: &Life, effect: &Effect) -> bool {
    !takes(life, effect).is_empty()
}

/// Returns the held facts that the effect may set to an acquired value.
pub(crate) fn takes(life: &Life, effect: &Effect) -> Vec<String> {
    let sets = effect.sets.iter().flatten();
    let taken = sets.filter(|(name, value)| {
        let held = life.fact(name).filter(|fact| fact.held);
        held.is_some_and(|fact| !free(fact).contains(value))
    });
    taken.map(|(name, _)| name.clone()).collect()
}

/// Returns true if the effect cleans up the fact by setting it so. The environment then completes
/// the cleanup.
pub(crate) fn lets_go(life: &Life, effect: &Effect, fact: &String) -> bool {
    let is_step = life.steps.iter().any(|step| step.effect == effect.name);
    let undoes = |other: &Effect| {
        other.undo.as_ref() == Some(&effect.name) && takes(life, other).contains(fact)
    };
    !life.volume && effect.undo.is_none() && (is_step || life.effects.iter().any(undoes))
}

/// Returns the held facts that the effect releases, at once or later.
pub(crate) fn gives_back(life: &Life, effect: &Effect) -> Vec<String> {
    let sets = effect.sets.iter().flatten();
    let freed = sets.filter(|(name, value)| {
        let held = life.fact(name).filter(|fact| fact.held);
        held.is_some_and(|fact| free(fact).contains(value))
    });
    let mut all: Vec<String> = freed.map(|(name, _)| name.clone()).collect();
    let later = takes(life, effect);
    all.extend(later.into_iter().filter(|fact| lets_go(life, effect, fact)));
    all
}
