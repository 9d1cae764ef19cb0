//! One mistake each, as an author could make it; `false` where the lifecycle has no place for it.

mod mistakes;
mod slips;

use super::dice::Dice;
use super::sketch::{Guard, Sketch};
use mistakes::*;
use slips::*;

/// Puts one mistake into a lifecycle.
pub(super) type Spoil = fn(&mut Sketch, &mut Dice) -> bool;

/// Every mistake; those that fit few lifecycles stand here more than once.
pub(super) const SPOILS: &[Spoil] = &[
    rename_atom,
    rename_value,
    rename_wakes,
    rename_set_value,
    rename_undo,
    rename_target,
    rename_edge,
    rename_ready,
    infinite_fact,
    infinite_fact,
    twice,
    twice,
    unobserved,
    unobserved,
    unobserved_lookup,
    circle,
    circle,
    circle,
    circle,
    drop_state,
    drop_state,
    drop_state_atom,
    drop_goal,
    shadowed_state,
    swap_states,
    swap_states,
    forbid,
    forbid,
    forbid_call,
    forbid_call,
    forbid_call,
    unrelated_never,
    unrelated_never,
    unrelated_never,
    never_chosen,
    never_chosen,
    swap_effects,
    out_of_reach,
    out_of_reach,
    out_of_reach,
    out_of_reach,
    out_of_reach,
    no_sets,
    no_sets,
    no_sets,
    no_key,
    no_key,
    no_key,
    no_undo,
    no_undo,
    needless_undo,
    needless_undo,
    needless_undo,
    drop_wakes,
    drop_promise,
    drop_promise,
    drop_effect,
    drop_guard,
    drop_guard,
    flip,
    flip,
    flip,
    undo_each_other,
    undo_each_other,
    undo_each_other,
    keep_stale,
    keep_stale,
    keep_stale,
    keep_stale,
    keep_stale,
    keep_stale,
    eager_goal,
    eager_goal,
    drop_edge,
    drop_edge,
    add_edge,
    add_edge,
    keep_held,
    keep_held,
    unseen_is_free,
    unseen_is_free,
    unseen_is_free,
    unseen_is_free,
    acquire_early,
    acquire_early,
    acquire_early,
    acquire_early,
    overwrite,
    overwrite,
    overwrite,
    overwrite,
    no_phase,
    no_phase,
    ignored,
    ignored,
    ignored,
    odd_phase,
    other_phase,
    other_phase,
    no_otherwise,
    no_otherwise,
    no_reason,
    no_reason,
    unknown_reason,
    unread,
    unread,
    wrong_wakes,
    wrong_wakes,
    write_what_is_read,
    write_what_is_read,
    write_what_is_read,
    write_what_is_read,
    too_big,
    too_big,
    too_big,
    drop_alternative,
    drop_alternative,
    add_alternative,
    drop_else,
    half_undone,
    half_undone,
];

/// Every guard of the lifecycle, for mistakes that do not care where they are.
fn guards(sketch: &mut Sketch) -> Vec<&mut Guard> {
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
fn some<'a, T>(
    all: impl IntoIterator<Item = &'a mut T>,
    dice: &mut Dice,
    fits: impl Fn(&T) -> bool,
) -> Option<&'a mut T> {
    let mut all: Vec<&mut T> = all.into_iter().filter(|one| fits(one)).collect();
    if all.is_empty() {
        None
    } else {
        Some(all.swap_remove(dice.below(all.len())))
    }
}

/// Applies a change where there is a place for it.
fn change<T>(place: Option<&mut T>, how: impl FnOnce(&mut T)) -> bool {
    place.map(how).is_some()
}

/// Takes one of many away.
fn remove<T>(all: &mut Vec<T>, dice: &mut Dice, fits: impl Fn(&T) -> bool) -> Option<T> {
    let fitting: Vec<usize> = (0..all.len()).filter(|at| fits(&all[*at])).collect();
    if fitting.is_empty() {
        None
    } else {
        Some(all.remove(*dice.pick(&fitting)))
    }
}

/// The finite facts of the lifecycle with their values.
fn domains(sketch: &Sketch) -> Vec<(String, Vec<String>)> {
    let values = |domain: &str| -> Vec<String> {
        if domain == "bool" {
            return vec!["false".to_owned(), "true".to_owned()];
        }
        let bare = domain.replace(['{', '}'], "").replace('|', ",");
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
