//! Times that objects say, in some of the drawn lifecycles, and in some of these a mistake about them. Drawn with dice of its own, so that all others
//! are the same with and without.

use crate::answer::answer;
use crate::findings::{Stage, is_warning};

use super::dice::Dice;
use super::sketch::{Input, Sketch};

/// Lets the objects of some of them say how often a poll is asked, and how long a state may last.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x5449_4d45);
    let is_polled = |input: &Input| input.lookup.contains(" every ");
    if sketch.calls.is_some() || !sketch.inputs.iter().any(is_polled) || !dice.one_in(2) {
        return;
    }
    let found = answer(&sketch.to_string(), None).found.all;
    let errors = found.iter().filter(|finding| !is_warning(&finding.code));
    // Where one mistake is, another of the same stage hides no more.
    match errors.map(|finding| Stage::of(&finding.code)).min() {
        Some(Stage::Names | Stage::Circles) => {}
        Some(Stage::Declarations) => {
            unbounded(sketch, &mut dice);
        }
        Some(Stage::Graph) if !sketch.promises.is_empty() && dice.below(4) > 0 => {
            impatient(sketch, &mut dice);
        }
        Some(Stage::Worlds | Stage::Graph) | None => {
            if dice.one_in(3) {
                polls(sketch, &mut dice);
            }
        }
    }
}

/// Each poll is asked as often as the object says, and states last as long; nothing in it is wrong.
fn polls(sketch: &mut Sketch, dice: &mut Dice) {
    let paths = ["spec.interval", "spec.period"];
    for input in &mut sketch.inputs {
        let Some((keys, usual)) = input.lookup.rsplit_once(" every ") else {
            continue;
        };
        if !dice.one_in(4) {
            let path = dice.word(&paths);
            let least = dice.word(&["1s", "2s", "500ms"]);
            input.lookup = format!("{keys} every {path} else {usual} min {least}");
        }
    }
    for state in &mut sketch.states {
        let lasts = state.phase.as_deref() == Some("Pending") && state.wakes.is_empty();
        if lasts && !state.goal && dice.one_in(3) {
            let path = dice.word(&["spec.timeout", "spec.interval"]);
            state.overdue = Some(format!("{path} else 5min min 30s"));
        }
    }
}

/// One of them may be asked without end, or waits less than it should wait at the least.
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

/// A state is overdue before the poll is asked again that ends it.
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
        sketch.states[at].overdue = Some(dice.word(&soon));
        let found = answer(&sketch.to_string(), None).found.all;
        if found.iter().any(|finding| finding.code == "LC104") {
            return;
        }
        sketch.states[at].overdue = before;
    }
}
