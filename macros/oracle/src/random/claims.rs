//! Promises that other lifecycles claim, in some of the drawn lifecycles. Drawn with dice of its own, so that all others are the same with and without.

use super::dice::Dice;
use super::sketch::Sketch;

/// States of a keeper that is otherwise unknown.
const STATES: [&str; 3] = ["Starting", "Serving", "Kept"];

/// Lets others keep some of the promises.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x434c_4149);
    if !dice.one_in(4) {
        return;
    }
    for promise in &mut sketch.promises {
        if dice.one_in(3) {
            continue;
        }
        let keeper = dice.pick_word(&["Keeper", "Other"]);
        let first = dice.random_below(STATES.len());
        let states = &STATES[first..];
        let name = &promise.name;
        promise.name = format!("{name} claimed by {keeper} in {}", states.join(" | "));
    }
}
