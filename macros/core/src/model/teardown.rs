//! What is done when the object goes, and what that asks of effects. Knows no worlds.

use std::collections::BTreeSet;

use proc_macro2::Span;

use super::{Assign, Effect, EffectId, Lifecycle, Pred, VarId};

/// One step of the teardown: it is over exactly where `until` holds by what is asked.
#[derive(Clone, Debug)]
pub struct Step {
    pub effect: EffectId,
    /// Where its effect is enabled, if not wherever it can run.
    pub when: Option<Pred>,
    pub until: Pred,
    pub span: Span,
}

impl Step {
    /// Everything that it asks.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Pred> {
        self.when.iter().chain([&self.until])
    }
}

/// Where what is left is given up.
#[derive(Clone, Debug)]
pub struct Abandoned {
    pub when: Pred,
    pub why: String,
    pub span: Span,
}

impl Effect {
    /// Whether the effect may leave something to be done when the object goes: an `until` that asks what it changes need not hold afterwards.
    pub fn may_reopen(&self, lifecycle: &Lifecycle, affected: Option<&BTreeSet<VarId>>) -> bool {
        let reopens = |step: &Step, alternative: &Vec<Assign>| {
            let set = |var: VarId| alternative.iter().find(|assign| assign.var == var);
            let changes =
                |var: &VarId| set(*var).is_some() || affected.is_some_and(|all| all.contains(var));
            let asks = step.until.vars().iter().any(changes);
            let holds = step.until.decided(&|var, values| {
                let assign = set(var)?;
                Some(values.contains(assign.value))
            });
            asks && holds != Some(true)
        };
        let mut alternatives = self.sets.iter();
        alternatives.any(|one| lifecycle.steps.iter().any(|step| reopens(step, one)))
    }
}
