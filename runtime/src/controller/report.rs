//! Status that a reconciliation would report, and its difference from the current one. Pure. Only
//! this module reads the old status: for `last_reported` fields, for transition times, and for the
//! comparison.

mod strays;
mod suspended;
mod torn_down;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::ruled_out::RuledOut;
use crate::cluster::act::News;
use crate::cluster::observe::Failure;
use crate::lifecycle::{Machine, Observation, Stored};
use crate::machine::compare::fingerprint;
use crate::machine::ir::{ConditionStatus, FieldOf, Implicit, Lifecycle, Phase};
use crate::machine::kstatus::OBSERVED_GENERATION;
use crate::machine::policy::{Class, Decision};
use crate::machine::project::{BETWEEN, Projected};
pub(crate) use strays::{beside_others, cleared};
pub(crate) use suspended::holds_up;
pub(crate) use torn_down::{gives_up, waits};

/// Status of a condition that requires action.
const UNMET: ConditionStatus = ConditionStatus::False;

/// As long as the message of a condition may be, and how one ends that was longer.
const LONGEST: usize = 32_768;
const CUT: &str = " ..";

/// Information that a reconciliation has in addition to the world.
pub(crate) struct Notes<'a> {
    pub(crate) class: Class,
    /// Decision for this world.
    pub(crate) next: Decision,
    /// The name of each declared field in the status.
    pub(crate) fields: &'a [&'static str],
    pub(crate) failure: Option<&'a Failure>,
    /// Violation of a checked property that this reconciliation observes.
    pub(crate) ruled_out: Option<&'a RuledOut>,
    /// Why the next write has to wait.
    pub(crate) trouble: Option<&'a str>,
    /// Description of the overdue state.
    pub(crate) overdue: Option<String>,
    /// True if an Event reported the object as not ready, and none has reported its recovery yet.
    pub(crate) owes_recovery: bool,
    pub(crate) now: Timestamp,
}

/// A status to report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) status: Value,
    pub(crate) differs: bool,
    /// Events to publish once the status is reported.
    pub(crate) news: Vec<News>,
}

impl Draft {
    /// Returns a fingerprint of the status content, regardless of when it became true.
    pub(crate) fn content(&self) -> u64 {
        fingerprint(&timeless(&self.status))
    }

    /// Returns true if Events report the object as not ready, and false if it is ready. Returns
    /// `None` in any other case.
    pub(crate) fn owes_recovery(&self) -> Option<bool> {
        let ready = old_condition(&self.status, "Ready")?;
        match ready.get("status").and_then(Value::as_str) {
            Some("True") => Some(false),
            Some("False") if !self.news.is_empty() => Some(true),
            Some(_) | None => None,
        }
    }
}

/// Condition to report, and whether its changes are reported as Events.
struct Condition {
    projected: Projected,
    told: bool,
}

/// Drafts the status of one reconciliation.
pub(crate) fn draft(machine: &dyn Machine, observation: &Observation, notes: &Notes<'_>) -> Draft {
    let old = old_status(observation.subject());
    if let Some(state) = suspended::state(machine.ir(), &observation.world, notes) {
        return suspended::draft(machine.ir(), observation, notes, state);
    }
    let generation = observation.subject().meta.generation;
    let mut conditions = conditions(machine, observation, notes, old);
    if machine.ir().kstatus {
        conditions.extend(progress(machine.ir(), observation, notes, &conditions));
    }
    let mut status = match notes.failure {
        Some(failure) => kept_fields(machine.ir(), failure, notes, (&conditions, old)),
        None => fields(machine, observation, notes, &conditions, old),
    };
    let rows = conditions
        .iter()
        .map(|c| match is_kept(machine.ir(), notes, c.projected.name) {
            true => old_condition(old, c.projected.name)
                .cloned()
                .unwrap_or_default(),
            false => row(&c.projected, old, generation, notes.now),
        })
        .collect();
    status.insert("conditions".to_owned(), Value::Array(rows));
    // An object that could not be observed keeps its last observed generation. For an unreadable
    // object, no more can be observed.
    let is_seen = matches!(notes.failure, None | Some(Failure::Unreadable(_)));
    if machine.ir().kstatus && is_seen {
        status.extend(generation.map(|seen| (OBSERVED_GENERATION.to_owned(), json!(seen))));
    }
    let status = Value::Object(status);
    let warns = warns(machine.ir(), notes);
    let told = conditions
        .iter()
        .filter_map(|c| condition_event(machine.ir(), c, (old, warns), notes));
    let mut news: Vec<News> = told.collect();
    news.extend(torn_down::news(machine.ir(), &observation.world, notes));
    Draft {
        differs: differs(machine.ir(), notes.fields, &status, old),
        status,
        news,
    }
}

