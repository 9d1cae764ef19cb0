//! Teardown of the object, and changes that the environment makes by itself.

use super::{Pred, StateId};

/// One step of the teardown.
#[derive(Debug)]
pub struct Step {
    /// Effect to run, by position.
    pub effect: usize,
    /// Condition under which it runs. `None` means wherever it can run.
    pub when: Option<Pred>,
    /// Condition that ends the stage, evaluated on external answers.
    pub until: Pred,
}

/// Condition under which remaining resources are abandoned when the object goes.
#[derive(Debug)]
pub struct Abandoned {
    /// Condition, evaluated on external answers.
    pub when: Pred,
    /// Message for users.
    pub why: &'static str,
}

/// Change that the environment makes by itself, sooner or later.
#[derive(Debug)]
pub struct Promise {
    /// As declared.
    pub name: &'static str,
    /// Lifecycle that keeps it, if one is declared.
    pub claim: Option<Claim>,
    /// Condition under which it holds.
    pub when: Pred,
    /// Result that it brings about: alternatives of (variable, value).
    pub sets: &'static [&'static [(usize, u8)]],
}

/// Lifecycle that keeps a promise. The keeper has kept it in these of its states.
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
    pub state: StateId,
    /// The promises that are due in that world, at least one.
    pub promises: &'static [usize],
}
