//! The variables that decide what a region does during a deletion. Worlds that differ in nothing
//! else count as one: a deletion looks at few of the facts that a life looks at.

use std::collections::BTreeSet;

use crate::model::{Effect, Lifecycle, Origin, Pred, PropertyOf, Scope, Source, Var, VarId};
use crate::space::promised::Promised;

/// Returns, for each variable, true if a deletion can depend on it.
pub(super) fn decisive(lifecycle: &Lifecycle) -> Vec<bool> {
    let mut found = Decisive {
        lifecycle,
        vars: BTreeSet::new(),
    };
    found.collect();
    found.close();
    let vars = (0..lifecycle.vars.len()).map(VarId);
    vars.map(|var| found.vars.contains(&var)).collect()
}

struct Decisive<'a> {
    lifecycle: &'a Lifecycle,
    vars: BTreeSet<VarId>,
}

impl Decisive<'_> {
    /// Adds what the stages of the teardown, the undos and the properties ask.
    fn collect(&mut self) {
        let lifecycle = self.lifecycle;
        for (at, var) in lifecycle.vars.iter().enumerate() {
            let is_of_object = matches!(var.origin, Origin::Deleting | Origin::Claimed);
            if is_of_object || var.held.is_some() {
                self.vars.insert(VarId(at));
            }
        }
        for step in &lifecycle.steps {
            self.add(&step.until);
            self.add_all(&step.when);
        }
        for one in &lifecycle.abandoned {
            self.add(&one.when);
        }
        let holding = lifecycle.all_states().filter(|state| state.even_deleting);
        holding.for_each(|state| self.add(&state.when));
        for property in &lifecycle.properties {
            match &property.what {
                PropertyOf::Always { pred, scope, .. } => {
                    if scope.is_empty() || scope.contains(&Scope::Deleting) {
                        self.add(pred);
                    }
                }
                PropertyOf::Never { pred, .. } => self.add(pred),
                PropertyOf::Before { .. } | PropertyOf::Reaches { .. } => {}
            }
        }
        let effects = lifecycle.effects.iter();
        for effect in effects.filter(|effect| effect.is_undo || effect.is_step) {
            self.effect(effect);
            for rival in effect.rivals(lifecycle) {
                self.effect(&lifecycle.effects[rival.0]);
            }
        }
    }

    fn effect(&mut self, effect: &Effect) {
        let lifecycle = self.lifecycle;
        let target = &lifecycle.inputs[effect.target.0];
        self.vars.extend(target.var);
        self.vars.insert(effect.refused);
        self.add_all(&effect.when);
        self.add_all(&target.given);
        let sets = effect.sets.iter().flatten();
        self.vars.extend(sets.map(|assign| assign.var));
        let owner = effect.owner(lifecycle);
        self.vars
            .extend(owner.and_then(|owner| lifecycle.inputs[owner.0].var));
        for one in &effect.from {
            match one.source {
                Source::Input(input) => self.vars.extend(lifecycle.inputs[input.0].var),
                Source::Value(value) => self.add_all(&lifecycle.values[value.0].given),
                Source::Fact(var) => {
                    self.vars.insert(var);
                }
                Source::This | Source::Request | Source::Field(_) => {}
            }
        }
    }

    /// Adds what decides if one of them is evaluated, and what moves it.
    fn close(&mut self) {
        let promises = Promised::all(self.lifecycle);
        loop {
            let before = self.vars.len();
            for var in self.vars.clone() {
                let Var { given, .. } = &self.lifecycle.vars[var.0];
                given.iter().for_each(|guard| self.add(&guard.pred));
            }
            for promise in &promises {
                let mut sets = promise.sets.iter().flatten();
                if sets.any(|(var, _)| self.vars.contains(var)) {
                    self.vars.extend(promise.vars());
                }
            }
            if self.vars.len() == before {
                return;
            }
        }
    }

    fn add(&mut self, pred: &Pred) {
        self.vars.extend(pred.vars());
    }

    fn add_all(&mut self, pred: &Option<Pred>) {
        pred.iter().for_each(|pred| self.add(pred));
    }
}
