//! How an input becomes ours, according to the effects.

use proc_macro2::Ident;

use super::{Lifecycle, Verb};

/// How an input becomes ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// It is kept as its builder wants it.
    Applied,
    /// Like `Applied`, and an existing object may be adopted.
    Adopted,
    /// It is created once and left alone.
    Once,
}

impl Lifecycle {
    /// Returns true if an effect adopts the existing object of an input.
    pub fn adopts(&self, input: &Ident) -> bool {
        self.has_effect(Verb::Adopt, input)
    }

    /// Returns how an input becomes ours, which determines the values of its verdict.
    pub fn comes(&self, input: &Ident) -> WriteMode {
        match (self.has_effect(Verb::Create, input), self.adopts(input)) {
            (true, _) => WriteMode::Once,
            (false, true) => WriteMode::Adopted,
            (false, false) => WriteMode::Applied,
        }
    }

    fn has_effect(&self, verb: Verb, input: &Ident) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| effect.verb == verb && effect.target == *input)
    }
}
