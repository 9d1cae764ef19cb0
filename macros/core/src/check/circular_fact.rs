//! An answer depends on itself, through `from`, `given`, lookups, or the builder that decides
//! between Stale and Current. In a `from`, a name means the observed object without its verdict. A
//! `given` that queries a verdict waits for it, and so does the `when` of one of several effects
//! that build one object. Break the circle: query less in one `given` or `when`, or read less in
//! one `from`. A name for a predicate does not stand for itself either.
//!
//! ```text
//! facts { taken = foreign; foreign = taken || service == Foreign; }     // refused: `taken` stands for itself
//! ```

use proc_macro2::Span;

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC066",
    name: "circular_fact",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Reports names that stand for each other. `names` lists the circle once, without repeating the
/// first name.
pub(crate) fn derived(names: &[String], span: Span) -> Diagnostic {
    let first = names.first().map_or("", String::as_str);
    let circle = names.join(" -> ");
    let message = format!("`{first}` is defined by itself: {circle} -> {first}");
    RULE.finding(span, first, message)
        .help("define one of them by facts that have a method")
}

/// `names` goes once around, without the first name at the end.
pub(crate) fn diagnostic(names: &[String], span: Span) -> Diagnostic {
    let first = names.first().map_or("", String::as_str);
    let circle = names.join(" -> ");
    RULE.finding(
        span,
        first,
        format!("`{first}` depends on itself: {circle} -> {first}"),
    )
    .help("ask for less in one `given`, or read less in one `from`")
}