/// True if a condition stays as it was reported, with the generation that it was about.
fn is_kept(ir: &Lifecycle, notes: &Notes<'_>, name: &str) -> bool {
    let tells = ir
        .implicit
        .as_ref()
        .map(|one| ir.conditions[one.condition].name);
    let is_declared = ir.conditions.iter().any(|one| one.name == name);
    notes.failure.is_some() && is_declared && ![tells, Some("Ready")].contains(&Some(name))
}

fn conditions(
    machine: &dyn Machine,
    observation: &Observation,
    notes: &Notes<'_>,
    old: &Value,
) -> Vec<Condition> {
    let ir = machine.ir();
    let told = |told: bool| move |projected| Condition { projected, told };
    if let Some(failure) = notes.failure {
        let mut kept: Vec<_> = old_conditions(old)
            .filter_map(|c| kept_condition(machine, c))
            .map(told(false))
            .collect();
        // An unreadable object already has an Event.
        let is_news = !matches!(failure, Failure::Unreadable(_));
        match &ir.implicit {
            Some(implicit) => add_implicit(ir, implicit, &mut kept, (failure.to_string(), is_news)),
            None => {
                let sentence = failure.to_string();
                let unready = named("Ready", UNMET, failure.reason(), sentence);
                kept.retain(|c| c.projected.name != "Ready");
                kept.push(told(is_news)(unready));
            }
        }
        return kept;
    }
    let mut all: Vec<_> = ir
        .conditions(&observation.world, observation.message_parts())
        .into_iter()
        .map(|p| (has_events(ir, p.name), p))
        .map(|(has_events, p)| told(has_events)(p))
        .collect();
    let special = match notes.class {
        Class::Refused { effect } => {
            let sentence = observation.sentences[ir.effects[effect].refused].clone();
            let sentence = sentence.unwrap_or_default();
            Some(("Ready", UNMET, "Refused", sentence))
        }
        Class::Contradiction => notes.ruled_out.map(|ruled_out| {
            let sentence = ruled_out.sentence(ir, &observation.world);
            let (name, status) = ("Contradiction", ConditionStatus::True);
            (name, status, ruled_out.reason(), sentence)
        }),
        Class::Deleting => {
            let (reason, sentence) = torn_down::unready_reason(ir, observation, notes);
            Some(("Ready", UNMET, reason, sentence))
        }
        Class::State(_) => None,
    };
    if let Some((name, status, reason, sentence)) = special {
        let is_told = notes.class != Class::Deleting;
        if let Some(implicit) = &ir.implicit {
            add_implicit(ir, implicit, &mut all, (sentence, is_told));
        } else {
            all.retain(|c| c.projected.name != name && c.projected.name != "Ready");
            if name != "Ready" {
                all.push(told(false)(named("Ready", UNMET, reason, sentence.clone())));
            }
            all.push(told(is_told)(named(name, status, reason, sentence)));
        }
    }
    let unready = all
        .iter_mut()
        .map(|c| &mut c.projected)
        .find(|p| p.name == "Ready" && p.status != ConditionStatus::True);
    if let Some(unready) = unready {
        for more in [notes.trouble, notes.overdue.as_deref()]
            .into_iter()
            .flatten()
        {
            append(&mut unready.message, more);
        }
    }
    for condition in &mut all {
        shorten(&mut condition.projected.message);
    }
    all
}

/// Builds the fields from which tools read the progress of the object.
fn progress(
    ir: &Lifecycle,
    observation: &Observation,
    notes: &Notes<'_>,
    conditions: &[Condition],
) -> Option<Condition> {
    let mut all = conditions.iter().map(|c| &c.projected);
    let ready = all.find(|p| p.name == "Ready");
    let state = match notes.class {
        Class::State(state) => {
            let world = &observation.world;
            let mut said = ir.sentence(state, world, &observation.sentences);
            let more = [notes.trouble, notes.overdue.as_deref()];
            more.into_iter()
                .flatten()
                .for_each(|m| append(&mut said, m));
            shorten(&mut said);
            (ir.states[state].name, said)
        }
        Class::Deleting | Class::Refused { .. } | Class::Contradiction => ("", String::new()),
    };
    let progress = ir.progress(notes.class, notes.next, notes.overdue.is_some());
    let projected = progress.condition(ready, state)?;
    // Its events would repeat those of its source.
    Some(Condition {
        projected,
        told: false,
    })
}

/// Shortens a message, because the API server refuses a longer condition and the status update
/// would be lost.
fn shorten(message: &mut String) {
    if message.len() > LONGEST {
        let end = message.floor_char_boundary(LONGEST - CUT.len());
        message.truncate(end);
        message.push_str(CUT);
    }
}

