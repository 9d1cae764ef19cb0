//! A `create` has no meaning. It requires an `owned` object in a resource. An object that others
//! also write, or may make again, is not created once by us. A created object is never applied or
//! adopted, because it is not compared with anything. Therefore no list of it is exclusively ours,
//! and its retention is decided when it is made and not again.
//!
//! ```text
//! job: owned Job by name meta.name; made: record of job;
//! effects { create job; apply job; }                       // refused: what is applied is compared, and is made again when it is gone
//! effects { create job; }
//! ```

use proc_macro2::Span;

use crate::ast::{Effect, Input, Kind, Lifecycle, Mode, Verb};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC155",
    name: "misplaced_create",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Location of the error, its description, and the replacement to write instead.
type Wrong = (Span, String, &'static str);

/// Checks every `create`.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let creates = ast.effects.iter().enumerate();
    for (at, effect) in creates.filter(|(_, e)| e.verb == Verb::Create) {
        let Some(target) = ast.inputs.iter().find(|i| i.name == effect.target) else {
            continue;
        };
        let found = check_target(ast, effect, target)
            .or_else(|| check_other_effects(ast, at, effect))
            .or_else(|| clauses(target));
        if let Some((span, why, help)) = found {
            let name = effect.name().to_string();
            let message = format!("effect `{name}` creates `{}` once: {why}", target.name);
            sink.push(RULE.finding(span, name, message).help(help));
        }
    }
}

fn check_target(ast: &Lifecycle, effect: &Effect, target: &Input) -> Option<Wrong> {
    let span = effect.target.span();
    if ast.kind == Kind::Volume {
        let why = "a volume has no object that could record this";
        return Some((span, why.to_owned(), "write `apply`"));
    }
    let why = match target.mode {
        Mode::Owned => return None,
        Mode::Shared => "others contribute to what is `shared`",
        Mode::Part => "a `part` is of an object that others make",
        Mode::Watched => "it is only read",
        Mode::Record | Mode::Noted => "a record is no object",
        Mode::Poll | Mode::Probe | Mode::Clock => "it is no object that we write",
        Mode::Group => "a group is kept as its builders want it",
    };
    Some((span, why.to_owned(), "write `owned` before its type"))
}

/// Other effects that make the same.
fn check_other_effects(ast: &Lifecycle, at: usize, effect: &Effect) -> Option<Wrong> {
    let others = ast.effects.iter().enumerate();
    let mut others = others.filter(|(_, other)| other.target == effect.target);
    others.find_map(|(number, other)| {
        let name = other.name();
        let (why, help) = match other.verb {
            Verb::Apply => (
                "compares it with what its builder returns, and makes it again when it is gone",
                "leave one of them out",
            ),
            Verb::Adopt => (
                "takes over what was not made by us",
                "leave the `adopt` out: what is there already is `Foreign`",
            ),
            Verb::Create if number < at => (
                "creates it, too",
                "let one builder decide what is made, and one `when` decide whether it is made",
            ),
            Verb::Create | Verb::Delete | Verb::Call | Verb::Note => return None,
        };
        Some((name.span(), format!("`{name}` {why}"), help))
    })
}

/// Reports clauses of a created object that only make sense for an object that is compared.
fn clauses(target: &Input) -> Option<Wrong> {
    if let Some((span, _)) = &target.exclusive {
        let why = "it is not compared, so it cannot have an exclusive list";
        return Some((*span, why.to_owned(), "leave out `exclusive`"));
    }
    let retain = target.retain.as_ref().filter(|r| r.when.is_some())?;
    let why = "the decision to keep it without its owner is made at creation, and never again";
    Some((
        retain.span,
        why.to_owned(),
        "write `retain` without a `when`, or leave it out",
    ))
}
