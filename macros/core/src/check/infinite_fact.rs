//! A fact has a type with infinitely many values. Only finite facts can be checked in every combination.
//!
//! ```text
//! validity: u32 from class;              // refused
//! validity: { Fine, NoPorts } from class; // write the answers that matter
//! ```

use proc_macro2::{Ident, Span};

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC002",
    name: "infinite_fact",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(fact: &Ident, span: Span, ty: &str) -> Diagnostic {
    RULE.finding(span,
        fact.to_string(),
        format!(
            "fact `{fact}` has type `{ty}`: `bool` or a closed set `{{ A, B, .. }}`, for only finite facts can be checked"
        ),
    )
    .help(format!(
        "write the answers that matter: `{fact}: {{ A, B }} from ..;`, or share the value itself by `let {fact}: {ty} from ..;`"
    ))
}
