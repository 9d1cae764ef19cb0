//! Providers that polls query, in some of the drawn lifecycles. Uses dice of its own, so that all other draws stay unchanged.

use super::dice::Dice;
use super::sketch::Sketch;

/// Names the providers of some polls.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x434c_4f55);
    if !dice.one_in(3) {
        return;
    }
    for input in &mut sketch.inputs {
        if !input.head.starts_with("poll ") || input.head.contains(" of ") || dice.one_in(3) {
            continue;
        }
        let provider = dice.pick_word(&["cloud", "acme", "by_day"]);
        input.head = format!("{} of {provider}", input.head);
    }
}
