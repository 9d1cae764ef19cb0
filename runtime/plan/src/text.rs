//! A plan as text for people.

use std::fmt::Write;

use serde_json::Value;

use crate::planned::{Action, Change, Field, Planned, Server};

/// So much of a value is shown.
const LONGEST: usize = 100;

/// As text: what is written, what that ends, and what it does not tell.
pub fn text(planned: &Planned) -> String {
    let mut out = String::new();
    for change in &planned.changes {
        told(change, &mut out);
    }
    let _infallible = writeln!(out, "{}", summary(planned));
    if !planned.changes.is_empty() {
        out += match planned.restarts.is_empty() {
            true => "No Pod is restarted.\n",
            false => "Ends what runs:\n",
        };
    }
    for restart in &planned.restarts {
        let _infallible = writeln!(out, "  {}: {}", restart.object, restart.what);
    }
    if !planned.waiting.is_empty() {
        out += "Where it then waits; what follows from what others do is not shown:\n";
    }
    for standing in &planned.waiting {
        let (object, state) = (&standing.object, &standing.state);
        let _infallible = writeln!(out, "  {object} in {state}: {}", standing.why);
    }
    if !planned.unasked.is_empty() {
        out += "Not asked and not done from here, so that what follows is not shown:\n";
    }
    for unasked in &planned.unasked {
        let _infallible = writeln!(out, "  {unasked}");
    }
    if planned.unfinished {
        out += "It did not come to rest in time, so that more may follow: give it more with --limit.\n";
    }
    out
}

fn summary(planned: &Planned) -> String {
    let many = |action: &[Action]| {
        let changes = planned.changes.iter();
        changes.filter(|c| action.contains(&c.action)).count()
    };
    let objects = match planned.objects {
        1 => "1 object".to_owned(),
        many => format!("{many} objects"),
    };
    let elsewhere = match planned.elsewhere {
        0 => String::new(),
        1 => " 1 change in another namespace or in none is not shown.".to_owned(),
        many => format!(" {many} changes in other namespaces or in none are not shown."),
    };
    if planned.changes.is_empty() {
        let said = match (planned.unfinished, planned.elsewhere) {
            (true, _) => "Nothing would be written until then",
            (false, 0) => "Nothing would be written",
            (false, _) => "Nothing would be written there",
        };
        return format!("{said}: the operator looks after {objects}.{elsewhere}");
    }
    format!(
        "Nothing was written. {} to create, {} to change, {} to delete; the operator looks after {objects}.{elsewhere}",
        many(&[Action::Create]),
        many(&[Action::Change]),
        many(&[Action::Delete, Action::Release]),
    )
}

fn told(change: &Change, out: &mut String) {
    let (sign, note) = match change.action {
        Action::Create => ('+', ""),
        Action::Change => ('~', ""),
        Action::Delete => ('-', ""),
        Action::Release => ('-', ", once its finalizers are gone"),
    };
    let by = match change.managers.is_empty() {
        true => String::new(),
        false => format!("  (by {})", change.managers.join(", ")),
    };
    let object = change.object();
    let group = match change.group.as_str() {
        "" => String::new(),
        group => format!(".{group}"),
    };
    let (kind, name) = object.split_once(' ').unwrap_or((&object, ""));
    let _infallible = writeln!(out, "{sign} {kind}{group} {name}{note}{by}");
    for field in &change.fields {
        let _infallible = writeln!(out, "    {}", line(field));
    }
    if let Some(why) = &change.refused {
        let _infallible = writeln!(out, "  ! refused: {why}");
    }
    match &change.server {
        Some(Server::Refuses(why)) => {
            let _infallible = writeln!(out, "  ! the API server would refuse it: {why}");
        }
        Some(Server::Accepts) | None => {}
    }
    out.push('\n');
}

fn line(field: &Field) -> String {
    let path = &field.path;
    match (&field.from, &field.to) {
        (None, Some(to)) => format!("+ {path}: {}", value(to)),
        (Some(from), None) => format!("- {path}: {}", value(from)),
        (Some(from), Some(to)) => format!("~ {path}: {} -> {}", value(from), value(to)),
        (None, None) => format!("  {path}"),
    }
}

/// As JSON, and not all of what is long.
fn value(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let begin: String = text.chars().take(LONGEST).collect();
    format!("{begin}...")
}
