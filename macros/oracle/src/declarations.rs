//! The second stage: what can be said of each declaration without a world.

use std::collections::BTreeSet;

use crate::findings::Found;
use crate::names::{is_asked_well, root};
use crate::reach::Reach;
use crate::syntax::{Effect, Fact, Input, Life, Pred};

/// What needs nothing but the declaration, even if others are misspelt.
pub(crate) fn alone(life: &Life, found: &mut Found) {
    for effect in &life.effects {
        target(life, effect, found);
    }
    for fact in life.facts.iter().filter(|fact| fact.held) {
        unseen(life, fact, found);
    }
    for fact in life.facts.iter().filter(|fact| fact.counts) {
        count(life, fact, found);
    }
    for input in &life.inputs {
        keys(life, input, found);
    }
}

/// What follows from declarations that all make sense.
pub(crate) fn declarations(life: &Life, reach: &Reach<'_>, found: &mut Found) {
    for effect in &life.effects {
        undo(life, effect, found);
        let affected = reach.affected(effect);
        for _ in effect
            .sets
            .iter()
            .flatten()
            .filter(|(fact, _)| !affected.contains(fact))
        {
            found.say("LC017", &effect.name);
        }
    }
    nevers(life, reach, found);
    let used = reach.used();
    for input in life
        .inputs
        .iter()
        .filter(|input| !used.contains(&input.name))
    {
        found.say("LC064", &input.name);
    }
}

/// Four cases, of the members of one set.
fn count(life: &Life, fact: &Fact, found: &mut Found) {
    let is_set = |name: &String| match life.input(name) {
        Some(input) => input.many,
        None => life.value(name).is_none() && name != "self" && name != "request",
    };
    if fact.domain.len() != 4 || fact.held || !fact.from.iter().all(is_set) {
        found.say("LC116", &fact.name);
    }
}

/// Answers are told apart by each key once, under a name of its own.
fn keys(life: &Life, input: &Input, found: &mut Found) {
    if !["poll", "probe"].contains(&input.own.as_str()) {
        return;
    }
    for (at, key) in input.paths.iter().enumerate() {
        if input.paths[..at].contains(key) {
            found.say("LC115", &input.name);
        }
        let field = key.strip_prefix("request.").filter(|_| life.volume);
        let is_called = |other: &String| {
            root(other) == field.unwrap_or_default() && life.input(root(other)).is_some()
        };
        if input.paths.iter().any(is_called) {
            found.say("LC115", &input.name);
        }
    }
}

fn target(life: &Life, effect: &Effect, found: &mut Found) {
    let Some(input) = life.input(&effect.on) else {
        return;
    };
    let fits = match effect.verb.as_str() {
        "call" => ["poll", "probe"].contains(&input.own.as_str()),
        "delete" => ["owned", "shared"].contains(&input.own.as_str()),
        _ => ["owned", "shared", "part", "record"].contains(&input.own.as_str()),
    };
    if !fits {
        found.say("LC070", &effect.name);
    }
    if effect.verb == "call" && effect.key.is_none() {
        found.say("LC045", &effect.name);
    }
    if effect.verb == "call" && effect.sets.is_empty() {
        found.say("LC018", &effect.name);
    }
}

/// The values of a held fact that mean that nothing is ours.
pub(crate) fn free(fact: &Fact) -> Vec<String> {
    let first = || fact.domain.iter().take(1).cloned().collect();
    fact.free.clone().unwrap_or_else(first)
}

/// Whether the effect may make something ours.
pub(crate) fn acquires(life: &Life, effect: &Effect) -> bool {
    effect.sets.iter().flatten().any(|(name, value)| {
        life.fact(name)
            .is_some_and(|fact| fact.held && !free(fact).contains(value))
    })
}

fn undo(life: &Life, effect: &Effect, found: &mut Found) {
    match (acquires(life, effect), &effect.undo) {
        (true, None) => found.say("LC041", &effect.name),
        (false, Some(_)) => found.say("LC044", &effect.name),
        (true, Some(_)) | (false, None) => {}
    }
}

/// What is not asked must not count as given back, unless a record proves it.
fn unseen(life: &Life, fact: &Fact, found: &mut Found) {
    let free = free(fact);
    let understood = |given: &Pred| {
        let mut all = given.parts().into_iter();
        all.all(|(name, asked)| is_asked_well(life, name, asked) && life.derived(name).is_none())
    };
    for (given, other) in fact.chain.iter().filter(|(given, _)| understood(given)) {
        let falls_back = other
            .clone()
            .or_else(|| free.first().cloned())
            .unwrap_or_default();
        let recorded = given
            .atoms()
            .iter()
            .all(|name| life.input(name).is_some_and(|input| input.own == "record"));
        if free.contains(&falls_back) && !recorded {
            found.say("LC047", &fact.name);
        }
    }
}

/// A `never` holds only if one and the same input decides all that it mentions.
fn nevers(life: &Life, reach: &Reach<'_>, found: &mut Found) {
    for never in &life.nevers {
        let atoms = never.atoms();
        let mut shared: Option<BTreeSet<String>> = None;
        for atom in &atoms {
            let reads = reach.reads.get(atom).cloned().unwrap_or_default();
            shared = Some(match shared {
                None => reads,
                Some(before) => before.intersection(&reads).cloned().collect(),
            });
        }
        let mut shared = shared.unwrap_or_default();
        shared.retain(|name| life.input(name).is_some());
        if atoms.len() > 1 && shared.is_empty() {
            found.say("LC015", "never");
        }
    }
}
