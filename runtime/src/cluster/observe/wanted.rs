//! Fact of an optional object where our object does not want it. No builder runs: an object of ours
//! is surplus, and one of another owner is ignored.

use super::answers::InputAnswer;
use super::{Name, Observing};
use crate::machine::ir::Verb;
use crate::machine::verdict::Verdict;

impl Observing<'_> {
    /// Returns false if our object has no value at the path behind the `if` of an input.
    pub(super) fn is_wanted(&self, number: usize) -> bool {
        let is_optional = self.ir.inputs[number].only_if.is_some();
        let machine = self.observer.machine;
        !is_optional || machine.wants(&self.observation, number) != Some(false)
    }

    /// Returns the verdict on an object that is not wanted. It needs no builder, so it is known from
    /// the start.
    pub(super) fn standing_unwanted(&self, number: usize) -> Verdict {
        let live = self.observation.objects(number).first();
        match live.filter(|live| self.is_ours(number, live)) {
            None => Verdict::Current,
            Some(live) if live.meta.deletion_timestamp.is_some() => Verdict::Terminating,
            Some(_) => Verdict::Stale,
        }
    }

    /// Plans the deletion of an object of ours that is not wanted. Each effect that builds it may
    /// delete it.
    pub(super) fn ask_optional(&mut self, number: usize) -> InputAnswer {
        let verdict = self.standing_unwanted(number);
        let live = self.observation.objects(number).first().cloned();
        let Some(live) = live.filter(|_| verdict != Verdict::Current) else {
            return (verdict, String::new());
        };
        let name = Name::from_meta(&live.meta);
        if verdict == Verdict::Terminating {
            return (verdict, self.say_terminating(number, &name));
        }
        for (effect, declared) in self.ir.effects.iter().enumerate() {
            if declared.verb == Verb::Apply && declared.target == number {
                let plan = self.removal(number, &name, &live);
                self.plans[effect].push(plan);
            }
        }
        (verdict, self.say_unwanted(number, &name))
    }
}

#[cfg(test)]
mod tests;
