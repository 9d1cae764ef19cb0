//! The status as a function of a world: conditions, the roll-up, the phase. Messages come from the sentences of the facts.

use super::ir::{Clause, Condition, ConditionStatus, Lifecycle, Part, Phase, Pred, Says, StateId};
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

/// Separator between two sentences of a message.
pub const BETWEEN: &str = "\n";

/// Outcome of one declared condition.
enum Outcome {
    Written(Projected),
    /// The condition is omitted, with the roll-up's message about it.
    Absent(Projected),
    Omitted,
}

/// Parts from which messages are built.
#[derive(Clone, Copy, Debug)]
pub struct MessageParts<'a> {
    /// Messages of the facts, by variable: the sentence of each fact that has one.
    pub sentences: &'a [Option<String>],
    /// Texts of the object, by path.
    pub texts: &'a [Option<String>],
}

impl MessageParts<'_> {
    /// Returns a message, without the parts that the object does not provide.
    fn message(&self, parts: &[Part]) -> String {
        let said = |part: &Part| match part {
            Part::Text(text) => Some(*text),
            Part::Path(path) => self.texts.get(*path)?.as_deref(),
        };
        parts.iter().filter_map(said).collect()
    }
}

impl Lifecycle {
    /// All conditions that are written, in order of declaration, `Ready` last where the lifecycle rolls one up.
    pub fn conditions(&self, world: &World, said: MessageParts<'_>) -> Vec<Projected> {
        let all: Vec<_> = self
            .conditions
            .iter()
            .map(|c| self.condition(c, world, said))
            .collect();
        let ready = (!self.ready.from.is_empty()).then(|| self.roll_up(&all, said));
        let written = all.into_iter().filter_map(|said| match said {
            Outcome::Written(projected) => Some(projected),
            Outcome::Absent(_) | Outcome::Omitted => None,
        });
        written.chain(ready).collect()
    }

    /// Returns the phase that users see for a class.
    pub fn phase(&self, class: Class) -> Phase {
        match class {
            Class::State(state) => self.states[state].phase,
            Class::Deleting => Phase::Pending,
            Class::Refused { .. } | Class::Contradiction => Phase::Error,
        }
    }

    /// Returns the conditions that are still updated while the object is suspended. They depend
    /// only on the variables that decide the suspension.
    pub fn conditions_while_suspended(
        &self,
        world: &World,
        said: MessageParts<'_>,
    ) -> Vec<(&'static str, Option<Projected>)> {
        let states = self.states.iter().filter(|state| state.is_set_aside());
        let known: Vec<usize> = states.flat_map(|state| state.when.vars()).collect();
        let is_known = |condition: &&Condition| {
            let mut asked = condition.clauses.iter().filter_map(|c| c.when.as_ref());
            asked.all(|when| when.vars().iter().all(|var| known.contains(var)))
        };
        let conditions = self.conditions.iter().filter(is_known);
        let written = conditions.map(|c| match self.condition(c, world, said) {
            Outcome::Written(projected) => (c.name, Some(projected)),
            Outcome::Absent(_) | Outcome::Omitted => (c.name, None),
        });
        written.collect()
    }

    /// Returns the variables that select a state, in written order. For a variable that is not
    /// evaluated, returns those that prevent its evaluation.
    pub fn decided_by(&self, state: StateId, world: &World) -> Vec<usize> {
        let mut vars: Vec<usize> = Vec::new();
        let deciding = deciding(&self.states[state].when, world);
        for var in deciding
            .into_iter()
            .flat_map(|var| self.blocking_vars(var, world))
        {
            if !vars.contains(&var) {
                vars.push(var);
            }
        }
        vars
    }

    /// Returns the messages of the facts that make a state the current one.
    pub fn sentence(&self, state: StateId, world: &World, sentences: &[Option<String>]) -> String {
        let mut vars = deciding(&self.states[state].when, world);
        vars.dedup();
        let said: Vec<&str> = vars
            .iter()
            .filter_map(|var| sentences[*var].as_deref())
            .collect();
        said.join(BETWEEN)
    }

