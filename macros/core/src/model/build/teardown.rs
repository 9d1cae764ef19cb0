//! Resolves the teardown.

use super::Builder;
use crate::errors::Item;
use crate::model::{Abandoned, Step};

impl Builder<'_> {
    /// The steps that resolve.
    pub(super) fn torn_down(&mut self) -> Vec<Step> {
        let place = Item::section("teardown");
        let steps = self.ast.teardown.iter().flat_map(|all| &all.steps);
        let resolved = steps.map(|step| {
            let effect = self.effect(&step.effect, &place);
            let when = step.when.as_ref().map(|when| self.pred(when, &place));
            let until = self.pred(&step.until, &place);
            let is_lost = when.as_ref().is_some_and(Option::is_none);
            Some(Step {
                effect: effect.filter(|_| !is_lost)?,
                when: when.flatten(),
                until: until?,
                span: step.effect.span(),
            })
        });
        resolved.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Resolves the `abandoned` clauses.
    pub(super) fn abandoned(&mut self) -> Vec<Abandoned> {
        let place = Item::section("teardown");
        let all = self.ast.teardown.iter().flat_map(|all| &all.abandoned);
        let resolved = all.map(|one| {
            Some(Abandoned {
                when: self.pred(&one.when, &place)?,
                why: one.why.clone(),
                span: one.word,
            })
        });
        resolved.collect::<Vec<_>>().into_iter().flatten().collect()
    }
}
