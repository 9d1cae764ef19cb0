//! LC050: a state of a resource has no phase, or one that is not `Pending`, `Ready`, `Error` or `Ignored`; or a state of a volume
//! has one.
//!
//! ```text
//! Idle when address == NoPod;              // refused
//! Idle when address == NoPod => Pending;   // what users see of it
//! ```

use proc_macro2::Ident;

use crate::errors::Diagnostic;

pub(crate) fn missing(state: &Ident) -> Diagnostic {
    Diagnostic::error(
        "LC050",
        state.span(),
        state.to_string(),
        format!("state `{state}` has no phase: write `=> Pending`, `=> Ready`, `=> Error` or `=> Ignored`"),
    )
    .help(format!("write `{state} when .. => Pending;`"))
}

pub(crate) fn unknown(state: &Ident, phase: &Ident) -> Diagnostic {
    Diagnostic::error(
        "LC050",
        phase.span(),
        state.to_string(),
        format!("state `{state}` has phase `{phase}`: a phase is `Pending`, `Ready`, `Error` or `Ignored`"),
    )
    .help("phases are few on purpose: say the rest by a condition")
}

pub(crate) fn in_volume(state: &Ident, phase: &Ident) -> Diagnostic {
    Diagnostic::error(
        "LC050",
        phase.span(),
        state.to_string(),
        format!("state `{state}` of a volume has a phase, but a volume has no status to show it"),
    )
    .help(format!("leave out `=> {phase}`"))
}
