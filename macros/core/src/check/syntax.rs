//! The text is not an item of the language. The message names the expected and the found token, and
//! the help shows the form to write. The item is left out. Everything else is still checked, and a
//! mere mention of a name that the item declares causes no finding.
//!
//! ```text
//! facts { validity: { Fine, Bad } form class; }      // expected `from`, found `form`
//! ```

use proc_macro2::{Ident, Span};

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC000",
    name: "syntax",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(span: Span, item: &str, message: String, form: &str) -> Diagnostic {
    RULE.finding(span, item, message).help(form)
}

/// A whole file, so that nothing of it can be checked.
pub(crate) fn unbalanced(span: Span) -> Diagnostic {
    RULE.finding(
        span,
        "file",
        "this is no Rust: a bracket or a quote does not match",
    )
    .help("close what is opened here, or take away what closes too much; nothing of this file was checked")
}

pub(crate) fn renamed(span: Span, item: &Ident, old: &str, new: &str) -> Diagnostic {
    RULE.finding(
        span,
        item.to_string(),
        format!("`{old}` is called `{new}` now"),
    )
    .help(format!("write `{new}` instead of `{old}`"))
}

pub(crate) fn call_without_name(target: &Ident) -> Diagnostic {
    RULE.finding(
        target.span(),
        format!("call_{target}"),
        format!("a `call` of `{target}` needs a name, for it becomes a method of that name"),
    )
    .help(format!(
        "name it: `put: call {target} sets {{ .. }} key meta.uid;`"
    ))
}

pub(crate) fn rpc_in_resource(span: Span) -> Diagnostic {
    RULE.finding(
        span,
        "rpc",
        "a resource reacts to watches and answers no calls",
    )
    .help("`rpc` belongs to a `volume`")
}
