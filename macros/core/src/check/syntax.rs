//! LC000: what is written is not an item of the language. The text says what was expected and what was found, the help shows the form to write.
//! The item is left out; everything else is still checked, and what only mentions a name that the item declares stays silent.
//!
//! ```text
//! facts { shape: { Fine, Bad } form class; }      // expected `from`, found `form`
//! ```

use proc_macro2::{Ident, Span};

use crate::errors::Diagnostic;

pub(crate) fn diagnostic(span: Span, item: &str, message: String, form: &str) -> Diagnostic {
    Diagnostic::error("LC000", span, item, message).help(form)
}

pub(crate) fn call_without_name(target: &Ident) -> Diagnostic {
    Diagnostic::error(
        "LC000",
        target.span(),
        format!("call_{target}"),
        format!("a `call` of `{target}` needs a name, for it becomes a method of that name"),
    )
    .help(format!(
        "name it: `put: call {target} sets {{ .. }} key meta.uid;`"
    ))
}

pub(crate) fn rpc_in_resource(span: Span) -> Diagnostic {
    Diagnostic::error(
        "LC000",
        span,
        "rpc",
        "a resource is driven by watches and answers no calls",
    )
    .help("`rpc` belongs to a `volume`")
}
