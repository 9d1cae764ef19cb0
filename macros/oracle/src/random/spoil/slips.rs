//! Slips of the pen: missing words, needless or unrelated items.

use super::places::{change, domains, remove, some};
use crate::random::dice::Dice;
use crate::random::sketch::{Effect, Fact, Input, Sketch};

pub(super) fn circle(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.is_empty() {
        return false;
    }
    let (name, values) = dice.pick(&facts).clone();
    let asks = format!("{name} != {}", values[0]);
    let asks = if values[0] == "false" {
        name.clone()
    } else {
        asks
    };
    let through = dice.one_in(2);
    let fact = sketch
        .facts
        .iter_mut()
        .find(|fact| fact.name == name)
        .expect("it is one of the facts");
    if !through || fact.held {
        fact.givens.push((vec![asks], None));
        return true;
    }
    let other = Fact {
        name: "other".to_owned(),
        domain: "bool".to_owned(),
        from: fact.from.clone(),
        givens: vec![(vec![asks], None)],
        ..Fact::default()
    };
    fact.givens.push((vec!["other".to_owned()], None));
    sketch.facts.push(other);
    true
}

pub(super) fn unrelated_never(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.len() < 2 {
        return false;
    }
    let at = dice.random_below(facts.len() - 1);
    let atom = |(name, values): &(String, Vec<String>)| match values[0].as_str() {
        "false" => format!("!{name}"),
        value => format!("{name} == {value}"),
    };
    sketch
        .nevers
        .push(vec![atom(&facts[at]), atom(&facts[at + 1])]);
    true
}

pub(super) fn out_of_reach(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.is_empty() {
        return false;
    }
    let (fact, values) = dice.pick(&facts).clone();
    let value = dice.pick(&values).clone();
    let effect = some(&mut sketch.effects, dice, |effect| {
        !effect.head.starts_with("delete")
    });
    change(effect, |effect| {
        if effect.sets.is_empty() {
            effect
                .sets
                .push(vec![(effect.target(), "Current".to_owned())]);
        }
        let fresh = effect
            .sets
            .iter()
            .flatten()
            .all(|(other, _)| *other != fact);
        if fresh {
            effect.sets[0].push((fact, value));
        }
    })
}

pub(super) fn no_undo(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(
        some(&mut sketch.effects, dice, |effect| effect.undo.is_some()),
        |effect| effect.undo = None,
    )
}

pub(super) fn needless_undo(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let names: Vec<String> = sketch.effects.iter().map(Effect::known_as).collect();
    let effect = some(&mut sketch.effects, dice, |effect| effect.undo.is_none());
    let Some(effect) = effect else { return false };
    let other = names.into_iter().find(|name| *name != effect.known_as());
    effect.undo = other;
    effect.undo.is_some()
}

pub(super) fn drop_else(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let givens = sketch.facts.iter_mut().flat_map(|fact| &mut fact.givens);
    change(some(givens, dice, |given| given.1.is_some()), |given| {
        given.1 = None
    })
}

pub(super) fn unread(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    if dice.one_in(2)
        && remove(&mut sketch.facts, dice, |fact| {
            fact.givens.is_empty() && !fact.held
        })
        .is_some()
    {
        return true;
    }
    let (head, lookup) = *dice.pick(&[
        ("[Node]", "namespace"),
        ("[Node]", "owner"),
        ("Node", "name spec.node"),
        ("poll Node", "meta.uid every 3s"),
    ]);
    let (head, lookup) = (head.to_owned(), lookup.to_owned());
    sketch.inputs.push(Input {
        name: "spare".to_owned(),
        head,
        lookup,
        given: Vec::new(),
    });
    true
}

pub(super) fn too_big(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let name = format!("many{}", sketch.inputs.len());
    sketch.inputs.push(Input {
        name: name.clone(),
        head: "[Peer]".to_owned(),
        lookup: "namespace".to_owned(),
        given: Vec::new(),
    });
    for number in 0..9 + dice.random_below(3) {
        sketch.facts.push(Fact {
            name: format!("{name}_{number}"),
            domain: "{ A, B, C, D }".to_owned(),
            from: vec![name.clone()],
            ..Fact::default()
        });
    }
    true
}

/// Marks the first state as managed by another controller.
pub(super) fn ignored(sketch: &mut Sketch, _: &mut Dice) -> bool {
    change(sketch.states.first_mut(), |state| {
        (state.phase, state.goal) = (Some("Ignored".to_owned()), false);
        (state.even, state.overdue) = (false, None);
        state.wakes.clear();
    })
}
