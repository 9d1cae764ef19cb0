//! A fact has more values than a domain may have. Group those that lead to the same state and the same effects.

use proc_macro2::Ident;

use crate::errors::Diagnostic;
use crate::rule::{Rule, Run, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC006",
    name: "too_many_values",
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(fact: &Ident, count: usize, limit: usize) -> Diagnostic {
    RULE.error(
        fact.span(),
        fact.to_string(),
        format!("fact `{fact}` has {count} values, and a fact may have {limit}"),
    )
    .help("group the values that lead to the same state and the same effects")
}
