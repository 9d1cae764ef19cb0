//! The next actor, and the action: the operator, the cluster, another lifecycle, or a person.

use lifecycle_runtime::machine::ir::{ConditionStatus, Input, Mode, Phase, Source, StateId};
use lifecycle_runtime::machine::policy::{Class, Decision};
use lifecycle_runtime::machine::verdict::Verdict;

use crate::explain::deletion;
use crate::explain::explanation::{Act, Actor, LookedAt};
use crate::explain::look::{Inspection, Position};
use crate::explain::promises::promises;
use crate::explain::wakes::wakes;
use crate::explain::why::{EVERY, looked_at};
use crate::explain::written::{describe_effect, named, one_of};

/// Returns the actors that must act at a place where the object may be.
pub(crate) fn acts(look: &Inspection<'_>, place: &Position) -> Vec<Act> {
    if let Some(failure) = &look.observed.failure
        && look.observed.set_aside.is_none()
    {
        return vec![act(Actor::Person, failure.to_string())];
    }
    let mut acts = of_the_state(look, place);
    let more = failing_conditions(look, place);
    if !more.is_empty() {
        acts.retain(|one| one.who != Actor::Nobody);
    }
    acts.extend(more);
    acts
}

/// Actor that the state names.
fn of_the_state(look: &Inspection<'_>, place: &Position) -> Vec<Act> {
    match (place.class, place.next) {
        (Class::Contradiction, _) => vec![contradiction(look, place)],
        (Class::Deleting, _) => deletion::acts(look, place),
        (_, Decision::Claim) => vec![act(
            Actor::Operator,
            format!(
                "puts its finalizer `{}` on {}",
                look.of.naming.finalizer,
                look.object()
            ),
        )],
        (_, Decision::Release) => vec![act(Actor::Operator, "takes its finalizer away".to_owned())],
        (_, Decision::Effect(effect)) => {
            vec![act(
                Actor::Operator,
                format!("is to {}", describe_effect(look, effect)),
            )]
        }
        (Class::Refused { effect }, Decision::Rest) => vec![act(
            Actor::Person,
            format!(
                "the API server refuses to {}: change what it objects to",
                describe_effect(look, effect)
            ),
        )],
        (Class::State(state), Decision::Rest) => resting(look, place, state),
    }
}

/// Conditions that are False and that `Ready` does not depend on, such as a setting without effect: the object works, and a person must act all the same.
fn failing_conditions(look: &Inspection<'_>, place: &Position) -> Vec<Act> {
    let ir = look.ir;
    let Class::State(state) = place.class else {
        return Vec::new();
    };
    let is_set_aside = matches!(ir.states[state].phase, Phase::Ignored | Phase::Suspended);
    if is_set_aside || ir.ready.from.is_empty() {
        return Vec::new();
    }
    let rolled_up: Vec<&str> = ir
        .ready
        .from
        .iter()
        .map(|&c| ir.conditions[c].name)
        .collect();
    let mut all = ir.conditions(&place.worlds[0], look.observed.observation.message_parts());
    all.retain(|one| one.status == ConditionStatus::False);
    all.retain(|one| one.name != "Ready" && !rolled_up.contains(&one.name));
    let told = all.into_iter().map(|one| {
        let said = one.message.lines().collect::<Vec<_>>().join("; ");
        match said.is_empty() {
            true => format!("{} is False ({})", one.name, one.reason),
            false => said,
        }
    });
    told.map(|what| act(Actor::Person, what)).collect()
}

fn act(who: Actor, what: String) -> Act {
    Act { who, what }
}

fn contradiction(look: &Inspection<'_>, place: &Position) -> Act {
    let why = look.ir.contradiction(&place.worlds[0]);
    let world = place.worlds[0].describe(look.ir);
    let what = format!(
        "the declaration of {} does not fit what is there, so the operator does nothing: {why}: {world}",
        look.ir.name
    );
    act(Actor::Person, what)
}

fn resting(look: &Inspection<'_>, place: &Position, state: StateId) -> Vec<Act> {
    let declared = &look.ir.states[state];
    match declared.phase {
        Phase::Ready => vec![act(Actor::Nobody, "all is as it should be".to_owned())],
        Phase::Ignored => vec![act(
            Actor::OtherController,
            "another controller manages it; this operator leaves it alone".to_owned(),
        )],
        Phase::Suspended => vec![act(
            Actor::Person,
            format!(
                "a user suspended it; to resume it: {}",
                todo(look, place, state)
            ),
        )],
        Phase::Error => vec![act(Actor::Person, todo(look, place, state))],
        Phase::Pending => {
            let due = promises(look, place);
            if due.is_empty() {
                return vec![awaited(look, place, state)];
            }
            due.into_iter().map(|due| act(due.who, due.told)).collect()
        }
    }
}

