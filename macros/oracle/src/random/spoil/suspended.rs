//! Mistakes of who suspends an object.

use super::places::change;
use crate::random::dice::Dice;
use crate::random::sketch::{Fact, Input, Sketch, State, to_strings};

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

/// Marks the first state of ours as suspended.
pub(super) fn first(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let held = sketch.facts.iter().any(|fact| fact.held);
    let ignored = |state: &State| state.phase.as_deref() == Some("Ignored");
    let state = sketch.states.iter_mut().find(|state| !ignored(state));
    change(state, |state| {
        (state.phase, state.goal) = (Some("Suspended".to_owned()), false);
        (state.even, state.overdue) = (held && dice.one_in(2), None);
        if state.wakes.is_empty() {
            state.wakes = to_strings(&["self"]);
        }
    })
}