    /// Returns the reason for a suspension: the sentences of its facts, or their values if they
    /// have none.
    pub fn suspension_reason(
        &self,
        state: StateId,
        world: &World,
        sentences: &[Option<String>],
    ) -> String {
        let said = self.sentence(state, world, sentences);
        if !said.is_empty() {
            return said;
        }
        let mut vars = deciding(&self.states[state].when, world);
        vars.dedup();
        let is = |var: &usize| match (self.vars[*var].name, self.value(world, *var)) {
            (name, "true") => format!("`{name}`"),
            (name, "false") => format!("`!{name}`"),
            (name, value) => format!("`{name} == {value}`"),
        };
        let facts: Vec<String> = vars.iter().map(is).collect();
        format!("suspended by {}", facts.join(" and "))
    }

    /// The first condition that is left out, else the first that is unmet, else that all is well.
    fn roll_up(&self, all: &[Outcome], said: MessageParts<'_>) -> Projected {
        let asked = || self.ready.from.iter().map(|&c| &all[c]);
        let absent = asked().find_map(|said| match said {
            Outcome::Absent(projected) => Some(projected),
            Outcome::Written(_) | Outcome::Omitted => None,
        });
        let unmet = || {
            asked().find_map(|said| match said {
                Outcome::Written(c) if c.status != ConditionStatus::True => Some(c),
                Outcome::Written(_) | Outcome::Absent(_) | Outcome::Omitted => None,
            })
        };
        match absent.or_else(unmet) {
            Some(unmet) => Projected {
                name: "Ready",
                ..unmet.clone()
            },
            None => Projected {
                name: "Ready",
                status: ConditionStatus::True,
                reason: self.ready.reason.to_owned(),
                message: said.message(self.ready.message),
                event: self.ready.reason.to_owned(),
            },
        }
    }

    fn condition(&self, condition: &Condition, world: &World, said: MessageParts<'_>) -> Outcome {
        let clause = condition
            .clauses
            .iter()
            .find(|c| c.when.as_ref().is_none_or(|w| world.holds(w)));
        // LC052 proves that a clause exists.
        let (says, reason, event) = clause.map_or((Says::Unknown, "Undeclared", None), |c| {
            (c.says, c.reason, c.event)
        });
        let message = match clause {
            None => String::new(),
            Some(Clause {
                message: Some(message),
                ..
            }) => said.message(message),
            Some(_) if says == Says::Absent => format!("Not {}", condition.name),
            Some(clause) => self.message(condition, clause, world, said.sentences),
        };
        let projected = Projected {
            name: condition.name,
            status: says.status().unwrap_or(ConditionStatus::False),
            reason: reason.to_owned(),
            message,
            event: event.unwrap_or(reason).to_owned(),
        };
        match says {
            Says::True | Says::False | Says::Unknown => Outcome::Written(projected),
            Says::Absent => Outcome::Absent(projected),
            Says::Omit => Outcome::Omitted,
        }
    }

    /// Returns the sentences of the atoms that make the clause hold. For `otherwise`, returns those
    /// of all variables of the condition.
    fn message(
        &self,
        condition: &Condition,
        clause: &Clause,
        world: &World,
        sentences: &[Option<String>],
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
        for var in vars
            .into_iter()
            .flat_map(|var| self.blocking_vars(var, world))
        {
            match sentences[var].as_deref() {
                Some(sentence) if !said.contains(&sentence) => said.push(sentence),
                Some(_) | None => {}
            }
        }
        said.join(BETWEEN)
    }

    /// Returns the variable, or if it was not evaluated, those whose values prevented that.
    fn blocking_vars(&self, var: usize, world: &World) -> Vec<usize> {
        match self.vars[var].given.iter().find(|g| !world.holds(&g.pred)) {
            None => vec![var],
            Some(guard) => {
                let mut against = deciding_against(&guard.pred, world);
                against.dedup();
                against
                    .into_iter()
                    .flat_map(|v| self.blocking_vars(v, world))
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
