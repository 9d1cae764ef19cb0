//! Adds durations that objects hold to some of the random lifecycles, and a seeded bug about them
//! to some of these. Uses a random sequence of its own, so all other choices stay the same with and
//! without it.

use crate::answer::answer;
use crate::findings::{Stage, is_warning};

use super::dice::Dice;
use super::sketch::{Input, Sketch};

/// Lets the objects of some lifecycles hold the interval of a poll, and the maximum duration of a
/// state.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x5449_4d45);
    let is_polled = |input: &Input| input.lookup.contains(" every ");
    if sketch.calls.is_some() || !sketch.inputs.iter().any(is_polled) || !dice.one_in(2) {
        return;
    }
    let answered = answer(&sketch.to_string(), None);
    if answered.refused {
        return;
    }
    let found = answered.found.all;
    let errors = found.iter().filter(|finding| !is_warning(&finding.code));
    // Where one mistake is, another of the same stage hides no more.
    match errors.map(|finding| Stage::for_code(&finding.code)).min() {
        Some(Stage::Circles) => {}
        Some(Stage::Declarations) => {
            unbounded(sketch, &mut dice);
        }
        Some(Stage::Graph) if !sketch.promises.is_empty() && dice.random_below(4) > 0 => {
            impatient(sketch, &mut dice);
        }
        Some(Stage::Worlds | Stage::Graph) | None => {
            if dice.one_in(3) {
                polls(sketch, &mut dice);
            }
        }
    }
}

/// Reads the intervals of polls and the durations of states from the object, without a mistake.
fn polls(sketch: &mut Sketch, dice: &mut Dice) {
    let paths = ["spec.interval", "spec.period"];
    for input in &mut sketch.inputs {
        let Some((keys, usual)) = input.lookup.rsplit_once(" every ") else {
            continue;
        };
        if !dice.one_in(4) {
            let path = dice.pick_word(&paths);
            let least = dice.pick_word(&["1s", "2s", "500ms"]);
            input.lookup = format!("{keys} every {path} else {usual} min {least}");
        }
    }
    for state in &mut sketch.states {
        let lasts = state.phase.as_deref() == Some("Pending") && state.wakes.is_empty();
        if lasts && !state.goal && dice.one_in(3) {
            let path = dice.pick_word(&["spec.timeout", "spec.interval"]);
            state.overdue = Some(format!("{path} else 5min min 30s"));
        }
    }
}

/// Seeds a poll without a lower bound on its interval, or a duration below its minimum.
fn unbounded(sketch: &mut Sketch, dice: &mut Dice) {
    polls(sketch, dice);
    for input in &mut sketch.inputs {
        if let Some((before, _)) = input.lookup.rsplit_once(" min ") {
            input.lookup = match dice.one_in(3) {
                true => format!("{before} min 1h"),
                false => before.to_owned(),
            };
            return;
        }
    }
}

/// Seeds a state that is overdue before the next query of the poll that ends it.
fn impatient(sketch: &mut Sketch, dice: &mut Dice) {
    for at in 0..sketch.states.len() {
        let state = &sketch.states[at];
        if state.phase.as_deref() != Some("Pending") || !state.wakes.is_empty() || state.goal {
            continue;
        }
        let before = state.overdue.clone();
        let soon = [
            "1s",
            "500ms",
            "spec.timeout else 5min",
            "spec.timeout else 1s min 1s",
        ];
        sketch.states[at].overdue = Some(dice.pick_word(&soon));
        let found = answer(&sketch.to_string(), None).found.all;
        if found.iter().any(|finding| finding.code == "LC104") {
            return;
        }
        sketch.states[at].overdue = before;
    }
}
