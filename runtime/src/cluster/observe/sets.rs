//! The fact of a set that we write: its worst member, a taken name last, so that it does not stop the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::answers::NamedAnswer;
use super::{Failure, Name, Observing};
use crate::cluster::index::IndexKey;
use crate::lifecycle::{Built, Stored};
use crate::machine::compare::Verdict;
use crate::machine::ir::{Mode, Verb};

/// The effect that builds a set, and the members that it wants by name.
pub(super) type Wanted = (usize, BTreeMap<Name, Value>);

/// From worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member {
    /// Made, and not noted yet; only of what is created once.
    New,
    Behind,
    Surplus,
    Draining,
    Foreign,
    Current,
}

impl Member {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::New => "New",
            Self::Behind => "Behind",
            Self::Surplus => "Surplus",
            Self::Draining => "Draining",
            Self::Foreign => "Foreign",
            Self::Current => "Current",
        }
    }
}

impl Observing<'_> {
    pub(super) fn ask_set(&mut self, number: usize) -> Result<NamedAnswer, Failure> {
        let wanted = match self.wanted(number)? {
            Some(wanted) => Some(wanted),
            None if self.effect(number, Verb::Apply).is_some() => {
                return Ok(("Behind", String::new()));
            }
            // Where nothing is made, all that is found is to go.
            None => None,
        };
        let (effect, wanted) = wanted.unzip();
        let wanted = wanted.unwrap_or_default();
        let mut worst = (Member::Current, String::new());
        let mut note = |member: Member, sentence: String| {
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
            let name = Name::of(&live.meta);
            if !names.contains(&name) && self.is_ours(number, &live) {
                let (member, sentence) = self.ask_unwanted(number, &name, &live);
                note(member, sentence);
            }
        }
        Ok((worst.0.name(), worst.1))
    }

    /// What the builder wants, by name, and which effect that is; `None` if it cannot run.
    pub(super) fn wanted(&mut self, number: usize) -> Result<Option<Wanted>, Failure> {
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
    ) -> (Member, String) {
        let live = self.observer.view.get(number, name);
        if let Some(live) = &live {
            let owned = self.ir.inputs[number].mode == Mode::Owned;
            if owned && !self.is_ours(number, live) {
                return (Member::Foreign, self.say_foreign(number, name));
            }
            if live.meta.deletion_timestamp.is_some() {
                return (Member::Draining, self.say_terminating(number, name));
            }
        }
        let (plan, verdict) = self.plan_member(number, name, built, live.as_ref());
        if verdict == Verdict::Current {
            return (Member::Current, String::new());
        }
        let sentence = match live {
            None => self.say_missing(number, Some(name)),
            Some(_) => self.say_differs(number, name, &verdict),
        };
        if let Some(effect) = effect {
            self.plans[effect].push(plan);
        }
        (Member::Behind, sentence)
    }

    pub(super) fn ask_unwanted(
        &mut self,
        number: usize,
        name: &Name,
        live: &Arc<Stored>,
    ) -> (Member, String) {
        if live.meta.deletion_timestamp.is_some() {
            return (Member::Draining, self.say_terminating(number, name));
        }
        if let Some(effect) = self.effect(number, Verb::Delete) {
            let plan = self.removal(number, name, live);
            self.plans[effect].push(plan);
        }
        let object = self.reference(number, name);
        (Member::Surplus, format!("{object} is not wanted any more"))
    }

    /// The effect that applies or deletes members of a set, or of the group of a member.
    pub(super) fn effect(&self, number: usize, verb: Verb) -> Option<usize> {
        let mut effects = self.ir.effects.iter();
        effects.position(|e| e.verb == verb && e.each && self.ir.writes(e, number))
    }
}
