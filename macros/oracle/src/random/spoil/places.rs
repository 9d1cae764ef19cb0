//! Places for a seeded bug: the guards, facts and lines of a sketch that fit.

use crate::random::dice::Dice;
use crate::random::sketch::{Guard, Sketch};

/// Every guard of the lifecycle, for mistakes that do not care where they are.
pub(in crate::random) fn guards(sketch: &mut Sketch) -> Vec<&mut Guard> {
    let mut all: Vec<&mut Guard> = Vec::new();
    all.extend(sketch.inputs.iter_mut().map(|input| &mut input.given));
    all.extend(sketch.lets.iter_mut().map(|value| &mut value.given));
    all.extend(
        sketch
            .facts
            .iter_mut()
            .flat_map(|fact| fact.givens.iter_mut().map(|(given, _)| given)),
    );
    all.extend(sketch.nevers.iter_mut());
    all.extend(sketch.states.iter_mut().map(|state| &mut state.when));
    all.extend(sketch.effects.iter_mut().map(|effect| &mut effect.when));
    all.extend(sketch.promises.iter_mut().map(|promise| &mut promise.when));
    let clauses = sketch
        .conditions
        .iter_mut()
        .flat_map(|condition| &mut condition.clauses);
    all.extend(clauses.filter_map(|clause| clause.when.as_mut()));
    all.retain(|guard| !guard.is_empty());
    all
}

/// One of many that fits, to be changed.
pub(super) fn some<'a, T>(
    all: impl IntoIterator<Item = &'a mut T>,
    dice: &mut Dice,
    fits: impl Fn(&T) -> bool,
) -> Option<&'a mut T> {
    let mut all: Vec<&mut T> = all.into_iter().filter(|one| fits(one)).collect();
    if all.is_empty() {
        None
    } else {
        Some(all.swap_remove(dice.random_below(all.len())))
    }
}

/// Applies a change, if it has a place.
pub(super) fn change<T>(place: Option<&mut T>, how: impl FnOnce(&mut T)) -> bool {
    place.map(how).is_some()
}

/// Takes one of many away.
pub(super) fn remove<T>(all: &mut Vec<T>, dice: &mut Dice, fits: impl Fn(&T) -> bool) -> Option<T> {
    let fitting: Vec<usize> = (0..all.len()).filter(|at| fits(&all[*at])).collect();
    if fitting.is_empty() {
        None
    } else {
        Some(all.remove(*dice.pick(&fitting)))
    }
}

/// The finite facts of the lifecycle with their values.
pub(super) fn domains(sketch: &Sketch) -> Vec<(String, Vec<String>)> {
    let values = |domain: &str| -> Vec<String> {
        if domain == "bool" {
            return vec!["false".to_owned(), "true".to_owned()];
        }
        let bare = domain.trim_start_matches("count ");
        let bare = bare.replace(['{', '}'], "").replace('|', ",");
        bare.split(',')
            .map(|value| value.trim().to_owned())
            .collect()
    };
    sketch
        .facts
        .iter()
        .map(|fact| (fact.name.clone(), values(&fact.domain)))
        .collect()
}
