//! What is done when the object goes, and what the world outside does by itself.

use super::Pred;

/// One step of the teardown.
#[derive(Debug)]
pub struct Step {
    /// What is done, by position.
    pub effect: usize,
    /// Where it is; `None`: wherever it can be.
    pub when: Option<Pred>,
    /// The step is over where this holds by what is asked.
    pub until: Pred,
}

/// Where what is left when the object goes is given up.
#[derive(Debug)]
pub struct Abandoned {
    /// By what is asked.
    pub when: Pred,
    /// What people are told.
    pub why: &'static str,
}

/// What the world outside does by itself, sooner or later.
#[derive(Debug)]
pub struct Promise {
    /// As declared.
    pub name: &'static str,
    /// Which lifecycle keeps it, if that is said.
    pub claim: Option<Claim>,
    /// Where it holds.
    pub when: Pred,
    /// What it brings about: alternatives of (variable, value).
    pub sets: &'static [&'static [(usize, u8)]],
}

/// Which lifecycle keeps a promise: in these of its states it has done so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// [`super::Lifecycle::path`] of the keeper.
    pub keeper: &'static str,
    /// Names of its states.
    pub states: &'static [&'static str],
}

/// A state with a world that nothing leads out of but promises that others claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The state.
    pub state: usize,
    /// The promises that are due in that world, at least one.
    pub promises: &'static [usize],
}
