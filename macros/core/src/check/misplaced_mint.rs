//! A value is minted in what cannot keep it: an object that others may own as well or that is only read, a set, something outside the cluster; or in a volume
//! or a fragment. What keeps a minted value is one object that is ours alone, or a record, of a resource: then the first write of it creates it or fails, and every
//! later one has seen what is there.
//!
//! ```text
//! secret: shared Secret by name meta.name;
//! mint password: Password in secret;                       // refused: another owner of the Secret may write another password
//!
//! secret: owned Secret by name meta.name;
//! mint password: Password in secret;
//! ```

use proc_macro2::Ident;

use crate::ast;
use crate::errors::{Diagnostic, Sink};
use crate::model::{Input, Kind, Lifecycle, Mode};
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC150",
    name: "misplaced_mint",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

const FORM: &str = "keep it in an input that is `owned` and one object, or in a `record`";

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for value in &lifecycle.values {
        let Some(mint) = &value.mint else {
            continue;
        };
        let keeper = &value.from[0].name;
        let Some(why) = why(lifecycle, &lifecycle.inputs[mint.keeper.0]) else {
            continue;
        };
        let name = value.name.to_string();
        let message = format!("`{name}` is minted in `{keeper}`, {why}");
        sink.push(RULE.finding(keeper.span(), name, message).help(FORM));
    }
}

/// Why an input keeps nothing that is minted.
fn why(lifecycle: &Lifecycle, keeper: &Input) -> Option<&'static str> {
    if lifecycle.kind == Kind::Volume {
        return Some("and a call of a volume mints nothing");
    }
    match (keeper.mode, keeper.many) {
        (Mode::Owned | Mode::Record, false) => None,
        (Mode::Owned | Mode::Record, true) => Some("which is any number of objects"),
        (Mode::Shared | Mode::Part, _) => Some("which others may write as well"),
        (Mode::Group, _) => Some("which is a group"),
        (Mode::Watched, _) => Some("which is only read"),
        (Mode::Noted, _) => Some("which says what was made, and nothing else"),
        (Mode::Poll | Mode::Probe | Mode::Clock, _) => Some("which is no object that we write"),
    }
}

/// What it is kept in is no input.
pub(crate) fn no_input(value: &Ident, keeper: &Ident) -> Diagnostic {
    let message = format!("`{value}` is minted in `{keeper}`, which is no input");
    let found = RULE.finding(keeper.span(), value.to_string(), message);
    found.help(FORM)
}

/// What a fragment mints: it writes nothing that could keep it.
pub(crate) fn in_fragment(value: &ast::Value) -> Option<Diagnostic> {
    value.mint.as_ref()?;
    let name = value.name.to_string();
    let message =
        format!("`{name}` is minted in a fragment, which writes nothing that could keep it");
    let help = "mint it in each lifecycle that builds the keeper, and let the fragment read that";
    Some(RULE.finding(value.name.span(), name, message).help(help))
}
