//! A value is minted in a place that cannot keep it. Such a place is an object that others may own
//! as well or that is only read, a set, an optional object, or something outside the cluster. A
//! volume or a fragment cannot keep it either. The keeper of a minted value is one object that is
//! ours alone, or a record, of a resource. Then the first write of it creates it or fails, and every
//! later write has observed the existing object.
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
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC150",
    name: "misplaced_mint",
    group: Group::Ownership,
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
        let Some(why) = rejection_reason(lifecycle, &lifecycle.inputs[mint.keeper.0]) else {
            continue;
        };
        let name = value.name.to_string();
        let message = format!("`{name}` is minted in `{keeper}`, {why}");
        sink.push(RULE.finding(keeper.span(), name, message).help(FORM));
    }
}

/// Why an input keeps nothing that is minted.
fn rejection_reason(lifecycle: &Lifecycle, keeper: &Input) -> Option<&'static str> {
    if lifecycle.kind == Kind::Volume {
        return Some("and a call of a volume mints nothing");
    }
    if keeper.only_if.is_some() {
        return Some("which exists only sometimes");
    }
    match (keeper.mode, keeper.many) {
        (Mode::Owned | Mode::Record, false) => None,
        (Mode::Owned | Mode::Record, true) => Some("which is any number of objects"),
        (Mode::Shared | Mode::Part, _) => Some("which others may write as well"),
        (Mode::Group, _) => Some("which is a group"),
        (Mode::Watched, _) => Some("which is only read"),
        (Mode::Noted, _) => Some("which only records what was made"),
        (Mode::Poll | Mode::Probe | Mode::Clock, _) => Some("which is no object that we write"),
    }
}

/// Reports a minted value whose keeper is not an input.
pub(crate) fn no_input(value: &Ident, keeper: &Ident) -> Diagnostic {
    let message = format!("`{value}` is minted in `{keeper}`, which is no input");
    let found = RULE.finding(keeper.span(), value.to_string(), message);
    found.help(FORM)
}

/// Reports a value that a fragment mints. A fragment writes nothing that could keep the value.
pub(crate) fn in_fragment(value: &ast::Value) -> Option<Diagnostic> {
    value.mint.as_ref()?;
    let name = value.name.to_string();
    let message =
        format!("`{name}` is minted in a fragment, which writes nothing that could keep it");
    let help = "mint it in each lifecycle that builds the keeper, and let the fragment read that";
    Some(RULE.finding(value.name.span(), name, message).help(help))
}
