//! An explanation as text for a person: first where it is, since when, and who must act; then why, and what comes next. Made of the data alone.

use std::fmt::Write;

use crate::explanation::{Explanation, Fact, LookedAt, Related, Who};
use crate::times;

/// The text of an explanation.
pub fn text(explanation: &Explanation) -> String {
    let mut into = String::new();
    of(explanation, 0, &mut into);
    into
}

fn of(told: &Explanation, indent: usize, into: &mut String) {
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
    let is_ready = told.states.iter().all(|state| state.phase == "Ready");
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
            .map(|act| format!("{}: {}", who(act.who), act.what)),
    );
    section_of_facts(into, indent, &told.why);
    section(into, indent, "What the status says", status(told));
    section(into, indent, "What wakes it", told.wakes.iter().cloned());
    section(into, indent, "The way to the goal", way(told));
    section(into, indent, deletion_title(told), deletion(told));
    section(
        into,
        indent,
        "What could not be read",
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
        "What is not asked from here",
        told.unasked.iter().cloned(),
    );
    for related in &told.related {
        into.push('\n');
        related_to(related, indent, into);
    }
}

fn head(told: &Explanation) -> String {
    let names: Vec<&str> = told
        .states
        .iter()
        .map(|state| state.name.as_str())
        .collect();
    let names = names.join(" or ");
    let is_ready = told.states.iter().all(|state| state.phase == "Ready");
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
        if !actors.contains(&who(act.who)) {
            actors.push(who(act.who));
        }
    }
    let acts = match told.who.as_slice() {
        [one] if one.who == Who::Nobody => "nobody must act".to_owned(),
        _ => format!("{} must act", actors.join(" or ")),
    };
    format!("{} is {names}{since}: {acts}", told.object)
}

fn who(who: Who) -> &'static str {
    match who {
        Who::Person => "a person",
        Who::Operator => "the operator",
        Who::Lifecycle => "another lifecycle",
        Who::Cluster => "the cluster",
        Who::OtherController => "another controller",
        Who::Nobody => "nobody",
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
        lines.push("it does not tell of this yet: the operator has not looked since, does not run, or could not report".to_owned());
    }
    lines
}

fn way(told: &Explanation) -> Vec<String> {
    let steps = told.way.steps.iter().map(|step| match step.overdue_after {
        Some(limit) => format!(
            "{} (told as overdue after {})",
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
        true => "What blocks the deletion",
        false => "What a deletion would wait for",
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
        of(inside, indent + 4, into);
    }
}
