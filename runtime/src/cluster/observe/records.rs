//! Records: annotations of the object that hold, as JSON, data that cannot be queried from the
//! environment. An unreadable record never counts as absent: something may be held under it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answers::InputAnswer;
use super::plan::{Job, Plan, WriteId};
use super::{Failure, Name, Observing};
use crate::lifecycle::Built;
use crate::lifecycle::observation::Slot;
use crate::machine::verdict::Verdict;

impl Observing<'_> {
    /// Reads the recorded data.
    pub(super) fn recall(&self, number: usize) -> Result<Slot, Failure> {
        let Some(text) = self.recorded(number) else {
            return Ok(Slot::Plain(None));
        };
        let value = serde_json::from_str(text).ok();
        let value = value.and_then(|v: Value| self.observer.machine.recall(number, &v));
        let Some(value) = value else {
            let subject = &self.subject.meta;
            let (key, kind) = (self.annotation(number), self.ir.inputs[number].kind);
            return Err(Failure::Undecodable {
                object: Name::from_meta(subject).of_kind(self.kind(number)),
                why: format!("its annotation `{key}` holds no {kind}"),
            });
        };
        let text = text.to_owned();
        Ok(Slot::Recorded { value, text })
    }

    /// Compares the record with the value that the builder wants, and plans the write.
    pub(super) fn ask_record(&mut self, number: usize) -> InputAnswer {
        let recorded: Option<Value> = self
            .recorded(number)
            .and_then(|text| serde_json::from_str(text).ok());
        let name = self.ir.inputs[number].name;
        let wanted = self.plan_record(number, recorded.as_ref());
        match (recorded, wanted) {
            (None, _) => (Verdict::Absent, format!("`{name}` is not recorded yet")),
            (Some(_), None) => (Verdict::Stale, String::new()),
            (Some(recorded), Some(wanted)) if recorded == wanted => {
                (Verdict::Current, String::new())
            }
            (Some(_), Some(_)) => (
                Verdict::Stale,
                format!("`{name}` is outdated and will be recorded again"),
            ),
        }
    }

    /// Returns the value that the builder wants, if it can run.
    fn plan_record(&mut self, number: usize, recorded: Option<&Value>) -> Option<Value> {
        let Some((effect, Built::One(wanted))) = self.built(number, false) else {
            return None;
        };
        if recorded != Some(&wanted) {
            let mut plan = self.record(number, &wanted);
            self.name_what_is_made(effect, &mut plan);
            self.plans[effect].push(plan);
        }
        Some(wanted)
    }

    pub(super) fn record(&self, number: usize, wanted: &Value) -> Plan {
        let (subject, kind) = (&self.subject, self.kind(number));
        let annotations = json!({ self.annotation(number): wanted.to_string() });
        let body = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "metadata": { "annotations": annotations },
        });
        let id = WriteId {
            // Our own reports change the version, and no answer to this write.
            version: subject.meta.generation.map(|g| g.to_string()),
            ..WriteId::new(&body, Some(subject))
        };
        Plan {
            input: None,
            name: Name::from_meta(&subject.meta),
            job: Job::Record,
            body,
            live: Some(Arc::clone(subject)),
            manager: self.observer.naming.manager.clone(),
            replaced: Vec::new(),
            exclusive: &[],
            id,
            reads: 0,
        }
    }

    pub(super) fn recorded(&self, number: usize) -> Option<&str> {
        let annotations = self.subject.meta.annotations.as_ref()?;
        let text = annotations.get(&self.annotation(number)).or_else(|| {
            // Under the name of before, until it is written under that of today.
            let (naming, name) = (self.observer.naming, self.ir.inputs[number].name);
            let retired = self.ir.retired_records(|name| naming.annotation(name));
            let mut before = retired.iter().filter(|(_, now)| *now == Some(name));
            before.find_map(|(key, _)| annotations.get(key))
        })?;
        Some(text.as_str())
    }

    pub(super) fn annotation(&self, number: usize) -> String {
        let naming = self.observer.naming;
        naming.annotation(self.ir.inputs[number].name)
    }
}

#[cfg(test)]
mod tests;
