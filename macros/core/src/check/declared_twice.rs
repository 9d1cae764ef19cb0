//! A name, a section or an edge is declared twice, or a name is taken that is always there (`deleting`, `claimed`, `request`, the states `Deleting` and `Refused`).
//!
//! The roll-up `ready from ..` is written as a condition `Ready`, so no declared one has that name beside it.
//! Inputs, `let` values and facts share their names; facts, values, effects and fields become methods of one trait and share theirs.
//! Rename one of the two.
//! The generated items have fixed names, such as `State` and `machine`, so a module has one lifecycle.

use proc_macro2::{Ident, Span};

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC003",
    name: "declared_twice",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(name: &Ident, first: Span) -> Diagnostic {
    twice(&name.to_string(), name.span(), first)
}

/// A second lifecycle of a module.
pub(crate) fn lifecycle(name: &Ident, first: &str) -> Diagnostic {
    let message = format!(
        "lifecycle `{name}` is in the same module as `{first}`, and `State`, `Facts` and `machine` of both have the same names"
    );
    RULE.finding(name.span(), name.to_string(), message).help(
        "give it a module of its own: `mod name { .. }` around it, with its imports and its logic",
    )
}

pub(crate) fn section(name: &Ident, first: Span) -> Diagnostic {
    let twice = twice(&name.to_string(), name.span(), first);
    twice.help("put everything into one section")
}

pub(crate) fn status(line: &str, span: Span, first: Span) -> Diagnostic {
    twice(line, span, first)
}

/// A declared condition has the name of the roll-up.
pub(crate) fn roll_up(name: &Ident, ready: Span) -> Diagnostic {
    RULE.finding(name.span(), name.to_string(), format!("`{name}` is declared twice"))
        .note(ready, "`ready from ..` writes a condition of that name")
        .help("give the condition the name of what it is about and list it after `ready from`, or leave out `ready from`")
}

pub(crate) fn edge(arrow: &str, span: Span, first: Span) -> Diagnostic {
    twice(arrow, span, first)
}

/// An edge leads to where one leads from every state.
pub(crate) fn covered(arrow: &str, span: Span, anywhere: &str, whole: Span) -> Diagnostic {
    RULE.finding(span, arrow, format!("`{arrow}` is declared twice"))
        .note(whole, format!("`{anywhere}` covers it"))
        .help(format!("leave out one of `{arrow}` and `{anywhere}`"))
}

/// Reports a declaration of a fragment that another fragment or the lifecycle itself also declares.
pub(crate) fn by_fragment(
    name: &Ident,
    (used, other): (&Ident, Option<&Ident>),
    at: Span,
) -> Diagnostic {
    let (span, note) = match other {
        None => (at, format!("fragment `{used}` declares it, too")),
        Some(other) => (
            used.span(),
            format!("fragments `{other}` and `{used}` both declare it"),
        ),
    };
    RULE.finding(
        span,
        name.to_string(),
        format!("`{name}` is declared twice"),
    )
    .note(None, note)
    .help("rename one of the two, or leave it out in one place")
}

/// Reports a line that may occur once and that a fragment declares as well.
pub(crate) fn line_by_fragment(line: &str, span: Span, used: &Ident) -> Diagnostic {
    RULE.finding(span, line, format!("`{line}` is declared twice"))
        .note(None, format!("fragment `{used}` declares it, too"))
        .help("leave it out in one place")
}

fn twice(name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.finding(span, name, format!("`{name}` is declared twice"))
        .note(first, format!("`{name}` is first declared here"))
}

/// Returns true for a name that is always there, and never written.
pub(crate) fn is_reserved(name: &Ident) -> bool {
    let reserved = ["request", "deleting", "claimed", "refused", "meta", "spec"];
    reserved.iter().any(|reserved| name == reserved)
}

pub(crate) fn reserved(name: &Ident) -> Diagnostic {
    RULE.finding(
        name.span(),
        name.to_string(),
        format!("`{name}` is always there and cannot be declared again"),
    )
    .help("choose another name")
}
