//! A state of a resource has no phase, or one that is not `Pending`, `Ready`, `Error`, `Suspended` or `Ignored`; or a state of a volume
//! has one.
//!
//! ```text
//! Idle when address == NoPod;              // refused
//! Idle when address == NoPod => Pending;   // what users see of it
//! ```

use proc_macro2::Ident;

use crate::errors::Diagnostic;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC050",
    name: "no_phase",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn missing(state: &Ident) -> Diagnostic {
    RULE.finding(state.span(),
        state.to_string(),
        format!("state `{state}` has no phase: write `=> Pending`, `=> Ready`, `=> Error`, `=> Suspended` or `=> Ignored`"),
    )
    .help(format!("write `{state} when .. => Pending;`"))
}

pub(crate) fn unknown(state: &Ident, phase: &Ident) -> Diagnostic {
    RULE.finding(phase.span(),
        state.to_string(),
        format!("state `{state}` has phase `{phase}`: a phase is `Pending`, `Ready`, `Error`, `Suspended` or `Ignored`"),
    )
    .help("there are few phases on purpose: report the rest in a condition")
}

pub(crate) fn in_volume(state: &Ident, phase: &Ident) -> Diagnostic {
    RULE.finding(
        phase.span(),
        state.to_string(),
        format!("state `{state}` of a volume has a phase, but a volume has no status to show it"),
    )
    .help(format!("leave out `=> {phase}`"))
}
