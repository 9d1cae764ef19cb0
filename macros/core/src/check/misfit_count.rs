//! A `count` has a number of values other than four, counts an input that is no set, or is `held`.
//!
//! ```text
//! ready: count { None, Some, All } of pods;                // refused: there may be no Pod at all
//! ready: count { Empty, None, Some, All } of pods;
//! ```
//!
//! The values mean, in this order: no member exists; it holds for no member; for some members but
//! not for all; for all members. The values may have other names, but not that of another case:
//! `count { All, Some, None, Empty }` would be `All` where there is no member. A count covers the
//! members of an input `[Type]`, and its fact is evaluated for each member separately.

use proc_macro2::Ident;

use crate::ast::Fact;
use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC116",
    name: "misfit_count",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Number of cases that a count distinguishes.
pub(crate) const CASES: usize = 4;

const FORM: &str = "write `count { Empty, None, Some, All } of pods`: no member, it holds of none, of some, of all";

/// The usual names of the cases, in their order.
const USUAL: [(&str, &str); CASES] = [
    ("Empty", "there is no member"),
    ("None", "it holds for no member"),
    ("Some", "it holds for some members but not for all"),
    ("All", "it holds for all members"),
];

/// It has too few values, or the first that is too much; or a value has the usual name of another
/// case.
pub(crate) fn values(fact: &Fact, values: &[Ident]) -> Option<Diagnostic> {
    if values.len() == CASES {
        return values
            .iter()
            .zip(USUAL)
            .find_map(|(value, (usual, means))| {
                let is_other = value != usual && USUAL.iter().any(|(name, _)| value == name);
                let message = format!("`{value}` of `{}` stands where {means}", fact.name);
                let found = RULE.finding(value.span(), fact.name.to_string(), message);
                is_other.then(|| found.help(FORM))
            });
    }
    let at = values.get(CASES).unwrap_or(&fact.name);
    let (name, count) = (&fact.name, values.len());
    let word = if count == 1 { "value" } else { "values" };
    let message = format!("`{name}` counts and has {count} {word}, where there are {CASES} cases");
    Some(
        RULE.finding(at.span(), name.to_string(), message)
            .help(FORM),
    )
}

/// Reports a count whose source is a single object.
pub(crate) fn no_set(fact: &Fact, of: &Ident) -> Diagnostic {
    let name = &fact.name;
    let message = format!("`{name}` counts, and `{of}` is no set");
    let help = format!(
        "count the members of an input `[Type]`, or ask `{of}` itself: `{name}: {{ .. }} from {of}`"
    );
    RULE.finding(of.span(), name.to_string(), message)
        .help(help)
}

/// Nothing is acquired by counting.
pub(crate) fn check_held(fact: &Fact) -> Option<Diagnostic> {
    let (name, span) = (&fact.name, fact.held?);
    let message = format!("`{name}` counts, and holds nothing");
    let help = "leave out `held`: an object that we own is `owned`, and anything else is a fact with a bar";
    Some(RULE.finding(span, name.to_string(), message).help(help))
}
