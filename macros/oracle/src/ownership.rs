//! What stays when its owner goes, and what is taken over: where neither means anything, and what decides it.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::Found;
use crate::syntax::{Effect, Life, atoms, objects};

/// What another object owns cannot be written before that is there.
pub(crate) fn owners_are_needed(life: &mut Life) {
    for at in 0..life.effects.len() {
        let effect = &life.effects[at];
        let owner = life.input(&effect.on).and_then(|input| input.of.clone());
        let builds = ["apply", "create"].contains(&effect.verb.as_str());
        let owner = owner.filter(|name| builds && !effect.from.contains(name));
        life.effects[at].from.extend(owner);
    }
}

/// Both are about whose an object is: one that is owned, of a resource.
pub(crate) fn misplaced(life: &Life, found: &mut Found) {
    for input in life.inputs.iter().filter(|input| input.retained) {
        let is_clock = ["clock", "noted"].contains(&input.own.as_str());
        if !is_clock && (input.own != "owned" || life.volume || input.by_owner) {
            found.say("LC130", &input.name);
        }
    }
    for effect in adoptions(life) {
        let says_more = effect.each
            || !effect.from.is_empty()
            || !effect.sets.is_empty()
            || effect.undo.is_some()
            || effect.key.is_some();
        let wrong = life.input(&effect.on).is_some_and(|input| {
            let always = input.retained && input.retain.is_none();
            match input.own.as_str() {
                "shared" | "part" | "record" | "noted" | "group" => true,
                "owned" => life.volume || input.many || always && effect.lets_go,
                _ => life.volume,
            }
        });
        if says_more || wrong {
            found.say("LC130", &effect.name);
        }
    }
}

fn adoptions(life: &Life) -> impl Iterator<Item = &Effect> {
    life.effects.iter().filter(|effect| effect.verb == "adopt")
}

/// What decides it must not need what it is about.
pub(crate) fn circular(life: &Life, asks: &BTreeMap<String, BTreeSet<String>>, found: &mut Found) {
    for input in &life.inputs {
        let mut seen = BTreeSet::new();
        let mut next = atoms(input.retain.as_ref());
        while let Some(name) = next.pop() {
            if seen.insert(name.clone()) {
                next.extend(asks.get(&name).into_iter().flatten().cloned());
            }
        }
        if seen.contains(&objects(&input.name)) {
            found.say("LC131", &input.name);
        }
    }
    for effect in adoptions(life) {
        let reads = |name: &String| {
            life.fact(name)
                .is_some_and(|f| is_in(life, &f.from, &effect.on, 9))
        };
        if atoms(effect.when.as_ref()).iter().any(reads) {
            found.say("LC131", &effect.name);
        }
    }
}

/// Whether one of these names is an input, or a value that is made of it.
fn is_in(life: &Life, from: &[String], input: &str, depth: usize) -> bool {
    let through = |name: &String| {
        let value = life.value(name).filter(|_| depth > 0);
        value.is_some_and(|value| is_in(life, &value.from, input, depth - 1))
    };
    from.iter().any(|name| name == input || through(name))
}

/// What stays is taken back by somebody who was asked, and is not deleted all the same.
pub(crate) fn kept(life: &Life, found: &mut Found) {
    for input in life
        .inputs
        .iter()
        .filter(|input| input.retained && !input.many)
    {
        if !life.adopts(&input.name) {
            found.say("LC132", &input.name);
        }
    }
    for effect in adoptions(life).filter(|effect| !effect.lets_go) {
        let is_policy = |input: &crate::syntax::Input| input.retain.is_some();
        let chooses = adoptions(life).any(|other| other.on == effect.on && other.lets_go);
        if !chooses && life.input(&effect.on).is_some_and(is_policy) {
            found.say("LC135", &effect.name);
        }
    }
    for effect in adoptions(life).filter(|effect| effect.when.is_none()) {
        found.say("LC133", &effect.name);
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
            found.say("LC134", &effect.name);
        }
    }
}
