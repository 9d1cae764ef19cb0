//! Shortens a lifecycle as an author would write it, and seeds mistakes that only the short forms
//! allow. Uses a random sequence of its own, so earlier choices stay the same.

mod edges;
mod facts;

use super::dice::Dice;
use super::sketch::Sketch;

/// Rewrites the lifecycle in equivalent short forms.
pub(super) fn shorten(sketch: &mut Sketch, dice: &mut Dice) {
    edges::shorten(sketch, dice);
    facts::shorten(sketch, dice);
}

/// Now and then, one mistake.
pub(super) fn mistake(sketch: &mut Sketch, dice: &mut Dice) {
    const MISTAKES: [fn(&mut Sketch, &mut Dice); 2] = [edges::uncaused, facts::circular];
    if dice.one_in(27) {
        dice.pick(&MISTAKES)(sketch, dice);
    }
}
