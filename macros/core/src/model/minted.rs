//! Values that are made once and kept. Knows no worlds.

use proc_macro2::Span;

use super::{InputId, Pred, Use, Value};

/// Where a value is kept, and until when.
#[derive(Clone, Debug)]
pub struct Mint {
    pub keeper: InputId,
    /// Where it is made anew.
    pub until: Option<Pred>,
    pub span: Span,
}

impl Value {
    /// What a minted value is made from; of a shared one nothing.
    pub fn made_from(&self) -> &[Use] {
        match self.mint {
            Some(_) => &self.from[1..],
            None => &[],
        }
    }
}
