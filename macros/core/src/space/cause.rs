//! Causes of a move or an edge: the mover and its effect.

use std::collections::BTreeSet;

use crate::model::{EffectId, InputId, Lifecycle};
use crate::space::promised::Mover;

/// Cause of an edge.
#[derive(Clone, Debug)]
pub struct Cause {
    pub by: BTreeSet<Actor>,
    /// Worlds in which it begins, ascending.
    pub worlds: Vec<usize>,
}

/// Mover and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    Effect(EffectId),
    Other(Mover),
}

impl Actor {
    /// As a sentence names it.
    pub fn describe(self, lifecycle: &Lifecycle) -> String {
        let input = |input: InputId| &lifecycle.inputs[input.0].name;
        match self {
            Self::Effect(effect) => format!("effect `{}`", lifecycle.effects[effect.0].name),
            Self::Other(Mover::Promise(promise)) => {
                format!("promise `{}`", lifecycle.promises[promise].name)
            }
            Self::Other(Mover::Gone(gone)) => {
                format!(
                    "the built-in promise that what is deleted of `{}` goes",
                    input(gone)
                )
            }
            Self::Other(Mover::Again(gone)) => {
                let how = match lifecycle.inputs[gone.0].noted {
                    Some(_) => "are made one after the other",
                    None => "go and are made anew",
                };
                format!(
                    "the built-in promise that members of `{}` {how}",
                    input(gone)
                )
            }
            Self::Other(Mover::Answer(poll)) => {
                format!("the built-in promise that `{}` answers", input(poll))
            }
            Self::Other(Mover::Claim) => "the claim".to_owned(),
            Self::Other(Mover::Effect) => "an effect".to_owned(),
        }
    }
}