/// Returns the action for a person, according to the sources that the state waits for.
fn todo(look: &Inspection<'_>, place: &Position, state: StateId) -> String {
    let Some(wakes) = look.ir.states[state].wakes else {
        return "check the facts that decided it".to_owned();
    };
    let taken = taken(look, place, wakes);
    if !taken.is_empty() {
        return taken.join("; ");
    }
    let mut todo: Vec<Source> = wakes.to_vec();
    todo.retain(|wake| !is_of_the_operator(look, place, *wake));
    if todo.is_empty() {
        todo = wakes.to_vec();
    }
    let said: Vec<String> = todo.iter().map(|wake| doing(look, place, *wake)).collect();
    let said = said.join(", or ");
    let names_none = |wake: &Source| match wake {
        Source::Input(input) => {
            is_any(look, *input)
                || is_written_by_a_keeper(look, *input)
                || is_in_order(look, place, *input)
        }
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => false,
    };
    let names_none = wakes.iter().any(names_none);
    let cause = cause(look, place, state).filter(|_| names_none);
    match cause.or_else(|| outside_message(look, wakes)) {
        Some(cause) => format!("{said}: {cause}"),
        None => said,
    }
}

/// Returns the verdict on each object whose name another owner holds. It names the object and the
/// owner, and gives a remedy, as the conditions do. An edit that keeps the name would not help.
fn taken(look: &Inspection<'_>, place: &Position, wakes: &[Source]) -> Vec<String> {
    let sentences = &look.observed.observation.sentences;
    let of_input = |wake: &Source| {
        let Source::Input(input) = wake else {
            return None;
        };
        let declared = &look.ir.inputs[*input];
        let var = declared.var.filter(|_| declared.mode != Mode::Group)?;
        let is_taken = look.ir.verdict_in(&place.worlds[0], var) == Some(Verdict::Foreign);
        sentences[var].clone().filter(|_| is_taken)
    };
    wakes.iter().filter_map(of_input).collect()
}

/// The facts that make the state the one that counts, in one line: they name the object that a wake alone does not.
fn cause(look: &Inspection<'_>, place: &Position, state: StateId) -> Option<String> {
    let sentences = &look.observed.observation.sentences;
    let cause = look.ir.sentence(state, &place.worlds[0], sentences);
    (!cause.is_empty()).then(|| cause.lines().collect::<Vec<_>>().join("; "))
}

/// Returns the status message of a state that waits for a system outside the cluster. Only the
/// operator knows the answer.
fn outside_message(look: &Inspection<'_>, wakes: &[Source]) -> Option<String> {
    let is_outside = |wake: &Source| match wake {
        Source::Input(input) => {
            matches!(look.ir.inputs[*input].mode, Mode::Poll | Mode::Probe)
        }
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => false,
    };
    let unmet = look.reported.unmet().filter(|_| look.agrees)?;
    let message = unmet.message.lines().collect::<Vec<_>>().join("; ");
    (wakes.iter().any(is_outside) && !message.is_empty()).then_some(message)
}

fn verdict(look: &Inspection<'_>, place: &Position, input: &Input) -> Option<Verdict> {
    input
        .var
        .and_then(|var| look.ir.verdict_in(&place.worlds[0], var))
}

/// Returns true for an existing object that is only read. Only the facts that read it can tell if
/// it needs a change.
fn is_in_order(look: &Inspection<'_>, place: &Position, input: usize) -> bool {
    let declared = &look.ir.inputs[input];
    declared.mode == Mode::Watched && verdict(look, place, declared) == Some(Verdict::Present)
}

/// Returns true if an input finds any object of a kind, rather than one object by its name.
fn is_any(look: &Inspection<'_>, input: usize) -> bool {
    looked_at(look, input).is_some_and(|found| found.by.starts_with(EVERY))
}

