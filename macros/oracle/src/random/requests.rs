//! Request fields that facts of a volume read by themselves, in some of the drawn lifecycles. Uses
//! dice of its own, so that all other draws stay unchanged.

use super::dice::Dice;
use super::sketch::Sketch;

/// Fields that most calls carry if they carry any.
const USUAL: [&str; 4] = [
    "capabilities",
    "capabilities",
    "volume_context",
    "parameters",
];
/// Fields that few calls carry, or that all calls carry.
const SELDOM: [&str; 4] = ["readonly", "target_path", "volume_id", "capacity_range"];

/// Reads fields in place of whole requests.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x5245_5155);
    if sketch.calls.is_none() || !dice.one_in(2) {
        return;
    }
    for fact in &mut sketch.facts {
        let Some(at) = fact.from.iter().position(|name| name == "request") else {
            if dice.one_in(16) {
                fact.from.push(format!("request.{}", dice.pick(&SELDOM)));
            }
            continue;
        };
        let field = match dice.random_below(6) {
            0 => *dice.pick(&SELDOM),
            _ => *dice.pick(&USUAL),
        };
        fact.from[at] = format!("request.{field}");
    }
}
