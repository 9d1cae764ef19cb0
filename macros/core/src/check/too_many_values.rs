//! A fact has more values than a domain may have, which is 64. Every value is combined with every
//! value of each other fact, and readers of the declaration must know them all. Group the values
//! that lead to the same state and effects.
//!
//! ```text
//! code: { C200, C201, C202, .. C599 } from reply;      // refused
//! code: { Fine, Busy, Wrong } from reply;              // what is done depends on these
//! ```

use proc_macro2::Ident;

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC006",
    name: "too_many_values",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(fact: &Ident, count: usize, limit: usize) -> Diagnostic {
    RULE.finding(
        fact.span(),
        fact.to_string(),
        format!("fact `{fact}` has {count} values, and a fact may have {limit}"),
    )
    .help("group the values that lead to the same state and the same effects")
}
