//! Values that are made once and kept. Knows no worlds.

use proc_macro2::Span;

use super::{InputId, Pred, Use, Value};

/// Keeper of a minted value, and the end of its validity.
#[derive(Clone, Debug)]
pub struct Mint {
    pub keeper: InputId,
    /// Predicate under which the value is made anew.
    pub until: Option<Pred>,
    pub span: Span,
}

impl Value {
    /// Returns the sources of a minted value. Returns none for a shared value.
    pub fn made_from(&self) -> &[Use] {
        match self.mint {
            Some(_) => &self.from[1..],
            None => &[],
        }
    }
}
