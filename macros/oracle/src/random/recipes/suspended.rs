//! Objects that a user suspends.

use super::draft::Draft;
use crate::random::dice::Dice;
use crate::random::sketch::{Clause, Condition, Sketch, to_strings};

/// Adds a user who may want the object left alone.
pub(super) fn add_suspension(draft: &mut Draft<'_>) {
    let wakes = if draft.dice.one_in(2) {
        let window = draft.input("window", "Config", "name spec.window?");
        draft.fact("paused", "bool", &[&window]);
        draft.given(&[&window], Some("false"));
        window
    } else {
        draft.fact("paused", "bool", &["self"]);
        "self".to_owned()
    };
    let paused = draft.name("paused");
    draft.state("Paused", &paused, "Suspended", &[&wakes]);
    if draft.dice.one_in(3) {
        draft.sketch.conditions.push(awake(&paused));
    }
}

/// Returns a condition that is still written during the suspension.
fn awake(paused: &str) -> Condition {
    let clause = |value: &str, when: Option<&str>| Clause {
        value: value.to_owned(),
        reason: Some("Asked".to_owned()),
        when: when.map(|when| to_strings(&[when])),
        ..Clause::default()
    };
    Condition {
        name: "Awake".to_owned(),
        clauses: vec![clause("False", Some(paused)), clause("True", None)],
    }
}

/// Lets a deletion wait as well if something is held.
pub(super) fn even_deleting(sketch: &mut Sketch, dice: &mut Dice) {
    let holds = sketch.facts.iter().any(|fact| fact.held);
    for state in &mut sketch.states {
        let suspended = state.phase.as_deref() == Some("Suspended");
        state.even = suspended && holds && dice.one_in(2);
    }
}
