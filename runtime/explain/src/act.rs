//! Who must act, and what is to be done: the operator, the cluster, another lifecycle, or a person.

use lifecycle_runtime::machine::ir::{ConditionStatus, Input, Mode, Phase, Source};
use lifecycle_runtime::machine::policy::{Class, Decision};

use crate::deletion;
use crate::explanation::{Act, LookedAt, Who};
use crate::look::{Look, Place};
use crate::promises::promises;
use crate::wakes::wakes;
use crate::why::{EVERY, looked_at};
use crate::written::{does, named, one_of};

/// Who must act where it may be.
pub(crate) fn acts(look: &Look<'_>, place: &Place) -> Vec<Act> {
    if let Some(failure) = &look.observed.failure
        && look.observed.set_aside.is_none()
    {
        return vec![act(Who::Person, failure.to_string())];
    }
    let mut acts = of_the_state(look, place);
    let more = beside(look, place);
    if !more.is_empty() {
        acts.retain(|one| one.who != Who::Nobody);
    }
    acts.extend(more);
    acts
}

/// Actor that the state names.
fn of_the_state(look: &Look<'_>, place: &Place) -> Vec<Act> {
    match (place.class, place.next) {
        (Class::Contradiction, _) => vec![contradiction(look, place)],
        (Class::Deleting, _) => deletion::acts(look, place),
        (_, Decision::Claim) => vec![act(
            Who::Operator,
            format!(
                "puts its finalizer `{}` on {}",
                look.of.naming.finalizer,
                look.object()
            ),
        )],
        (_, Decision::Release) => vec![act(Who::Operator, "takes its finalizer away".to_owned())],
        (_, Decision::Effect(effect)) => {
            vec![act(Who::Operator, format!("is to {}", does(look, effect)))]
        }
        (Class::Refused { effect }, Decision::Rest) => vec![act(
            Who::Person,
            format!(
                "the API server refuses to {}: change what it objects to",
                does(look, effect)
            ),
        )],
        (Class::State(state), Decision::Rest) => resting(look, place, state),
    }
}

/// Conditions that are False and that `Ready` does not depend on, such as a setting without effect: the object works, and a person must act all the same.
fn beside(look: &Look<'_>, place: &Place) -> Vec<Act> {
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
    let mut all = ir.conditions(&place.worlds[0], look.observed.observation.said());
    all.retain(|one| one.status == ConditionStatus::False);
    all.retain(|one| one.name != "Ready" && !rolled_up.contains(&one.name));
    let told = all.into_iter().map(|one| {
        let said = one.message.lines().collect::<Vec<_>>().join("; ");
        match said.is_empty() {
            true => format!("{} is False ({})", one.name, one.reason),
            false => said,
        }
    });
    told.map(|what| act(Who::Person, what)).collect()
}

fn act(who: Who, what: String) -> Act {
    Act { who, what }
}

fn contradiction(look: &Look<'_>, place: &Place) -> Act {
    let why = look.ir.contradiction(&place.worlds[0]);
    let world = place.worlds[0].describe(look.ir);
    let what = format!(
        "the declaration of {} does not fit what is there, so the operator does nothing: {why}: {world}",
        look.ir.name
    );
    act(Who::Person, what)
}

fn resting(look: &Look<'_>, place: &Place, state: usize) -> Vec<Act> {
    let declared = &look.ir.states[state];
    match declared.phase {
        Phase::Ready => vec![act(Who::Nobody, "all is as it should be".to_owned())],
        Phase::Ignored => vec![act(
            Who::OtherController,
            "another controller manages it; this operator leaves it alone".to_owned(),
        )],
        Phase::Suspended => vec![act(
            Who::Person,
            format!(
                "somebody suspended it; end that: {}",
                todo(look, place, state)
            ),
        )],
        Phase::Error => vec![act(Who::Person, todo(look, place, state))],
        Phase::Pending => {
            let due = promises(look, place);
            if due.is_empty() {
                return vec![awaited(look, place, state)];
            }
            due.into_iter().map(|due| act(due.who, due.told)).collect()
        }
    }
}