/// Returns true if it waits for an object that the operator creates, and that object is only
/// missing or is as desired. Also returns true if it waits for an object that another of the
/// operator's lifecycles writes.
fn is_of_the_operator(look: &Inspection<'_>, place: &Position, wake: Source) -> bool {
    let Source::Input(input) = wake else {
        return false;
    };
    let declared = &look.ir.inputs[input];
    let mine = matches!(declared.mode, Mode::Owned | Mode::Group);
    let verdict = verdict(look, place, declared);
    mine && matches!(verdict, Some(Verdict::Absent | Verdict::Current))
        || is_written_by_a_keeper(look, input)
}

/// Returns true if another lifecycle of the operator keeps a promise that brings an object about.
/// Then that lifecycle writes the object, and no person does.
fn is_written_by_a_keeper(look: &Inspection<'_>, input: usize) -> bool {
    let declared = &look.ir.inputs[input];
    let Some(var) = declared.var.filter(|_| declared.mode == Mode::Watched) else {
        return false;
    };
    let claimed = look.ir.promises.iter().filter(|one| one.claim.is_some());
    let mut sets = claimed.flat_map(|one| one.sets).copied().flatten();
    sets.any(|(set, _)| *set == var)
}

fn doing(look: &Inspection<'_>, place: &Position, wake: Source) -> String {
    let ir = look.ir;
    let input = match wake {
        Source::This | Source::Request => return format!("edit {}", look.object()),
        Source::Value(value) => return format!("change `{}`", ir.values[value].name),
        Source::Fact(var) => return format!("change `{}`", ir.vars[var].name),
        Source::Input(input) => input,
    };
    let declared = &ir.inputs[input];
    if matches!(declared.mode, Mode::Poll | Mode::Probe) {
        return "remove the cause".to_owned();
    }
    let verdict = verdict(look, place, declared);
    if declared.mode == Mode::Group {
        return in_the_way(look, input);
    }
    let named = named(look, input);
    match (verdict, declared.mode) {
        (Some(Verdict::Absent), _) => format!("create {named}"),
        (Some(Verdict::Unnamed), _) => format!("name {named}"),
        (Some(Verdict::Foreign), _) => format!("remove {named}"),
        (_, Mode::Owned | Mode::Shared) => format!("change what is in the way of {named}"),
        _ => changing(look, input),
    }
}

/// Of a group the member that decides the verdict on it, which the verdict names.
fn in_the_way(look: &Inspection<'_>, group: usize) -> String {
    let declared = &look.ir.inputs[group];
    let said = declared
        .var
        .map(|var| &look.observed.observation.sentences[var]);
    match said.and_then(Option::as_ref) {
        Some(said) => format!("change what is in the way of `{}`: {said}", declared.name),
        None => format!("change what belongs to `{}`", declared.name),
    }
}

/// Describes a change of the found objects: of the one object, or of one of several existing or
/// possible objects.
fn changing(look: &Inspection<'_>, input: usize) -> String {
    let found = looked_at(look, input);
    let is_many = |all: &LookedAt| {
        all.by.starts_with(EVERY) || all.more > 0 || all.found.len() + all.missing.len() != 1
    };
    let many = found.filter(is_many);
    match many {
        Some(all) if all.found.is_empty() => format!("create {}", one_of(look, input)),
        Some(_) => format!("create, change or remove {}", one_of(look, input)),
        None => format!("change {}", named(look, input)),
    }
}

/// Returns the actor in a Pending state that waits for others without a promise. The cluster
/// updates the status of the operator's own objects. Everything else stays unchanged until a person
/// acts.
fn awaited(look: &Inspection<'_>, place: &Position, state: StateId) -> Act {
    let Some(sources) = look.ir.states[state].wakes else {
        return act(Actor::Cluster, "it goes on by itself".to_owned());
    };
    let inputs = sources.iter().filter_map(|wake| match wake {
        Source::Input(input) => Some(&look.ir.inputs[*input]),
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
    });
    let inputs: Vec<&Input> = inputs.collect();
    let is_made = |input: &&Input| matches!(input.mode, Mode::Owned | Mode::Shared | Mode::Group);
    if inputs.iter().any(is_made) {
        let waits = wakes(look, place).join(", or ");
        return act(Actor::Cluster, format!("it waits for {waits}"));
    }
    // Sentences about replies of external systems are only useful to those who know the system.
    let is_asked = |input: &&Input| matches!(input.mode, Mode::Poll | Mode::Probe);
    let cause = cause(look, place, state).filter(|_| !inputs.iter().any(is_asked));
    let doc = look.ir.states[state].doc.trim();
    act(Actor::Person, cause.unwrap_or_else(|| doc.to_owned()))
}
