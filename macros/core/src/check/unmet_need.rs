//! A fact that a fragment needs is missing in a lifecycle that uses it: no fact has the name, or
//! the fact lacks a value. A fragment names in `needs` the facts that it evaluates and does not
//! declare, each with the values that it uses. The lifecycle, or another fragment of it, declares a
//! fact, a name for a predicate or an input with at least these values.
//!
//! ```text
//! fragment routed; needs { sync: { Behind, Current }; }
//! use routed;   facts { sync: { Old, Current } from report; }   // refused: `Behind` is not there
//! ```

use proc_macro2::Ident;

use super::unknown_name::{nearest, suggestion};
use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC113",
    name: "unmet_need",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Nothing of the name.
pub(crate) fn missing(
    used: &Ident,
    need: &Ident,
    values: &[String],
    known: &[String],
) -> Diagnostic {
    let near = nearest(&need.to_string(), known.iter().map(String::as_str));
    let message = format!(
        "fragment `{used}` needs a fact `{need}`{}",
        suggestion(near)
    );
    RULE.finding(used.span(), need.to_string(), message)
        .help(format!(
            "declare `{need}` with {} in `facts`",
            listed(values)
        ))
}

/// A fact that lacks some of the values.
pub(crate) fn lacking(used: &Ident, fact: &Ident, lacks: &[String]) -> Diagnostic {
    let message = format!(
        "fragment `{used}` needs {} of fact `{fact}`, which has no such value",
        listed(lacks)
    );
    RULE.finding(fact.span(), fact.to_string(), message)
        .help("name the values as the fragment does, or leave the fragment out")
}

fn listed(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    quoted.join(", ")
}
