//! Declared contract of one move: the worlds that may follow an effect or a promise, and those in
//! which a run may settle. Pure.

use lifecycle_runtime::machine::ir::{Lifecycle, Promise, StateId};
use lifecycle_runtime::machine::outcome::alternatives;
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;

/// Returns the reason why a world cannot be the result of a promise, if there is one.
pub(crate) fn not_promised(ir: &Lifecycle, promise: &Promise, after: &World) -> Option<String> {
    let fits = |alternative: &&[(usize, u8)]| {
        alternative
            .iter()
            .all(|&(var, value)| after.get(var) == value)
    };
    if promise.sets.iter().any(fits) {
        return None;
    }
    Some(format!(
        "`{}` promises {}, but led to {}",
        promise.name,
        alternatives(ir, promise.sets),
        after.describe(ir)
    ))
}

/// Why a quiet run cannot end here, if it cannot.
pub(crate) fn not_a_rest(ir: &Lifecycle, class: Class, world: &World) -> Option<String> {
    let word = match class {
        Class::State(_) => {
            let mut states = ir.current_states(world, class).into_iter();
            let moves = |state: &StateId| {
                let state = &ir.states[*state];
                !state.goal && state.wakes.is_none() && !ir.is_silent(class)
            };
            ir.states[states.find(moves)?].name
        }
        Class::Refused { .. } => return None,
        Class::Deleting if ir.effects.iter().any(|e| world.get(e.refused) == 1) => return None,
        Class::Deleting if ir.holds_deletion(world).is_some() => return None,
        Class::Deleting => "Deleting",
        Class::Contradiction => "a contradiction",
    };
    Some(format!(
        "it stays in {word}, and nothing is going to change: {}",
        world.describe(ir)
    ))
}

/// Returns the name of a state, or of a class that precedes all states.
pub(crate) fn class_name(ir: &Lifecycle, class: Class) -> String {
    match class {
        Class::State(state) => ir.states[state].name.to_owned(),
        Class::Refused { effect } => format!("refused({})", ir.effects[effect].name),
        Class::Deleting => "Deleting".to_owned(),
        Class::Contradiction => "Contradiction".to_owned(),
    }
}
