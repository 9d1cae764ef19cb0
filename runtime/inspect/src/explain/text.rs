//! Explanation as text for a person. It starts with the state, its age and the actor, followed by
//! the reason and the next step. Derived from the data alone.

use std::fmt::Write;

use crate::explain::explanation::{Actor, Explanation, Fact, LookedAt, Related, State};
use crate::explain::times;

/// The text of an explanation.
pub fn text(explanation: &Explanation) -> String {
    let mut into = String::new();
    write_explanation(explanation, 0, &mut into);
    into
}

fn write_explanation(told: &Explanation, indent: usize, into: &mut String) {
    line(into, indent, &head(told));
    for state in &told.states {
        match told.states.as_slice() {
            [_] => line(into, indent, &state.doc),
            _ => line(into, indent, &format!("{}: {}", state.name, state.doc)),
        }
    }
    if let Some(overdue) = &told.overdue {
        line(into, indent, &format!("It takes too long: {overdue}."));
    }
    let is_ready = told.states.iter().all(is_ready);
    let is_inside = indent > 0;
    if is_inside && is_ready && !told.deletion.requested {
        return;
    }
    section(
        into,
        indent,
        "Who must act",
        told.who
            .iter()
            .map(|act| format!("{}: {}", actor_name(act.who), act.what)),
    );
    section_of_facts(into, indent, &told.why);
    section(into, indent, "Status", status(told));
    section(into, indent, "What wakes it", told.wakes.iter().cloned());
    section(into, indent, "The way to the goal", route_lines(told));
    section(into, indent, deletion_title(told), deletion(told));
    section(
        into,
        indent,
        "Inputs that could not be read",
        told.unread.iter().map(|one| {
            let place = match &one.namespace {
                Some(namespace) => format!(" in namespace `{namespace}`"),
                None => String::new(),
            };
            let name = one
                .name
                .as_ref()
                .map(|name| format!(" `{name}`"))
                .unwrap_or_default();
            format!(
                "`{}`: {}: {} {}{name}{place}; what depends on it is taken from the status",
                one.input, one.why, one.verb, one.resource
            )
        }),
    );
    section(
        into,
        indent,
        "Not evaluated here",
        told.unasked.iter().cloned(),
    );
    for related in &told.related {
        into.push('\n');
        related_to(related, indent, into);
    }
}

fn head(told: &Explanation) -> String {
    let name = |state: &State| match &state.region {
        Some(region) => format!("{} ({region})", state.name),
        None => state.name.clone(),
    };
    let names: Vec<String> = told.states.iter().map(name).collect();
    let mut states = told.states.iter();
    let are_regions = states.clone().any(|state| state.region.is_some());
    let names = names.join(if are_regions { " and " } else { " or " });
    // The first state of a region stands for those that count for Ready.
    let is_ready = match are_regions {
        true => states.next().is_some_and(is_ready),
        false => states.all(is_ready),
    };
    let since = match (&told.since, told.deletion.requested) {
        (None, _) => String::new(),
        (Some(since), deleting) => {
            let ago = times::of_seconds(u64::try_from(since.seconds).unwrap_or_default());
            let what = match (deleting, is_ready) {
                (true, _) => "deleted",
                (false, true) => "Ready",
                (false, false) => "not Ready",
            };
            format!(", {what} for {ago} (since {})", since.at)
        }
    };
    let mut actors: Vec<&str> = Vec::new();
    for act in &told.who {
        if !actors.contains(&actor_name(act.who)) {
            actors.push(actor_name(act.who));
        }
    }
    let acts = match told.who.as_slice() {
        [one] if one.who == Actor::Nobody => "no action needed".to_owned(),
        _ => format!("{} must act", actors.join(" or ")),
    };
    format!("{} is {names}{since}: {acts}", told.object)
}

fn is_ready(state: &State) -> bool {
    state.phase == "Ready"
}

fn actor_name(who: Actor) -> &'static str {
    match who {
        Actor::Person => "a person",
        Actor::Operator => "the operator",
        Actor::Lifecycle => "another lifecycle",
        Actor::Cluster => "the cluster",
        Actor::OtherController => "another controller",
        Actor::Nobody => "nobody",
    }
}

fn line(into: &mut String, indent: usize, text: &str) {
    for part in text.lines() {
        let part = part.trim_end();
        match part.is_empty() {
            true => into.push('\n'),
            false => {
                let _written = writeln!(into, "{:indent$}{part}", "");
            }
        }
    }
}

fn section(into: &mut String, indent: usize, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    into.push('\n');
    line(into, indent, title);
    for text in lines {
        line(into, indent + 2, &text);
    }
}

fn section_of_facts(into: &mut String, indent: usize, facts: &[Fact]) {
    let mut lines = Vec::new();
    for fact in facts {
        let values = fact.values.join(" or ");
        let said = match fact.sentence.trim() {
            "" => String::new(),
            said => format!(": {}", said.replace('\n', "; ")),
        };
        let known = if fact.from_status {
            " (by the status)"
        } else {
            ""
        };
        lines.push(format!("{} is {values}{known}{said}", fact.name));
        lines.extend(fact.from.iter().map(looked_at));
    }
    section(into, indent, "Why", lines);
}

fn looked_at(at: &LookedAt) -> String {
    let mut found = at.found.clone();
    if at.more > 0 {
        found.push(format!("{} more", at.more));
    }
    found.extend(at.missing.iter().map(|name| format!("no {name}")));
    let found = match found.is_empty() {
        true => "nothing".to_owned(),
        false => found.join(", "),
    };
    format!("  `{}`: {found}, by {}", at.input, at.by)
}

fn status(told: &Explanation) -> Vec<String> {
    let mut lines = told.status.says.clone();
    if told.status.is_behind {
        lines.push(
            "it is about an older generation: the operator has not reported the newest edit yet"
                .to_owned(),
        );
    } else if !told.status.agrees && !told.deletion.requested {
        lines.push("it does not show this state yet: the operator has not reconciled since, is not running, or could not update the status".to_owned());
    }
    lines
}

fn route_lines(told: &Explanation) -> Vec<String> {
    let steps = told.way.steps.iter().map(|step| match step.overdue_after {
        Some(limit) => format!(
            "{} (overdue after {})",
            step.state,
            times::of_seconds(limit)
        ),
        None => step.state.clone(),
    });
    let steps: Vec<String> = steps.collect();
    let mut lines: Vec<String> = told.way.first.iter().cloned().collect();
    if !steps.is_empty() {
        lines.push(steps.join(" -> "));
    }
    lines
}

fn deletion_title(told: &Explanation) -> &'static str {
    match told.deletion.requested {
        true => "Deletion blocked by",
        false => "A deletion would wait for",
    }
}

fn deletion(told: &Explanation) -> Vec<String> {
    let deletion = &told.deletion;
    let finalizers = deletion.finalizers.iter();
    let mut lines: Vec<String> = finalizers
        .map(|one| format!("finalizer `{}`: {}", one.name, one.whose))
        .collect();
    lines.extend(deletion.step.iter().map(|step| format!("step {step}")));
    lines.extend(deletion.held.iter().map(|held| format!("held: {held}")));
    lines.extend(deletion.note.iter().cloned());
    lines
}

fn related_to(related: &Related, indent: usize, into: &mut String) {
    let note = match &related.note {
        Some(note) => format!(": {note}"),
        None => String::new(),
    };
    line(
        into,
        indent,
        &format!("{} ({}){note}", related.object, related.how),
    );
    if let Some(inside) = &related.explanation {
        write_explanation(inside, indent + 4, into);
    }
}
