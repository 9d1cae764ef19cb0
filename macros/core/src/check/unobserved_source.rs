//! A fact, value, effect, field, lookup or `wakes` names something that is not observed. Nothing would wake the object when it changes, so its answer would grow old.
//!
//! ```text
//! facts { reach: bool from nodes; }    // add `nodes: [Node] ..;` to `observe`
//! ```

use proc_macro2::Ident;

use super::unknown_name::suggestion;
use crate::errors::{Diagnostic, Item};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC060",
    name: "unobserved_source",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(
    name: &Ident,
    place: &Item,
    near: Option<String>,
    help: Option<&str>,
) -> Diagnostic {
    let suggested = near.is_some();
    let found = RULE.finding(name.span(),
        place.name(),
        format!(
            "{place} reads `{name}`, which is not observed: nothing would wake the object when it changes{}",
            suggestion(near.clone())
        ),
    )
    .suggest_name(near);
    match help {
        Some(help) => found.help(help),
        None if suggested => found,
        None => found.help(format!("declare it: `observe {{ {name}: Type by ..; }}`")),
    }
}
