//! Retention and adoption: objects that stay when their owner is deleted, and adopted objects.
//! Covers the predicates that decide it.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::Findings;
use crate::syntax::{Effect, Life, atoms, objects};

/// Makes an effect need the owner of its object. The object cannot be written before the owner
/// exists.
pub(crate) fn owners_are_needed(life: &mut Life) {
    for at in 0..life.effects.len() {
        let effect = &life.effects[at];
        let owner = life.input(&effect.on).and_then(|input| input.of.clone());
        let builds = ["apply", "create"].contains(&effect.verb.as_str());
        let owner = owner.filter(|name| builds && !effect.from.contains(name));
        life.effects[at].from.extend(owner);
    }
}

fn adoptions(life: &Life) -> impl Iterator<Item = &Effect> {
    life.effects.iter().filter(|effect| effect.verb == "adopt")
}

/// Checks that the predicates that decide retention and adoption do not need the object that they
/// are about.
pub(crate) fn circular(
    life: &Life,
    asks: &BTreeMap<String, BTreeSet<String>>,
    found: &mut Findings,
) {
    for input in &life.inputs {
        let mut seen = BTreeSet::new();
        let mut next = atoms(input.retain.as_ref());
        while let Some(name) = next.pop() {
            if seen.insert(name.clone()) {
                next.extend(asks.get(&name).into_iter().flatten().cloned());
            }
        }
        if seen.contains(&objects(&input.name)) {
            found.report("LC131", &input.name);
        }
    }
    for effect in adoptions(life) {
        let reads = |name: &String| {
            life.fact(name)
                .is_some_and(|f| is_in(life, &f.from, &effect.on, 9))
        };
        if atoms(effect.when.as_ref()).iter().any(reads) {
            found.report("LC131", &effect.name);
        }
    }
}

/// Returns true if one of these names is an input, or a value computed from it.
fn is_in(life: &Life, from: &[String], input: &str, depth: usize) -> bool {
    let through = |name: &String| {
        let value = life.value(name).filter(|_| depth > 0);
        value.is_some_and(|value| is_in(life, &value.from, input, depth - 1))
    };
    from.iter().any(|name| name == input || through(name))
}

/// Checks that a permitted effect adopts each retained object again, and that no effect deletes it
/// all the same.
pub(crate) fn check_retained(life: &Life, found: &mut Findings) {
    for input in life
        .inputs
        .iter()
        .filter(|input| input.retained && !input.many)
    {
        if !life.adopts(&input.name) {
            found.report("LC132", &input.name);
        }
    }
    for effect in adoptions(life).filter(|effect| !effect.lets_go) {
        let is_policy = |input: &crate::syntax::Input| input.retain.is_some();
        let chooses = adoptions(life).any(|other| other.on == effect.on && other.lets_go);
        if !chooses && life.input(&effect.on).is_some_and(is_policy) {
            found.report("LC135", &effect.name);
        }
    }
    for effect in adoptions(life).filter(|effect| effect.when.is_none()) {
        found.report("LC133", &effect.name);
    }
    let undos: BTreeSet<&String> = life
        .effects
        .iter()
        .filter_map(|e| e.undo.as_ref())
        .collect();
    for effect in life
        .effects
        .iter()
        .filter(|e| e.verb == "delete" && undos.contains(&e.name))
    {
        let adopted = adoptions(life).any(|other| other.on == effect.on && !other.lets_go);
        if adopted || life.input(&effect.on).is_some_and(|input| input.retained) {
            found.report("LC134", &effect.name);
        }
    }
}
