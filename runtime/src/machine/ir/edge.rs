//! Edges between states, and their causes.

use super::StateId;

/// A transition between two declared states.
#[derive(Debug)]
pub struct Edge {
    /// The state that is left.
    pub from: StateId,
    /// The state that is entered.
    pub to: StateId,
    /// Everything that brings it about, effects first. Empty where the declaration has errors.
    pub causes: &'static [Cause],
}

/// One cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An effect, by its position.
    Effect(usize),
    /// A declared promise, by its position.
    Promise(usize),
    /// A deletion of this input has ended.
    Gone(usize),
    /// The next member of this input is made, or made anew.
    Again(usize),
    /// This poll answers.
    Answer(usize),
    /// The finalizer is on the object.
    Claim,
}
