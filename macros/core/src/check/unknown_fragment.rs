//! `use` names an item that is no fragment, or a list has a place for a fragment that the lifecycle
//! does not use.
//!
//! ```text
//! use site_room;   states { use siteroom; .. }   // did you mean `site_room`?
//! ```
//!
//! rustc finds a fragment as it finds any macro, by a `use` of Rust above `lifecycle!`. `lifecycle-operator check` finds it in the files that it is given.

use proc_macro2::Ident;

use super::unknown_name::{nearest, suggestion};
use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC111",
    name: "unknown_fragment",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// None of the fragments that are there.
pub(crate) fn nowhere(used: &Ident, known: &[String]) -> Diagnostic {
    let near = nearest(&used.to_string(), known.iter().map(String::as_str));
    let message = format!(
        "no file that is checked declares fragment `{used}`{}",
        suggestion(near.clone())
    );
    RULE.finding(used.span(), used.to_string(), message)
        .suggest_name(near)
        .help(format!(
            "check it together with the file that has `fragment! {{ fragment {used}; .. }}`"
        ))
}

/// None of those that the lifecycle uses.
pub(crate) fn unused(named: &Ident, used: &[Ident]) -> Diagnostic {
    let used: Vec<String> = used.iter().map(ToString::to_string).collect();
    let near = nearest(&named.to_string(), used.iter().map(String::as_str));
    let message = format!(
        "a place for fragment `{named}`, which is not used{}",
        suggestion(near.clone())
    );
    RULE.finding(named.span(), named.to_string(), message)
        .suggest_name(near)
        .help(format!("write `use {named};` beside the sections, too"))
}
