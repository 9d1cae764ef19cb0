//! The status as a function of a world: conditions, the roll-up, the phase. Messages come from the sentences of the facts.

use super::ir::{Clause, Condition, ConditionStatus, Lifecycle, Phase, Pred};
use super::policy::Class;
use super::world::World;

/// One condition of the status, without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected {
    /// The condition's type.
    pub name: &'static str,
    /// Its status.
    pub status: ConditionStatus,
    /// CamelCase word.
    pub reason: String,
    /// Sentences of the facts that decided it.
    pub message: String,
    /// The reason of an event of a change into it.
    pub event: String,
}

/// What the facts said, by variable: the sentence of each that has one.
pub type Sentences = [Option<String>];

impl Lifecycle {
    /// All conditions in order of declaration, `Ready` last where the lifecycle rolls one up.
    pub fn conditions(&self, world: &World, sentences: &Sentences) -> Vec<Projected> {
        let mut all: Vec<_> = self
            .conditions
            .iter()
            .map(|c| self.condition(c, world, sentences))
            .collect();
        if !self.ready.is_empty() {
            all.push(self.roll_up(&all));
        }
        all
    }

    /// What users see of where a world is.
    pub fn phase(&self, class: Class) -> Phase {
        match class {
            Class::State(state) => self.states[state].phase,
            Class::Deleting => Phase::Pending,
            Class::Refused { .. } | Class::Contradiction => Phase::Error,
        }
    }

    fn roll_up(&self, all: &[Projected]) -> Projected {
        let unmet = self
            .ready
            .iter()
            .map(|&c| &all[c])
            .find(|c| c.status != ConditionStatus::True);
        let (status, reason, message) = match unmet {
            Some(c) => (c.status, c.reason.clone(), c.message.clone()),
            None => (ConditionStatus::True, "Ready".to_owned(), String::new()),
        };
        Projected {
            name: "Ready",
            status,
            event: reason.clone(),
            reason,
            message,
        }
    }

    fn condition(&self, condition: &Condition, world: &World, sentences: &Sentences) -> Projected {
        let clause = condition
            .clauses
            .iter()
            .find(|c| c.when.as_ref().is_none_or(|w| world.holds(w)));
        // LC052 proves that there is one.
        let (status, reason, event) = clause
            .map_or((ConditionStatus::Unknown, "Undeclared", None), |c| {
                (c.status, c.reason, c.event)
            });
        Projected {
            name: condition.name,
            status,
            reason: reason.to_owned(),
            message: clause.map_or_else(String::new, |c| {
                self.message(condition, c, world, sentences)
            }),
            event: event.unwrap_or(reason).to_owned(),
        }
    }

    /// The sentences of the atoms that make the clause hold; of `otherwise`, those of everything that the condition asks.
    fn message(
        &self,
        condition: &Condition,
        clause: &Clause,
        world: &World,
        sentences: &Sentences,
    ) -> String {
        let vars = match &clause.when {
            Some(when) => deciding(when, world),
            None => condition
                .clauses
                .iter()
                .filter_map(|c| c.when.as_ref())
                .flat_map(Pred::vars)
                .collect(),
        };
        let mut said: Vec<&str> = Vec::new();
        for var in vars.into_iter().flat_map(|var| self.asked(var, world)) {
            match sentences[var].as_deref() {
                Some(sentence) if !said.contains(&sentence) => said.push(sentence),
                Some(_) | None => {}
            }
        }
        said.join("; ")
    }

    /// The variable, or where it was not asked, those whose values kept it from being asked.
    fn asked(&self, var: usize, world: &World) -> Vec<usize> {
        match self.vars[var].given.iter().find(|g| !world.holds(&g.pred)) {
            None => vec![var],
            Some(guard) => {
                let mut against = deciding_against(&guard.pred, world);
                against.dedup();
                against
                    .into_iter()
                    .flat_map(|v| self.asked(v, world))
                    .collect()
            }
        }
    }
}

/// The variables of the atoms that make a predicate hold, in written order.
fn deciding(pred: &Pred, world: &World) -> Vec<usize> {
    match pred {
        Pred::Is(var, _) => vec![*var],
        Pred::All(all) => all.iter().flat_map(|p| deciding(p, world)).collect(),
        Pred::Any(any) => any
            .iter()
            .filter(|p| world.holds(p))
            .flat_map(|p| deciding(p, world))
            .collect(),
        Pred::Not(p) => deciding_against(p, world),
    }
}

/// The variables of the atoms that keep a predicate from holding.
fn deciding_against(pred: &Pred, world: &World) -> Vec<usize> {
    match pred {
        Pred::Is(var, _) => vec![*var],
        Pred::All(all) => all
            .iter()
            .filter(|p| !world.holds(p))
            .flat_map(|p| deciding_against(p, world))
            .collect(),
        Pred::Any(any) => any
            .iter()
            .flat_map(|p| deciding_against(p, world))
            .collect(),
        Pred::Not(p) => deciding(p, world),
    }
}
