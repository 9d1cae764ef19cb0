//! Mistakes about time.

use super::super::dice::Dice;
use super::super::sketch::{Fact, Input, Sketch, to_strings};

/// Returns the clock, and adds one if it is missing.
fn clock(sketch: &mut Sketch) -> String {
    let mut clocks = sketch.inputs.iter().filter(|input| input.head == "clock");
    if let Some(clock) = clocks.next() {
        return clock.name.clone();
    }
    let name = "time".to_owned();
    sketch.inputs.push(Input {
        name: name.clone(),
        head: "clock".to_owned(),
        ..Input::default()
    });
    name
}

/// A state waits for a time that changes nothing there.
pub(super) fn idle_tick(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let waits: Vec<usize> = (0..sketch.states.len())
        .filter(|at| !sketch.states[*at].wakes.is_empty())
        .collect();
    if waits.is_empty() || sketch.inputs.iter().any(|input| input.head == "clock") {
        return false;
    }
    let clock = clock(sketch);
    sketch.facts.push(Fact {
        name: "late".to_owned(),
        domain: "bool".to_owned(),
        from: to_strings(&[&clock]),
        ..Fact::default()
    });
    let at = *dice.pick(&waits);
    sketch.states[at].wakes.push(clock);
    true
}

/// Lets a state name only others in `wakes`, although time leads out of it.
pub(super) fn unnamed_tick(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let clock = sketch.inputs.iter().find(|input| input.head == "clock");
    let Some(clock) = clock.map(|input| input.name.clone()) else {
        return false;
    };
    let waits: Vec<usize> = (0..sketch.states.len())
        .filter(|at| sketch.states[*at].wakes.contains(&clock))
        .collect();
    if waits.is_empty() {
        return false;
    }
    let state = &mut sketch.states[*dice.pick(&waits)];
    state.wakes.retain(|name| *name != clock);
    if state.wakes.is_empty() {
        state.wakes = to_strings(&["self"]);
    }
    true
}
