//! Stages of the teardown, and their demands on effects. Knows no worlds.

use std::collections::BTreeSet;

use proc_macro2::Span;

use super::{Assign, Effect, EffectId, Lifecycle, Pred, VarId};

/// One stage of the teardown: it is over exactly if `until` holds by evaluated facts.
#[derive(Clone, Debug)]
pub struct Step {
    pub effect: EffectId,
    /// Predicate under which its effect is enabled. If absent, it is enabled wherever it can run.
    pub when: Option<Pred>,
    pub until: Pred,
    pub span: Span,
}

impl Step {
    /// Returns the predicates that the stage evaluates.
    pub(crate) fn predicates(&self) -> impl Iterator<Item = &Pred> {
        self.when.iter().chain([&self.until])
    }
}

/// Case in which the remainder of a deletion is abandoned.
#[derive(Clone, Debug)]
pub struct Abandoned {
    pub when: Pred,
    pub why: String,
    pub span: Span,
}

impl Effect {
    /// Returns true if the effect may leave a stage of the teardown open. An `until` that reads a
    /// fact that the effect changes need not hold afterwards.
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
