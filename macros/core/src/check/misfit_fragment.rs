//! A fragment has or uses something that is not shared. A fragment has `needs`, `observe`, `facts`,
//! `states`, `promises` and `status`: the knowledge, and the reports about it. Writes, transitions
//! and claims are declared completely in each lifecycle, because readers look for them there. A
//! fragment uses no other fragment, because a lifecycle names all fragments that it uses. A field
//! of a fragment reads inputs that the fragment itself observes, not facts that it needs. A volume
//! uses no fragment, because the arguments of its methods follow from its calls.
//!
//! ```text
//! fragment site_room; effects { apply service; }   // refused: move it to the lifecycles
//! ```

use proc_macro2::{Ident, Span};

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC110",
    name: "misfit_fragment",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// A section, or a line beside them, that only lifecycles have.
pub(crate) fn section(section: &Ident, fragment: &Ident) -> Diagnostic {
    misfit(
        section.span(),
        fragment,
        format!("fragment `{fragment}` has no `{section}`: each lifecycle declares its own"),
        "move it to the lifecycles; a fragment has `needs`, `observe`, `facts`, `states`, `promises` and `status`",
    )
}

/// A fragment that uses another.
pub(crate) fn fragment_in_fragment(used: &Ident, fragment: &Ident) -> Diagnostic {
    misfit(
        used.span(),
        fragment,
        format!("fragment `{fragment}` uses no other: `{used}` is used by lifecycles"),
        format!(
            "write `use {used};` in each lifecycle that uses `{fragment}`, and name in `needs` what `{fragment}` reads of it"
        ),
    )
}

/// Reports a field that is computed from declarations of the lifecycle.
pub(crate) fn reads_need(source: &Ident, field: &Ident, fragment: &Ident) -> Diagnostic {
    misfit(
        source.span(),
        fragment,
        format!(
            "field `{field}` reads `{source}`, which fragment `{fragment}` needs and does not observe"
        ),
        "declare the field in the lifecycles, or let it read what the fragment observes",
    )
}

/// A volume that uses a fragment.
pub(crate) fn volume(used: &Ident) -> Diagnostic {
    misfit(
        used.span(),
        used,
        format!("a volume uses no fragment: `{used}`"),
        "write out what it declares: what a method of a volume gets follows from its calls",
    )
}

fn misfit(span: Span, fragment: &Ident, message: String, help: impl Into<String>) -> Diagnostic {
    RULE.finding(span, fragment.to_string(), message).help(help)
}
