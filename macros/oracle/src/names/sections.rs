//! Names in durations, in uses of the clock, and in the teardown.

use super::asks_for_refusal;
use crate::findings::Findings;
use crate::syntax::{Life, Pred};

/// Reports a duration that is read from something other than the object.
pub(super) fn check_lengths(life: &Life, found: &mut Findings) {
    let polled = life.inputs.iter().map(|one| (&one.name, &one.every));
    let lasting = life.states.iter().map(|one| (&one.name, &one.overdue));
    for (name, span) in polled.chain(lasting) {
        let path = span.as_ref().and_then(|span| span.path.as_ref());
        let of_object = |path: &String| path.starts_with("spec.") || path.starts_with("meta.");
        if path.is_some_and(|path| life.volume || !of_object(path)) {
            found.report("LC005", name);
        }
    }
}

/// Reports a misused clock: a resource has at most one, without a clause, and only facts read it,
/// but no held ones.
pub(super) fn time(life: &Life, found: &mut Findings) {
    let clocks = || life.inputs.iter().filter(|input| input.own == "clock");
    let first = clocks().next().map(|clock| &clock.name);
    for clock in clocks() {
        let is_second = first != Some(&clock.name);
        let written =
            clock.every.is_some() || clock.of.is_some() || clock.given.is_some() || clock.retained;
        if life.volume || is_second || written || !clock.lookup().is_empty() {
            found.report("LC005", &clock.name);
        }
    }
    let is_clock = |name: &String| {
        let root = name.split('.').next().unwrap_or_default();
        clocks().any(|clock| clock.name == root)
    };
    let held = life.facts.iter().filter(|fact| fact.held);
    let held = held.map(|fact| (&fact.name, fact.from.clone()));
    let lets = life.lets.iter().map(|one| {
        // A minted value may receive the time of its creation.
        let mut from = one.from.clone();
        from.truncate(if one.mint.is_some() { 1 } else { usize::MAX });
        (&one.name, from)
    });
    let inputs = life.inputs.iter().map(|one| (&one.name, one.lookup()));
    let fields = life.fields.iter().map(|(name, from)| (name, from.clone()));
    // An effect on an unknown target gets no further finding.
    let effects = life.effects.iter();
    let effects = effects.filter(|one| life.input(&one.on).is_some());
    let effects = effects.map(|one| {
        let from = one.from.iter().chain(&one.key).cloned();
        (&one.name, from.collect())
    });
    let all = held.chain(lets).chain(inputs).chain(fields).chain(effects);
    for (name, from) in all {
        let from: Vec<String> = from;
        if from.iter().any(is_clock) {
            found.report("LC100", name);
        }
    }
}

/// Reports errors in a teardown by itself.
pub(super) fn teardown(life: &Life, found: &mut Findings) {
    if !life.teardown {
        return;
    }
    if life.volume {
        found.report("LC140", "teardown");
        return;
    }
    let holds = life.facts.iter().any(|fact| fact.held);
    if life.steps.is_empty() && (life.abandoned.is_empty() || !holds) {
        found.report("LC140", "teardown");
    }
    for (at, step) in life.steps.iter().enumerate() {
        let twice = life.steps[..at]
            .iter()
            .any(|other| other.effect == step.effect);
        let asked = step.when.iter().chain([&step.until]).flat_map(Pred::atoms);
        if twice || asks_for_refusal(life, asked.collect()) {
            found.report("LC140", &step.effect);
        }
        if life.effect(&step.effect).is_none() {
            found.report("LC001", "teardown");
        }
    }
}
