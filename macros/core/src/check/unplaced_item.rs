//! A fragment declares items that have no place in the lifecycle that uses it. In `states` and in a
//! condition, the first match counts, so the lifecycle declares the place of the items of the
//! fragment. `use site_room;` inserts all of them, and `use site_room::{Missing, Blocked};` inserts
//! some of its states. Everything else comes before the items that the lifecycle declares itself. A
//! place for which the fragment has no item is rejected as well.
//!
//! ```text
//! use site_room;   states { Invalid when !fine => Error wakes self; .. }    // refused: whether `NoSite` comes before `Invalid`, nothing says
//! states { use site_room; Invalid when !fine => Error wakes self; .. }
//! ```

use proc_macro2::Ident;

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC112",
    name: "unplaced_item",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// States that stand nowhere.
pub(crate) fn states(used: &Ident, states: &[Ident], all: usize) -> Diagnostic {
    let names: Vec<String> = states.iter().map(ToString::to_string).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (noun, verb) = match states.len() {
        1 => ("state", "has"),
        _ => ("states", "have"),
    };
    let message = format!(
        "{noun} {} of fragment `{used}` {verb} no place",
        quoted.join(", ")
    );
    let line = match (all == states.len(), names.as_slice()) {
        (true, _) => format!("use {used};"),
        (false, [name]) => format!("use {used}::{name};"),
        (false, names) => format!("use {used}::{{{}}};", names.join(", ")),
    };
    RULE.finding(used.span(), used.to_string(), message)
        .help(format!(
            "write `{line}` where they belong in `states`: the first match counts"
        ))
}

/// Clauses of a condition that the lifecycle declares as well.
pub(crate) fn clauses(used: &Ident, condition: &Ident) -> Diagnostic {
    let message =
        format!("the clauses of fragment `{used}` in condition `{condition}` have no place");
    RULE.finding(condition.span(), condition.to_string(), message)
        .help(format!(
            "write `use {used};` where they belong in `condition {condition}`: the first match counts"
        ))
}

/// Clauses of a condition that two fragments declare and the lifecycle does not.
pub(crate) fn between(used: &Ident, other: &Ident, condition: &Ident) -> Diagnostic {
    let message = format!(
        "fragments `{other}` and `{used}` both have clauses of condition `{condition}`, and their order is not declared"
    );
    RULE.finding(used.span(), condition.to_string(), message)
        .help(format!(
            "write `condition {condition} {{ use {other}; use {used}; }}` in the order that is meant"
        ))
}

/// A place for nothing.
pub(crate) fn nothing(used: &Ident, what: &str) -> Diagnostic {
    let message = format!("fragment `{used}` has no {what} to insert here");
    RULE.finding(used.span(), used.to_string(), message)
        .help("leave out this line")
}
