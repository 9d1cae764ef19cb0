//! The section `teardown`: the ordered stages that run when the object is deleted, and the objects
//! that may be abandoned.

use proc_macro2::{Ident, Span};

use super::Pred;

/// The whole section.
#[derive(Clone, Debug)]
pub struct Teardown {
    pub span: Span,
    pub steps: Vec<Step>,
    pub abandoned: Vec<Abandoned>,
}

/// `effect when pred until pred`.
#[derive(Clone, Debug)]
pub struct Step {
    pub effect: Ident,
    pub when: Option<Pred>,
    pub until: Pred,
}

/// `abandoned when pred "why"`.
#[derive(Clone, Debug)]
pub struct Abandoned {
    /// The word `abandoned`.
    pub word: Span,
    pub when: Pred,
    pub why: String,
}
