//! Drivers that deviate from the declaration: the same lifecycle, run by another declaration of the
//! same shape.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::lifecycle::{Built, Machine, Observation};
use lifecycle_runtime::machine::ir::{
    Clause, Condition, Effect, Implicit, Lifecycle, Node, Pred, Retired, RollUp, Says, Var, Verb,
};

use super::Mistake;
use crate::suites::wrapped::Wrapped;

/// Declarations that were changed already, because processes start again and again.
static CHANGED: Mutex<BTreeMap<(Mistake, usize), &Lifecycle>> = Mutex::new(BTreeMap::new());

/// Parts of a declaration that a seeded bug changes.
pub(super) struct Parts {
    order: Vec<Node>,
    vars: Vec<Var>,
    effects: Vec<Effect>,
    conditions: Vec<Condition>,
    retired: Vec<Retired>,
}

/// The lifecycle, run by another declaration.
pub(super) fn changed(
    mistake: Mistake,
    change: fn(&mut Parts),
    machine: Arc<dyn Machine>,
) -> Arc<dyn Machine> {
    let ir = machine.ir();
    let mut changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
    // A description lives as long as the process, so its address is its own.
    let known = changed.entry((mistake, std::ptr::from_ref(ir).addr()));
    let other = *known.or_insert_with(|| Box::leak(Box::new(with_changes(change, ir))));
    Arc::new(Wrapped::around(machine).declared(other))
}

fn with_changes(change: fn(&mut Parts), ir: &Lifecycle) -> Lifecycle {
    let effect = |effect: &Effect| Effect {
        when: effect.when.clone(),
        ..*effect
    };
    let mut parts = Parts {
        order: ir.order.to_vec(),
        vars: ir.vars.iter().map(|var| Var { ..*var }).collect(),
        effects: ir.effects.iter().map(effect).collect(),
        conditions: ir
            .conditions
            .iter()
            .map(|one| Condition { ..*one })
            .collect(),
        retired: ir.retired.to_vec(),
    };
    change(&mut parts);
    Lifecycle {
        order: Vec::leak(parts.order),
        vars: Vec::leak(parts.vars),
        effects: Vec::leak(parts.effects),
        conditions: Vec::leak(parts.conditions),
        retired: Vec::leak(parts.retired),
        ready: RollUp { ..ir.ready },
        implicit: ir
            .implicit
            .as_ref()
            .map(|implicit| Implicit { ..*implicit }),
        ..*ir
    }
}

pub(super) fn order(parts: &mut Parts) {
    parts
        .order
        .sort_by_key(|node| !matches!(node, Node::Value(_)));
}

/// Drops the retired items. Leftovers of inputs are a separate matter, because the lifecycle still
/// observes them.
pub(super) fn leftovers(parts: &mut Parts) {
    parts.retired.clear();
}

pub(super) fn claim(parts: &mut Parts) {
    parts.vars.iter_mut().for_each(|var| var.free = None);
}

pub(super) fn release(parts: &mut Parts) {
    let vars = parts.vars.iter_mut();
    vars.filter(|var| has_more_to_free(var))
        .for_each(|var| var.free = var.free.map(|free| free | last_answer(var)));
}

pub(super) fn undo(parts: &mut Parts) {
    let last = parts
        .effects
        .iter_mut()
        .rfind(|effect| effect.undo.is_some());
    last.into_iter().for_each(|effect| effect.undo = None);
}

/// No effect that notes runs.
pub(super) fn note(parts: &mut Parts) {
    let notes = parts.effects.iter_mut();
    let notes = notes.filter(|effect| effect.verb == Verb::Note);
    notes.for_each(|effect| effect.when = Some(Pred::Any(&[])));
}

pub(super) fn permission(parts: &mut Parts) {
    let own = parts.effects.iter_mut().filter(|effect| !effect.is_undo);
    own.for_each(|effect| effect.when = None);
}

pub(super) fn projection(parts: &mut Parts) {
    parts
        .conditions
        .iter_mut()
        .for_each(first_says_the_opposite);
}

fn last_answer(var: &Var) -> u64 {
    1 << usize::from(var.answers).saturating_sub(1)
}

/// Returns true if the last answer is a held one.
pub(super) fn has_more_to_free(var: &Var) -> bool {
    var.free.is_some_and(|free| free & last_answer(var) == 0)
}

fn first_says_the_opposite(condition: &mut Condition) {
    let mut clauses: Vec<Clause> = condition.clauses.to_vec();
    if let Some(first) = clauses.first_mut() {
        first.says = match first.says {
            Says::True => Says::False,
            Says::False | Says::Unknown | Says::Absent | Says::Omit => Says::True,
        };
    }
    condition.clauses = Vec::leak(clauses);
}

/// Returns the last effect with the same target and verb as this one.
fn last(ir: &Lifecycle, of: &Effect) -> usize {
    let like =
        |other: &Effect| (other.verb, other.target, other.each) == (of.verb, of.target, of.each);
    let found = ir.effects.iter().rposition(like);
    found.expect("it is like itself")
}

/// Its name.
pub(super) fn last_like(ir: &Lifecycle, of: &Effect) -> &'static str {
    ir.effects[last(ir, of)].name
}

/// Returns the lifecycle in which each effect builds the object of the last effect with its target.
pub(super) fn of_the_last(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let build = |inner: &dyn Machine, observation: &Observation, effect: usize| -> Option<Built> {
        let ir = inner.ir();
        inner.build(observation, last(ir, &ir.effects[effect]))
    };
    Arc::new(Wrapped::around(machine).building(build))
}
