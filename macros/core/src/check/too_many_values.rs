//! LC006: a fact has more values than a domain may have. Group those that lead to the same state and the same effects.

use proc_macro2::Ident;

use crate::errors::Diagnostic;

pub(crate) fn diagnostic(fact: &Ident, count: usize, limit: usize) -> Diagnostic {
    Diagnostic::error(
        "LC006",
        fact.span(),
        fact.to_string(),
        format!("fact `{fact}` has {count} values, and a fact may have {limit}"),
    )
    .help("group the values that lead to the same state and the same effects")
}
