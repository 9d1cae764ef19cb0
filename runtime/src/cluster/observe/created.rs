//! Facts of objects that are created once: they exist or not, and a record of the object notes
//! their creation. Their fields are never compared. A created object that no longer exists counts
//! as done, and is never made again.

use std::sync::Arc;

use serde_json::json;

use super::answers::InputAnswer;
use super::{Failure, Name, Observing};
use crate::cluster::observe::Plan;
use crate::lifecycle::observation::Slot;
use crate::lifecycle::{Built, Noted, Stored};
use crate::machine::ir::Verb;
use crate::machine::verdict::Verdict;

impl Observing<'_> {
    /// Reads the recorded names. There are none before the first write.
    pub(super) fn recall_noted(&self, number: usize) -> Result<Slot, Failure> {
        let text = self.recorded(number).unwrap_or("[]").to_owned();
        match serde_json::from_str::<Noted>(&text) {
            Ok(noted) => Ok(Slot::Recorded {
                value: Arc::new(noted),
                text,
            }),
            Err(_) => Err(Failure::Undecodable {
                object: Name::from_meta(&self.subject.meta).of_kind(self.kind(number)),
                why: format!(
                    "its annotation `{}`, which records the created objects, is not a list of names",
                    self.annotation(number)
                ),
            }),
        }
    }

    /// Of one object.
    pub(super) fn ask_created(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let live = self.observation.objects(number).first().cloned();
        let found = live.as_ref().map(|live| Name::from_meta(&live.meta));
        let planned = match &live {
            Some(_) => None,
            None => self.plan_create(number)?,
        };
        let planned = planned.map(|(effect, plan)| (plan.name.clone(), (effect, plan)));
        let (planned, write) = planned.unzip();
        let Some(name) = found.or_else(|| self.sought(number)).or(planned) else {
            return Ok((Verdict::Absent, self.say_missing(number, None)));
        };
        let is_noted = self.noted(number).has(&self.noted_as(number, &name));
        let stands = match &live {
            Some(live) => self.creation_state(number, live),
            None if is_noted => Verdict::Gone,
            None => Verdict::Absent,
        };
        self.touched.insert((number, name.clone()));
        let sentence = match stands {
            Verdict::Absent => {
                if let Some((effect, plan)) = write {
                    self.plans[effect].push(plan);
                }
                self.say_missing(number, Some(&name))
            }
            Verdict::New => {
                let noted = Noted::from_names([self.noted_as(number, &name)]);
                self.plan_noted(number, &noted);
                self.say_unnoted(number, &name)
            }
            Verdict::Made => {
                if let Some(live) = live {
                    self.plan_delete(number, &name, &live);
                }
                String::new()
            }
            Verdict::Foreign => self.say_foreign(number, &name),
            Verdict::Terminating => self.say_terminating(number, &name),
            Verdict::Gone => {
                let object = self.reference(number, &name);
                format!("{object} was made, and is there no more")
            }
            Verdict::Unnamed
            | Verdict::Present
            | Verdict::Unknown
            | Verdict::Known
            | Verdict::Adoptable
            | Verdict::Stale
            | Verdict::Behind
            | Verdict::Surplus
            | Verdict::Draining
            | Verdict::Current => String::new(),
        };
        Ok((stands, sentence))
    }

    /// Returns the state of one existing object, which is all that its verdict needs.
    pub(super) fn creation_state(&self, number: usize, live: &Stored) -> Verdict {
        let name = Name::from_meta(&live.meta);
        let is_noted = self.noted(number).has(&self.noted_as(number, &name));
        let goes = live.meta.deletion_timestamp.is_some();
        match (self.is_ours(number, live), is_noted) {
            (false, true) => Verdict::Gone,
            (false, false) => Verdict::Foreign,
            (true, false) => Verdict::New,
            (true, true) if goes => Verdict::Terminating,
            (true, true) => Verdict::Made,
        }
    }

    fn plan_create(&mut self, number: usize) -> Result<Option<(usize, Plan)>, Failure> {
        let Some((effect, Built::One(built))) = self.built(number, false) else {
            return Ok(None);
        };
        let sought = self.sought(number);
        let name = self.named(effect, number, sought.as_ref(), &built)?;
        let (plan, _) = self.plan_member(number, &name, built, None);
        Ok(Some((effect, plan)))
    }

    /// Evaluates a created set. Created members are recorded first, then missing members are
    /// created.
    pub(super) fn ask_created_set(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let noted = self.noted(number);
        let mut first = (Verdict::Current, String::new());
        let mut say = |member: Verdict, sentence: String| {
            if member < first.0 {
                first = (member, sentence);
            }
        };
        let mut made = Vec::new();
        let wanted = self.desired_members(number)?;
        let is_known = wanted.is_some();
        let mut names = Vec::new();
        for (name, built) in wanted.iter().flat_map(|(_, wanted)| wanted) {
            let is_noted = noted.has(&self.noted_as(number, name));
            let live = self.observer.view.get(number, name);
            let ours = live.as_ref().is_some_and(|live| self.is_ours(number, live));
            if is_noted || ours {
                made.push(name.clone());
            }
            match (live, ours) {
                _ if is_noted => {}
                (_, true) => say(Verdict::New, self.say_unnoted(number, name)),
                (Some(_), false) => say(Verdict::Foreign, self.say_foreign(number, name)),
                (None, false) => {
                    say(Verdict::Behind, self.say_missing(number, Some(name)));
                    let (plan, _) = self.plan_member(number, name, built.clone(), None);
                    if let Some((effect, _)) = &wanted {
                        self.plans[*effect].push(plan);
                    }
                }
            }
            names.push(name.clone());
        }
        for live in self.observation.objects(number).to_vec() {
            let name = Name::from_meta(&live.meta);
            if names.contains(&name) || !self.is_ours(number, &live) {
                continue;
            }
            if is_known {
                let (member, sentence) = self.ask_unwanted(number, &name, &live);
                say(member, sentence);
            } else if !noted.has(&self.noted_as(number, &name)) {
                // The desired set is unknown now, but the creation must not be lost.
                say(Verdict::New, self.say_unnoted(number, &name));
                made.push(name);
            }
        }
        if !is_known {
            say(Verdict::Behind, String::new());
        }
        if first.0 == Verdict::New {
            let kept = noted.names().filter(|_| !is_known).map(str::to_owned);
            let made = made.iter().map(|name| self.noted_as(number, name));
            let all: Vec<String> = kept.chain(made).collect();
            self.plan_noted(number, &Noted::from_names(all));
        }
        Ok(first)
    }

    fn say_unnoted(&self, number: usize, name: &Name) -> String {
        let object = self.reference(number, name);
        format!("{object} was created, but this is not recorded yet")
    }

    fn plan_noted(&mut self, number: usize, noted: &Noted) {
        let record = self.ir.inputs[number].noted;
        let effects = self.ir.effects.iter();
        let mut effects = effects.enumerate().filter(|(_, e)| e.verb == Verb::Note);
        let note = effects.find(|(_, effect)| Some(effect.target) == record);
        if let (Some(record), Some((effect, _))) = (record, note) {
            let plan = self.record(record, &json!(noted));
            self.plans[effect].push(plan);
        }
    }

    /// Returns the notes of created objects of an input.
    fn noted(&self, number: usize) -> Noted {
        let record = self.ir.inputs[number].noted;
        let slot = record.map(|record| self.observation.slot(record));
        match slot {
            Some(Slot::Recorded { value, .. }) => value.downcast_ref().cloned().unwrap_or_default(),
            Some(Slot::Plain(_) | Slot::Closed | Slot::Objects(_)) | None => Noted::default(),
        }
    }

    /// Returns the recorded form of a name. A namespaced object creates its objects in its own
    /// namespace.
    fn noted_as(&self, number: usize, name: &Name) -> String {
        let is_elsewhere = self.subject.meta.namespace.is_none() && self.kind(number).namespaced;
        match &name.namespace {
            Some(namespace) if is_elsewhere => format!("{namespace}/{}", name.name),
            Some(_) | None => name.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