/// Reports states without a declaration in the declared condition and in `Ready`, in the order of
/// declaration.
fn add_implicit(
    ir: &Lifecycle,
    implicit: &Implicit,
    all: &mut Vec<Condition>,
    (sentence, told): (String, bool),
) {
    let name = ir.conditions[implicit.condition].name;
    all.retain(|c| c.projected.name != name && c.projected.name != "Ready");
    let before = &ir.conditions[..implicit.condition];
    let is_before = |c: &&Condition| before.iter().any(|b| b.name == c.projected.name);
    let at = all.iter().filter(is_before).count();
    let projected = named(name, UNMET, implicit.reason, sentence.clone());
    let is_told = told && has_events(ir, name);
    all.insert(
        at,
        Condition {
            projected,
            told: is_told,
        },
    );
    if !ir.ready.from.is_empty() {
        let projected = named("Ready", UNMET, implicit.reason, sentence);
        all.push(Condition { projected, told });
    }
}

fn named(name: &'static str, status: ConditionStatus, reason: &str, message: String) -> Projected {
    Projected {
        name,
        status,
        reason: reason.to_owned(),
        message,
        event: reason.to_owned(),
    }
}

fn append(message: &mut String, more: &str) {
    if message.contains(more) {
        return;
    }
    if !message.is_empty() {
        message.push_str(BETWEEN);
    }
    message.push_str(more);
}

/// Returns the last reported fields, except those about the object's state. After a failed
/// reconciliation, these report the failure, like the conditions.
fn kept_fields(
    ir: &Lifecycle,
    failure: &Failure,
    notes: &Notes<'_>,
    (conditions, old): (&[Condition], &Value),
) -> Map<String, Value> {
    let mut fields = old.as_object().cloned().unwrap_or_default();
    let mut all = conditions.iter().map(|c| &c.projected);
    let ready = all.find(|p| p.name == "Ready");
    let reason = match (ready, &ir.implicit) {
        (Some(ready), _) => ready.reason.clone(),
        (None, Some(implicit)) => implicit.reason.to_owned(),
        (None, None) => failure.reason().to_owned(),
    };
    for (field, name) in ir.fields.iter().zip(notes.fields) {
        let said = match field.what {
            FieldOf::Phase => json!(Phase::Error.as_str()),
            FieldOf::Reason => json!(reason),
            FieldOf::Message => json!(failure.to_string()),
            FieldOf::Method { .. } => continue,
        };
        fields.insert((*name).to_owned(), said);
    }
    fields
}

/// A declared condition as it was reported last.
fn kept_condition(machine: &dyn Machine, old: &Value) -> Option<Projected> {
    let text = |key: &str| old.get(key).and_then(Value::as_str);
    let declared = machine.ir().conditions.iter();
    let name = declared.map(|c| c.name).find(|n| text("type") == Some(n))?;
    let status = match text("status")? {
        "True" => ConditionStatus::True,
        "False" => ConditionStatus::False,
        _ => ConditionStatus::Unknown,
    };
    let message = text("message").unwrap_or_default().to_owned();
    Some(named(name, status, text("reason")?, message))
}

/// Returns all declared fields. Currently unknown fields are omitted, or keep their last value.
fn fields(
    machine: &dyn Machine,
    observation: &Observation,
    notes: &Notes<'_>,
    conditions: &[Condition],
    old: &Value,
) -> Map<String, Value> {
    let ir = machine.ir();
    let ready = conditions
        .iter()
        .map(|c| &c.projected)
        .find(|p| p.name == "Ready");
    let state = match notes.class {
        Class::State(state) => ir.states[state].name,
        Class::Deleting => "Deleting",
        Class::Refused { .. } => "Refused",
        Class::Contradiction => "Contradiction",
    };
    let mut fields = Map::new();
    for (number, (field, name)) in ir.fields.iter().zip(notes.fields).enumerate() {
        let value = match field.what {
            FieldOf::Method { last_reported } => machine
                .field(observation, number)
                .or_else(|| old.get(*name).filter(|_| last_reported).cloned()),
            FieldOf::Phase => Some(json!(ir.phase(notes.class).as_str())),
            FieldOf::Reason => Some(json!(ready.map_or(state, |r| &r.reason))),
            FieldOf::Message => Some(json!(ready.map_or("", |r| &r.message))),
        };
        if let Some(value) = value.filter(|v| !v.is_null()) {
            fields.insert((*name).to_owned(), value);
        }
    }
    fields
}

fn old_conditions(old: &Value) -> impl Iterator<Item = &Value> {
    let conditions = old.get("conditions").and_then(Value::as_array);
    conditions.into_iter().flatten()
}

fn old_condition<'a>(old: &'a Value, name: &str) -> Option<&'a Value> {
    old_conditions(old).find(|c| c.get("type").and_then(Value::as_str) == Some(name))
}

