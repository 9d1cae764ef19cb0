//! Transitions by groups, and from every state.

use crate::random::dice::Dice;
use crate::random::sketch::{EdgeForm, Sketch};

/// Groups edges, and lets some that lead to an error come from everywhere.
pub(super) fn shorten(sketch: &mut Sketch, dice: &mut Dice) {
    sketch.edge_form = *dice.pick(&[EdgeForm::Each, EdgeForm::BySource, EdgeForm::ByTarget]);
    for state in phased(sketch, |phase| phase == "Error") {
        if dice.one_in(2) && is_entered(sketch, &state) {
            from_anywhere(sketch, state);
        }
    }
}

/// Adds an edge from every state to a state that nothing enters.
pub(super) fn uncaused(sketch: &mut Sketch, dice: &mut Dice) {
    let mut failed = phased(sketch, |phase| phase == "Error");
    failed.retain(|state| !is_entered(sketch, state));
    if !failed.is_empty() {
        from_anywhere(sketch, dice.pick(&failed).clone());
    }
}

fn phased(sketch: &Sketch, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let states = sketch.states.iter();
    let fitting = states.filter(|one| one.phase.as_deref().is_some_and(&fits));
    fitting.map(|one| one.name.clone()).collect()
}

fn is_entered(sketch: &Sketch, state: &str) -> bool {
    sketch.edges.iter().flatten().any(|(_, to)| to == state)
}

fn from_anywhere(sketch: &mut Sketch, state: String) {
    let edges = sketch.edges.get_or_insert_default();
    edges.retain(|(_, to)| *to != state);
    edges.push(("_".to_owned(), state));
}
