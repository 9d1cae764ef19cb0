//! An answer depends on itself, through `from`, `given`, lookups, or the builder that decides between Stale and Current.
//! In a `from` a name means the object as it was found, without the verdict on it; a `given` that asks for a verdict waits for it, and so does the `when`
//! of one of several effects that build the same object. Break the circle: ask less in one `given` or `when`, or read less in one `from`.
//! Nor does a name for a predicate stand for itself.
//!
//! ```text
//! facts { taken = foreign; foreign = taken || service == Foreign; }     // refused: `taken` stands for itself
//! ```

use proc_macro2::Span;

use crate::errors::Diagnostic;
use crate::rule::{Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC066",
    name: "circular_fact",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Names that stand for each other; `names` goes once around, without the first name at the end.
pub(crate) fn derived(names: &[String], span: Span) -> Diagnostic {
    let first = names.first().map_or("", String::as_str);
    let circle = names.join(" -> ");
    let message = format!("`{first}` stands for itself: {circle} -> {first}");
    RULE.finding(span, first, message)
        .help("say what one of them means by facts that have a method")
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
