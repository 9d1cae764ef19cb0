//! `kstatus;` in some of the drawn lifecycles. Drawn with dice of its own, so that all others are the same with and without.

use super::dice::Dice;
use super::sketch::Sketch;

/// Lets tools read some of those where it fits.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x4b53_5441);
    if dice.one_in(9) && fits(sketch) {
        sketch.extras.push("kstatus;".to_owned());
    }
}

fn fits(sketch: &Sketch) -> bool {
    let implicit = |line: &String| line.starts_with("implicit ");
    let mut states = sketch.states.iter();
    let told = states.all(|state| match state.phase.as_deref() {
        Some("Ready") => state.goal,
        Some("Pending" | "Error") => !state.goal,
        Some(_) | None => true,
    });
    told && sketch.calls.is_none() && !sketch.extras.iter().any(implicit)
}
