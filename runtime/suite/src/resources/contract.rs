//! What a declaration promises of one move: which worlds may follow an effect or a promise, and where a run may rest. Pure.

use lifecycle_runtime::machine::ir::{Effect, Lifecycle, Origin, Promise};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;

/// Why a world cannot follow another by this effect, if it cannot.
pub(crate) fn not_an_outcome(
    ir: &Lifecycle,
    effect: &Effect,
    before: &World,
    after: &World,
) -> Option<String> {
    let fits = |alternative: &&&[(usize, u8)]| {
        alternative
            .iter()
            .all(|&(var, value)| after.get(var) == value)
    };
    // One write of a set repairs one member; the worst of the others may stay as bad as it was.
    let is_assigned = |var: usize| {
        effect
            .sets
            .iter()
            .flat_map(|a| a.iter())
            .any(|&(v, _)| v == var)
    };
    let stays = |var: usize| !is_assigned(var) || before.get(var) == after.get(var);
    if effect.each && (0..ir.vars.len()).all(stays) {
        return None;
    }
    let Some(alternative) = effect.sets.iter().find(fits) else {
        let wanted = effect.sets.iter().map(|a| assigned(ir, a));
        let wanted = wanted.collect::<Vec<_>>().join(" or ");
        return Some(format!(
            "`{}` sets {wanted}, but led to {}",
            effect.name,
            after.describe(ir)
        ));
    };
    let is_set = |var: usize| alternative.iter().any(|&(v, _)| v == var);
    let moved = (0..ir.vars.len()).find(|&var| {
        before.get(var) != after.get(var)
            && !is_set(var)
            && !effect.affects.contains(&var)
            && !matches!(ir.vars[var].origin, Origin::Refused(_))
    })?;
    Some(format!(
        "`{}` changed `{}` from {} to {}, which does not read what it writes",
        effect.name,
        ir.vars[moved].name,
        ir.value(before, moved),
        ir.value(after, moved)
    ))
}

/// Why a world cannot be what a promise brings about, if it cannot.
pub(crate) fn not_promised(ir: &Lifecycle, promise: &Promise, after: &World) -> Option<String> {
    let fits = |alternative: &&[(usize, u8)]| {
        alternative
            .iter()
            .all(|&(var, value)| after.get(var) == value)
    };
    if promise.sets.iter().any(fits) {
        return None;
    }
    let wanted = promise.sets.iter().map(|a| assigned(ir, a));
    let wanted = wanted.collect::<Vec<_>>().join(" or ");
    Some(format!(
        "`{}` promises {wanted}, but led to {}",
        promise.name,
        after.describe(ir)
    ))
}

fn assigned(ir: &Lifecycle, alternative: &[(usize, u8)]) -> String {
    let pairs = alternative.iter().map(|&(var, value)| {
        let declared = &ir.vars[var];
        format!(
            "{} = {}",
            declared.name,
            declared.values[usize::from(value)]
        )
    });
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// Why a quiet run cannot end here, if it cannot.
pub(crate) fn not_a_rest(ir: &Lifecycle, class: Class, world: &World) -> Option<String> {
    let word = match class {
        Class::State(state) => {
            let state = &ir.states[state];
            if state.goal || state.wakes.is_some() || ir.is_silent(class) {
                return None;
            }
            state.name
        }
        Class::Refused { .. } => return None,
        Class::Deleting if ir.effects.iter().any(|e| world.get(e.refused) == 1) => return None,
        Class::Deleting => "Deleting",
        Class::Contradiction => "a contradiction",
    };
    Some(format!(
        "it stays in {word}, and nothing is going to change: {}",
        world.describe(ir)
    ))
}

/// A state, or what comes before all states.
pub(crate) fn class_name(ir: &Lifecycle, class: Class) -> String {
    match class {
        Class::State(state) => ir.states[state].name.to_owned(),
        Class::Refused { effect } => format!("refused({})", ir.effects[effect].name),
        Class::Deleting => "Deleting".to_owned(),
        Class::Contradiction => "Contradiction".to_owned(),
    }
}
