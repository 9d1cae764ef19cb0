//! Mistakes of who suspends an object.

use crate::random::dice::Dice;
use crate::random::sketch::{Fact, Input, Sketch, State, to_strings};

/// Marks a state of ours as suspended, or removes the `wakes` of a suspended one.
pub(super) fn misplaced(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let at = dice.random_below(sketch.states.len());
    let state = &mut sketch.states[at];
    match dice.random_below(4) {
        0 => state.even = true,
        1 => (state.phase, state.wakes) = (Some("Suspended".to_owned()), Vec::new()),
        2 => (state.phase, state.even) = (Some("Suspended".to_owned()), true),
        _ => state.phase = Some("Suspended".to_owned()),
    }
    state.phase.is_some()
}

/// Lets a poll decide the suspension that silences polls.
pub(super) fn by_poll(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let name = "freeze".to_owned();
    sketch.inputs.push(Input {
        name: name.clone(),
        head: "poll Info".to_owned(),
        lookup: "meta.name every 30s".to_owned(),
        given: Vec::new(),
    });
    let through = dice.one_in(2);
    if through {
        sketch.facts.push(Fact {
            name: "frozen".to_owned(),
            domain: "bool".to_owned(),
            from: vec![name.clone()],
            givens: vec![(vec![name.clone()], Some("false".to_owned()))],
            ..Fact::default()
        });
    }
    let when = if through { "frozen" } else { &name };
    let ignored = |state: &&State| state.phase.as_deref() == Some("Ignored");
    let at = sketch.states.iter().take_while(ignored).count();
    sketch.states.insert(
        at,
        State {
            name: "Frozen".to_owned(),
            when: to_strings(&[when]),
            phase: Some("Suspended".to_owned()),
            wakes: to_strings(&[&name]),
            ..State::default()
        },
    );
    true
}
