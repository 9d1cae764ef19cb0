//! Answers of a volume to the calls of the Container Storage Interface.

use proc_macro2::{Ident, Span};

use super::{EffectId, Pred, StateId};
use crate::csi;

/// Meaning of a precondition of the Container Storage Interface in this lifecycle.
#[derive(Clone, Debug)]
pub struct Precondition {
    pub precondition: csi::Precondition,
    pub meaning: Meaning,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Meaning {
    When(Pred),
    /// Why it never applies.
    Never(String),
}

/// Answer to a call of the Container Storage Interface.
#[derive(Clone, Debug)]
pub struct Call {
    pub rpc: csi::Rpc,
    pub name: Ident,
    pub doc: String,
    pub target: Target,
    /// The effects that lead to the target; the first that is enabled is run.
    pub by: Vec<(EffectId, Span)>,
    pub within: Option<Within>,
    pub refusals: Vec<Refusal>,
}

/// Target that a call brings about.
#[derive(Clone, Debug)]
pub enum Target {
    /// Nothing: it is OK as it is.
    Nothing,
    State(StateId, Span),
    Pred(Pred),
}

/// Time limit on the wait for a promise, and the answer after it.
#[derive(Clone, Debug)]
pub struct Within {
    /// Milliseconds.
    pub time: u64,
    pub code: csi::Code,
    /// Location of the code in the source.
    pub span: Span,
}

/// Case in which a call is refused, unless its target already holds.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub when: Pred,
    pub code: csi::Code,
    pub code_span: Span,
    pub why: Option<String>,
}
