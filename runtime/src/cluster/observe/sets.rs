//! The fact of a set that we write: its worst member, a taken name last, so that it does not stop the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::answers::InputAnswer;
use super::{Failure, Name, Observing};
use crate::cluster::index::IndexKey;
use crate::lifecycle::{Built, Stored};
use crate::machine::compare::Comparison;
use crate::machine::ir::{Mode, Verb};
use crate::machine::verdict::Verdict;

/// The effect that builds a set, and the members that it wants by name.
pub(super) type DesiredSet = (usize, BTreeMap<Name, Value>);

impl Observing<'_> {
    pub(super) fn ask_set(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let wanted = match self.desired_members(number)? {
            Some(wanted) => Some(wanted),
            None if self.effect(number, Verb::Apply).is_some() => {
                return Ok((Verdict::Behind, String::new()));
            }
            // Where nothing is made, all that is found is to go.
            None => None,
        };
        let (effect, wanted) = wanted.unzip();
        let wanted = wanted.unwrap_or_default();
        let mut worst = (Verdict::Current, String::new());
        let mut note = |member: Verdict, sentence: String| {
            if member < worst.0 {
                worst = (member, sentence);
            }
        };
        let names: BTreeSet<Name> = wanted.keys().cloned().collect();
        for (name, built) in wanted {
            let (member, sentence) = self.ask_member(number, effect, (&name, built));
            note(member, sentence);
        }
        for live in self.observation.objects(number).to_vec() {
            let name = Name::from_meta(&live.meta);
            if !names.contains(&name) && self.is_ours(number, &live) {
                let (member, sentence) = self.ask_unwanted(number, &name, &live);
                note(member, sentence);
            }
        }
        Ok(worst)
    }

    /// Returns the objects that the builder wants, by name, and the number of the effect. Returns
    /// `None` if the builder cannot run.
    pub(super) fn desired_members(&mut self, number: usize) -> Result<Option<DesiredSet>, Failure> {
        let Some((effect, Built::Each(members))) = self.built(number, true) else {
            return Ok(None);
        };
        let mut wanted = BTreeMap::new();
        for member in members {
            let name = self.named(effect, number, None, &member)?;
            self.dependencies[number].insert(IndexKey::Named(name.clone()));
            self.touched.insert((number, name.clone()));
            wanted.insert(name, member);
        }
        Ok(Some((effect, wanted)))
    }

    pub(super) fn ask_member(
        &mut self,
        number: usize,
        effect: Option<usize>,
        (name, built): (&Name, Value),
    ) -> InputAnswer {
        let live = self.observer.view.get(number, name);
        if let Some(live) = &live {
            let owned = self.ir.inputs[number].mode == Mode::Owned;
            if owned && !self.is_ours(number, live) {
                return (Verdict::Foreign, self.say_foreign(number, name));
            }
            if live.meta.deletion_timestamp.is_some() {
                return (Verdict::Draining, self.say_terminating(number, name));
            }
        }
        let (plan, comparison) = self.plan_member(number, name, built, live.as_ref());
        if comparison == Comparison::Current {
            return (Verdict::Current, String::new());
        }
        let sentence = match live {
            None => self.say_missing(number, Some(name)),
            Some(_) => self.say_differs(number, name, &comparison),
        };
        if let Some(effect) = effect {
            self.plans[effect].push(plan);
        }
        (Verdict::Behind, sentence)
    }

    pub(super) fn ask_unwanted(
        &mut self,
        number: usize,
        name: &Name,
        live: &Arc<Stored>,
    ) -> InputAnswer {
        if live.meta.deletion_timestamp.is_some() {
            return (Verdict::Draining, self.say_terminating(number, name));
        }
        if let Some(effect) = self.effect(number, Verb::Delete) {
            let plan = self.removal(number, name, live);
            self.plans[effect].push(plan);
        }
        (Verdict::Surplus, self.say_unwanted(number, name))
    }

    /// The effect that applies or deletes members of a set, or of the group of a member.
    pub(super) fn effect(&self, number: usize, verb: Verb) -> Option<usize> {
        let mut effects = self.ir.effects.iter();
        effects.position(|e| e.verb == verb && e.each && self.ir.writes(e, number))
    }
}
