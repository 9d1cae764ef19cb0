//! Status in a world: the declared conditions, and the roll-up.

use std::collections::BTreeSet;

use super::{Meaning, Named, NodePlace, ReportedCondition};
use crate::syntax::{Clause, Condition};
use crate::worlds::World;

impl Meaning<'_> {
    /// Returns the declared conditions and the roll-up there: status and reason, or nothing.
    /// Returns `None` if no state is reported. While the object is suspended, returns the
    /// conditions that are reported anew, and the roll-up.
    pub fn reported_conditions(&self, named: &Named) -> Option<Vec<ReportedCondition>> {
        let world = self.numbered(named)?;
        let Some(NodePlace::State(state)) = self.worlds.classify(&world) else {
            return None;
        };
        if self.life().states[state].is_ignored() {
            return None;
        }
        let suspended = self.life().states[state].is_suspended();
        let said = |condition: &Condition| {
            let clause = self.clause(condition, &world);
            let clause = clause.filter(|clause| is_said(clause))?;
            Some((clause.value.clone(), reason(condition, clause)))
        };
        let all = self.life().conditions.iter();
        let anew = all.filter(|one| !suspended || self.is_said_while_suspended(one));
        let mut told: Vec<ReportedCondition> =
            anew.map(|one| (one.name.clone(), said(one))).collect();
        if let Some(ready) = &self.life().ready {
            let said = match suspended {
                true => ("Unknown".to_owned(), self.life().states[state].name.clone()),
                false => self.rolled_up(ready, &world),
            };
            told.push(("Ready".to_owned(), Some(said)));
        }
        Some(told)
    }

    /// The clause of a condition that counts.
    fn clause<'a>(&self, condition: &'a Condition, world: &World) -> Option<&'a Clause> {
        let fits = |clause: &&Clause| {
            let when = clause.when.as_ref().map(|when| self.worlds.test(when));
            when.is_none_or(|when| self.worlds.holds(&when, world))
        };
        condition.clauses.iter().find(fits)
    }

    /// The first condition that is left out and counts as unmet, else the first that is unmet, else that all is well.
    fn rolled_up(&self, ready: &[String], world: &World) -> (String, String) {
        let named = |name: &String| {
            let mut conditions = self.life().conditions.iter();
            let condition = conditions.find(|condition| condition.name == *name)?;
            Some((condition, self.clause(condition, world)?))
        };
        let asked: Vec<_> = ready.iter().filter_map(named).collect();
        let absent = asked.iter().find(|(_, clause)| clause.value == "Absent");
        if let Some((condition, clause)) = absent {
            return ("False".to_owned(), reason(condition, clause));
        }
        let is_unmet =
            |(_, clause): &&(&Condition, &Clause)| is_said(clause) && clause.value != "True";
        if let Some((condition, clause)) = asked.iter().find(is_unmet) {
            return (clause.value.clone(), reason(condition, clause));
        }
        let mut reasons = self.life().reasons.iter();
        let written = reasons.find(|(of, _)| *of == "ready");
        let reason = written.map_or("Ready", |(_, reason)| reason);
        ("True".to_owned(), reason.to_owned())
    }

    /// Returns true if the condition only evaluates facts that decide whether an object is left
    /// alone.
    fn is_said_while_suspended(&self, condition: &Condition) -> bool {
        let states = self.life().states.iter();
        let aside = states.filter(|state| state.is_ignored() || state.is_suspended());
        let known: BTreeSet<String> = aside.flat_map(|state| state.when.atoms()).collect();
        let clauses = condition.clauses.iter();
        let mut asked = clauses.flat_map(|clause| clause.when.iter().flat_map(|w| w.atoms()));
        asked.all(|name| known.contains(&name))
    }
}

/// Returns true if a clause writes its condition.
fn is_said(clause: &Clause) -> bool {
    ["True", "False", "Unknown"].contains(&clause.value.as_str())
}

fn reason(condition: &Condition, clause: &Clause) -> String {
    let written = clause.reason.clone();
    written.unwrap_or_else(|| condition.name.clone())
}
