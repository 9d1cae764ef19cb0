//! Objects that are created once: the effect that records them, and the places in which neither has
//! a meaning.

use std::collections::BTreeMap;

use crate::findings::Findings;
use crate::syntax::{Effect, Life};

/// Adds effects that note a created object before anything else is done.
pub(crate) fn add_notes(life: &mut Life) {
    let told = life.inputs.iter().filter_map(|record| {
        let of = record.tells.as_deref()?;
        let is_first = life.noted(of)?.name == record.name;
        is_first.then(|| (record.name.clone(), of.to_owned()))
    });
    let notes: Vec<Effect> = told
        .map(|(record, of)| Effect {
            name: format!("note_{of}"),
            verb: "note".to_owned(),
            each: false,
            on: record,
            lets_go: false,
            from: Vec::new(),
            when: None,
            sets: Vec::new(),
            undo: None,
            key: None,
        })
        .collect();
    life.effects.splice(0..0, notes);
}

/// Reports a misplaced `create`: its object is ours alone and has a record, and no effect writes
/// this record by hand.
pub(crate) fn misplaced(life: &Life, found: &mut Findings) {
    for (at, effect) in life.effects.iter().enumerate() {
        let Some(input) = life.input(&effect.on) else {
            continue;
        };
        if effect.verb != "note" && input.own == "noted" {
            found.report("LC157", &effect.name);
        }
        if effect.verb != "create" {
            continue;
        }
        if effect.each != input.many {
            found.report("LC005", &effect.name);
        }
        let rival = |(number, other): (usize, &Effect)| {
            let again = other.verb == "create" && number < at;
            other.on == effect.on && (again || ["apply", "adopt"].contains(&other.verb.as_str()))
        };
        let wavers = input.exclusive || input.retain.is_some();
        let others = life.effects.iter().enumerate();
        if life.volume || input.own != "owned" || wavers || others.clone().any(rival) {
            found.report("LC155", &effect.name);
        }
        let first = others
            .clone()
            .find(|(_, other)| other.verb == "create" && other.on == effect.on);
        let is_first = first.is_some_and(|(number, _)| number == at);
        if is_first && life.noted(&effect.on).is_none() {
            found.report("LC156", &effect.name);
        }
    }
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for record in &life.inputs {
        let Some(of) = record
            .tells
            .as_deref()
            .filter(|of| life.input(of).is_some())
        else {
            continue;
        };
        let before = told.entry(of).or_default();
        *before += 1;
        if *before > 1 || !life.creates(of) {
            found.report("LC156", &record.name);
        }
    }
}