/// A condition as it is sent: it keeps its time while its status stays.
fn row(projected: &Projected, old: &Value, generation: Option<i64>, now: Timestamp) -> Value {
    let status = projected.status.as_str();
    let since = old_condition(old, projected.name)
        .filter(|c| c.get("status").and_then(Value::as_str) == Some(status))
        .and_then(|c| c.get("lastTransitionTime"))
        .cloned();
    let mut row = json!({
        "type": projected.name,
        "status": status,
        "reason": projected.reason,
        "message": projected.message,
        "lastTransitionTime": since.unwrap_or_else(|| json!(in_seconds(now))),
    });
    if let Some(generation) = generation {
        row["observedGeneration"] = json!(generation);
    }
    row
}

/// The status as it was reported last.
pub(crate) fn old_status(subject: &Stored) -> &Value {
    let raw = subject.raw.as_deref();
    raw.and_then(|raw| raw.get("status"))
        .unwrap_or(&Value::Null)
}

/// A time as Kubernetes writes it.
pub(crate) fn in_seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns true if changes of a condition are published as events. Events come from the roll-up
/// rather than from the conditions it rolls up, so that an event agrees with `Ready` of its object.
fn has_events(ir: &Lifecycle, name: &str) -> bool {
    let mut rolled_up = ir.ready.from.iter().map(|&c| ir.conditions[c].name);
    !rolled_up.any(|one| one == name)
}

/// Returns true if the event for an unmet condition is a warning, because it is not on the ordinary
/// way to the goal.
fn warns(ir: &Lifecycle, notes: &Notes<'_>) -> bool {
    let is_late = notes.trouble.is_some() || notes.overdue.is_some();
    notes.failure.is_some() || is_late || ir.phase(notes.class) == Phase::Error
}

/// Returns an Event if a condition becomes False, changes its reason, or becomes True again. For
/// `Ready`, this also holds if it was Unknown in between. `warns` is about `Ready`. A condition
/// outside the roll-up warns by itself.
fn condition_event(
    ir: &Lifecycle,
    condition: &Condition,
    (old, warns): (&Value, bool),
    notes: &Notes<'_>,
) -> Option<News> {
    let new = &condition.projected;
    let before = old_condition(old, new.name);
    let text = |key: &str| before.and_then(|b| b.get(key)).and_then(Value::as_str);
    let was = |status: &str| text("status") == Some(status);
    let bad = if new.name == "Contradiction" {
        ConditionStatus::True
    } else {
        ConditionStatus::False
    };
    let is_owed = notes.owes_recovery && new.name == "Ready" && was("Unknown");
    let got_worse =
        new.status == bad && !(was(bad.as_str()) && text("reason") == Some(&new.reason));
    let got_better =
        new.status == ConditionStatus::True && bad != new.status && (was("False") || is_owed);
    (condition.told && (got_worse || got_better)).then(|| News {
        warning: got_worse && (warns || new.name != "Ready"),
        reason: new.event.clone(),
        note: event_note(ir, notes.class, new),
    })
}

/// Returns the note of an Event, which is never empty. It is the condition's message, the
/// documentation of the state, or the description of the object.
fn event_note(ir: &Lifecycle, class: Class, new: &Projected) -> String {
    if !new.message.trim().is_empty() {
        return new.message.clone();
    }
    match class {
        Class::State(state) if new.name == "Ready" => {
            let state = &ir.states[state];
            let doc: Vec<&str> = state.doc.split_whitespace().collect();
            match doc.is_empty() {
                true => format!("the {} is {}", ir.name, state.name),
                false => doc.join(" "),
            }
        }
        Class::State(_) | Class::Deleting | Class::Refused { .. } | Class::Contradiction => {
            let status = new.status.as_str();
            format!("the condition {} of the {} is {status}", new.name, ir.name)
        }
    }
}

/// Compares only the fields that the lifecycle declares now or declared earlier. An unwanted entry
/// of ours also counts as a difference.
fn differs(ir: &Lifecycle, fields: &[&str], new: &Value, old: &Value) -> bool {
    let retired: Vec<&str> = ir.retired_fields().collect();
    let known: Vec<_> = [fields, &retired, &["conditions"]].concat();
    let wanted = new.as_object().into_iter().flatten();
    wanted
        .map(|(key, value)| (key.as_str(), Some(value)))
        .chain(known.iter().map(|key| (*key, new.get(key))))
        .any(|(key, value)| value.unwrap_or(&Value::Null) != old.get(key).unwrap_or(&Value::Null))
}

/// A status without the times at which its conditions changed.
pub(crate) fn timeless(status: &Value) -> Value {
    let mut status = status.clone();
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        if let Some(condition) = condition.as_object_mut() {
            condition.remove("lastTransitionTime");
        }
    }
    status
}

#[cfg(test)]
mod kstatus;
#[cfg(test)]
mod shaped;
#[cfg(test)]
mod tests;
