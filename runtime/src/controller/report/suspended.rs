//! Status of a suspended object. Only the suspension itself is observed. `Ready` reports it, and
//! everything else stays as last reported, with its time and generation. Pure.

use serde_json::{Map, Value, json};

use super::{
    Condition, Draft, Notes, condition_event, differs, has_events, named, old_condition,
    old_status, row, shorten,
};
use crate::cluster::act::News;

use crate::lifecycle::Observation;
use crate::machine::ir::{ConditionStatus, FieldOf, Lifecycle, StateId};
use crate::machine::kstatus::{OBSERVED_GENERATION, Progress};
use crate::machine::policy::Class;
use crate::machine::project::Projected;
use crate::machine::world::World;

/// Returns the state in which an object, or its deletion, is suspended.
pub(super) fn state(ir: &Lifecycle, world: &World, notes: &Notes<'_>) -> Option<StateId> {
    match notes.class {
        Class::State(state) if ir.is_suspended(notes.class) => Some(state),
        Class::Deleting if notes.failure.is_none() => holds_up(ir, world),
        Class::State(_) | Class::Deleting | Class::Refused { .. } | Class::Contradiction => None,
    }
}

/// Returns the state that keeps leftovers of an object under deletion, if there are any.
pub(crate) fn holds_up(ir: &Lifecycle, world: &World) -> Option<StateId> {
    ir.holds_deletion(world).filter(|_| ir.is_left(world))
}

/// Drafts it.
pub(super) fn draft(
    ir: &Lifecycle,
    observation: &Observation,
    notes: &Notes<'_>,
    state: StateId,
) -> Draft {
    let old = old_status(observation.subject());
    let generation = observation.subject().meta.generation;
    let ready = ready(ir, observation, notes.class, state);
    let anew = ir.conditions_while_suspended(&observation.world, observation.message_parts());
    let mut rows = Vec::new();
    let mut news = Vec::new();
    for declared in ir.conditions {
        let said = anew.iter().find(|(name, _)| *name == declared.name);
        match said {
            None => rows.extend(old_condition(old, declared.name).cloned()),
            Some((_, None)) => {}
            Some((_, Some(projected))) => {
                let condition = Condition {
                    projected: projected.clone(),
                    told: has_events(ir, projected.name),
                };
                rows.push(row(projected, old, generation, notes.now));
                news.extend(condition_event(ir, &condition, (old, true), notes));
            }
        }
    }
    // Where only declared conditions may appear, an undeclared roll-up may not.
    if !ir.ready.from.is_empty() || ir.implicit.is_none() {
        rows.push(row(&ready, old, generation, notes.now));
    }
    news.extend(began(&ready, old));
    let mut status = fields(ir, &ready, notes, old);
    if ir.kstatus {
        let told = Progress::Reconciling.condition(Some(&ready), ("", String::new()));
        rows.extend(told.map(|told| row(&told, old, generation, notes.now)));
        // The last report names the spec to which the rest applies.
        let seen = old.get(OBSERVED_GENERATION).cloned();
        status.extend(seen.map(|seen| (OBSERVED_GENERATION.to_owned(), seen)));
    }
    status.insert("conditions".to_owned(), Value::Array(rows));
    let status = Value::Object(status);
    Draft {
        differs: differs(ir, notes.fields, &status, old),
        status,
        news,
    }
}

/// Returns the `Ready` condition of a suspended object. Its function is not checked, so it is not
/// True. No action is required, so it is not False. A pending deletion is False.
fn ready(ir: &Lifecycle, observation: &Observation, class: Class, state: StateId) -> Projected {
    let why = ir.suspension_reason(state, &observation.world, &observation.sentences);
    let name = ir.states[state].name;
    let mut ready = match (class, &ir.implicit) {
        (Class::Deleting, Some(implicit)) => {
            let why = format!("the deletion waits: {why}");
            named("Ready", ConditionStatus::False, implicit.reason, why)
        }
        (Class::Deleting, None) => {
            let why = format!("the deletion waits: {why}");
            named("Ready", ConditionStatus::False, "Deleting", why)
        }
        (Class::State(_) | Class::Refused { .. } | Class::Contradiction, _) => {
            named("Ready", ConditionStatus::Unknown, name, why)
        }
    };
    shorten(&mut ready.message);
    ready
}

/// Builds the event that reports the suspension once.
fn began(ready: &Projected, old: &Value) -> Option<News> {
    let before = old_condition(old, ready.name).and_then(|c| c.get("reason"));
    let is_new = before.and_then(Value::as_str) != Some(&ready.reason);
    is_new.then(|| News {
        warning: false,
        reason: ready.reason.clone(),
        note: ready.message.clone(),
    })
}

fn fields(ir: &Lifecycle, ready: &Projected, notes: &Notes<'_>, old: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    for (field, name) in ir.fields.iter().zip(notes.fields) {
        let value = match field.what {
            FieldOf::Method { .. } => old.get(*name).cloned(),
            FieldOf::Phase => Some(json!(ir.phase(notes.class).as_str())),
            FieldOf::Reason => Some(json!(ready.reason)),
            FieldOf::Message => Some(json!(ready.message)),
        };
        let value = value.filter(|value| !value.is_null());
        fields.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    fields
}
