//! A line of `retired` that cannot be applied. A retired input is one whose objects we made or
//! wrote: `owned`, `shared` or `part`. It is observed whenever the object is, so it has no `given`,
//! and nothing reads it. An object that is `part` of an object of another owner, or `shared` with
//! others, carries no owner reference of ours alone to remove. It is `deleted`, which removes our
//! part, or `kept`. The item after `now` has to exist: a state, a condition, a field, a record, a
//! value of the same fact.
//!
//! ```text
//! retired { class: Class by name spec.class deleted; }            // refused: it was never ours
//! retired { state Drawing now Paintin; }                          // refused: there is no such state
//! ```

use proc_macro2::{Ident, Span};

use crate::ast::{Domain, Gone, GoneOf, Input, Leaves, Lifecycle, Mode};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC173",
    name: "misfit_retired",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks each line of the section.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let retired = ast.inputs.iter().filter(|input| input.retired.is_some());
    for input in retired {
        input_of(input)
            .into_iter()
            .for_each(|found| sink.push(found));
    }
    for gone in ast.retired.iter().flat_map(|retired| &retired.lines) {
        line(ast, gone)
            .into_iter()
            .for_each(|found| sink.push(found));
    }
}

fn input_of(input: &Input) -> Option<Diagnostic> {
    let name = &input.name;
    let span = name.span();
    let say =
        |message: String, help: &str| Some(error(span, &name.to_string(), message).help(help));
    match input.mode {
        // A group is retired member by member.
        Mode::Owned | Mode::Shared | Mode::Part | Mode::Group => {}
        Mode::Record | Mode::Noted => {
            let help = format!("write `record {name};`");
            return say(format!("record `{name}` has no objects"), &help);
        }
        Mode::Watched | Mode::Poll | Mode::Probe | Mode::Clock => {
            let message = format!("the operator never wrote `{name}`: nothing of it is left");
            return say(message, "leave the line out");
        }
    }
    if let Some(given) = &input.given {
        let message = format!(
            "retired input `{name}` has a `given`: what is left is looked for in every world"
        );
        return Some(error(given.span, &name.to_string(), message).help("leave out `given`"));
    }
    if let Some((span, _)) = &input.exclusive {
        let message =
            format!("retired input `{name}` has `exclusive`, but nothing is written there");
        return Some(error(*span, &name.to_string(), message).help("leave out `exclusive ..`"));
    }
    let released = input.retired == Some(Leaves::Released) && input.mode != Mode::Owned;
    if released {
        let message = format!(
            "`{name}` is `{}`: it has no owner reference of ours to remove",
            input.mode.keyword()
        );
        return say(
            message,
            "write `deleted`, which takes our part away, or `kept`",
        );
    }
    None
}

fn line(ast: &Lifecycle, gone: &Gone) -> Option<Diagnostic> {
    if let GoneOf::Kept(input) = &gone.what {
        return input_of(input);
    }
    if let GoneOf::Finalizer(Some(name)) | GoneOf::Annotation(name) = &gone.what
        && !is_qualified(name)
    {
        let message = format!("`{name}` is no qualified name");
        let help = "write it as it is on the objects: `example.com/widget`";
        return Some(error(gone.span, name, message).help(help));
    }
    let now = gone.now.as_ref()?;
    if ast.taint.everything || ast.taint.covers(now) {
        return None;
    }
    let (noun, known) = known(ast, &gone.what);
    if noun.is_empty() {
        let message =
            "a finalizer becomes nothing: an object has the one of today whenever it needs one";
        let help = format!("leave out `now {now}`");
        return Some(error(now.span(), "finalizer", message.to_owned()).help(help));
    }
    if known.contains(&now.to_string()) {
        return None;
    }
    let message = format!("it cannot be `{now}` now: there is no {noun} of that name");
    let help = match known.is_empty() {
        true => format!("leave out `now {now}`"),
        false => format!("name one of {}, or leave out `now {now}`", known.join(", ")),
    };
    Some(error(now.span(), &now.to_string(), message).help(help))
}

/// Returns the noun for the kind of item that an item may have become, and the names of the items
/// of that kind.
fn known(ast: &Lifecycle, gone: &GoneOf) -> (&'static str, Vec<String>) {
    let names = |names: Vec<&Ident>| names.into_iter().map(ToString::to_string).collect();
    match gone {
        GoneOf::Finalizer(_) | GoneOf::Kept(_) => ("", Vec::new()),
        GoneOf::Record(_) | GoneOf::Annotation(_) => {
            let records = ast.inputs.iter().filter(|input| input.mode == Mode::Record);
            ("record", names(records.map(|input| &input.name).collect()))
        }
        GoneOf::Condition(_) => {
            let declared = ast.conditions.iter().map(|one| &one.name);
            ("condition", names(declared.collect()))
        }
        GoneOf::Field(_) => ("field", names(ast.fields.iter().map(|f| &f.name).collect())),
        GoneOf::State(_) => ("state", names(ast.states.iter().map(|s| &s.name).collect())),
        GoneOf::Value(fact, _) => {
            let fact = ast.facts.iter().find(|one| one.name == *fact);
            let values = fact.map(|fact| match &fact.domain {
                Domain::Values { left, right } => {
                    names(left.iter().chain(right.iter().flatten()).collect())
                }
                Domain::Bool => Vec::new(),
            });
            ("value of the fact", values.unwrap_or_default())
        }
    }
}

/// As Kubernetes wants the names of finalizers and annotations.
fn is_qualified(name: &str) -> bool {
    let is_part = |part: &str| {
        let of_name = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
        !part.is_empty() && part.chars().all(of_name)
    };
    match name.split_once('/') {
        Some((prefix, name)) => is_part(prefix) && is_part(name),
        None => false,
    }
}

fn error(span: Span, item: &str, message: String) -> Diagnostic {
    RULE.finding(span, item, message)
}
