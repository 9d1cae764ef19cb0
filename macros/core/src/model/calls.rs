//! What a volume answers to the calls of the Container Storage Interface.

use proc_macro2::{Ident, Span};

use super::{EffectId, Pred, StateId};
use crate::csi;

/// What a precondition of the Container Storage Interface means here.
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

/// What answers a call of the Container Storage Interface.
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

/// What a call is to bring about.
#[derive(Clone, Debug)]
pub enum Target {
    /// Nothing: it is OK as it is.
    Nothing,
    State(StateId, Span),
    Pred(Pred),
}

/// For how long a call waits for what is promised, and what it answers then.
#[derive(Clone, Debug)]
pub struct Within {
    /// Milliseconds.
    pub time: u64,
    pub code: csi::Code,
    /// Where the code was written.
    pub span: Span,
}

/// Where a call is refused, if its target does not hold already.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub when: Pred,
    pub code: csi::Code,
    pub code_span: Span,
    pub why: Option<String>,
}
