//! What facts of a volume read of the request by itself, in some of the drawn lifecycles, and in few of these something that they cannot read. Drawn with
//! dice of its own, so that all others are the same with and without.

use super::dice::Dice;
use super::sketch::Sketch;

/// What most calls say that say anything.
const USUAL: [&str; 4] = [
    "capabilities",
    "capabilities",
    "volume_context",
    "parameters",
];
/// What few of them say, or what all of them do.
const SELDOM: [&str; 4] = ["readonly", "target_path", "volume_id", "capacity_range"];

/// Reads fields in place of whole requests.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x5245_5155);
    if sketch.calls.is_none() || !dice.one_in(2) {
        return;
    }
    let is_mistaken = dice.one_in(12);
    for fact in &mut sketch.facts {
        let Some(at) = fact.from.iter().position(|name| name == "request") else {
            if dice.one_in(16) {
                fact.from.push(format!("request.{}", dice.pick(&SELDOM)));
            }
            continue;
        };
        let field = match dice.below(6) {
            0 => *dice.pick(&SELDOM),
            _ => *dice.pick(&USUAL),
        };
        fact.from[at] = format!("request.{field}");
        if is_mistaken {
            let other = match dice.below(3) {
                0 => "request".to_owned(),
                1 => "request.secrets".to_owned(),
                _ => fact.from[at].clone(),
            };
            fact.from.push(other);
        }
    }
}
