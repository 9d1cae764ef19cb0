//! How an input comes to be ours: what effects say of it.

use proc_macro2::Ident;

use super::{Lifecycle, Verb};

/// How an input comes to be ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comes {
    /// It is kept as its builder wants it.
    Applied,
    /// The same, and what is there already may be taken over.
    Adopted,
    /// It is created once and left alone.
    Once,
}

impl Lifecycle {
    /// Whether an effect takes over what is there already of an input.
    pub fn adopts(&self, input: &Ident) -> bool {
        self.does(Verb::Adopt, input)
    }

    /// How an input comes to be ours, which decides what the verdict on it may be.
    pub fn comes(&self, input: &Ident) -> Comes {
        match (self.does(Verb::Create, input), self.adopts(input)) {
            (true, _) => Comes::Once,
            (false, true) => Comes::Adopted,
            (false, false) => Comes::Applied,
        }
    }

    fn does(&self, verb: Verb, input: &Ident) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| effect.verb == verb && effect.target == *input)
    }
}
