//! `kstatus;` in some of the drawn lifecycles, and in some of these a mistake about it. Drawn with dice of its own, so that all others are the same with and without.

use crate::answer::answer;
use crate::findings::Stage;

use super::dice::Dice;
use super::sketch::{Clause, Condition, Sketch, to_strings};

/// Lets tools read some of them: where it fits, and here and there where it does not.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x4b53_5441);
    if !dice.one_in(9) {
        return;
    }
    let line = "kstatus;".to_owned();
    // A mistake in a name hides graph findings. In a lifecycle with one, another mistake hides
    // nothing more.
    let found = answer(&sketch.to_string(), None).found.all;
    let mut codes = found.iter().map(|finding| finding.code.as_str());
    let is_hidden = codes.any(|code| Stage::for_code(code) == Stage::Names);
    if is_hidden && dice.random_below(5) < 2 || dice.one_in(22) {
        sketch.extras.push(line);
        mistake(sketch, &mut dice);
    } else if fits(sketch) {
        sketch.extras.push(line);
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

fn mistake(sketch: &mut Sketch, dice: &mut Dice) {
    match dice.random_below(6) {
        0 | 1 => {
            let clause = Clause {
                value: "Unknown".to_owned(),
                ..Clause::default()
            };
            sketch.conditions.push(Condition {
                name: dice.pick_word(&["Stalled", "Reconciling"]),
                clauses: vec![clause],
            });
        }
        2 => {
            let name = dice.pick_word(&["observed_generation", "observedGeneration"]);
            sketch.extras.push(format!("field {name} = phase;"));
        }
        3 if !sketch.conditions.is_empty() => {
            let condition = dice.pick(&sketch.conditions).name.clone();
            let is_implicit = |line: &String| line.starts_with("implicit ");
            sketch.extras.retain(|line| !is_implicit(line));
            let line = format!("implicit in {condition} \"Error\";");
            sketch.extras.push(line);
        }
        4 if dice.one_in(4) => sketch.extras.extend(to_strings(&["kstatus;"])),
        _ => {
            let at = dice.random_below(sketch.states.len());
            let state = &mut sketch.states[at];
            let phase = if state.goal { "Pending" } else { "Ready" };
            state.phase = Some(phase.to_owned());
        }
    }
}
