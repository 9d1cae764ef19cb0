//! The state of one region, as another asks it: `migrate == Done`.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use super::observed;
use crate::ast::{Domain, Fact, Input, Lifecycle, Mode, Pred, PredKind, Region, State};

/// The state of a region in which a write was refused that no state of it mentions.
pub(crate) const REFUSED: &str = "Refused";

/// Returns the regions that a part asks, each once, in order of declaration.
pub(crate) fn regions_of(part: &Lifecycle, regions: &[Region]) -> Vec<usize> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for pred in part.predicates() {
        names.extend(pred.referenced_facts().iter().map(ToString::to_string));
    }
    for state in &part.states {
        let wakes = state.wakes.iter().flatten();
        names.extend(wakes.map(ToString::to_string));
    }
    let numbers = 0..regions.len();
    numbers
        .filter(|at| names.contains(&regions[*at].name.to_string()))
        .collect()
}

/// Returns the first place at which a part asks a region.
pub(crate) fn question(part: &Lifecycle, region: &Ident) -> Option<Ident> {
    let predicates = part.predicates();
    let asked = predicates.iter().flat_map(|pred| pred.referenced_facts());
    let wakes = part
        .states
        .iter()
        .flat_map(|state| state.wakes.iter().flatten());
    let mut all = asked.chain(wakes);
    all.find(|name| *name == region).cloned()
}

/// Returns the regions that each region asks.
pub(crate) fn asked_by_each(lifecycle: &Lifecycle) -> Vec<Vec<usize>> {
    let regions = &lifecycle.regions;
    let asked = regions.iter().map(|one| regions_of(&one.part, regions));
    asked.collect()
}

/// Returns true if a question is about a region.
pub(super) fn is_about(asked: &Pred, regions: &[Region]) -> bool {
    let mut facts = asked.referenced_facts().into_iter();
    facts.any(|fact| regions.iter().any(|region| region.name == *fact))
}

/// Returns what stands for another region among the inputs.
pub(super) fn input(region: &Region) -> Input {
    let goals = region.part.states.iter().filter(|state| state.goal);
    Input {
        goals: Some(goals.map(|state| state.name.clone()).collect()),
        ..Input::of_several(region.name.clone(), region.doc.clone(), Mode::Watched)
    }
}

/// Returns what stands for another region among the facts: its values are the states.
pub(super) fn fact(region: &Region) -> Fact {
    let mut states: Vec<Ident> = region.part.states.iter().map(|s| s.name.clone()).collect();
    if !unmentioned(&region.part).is_empty() {
        states.push(Ident::new(REFUSED, region.name.span()));
    }
    Fact {
        name: region.name.clone(),
        doc: region.doc.clone(),
        held: None,
        count: None,
        domain: Domain::Values {
            left: states,
            right: None,
        },
        of_request: Vec::new(),
        from: vec![region.name.clone()],
        given: Vec::new(),
    }
}

/// Returns the effects of a region whose refusal none of its states mentions.
pub(crate) fn unmentioned(part: &Lifecycle) -> Vec<Ident> {
    let states = part.states.iter();
    let mentioned: BTreeSet<String> = states
        .flat_map(|state| refusals(part, &state.when, 0))
        .collect();
    let names = part.effects.iter().map(crate::ast::Effect::name);
    names
        .filter(|name| !mentioned.contains(&name.to_string()))
        .collect()
}

/// Returns the effects whose refusal a predicate queries, directly or by a name that stands for a
/// predicate.
fn refusals(part: &Lifecycle, pred: &Pred, depth: usize) -> Vec<String> {
    let direct = pred.referenced_effects().into_iter();
    let mut all: Vec<String> = direct.map(ToString::to_string).collect();
    // Names that stand for each other are refused elsewhere.
    if depth > part.derived.len() {
        return all;
    }
    for fact in pred.referenced_facts() {
        if let Some(derived) = part.derived.iter().find(|derived| derived.name == *fact) {
            all.extend(refusals(part, &derived.pred, depth + 1));
        }
    }
    all
}

/// Returns the predicate that answers a question for the state of a region in terms of its facts.
pub(super) fn answer(asked: &Pred, regions: &[Region]) -> Option<Pred> {
    let PredKind::Is { fact, values } = &asked.kind else {
        return None;
    };
    let region = regions.iter().find(|region| region.name == *fact)?;
    let span = asked.span;
    let each = values
        .iter()
        .map(|value| is_in(region, value, (regions, span)));
    Some(Pred::any_of(each.collect(), span))
}

/// Returns the predicate that holds where a region is in one of its states: the first that fits, and
/// no write was refused that no state mentions.
fn is_in(region: &Region, value: &Ident, (regions, span): (&[Region], Span)) -> Pred {
    let refused = unmentioned(&region.part).into_iter().map(|effect| Pred {
        kind: PredKind::Refused(effect),
        span,
    });
    let refused: Vec<Pred> = refused.collect();
    if value == REFUSED {
        return Pred::any_of(refused, span);
    }
    let mut parts: Vec<Pred> = refused.into_iter().map(Pred::negated).collect();
    for state in &region.part.states {
        let mut when = state.when.clone();
        when.replace(&|asked| answer(asked, regions));
        let when = when.moved_to(span);
        if state.name == *value {
            parts.push(when);
            break;
        }
        parts.push(when.negated());
    }
    Pred::all_of(parts, span)
}

/// Lets a state that waits for a region wait for what that region observes.
pub(super) fn replace_wakes(state: &mut State, regions: &[Region]) {
    let Some(wakes) = &mut state.wakes else {
        return;
    };
    let mut all: Vec<Ident> = Vec::new();
    for name in wakes.drain(..) {
        match regions.iter().find(|region| region.name == name) {
            Some(region) => {
                let inputs =
                    observed(region).map(|input| Ident::new(&input.name.to_string(), name.span()));
                all.extend(inputs);
            }
            None => all.push(name),
        }
    }
    *wakes = all;
}