/// What a person can do, by what the state waits for.
fn todo(look: &Look<'_>, place: &Place, state: usize) -> String {
    let Some(wakes) = look.ir.states[state].wakes else {
        return "look at what decided it".to_owned();
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
    match cause.or_else(|| answered(look, wakes)) {
        Some(cause) => format!("{said}: {cause}"),
        None => said,
    }
}

/// The verdict on each object of a name that another owner has: it names the object and the owner, and says what to do, as the conditions do. An edit that
/// leaves the name as it is would not help.
fn taken(look: &Look<'_>, place: &Place, wakes: &[Source]) -> Vec<String> {
    let sentences = &look.observed.observation.sentences;
    let of_input = |wake: &Source| {
        let Source::Input(input) = wake else {
            return None;
        };
        let declared = &look.ir.inputs[*input];
        let var = declared.var.filter(|_| declared.mode != Mode::Group)?;
        let is_taken = look.ir.value(&place.worlds[0], var) == "Foreign";
        sentences[var].clone().filter(|_| is_taken)
    };
    wakes.iter().filter_map(of_input).collect()
}

/// The facts that make the state the one that counts, in one line: they name the object that a wake alone does not.
fn cause(look: &Look<'_>, place: &Place, state: usize) -> Option<String> {
    let sentences = &look.observed.observation.sentences;
    let cause = look.ir.sentence(state, &place.worlds[0], sentences);
    (!cause.is_empty()).then(|| cause.lines().collect::<Vec<_>>().join("; "))
}

/// The message of the status about a state that waits for the outside: the operator alone knows the answer.
fn answered(look: &Look<'_>, wakes: &[Source]) -> Option<String> {
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

/// True of an object that is only read and is there: what is to be changed of it, if anything, only the facts say that read it.
fn is_in_order(look: &Look<'_>, place: &Place, input: usize) -> bool {
    let declared = &look.ir.inputs[input];
    let value = declared.var.map(|var| look.ir.value(&place.worlds[0], var));
    declared.mode == Mode::Watched && value.is_some_and(|value| value == "Present")
}

/// Whether an input finds any object of a kind, and not one by its name.
fn is_any(look: &Look<'_>, input: usize) -> bool {
    looked_at(look, input).is_some_and(|found| found.by.starts_with(EVERY))
}

/// Whether what it waits for is an object that the operator makes, and that is only missing or is as it should be; or one that another of its
/// lifecycles writes.
fn is_of_the_operator(look: &Look<'_>, place: &Place, wake: Source) -> bool {
    let Source::Input(input) = wake else {
        return false;
    };
    let declared = &look.ir.inputs[input];
    let mine = matches!(declared.mode, Mode::Owned | Mode::Group);
    let value = declared.var.map(|var| look.ir.value(&place.worlds[0], var));
    mine && matches!(value, Some("Absent" | "Current")) || is_written_by_a_keeper(look, input)
}

/// Whether another lifecycle of the operator keeps a promise that brings an object about: then that lifecycle writes it, and no person.
fn is_written_by_a_keeper(look: &Look<'_>, input: usize) -> bool {
    let declared = &look.ir.inputs[input];
    let Some(var) = declared.var.filter(|_| declared.mode == Mode::Watched) else {
        return false;
    };
    let claimed = look.ir.promises.iter().filter(|one| one.claim.is_some());
    let mut sets = claimed.flat_map(|one| one.sets).copied().flatten();
    sets.any(|(set, _)| *set == var)
}

fn doing(look: &Look<'_>, place: &Place, wake: Source) -> String {
    let (ir, world) = (look.ir, &place.worlds[0]);
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
    let value = declared.var.map_or("", |var| ir.value(world, var));
    if declared.mode == Mode::Group {
        return in_the_way(look, input);
    }
    let named = named(look, input);
    match (value, declared.mode) {
        ("Absent", _) => format!("create {named}"),
        ("Unnamed", _) => format!("name {named}"),
        ("Foreign", _) => format!("remove {named}"),
        (_, Mode::Owned | Mode::Shared) => format!("change what is in the way of {named}"),
        _ => changing(look, input),
    }
}

/// Of a group the member that decides the verdict on it, which the verdict names.
fn in_the_way(look: &Look<'_>, group: usize) -> String {
    let declared = &look.ir.inputs[group];
    let said = declared
        .var
        .map(|var| &look.observed.observation.sentences[var]);
    match said.and_then(Option::as_ref) {
        Some(said) => format!("change what is in the way of `{}`: {said}", declared.name),
        None => format!("change what belongs to `{}`", declared.name),
    }
}

/// A change of what is found: of the one object, or of one of those that there are or may be.
fn changing(look: &Look<'_>, input: usize) -> String {
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

/// The one to act in a Pending state that waits for others, where nobody promises anything. Objects of the operator get their status from the cluster;
/// everything else stays as it is until a person changes it.
fn awaited(look: &Look<'_>, place: &Place, state: usize) -> Act {
    let Some(sources) = look.ir.states[state].wakes else {
        return act(Who::Cluster, "it goes on by itself".to_owned());
    };
    let inputs = sources.iter().filter_map(|wake| match wake {
        Source::Input(input) => Some(&look.ir.inputs[*input]),
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
    });
    let inputs: Vec<&Input> = inputs.collect();
    let is_made = |input: &&Input| matches!(input.mode, Mode::Owned | Mode::Shared | Mode::Group);
    if inputs.iter().any(is_made) {
        let waits = wakes(look, place).join(", or ");
        return act(Who::Cluster, format!("it waits for {waits}"));
    }
    // The sentences about what the outside answers are for those who know it.
    let is_asked = |input: &&Input| matches!(input.mode, Mode::Poll | Mode::Probe);
    let cause = cause(look, place, state).filter(|_| !inputs.iter().any(is_asked));
    let doc = look.ir.states[state].doc.trim();
    act(Who::Person, cause.unwrap_or_else(|| doc.to_owned()))
}
