//! What a fragment declares has no place in the lifecycle that uses it. Where the first that fits counts, in `states` and in a condition, the lifecycle says
//! where the items of the fragment stand: `use site_room;` for all, `use site_room::{Missing, Blocked};` for some of its states. Everything else stands
//! before what the lifecycle declares itself. A place for which the fragment has nothing is refused as well.
//!
//! ```text
//! use site_room;   states { Invalid when !fine => Error wakes self; .. }    // refused: whether `NoSite` comes before `Invalid`, nothing says
//! states { use site_room; Invalid when !fine => Error wakes self; .. }
//! ```

use proc_macro2::Ident;

use crate::errors::Diagnostic;
use crate::rule::{Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC112",
    name: "unplaced_item",
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
            "write `{line}` where they stand in `states`: the first that fits counts"
        ))
}

/// Clauses of a condition that the lifecycle declares as well.
pub(crate) fn clauses(used: &Ident, condition: &Ident) -> Diagnostic {
    let message =
        format!("the clauses of fragment `{used}` in condition `{condition}` have no place");
    RULE.finding(condition.span(), condition.to_string(), message)
        .help(format!(
            "write `use {used};` where they stand in `condition {condition}`: the first that fits counts"
        ))
}

/// Clauses of a condition that two fragments declare and the lifecycle does not.
pub(crate) fn between(used: &Ident, other: &Ident, condition: &Ident) -> Diagnostic {
    let message = format!(
        "fragments `{other}` and `{used}` both have clauses of condition `{condition}`, and nothing says which come first"
    );
    RULE.finding(used.span(), condition.to_string(), message)
        .help(format!(
            "write `condition {condition} {{ use {other}; use {used}; }}` in the order that is meant"
        ))
}

/// A place for nothing.
pub(crate) fn nothing(used: &Ident, what: &str) -> Diagnostic {
    let message = format!("fragment `{used}` has no {what} that could stand here");
    RULE.finding(used.span(), used.to_string(), message)
        .help("leave out this line")
}
