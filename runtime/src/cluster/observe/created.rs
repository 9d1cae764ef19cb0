//! The facts of what is created once: whether it is there, and whether a record of the object says that it was made. Nothing of it is compared.
//! What was made and is there no more is done, and never made again.

use std::sync::Arc;

use serde_json::json;

use super::answers::NamedAnswer;
use super::sets::Member;
use super::{Failure, Name, Observing};
use crate::cluster::observe::Plan;
use crate::lifecycle::observation::Slot;
use crate::lifecycle::{Built, Noted, Stored};
use crate::machine::ir::Verb;

impl Observing<'_> {
    /// Reads what was noted; nothing is, where nothing was written.
    pub(super) fn recall_noted(&self, number: usize) -> Result<Slot, Failure> {
        let text = self.recorded(number).unwrap_or("[]").to_owned();
        match serde_json::from_str::<Noted>(&text) {
            Ok(noted) => Ok(Slot::Recorded {
                value: Arc::new(noted),
                text,
            }),
            Err(_) => Err(Failure::Undecodable {
                object: Name::of(&self.subject.meta).of_kind(self.kind(number)),
                why: format!(
                    "its annotation `{}` holds no list of names, and says what was made already",
                    self.annotation(number)
                ),
            }),
        }
    }

    /// Of one object.
    pub(super) fn ask_created(&mut self, number: usize) -> Result<NamedAnswer, Failure> {
        let live = self.observation.objects(number).first().cloned();
        let found = live.as_ref().map(|live| Name::of(&live.meta));
        let planned = match &live {
            Some(_) => None,
            None => self.plan_create(number)?,
        };
        let planned = planned.map(|(effect, plan)| (plan.name.clone(), (effect, plan)));
        let (planned, write) = planned.unzip();
        let Some(name) = found.or_else(|| self.sought(number)).or(planned) else {
            return Ok(("Absent", self.say_missing(number, None)));
        };
        let is_noted = self.noted(number).has(&self.noted_as(number, &name));
        let stands = match &live {
            Some(live) => self.stands(number, live),
            None if is_noted => "Gone",
            None => "Absent",
        };
        self.touched.insert((number, name.clone()));
        match (stands, live, write) {
            ("Absent", _, Some((effect, plan))) => self.plans[effect].push(plan),
            ("New", ..) => {
                let noted = Noted::of([self.noted_as(number, &name)]);
                self.plan_noted(number, &noted);
            }
            ("Made", Some(live), _) => self.plan_delete(number, &name, &live),
            (_, Some(_) | None, _) => {}
        }
        let object = self.reference(number, &name);
        let sentence = match stands {
            "Absent" => self.say_missing(number, Some(&name)),
            "Foreign" => self.say_foreign(number, &name),
            "Terminating" => self.say_terminating(number, &name),
            "New" => self.say_unnoted(number, &name),
            "Gone" => format!("{object} was made, and is there no more"),
            _ => String::new(),
        };
        Ok((stands, sentence))
    }

    /// What is there of one object, which is all that its verdict asks.
    pub(super) fn stands(&self, number: usize, live: &Stored) -> &'static str {
        let name = Name::of(&live.meta);
        let is_noted = self.noted(number).has(&self.noted_as(number, &name));
        let goes = live.meta.deletion_timestamp.is_some();
        match (self.is_ours(number, live), is_noted) {
            (false, true) => "Gone",
            (false, false) => "Foreign",
            (true, false) => "New",
            (true, true) if goes => "Terminating",
            (true, true) => "Made",
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

    /// Of a set: what was made is noted first, then what is missing is made.
    pub(super) fn ask_created_set(&mut self, number: usize) -> Result<NamedAnswer, Failure> {
        let noted = self.noted(number);
        let mut first = (Member::Current, String::new());
        let mut say = |member: Member, sentence: String| {
            if member < first.0 {
                first = (member, sentence);
            }
        };
        let mut made = Vec::new();
        let wanted = self.wanted(number)?;
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
                (_, true) => say(Member::New, self.say_unnoted(number, name)),
                (Some(_), false) => say(Member::Foreign, self.say_foreign(number, name)),
                (None, false) => {
                    say(Member::Behind, self.say_missing(number, Some(name)));
                    let (plan, _) = self.plan_member(number, name, built.clone(), None);
                    if let Some((effect, _)) = &wanted {
                        self.plans[*effect].push(plan);
                    }
                }
            }
            names.push(name.clone());
        }
        for live in self.observation.objects(number).to_vec() {
            let name = Name::of(&live.meta);
            if names.contains(&name) || !self.is_ours(number, &live) {
                continue;
            }
            if is_known {
                let (member, sentence) = self.ask_unwanted(number, &name, &live);
                say(member, sentence);
            } else if !noted.has(&self.noted_as(number, &name)) {
                // What is wanted is not known now; that it was made must not be lost.
                say(Member::New, self.say_unnoted(number, &name));
                made.push(name);
            }
        }
        if !is_known {
            say(Member::Behind, String::new());
        }
        if first.0 == Member::New {
            let kept = noted.names().filter(|_| !is_known).map(str::to_owned);
            let made = made.iter().map(|name| self.noted_as(number, name));
            let all: Vec<String> = kept.chain(made).collect();
            self.plan_noted(number, &Noted::of(all));
        }
        Ok((first.0.name(), first.1))
    }

    fn say_unnoted(&self, number: usize, name: &Name) -> String {
        let object = self.reference(number, name);
        format!("{object} was made, which is not noted yet")
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

    /// What was made of an input.
    fn noted(&self, number: usize) -> Noted {
        let record = self.ir.inputs[number].noted;
        let slot = record.map(|record| self.observation.slot(record));
        match slot {
            Some(Slot::Recorded { value, .. }) => value.downcast_ref().cloned().unwrap_or_default(),
            Some(Slot::Plain(_) | Slot::Closed | Slot::Objects(_)) | None => Noted::default(),
        }
    }

    /// As it is noted: where the object is in a namespace, so is what it makes.
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
