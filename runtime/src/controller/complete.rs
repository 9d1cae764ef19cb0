//! Consequences of a write that ended: a fence, a memory, a pause - and the next observation of the
//! object.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::Controller;
use super::fence::FencedWrite as Fenced;
use super::in_flight::{Completed, Ended, WriteRecord};
use super::memory::{WriteKind, status_id, subject_id};
use super::queue::Subject;
use super::report::{Draft, timeless};
use crate::cluster::act::News;
use crate::cluster::observe::{Job, Leftover, Plan, WriteId};
use crate::cluster::outcome::Outcome;
use crate::lifecycle::Stored;
use crate::lifecycle::call::{CallError, Called};
use crate::machine::backoff::Backoff;
use crate::machine::compare::fingerprint;
use crate::machine::ir::Verb;

impl Controller {
    pub(super) fn complete(&mut self, completed: Completed) {
        self.count(&completed);
        self.trace_ended(&completed);
        self.note_reach(&completed.ended);
        let Some(subject) = completed.subject else {
            return;
        };
        if let Some(memory) = self.memories.get_mut(&subject) {
            memory.busy = false;
        }
        match (completed.wrote, completed.ended) {
            (WriteRecord::Effect { effect, plan }, Ended::Write(outcome)) => {
                self.free_target(&subject, &plan);
                self.effect_ended(&subject, effect, plan, outcome);
            }
            (WriteRecord::Effect { effect, plan }, Ended::Call(called)) => {
                self.call_ended(&subject, effect, plan, called);
            }
            (WriteRecord::Finalizer { subject: seen, .. }, Ended::Write(outcome)) => {
                self.finalizer_ended(&subject, &seen, outcome);
            }
            (WriteRecord::Leftover(left), Ended::Write(outcome)) => {
                self.leftover_ended(&subject, &left, outcome);
            }
            (
                WriteRecord::Status {
                    draft,
                    subject: seen,
                },
                Ended::Write(outcome),
            ) => self.status_ended(&subject, draft, &seen, outcome),
            (
                WriteRecord::Event
                | WriteRecord::Finalizer { .. }
                | WriteRecord::Leftover(_)
                | WriteRecord::Status { .. },
                Ended::Call(_) | Ended::Write(_),
            ) => {}
        }
        self.queue.add(subject, Instant::now());
    }

    /// Requeues the objects that wait to write to this target.
    fn free_target(&mut self, subject: &Subject, plan: &Plan) {
        let target = self.target(subject.lifecycle, plan);
        for waiting in self.write_locks.free(&target) {
            self.queue.add(waiting, Instant::now());
        }
    }

    /// Notes from the outcome of a write if the API server answers at all.
    fn note_reach(&mut self, ended: &Ended) {
        match ended {
            Ended::Write(Outcome::Lost(_)) => {
                let random = self.random();
                self.outage.lost(Instant::now(), random);
            }
            Ended::Write(_) => self.outage.record_answer(),
            Ended::Call(_) => {}
        }
    }

    fn count(&mut self, completed: &Completed) {
        let ended = match &completed.ended {
            Ended::Write(outcome) => outcome.as_str(),
            Ended::Call(Ok(_)) => "done",
            Ended::Call(Err(CallError::Refused(_))) => "refused",
            Ended::Call(Err(CallError::Failed(_) | CallError::Later { .. })) => "later",
        };
        let what = match (&completed.wrote, &completed.subject) {
            (WriteRecord::Effect { effect, .. }, Some(subject)) => {
                self.runners[subject.lifecycle].ir.effects[*effect].name
            }
            (WriteRecord::Effect { .. }, None) => "effect",
            (WriteRecord::Finalizer { claim: true, .. }, _) => "claim",
            (WriteRecord::Finalizer { claim: false, .. }, _) => "release",
            (WriteRecord::Leftover(_), _) => "retire",
            (WriteRecord::Status { .. }, _) => "status",
            (WriteRecord::Event, _) => "event",
        };
        let of = completed.subject.as_ref();
        let of = of.map_or("", |subject| self.runners[subject.lifecycle].ir.name);
        let object = completed.subject.as_ref().map(|subject| {
            let kind = &self.runners[subject.lifecycle].subject_kind;
            subject.name.of_kind(kind).to_string()
        });
        let object = object.unwrap_or_default();
        match &completed.ended {
            Ended::Write(Outcome::Done(_)) | Ended::Call(Ok(_)) => {
                tracing::debug!(object, what, "written");
                self.log_written(completed);
            }
            Ended::Write(Outcome::Again(why)) => tracing::debug!(object, what, "look again: {why}"),
            Ended::Write(Outcome::Refused(why) | Outcome::Occupied(why))
            | Ended::Call(Err(CallError::Refused(why))) => {
                tracing::warn!(object, what, "refused: {why}");
            }
            Ended::Write(Outcome::Later(why, _) | Outcome::Lost(why))
            | Ended::Call(Err(CallError::Failed(why) | CallError::Later { why, .. })) => {
                if self.log_dedup.is_news(why, Instant::now()) {
                    tracing::warn!(object, what, "failed: {why}");
                } else {
                    tracing::debug!(object, what, "failed again: {why}");
                }
            }
        }
        let key = [of, what, ended];
        self.settings
            .counters
            .update(|c| *c.writes.entry(key).or_default() += 1);
    }

    fn effect_ended(&mut self, subject: &Subject, effect: usize, plan: Plan, outcome: Outcome) {
        let random = self.random();
        let what = WriteKind::Effect(effect);
        // A value that may have been stored is never made again, even if its result was lost.
        if !matches!(outcome, Outcome::Refused(_) | Outcome::Occupied(_))
            && let Some(memory) = self.memories.get_mut(subject)
        {
            memory.seed = None;
        }
        match outcome {
            Outcome::Done(object) => {
                let wrote = self.fence_target(subject, effect, &plan, &object);
                let kept = plan.altered_fields(&object);
                if plan.job == Job::Adopt {
                    self.tell_adopted(subject, effect, &plan);
                }
                let Some(memory) = self.memories.get_mut(subject) else {
                    return;
                };
                memory.worked(what);
                if matches!(plan.job, Job::Create | Job::Update | Job::Revise) {
                    memory.settle(&plan.name, kept);
                }
                // A migration only sets the owner of fields that the next write changes.
                if plan.job != Job::Migrate {
                    memory.outcomes.arrived(Some((plan.name.clone(), wrote)));
                    self.brake(subject, effect, &plan);
                }
            }
            Outcome::Refused(sentence) => {
                if let Some(memory) = self.memories.get_mut(subject) {
                    memory.worked(what);
                    memory.refuse(effect, plan.id, (sentence, Backoff::REFUSED), random);
                }
            }
            Outcome::Occupied(sentence) => {
                if let Some(memory) = self.memories.get_mut(subject) {
                    memory.worked(what);
                    memory.refuse(effect, plan.id, (sentence, Backoff::OCCUPIED), random);
                }
            }
            outcome @ (Outcome::Again(_) | Outcome::Later(..) | Outcome::Lost(_)) => {
                self.put_off(subject, what, plan.id, outcome);
            }
        }
    }

    /// Reports to users the adoption of an object that existed before us and is ours now.
    fn tell_adopted(&mut self, subject: &Subject, effect: usize, plan: &Plan) {
        let runner = &self.runners[subject.lifecycle];
        let declared = &runner.ir.effects[effect];
        let kind = runner.subject_kind.clone();
        let theirs = runner.kind_of(plan);
        let object = plan.name.of_kind(theirs);
        let then = match declared.keeps {
            true => format!("it stays when this {} is deleted", kind.kind),
            false => format!("it belongs to this {} now", kind.kind),
        };
        let stored = self.stores[runner.subject_store].get(&subject.name);
        let uid = stored.and_then(|stored| stored.meta.uid.clone());
        let news = News {
            warning: false,
            reason: "Adopted".to_owned(),
            note: format!("{object} was there before and is taken over: {then}"),
        };
        self.send_event(
            subject.lifecycle,
            &kind,
            (&subject.name, uid.as_deref()),
            news,
        );
    }

    /// Makes exactly this write wait.
    fn put_off(&mut self, subject: &Subject, what: WriteKind, id: WriteId, outcome: Outcome) {
        let random = self.random();
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        match outcome {
            Outcome::Again(why) => {
                memory.pause(what, id, (why, false), (Backoff::CONFLICT, None), random);
            }
            Outcome::Later(why, after) => {
                memory.pause(what, id, (why, true), (Backoff::OBJECT, after), random);
            }
            // The object may be well: it is not to wait long after the server is back.
            Outcome::Lost(why) => {
                memory.pause(what, id, (why, true), (Backoff::WATCH, None), random);
            }
            Outcome::Done(_) | Outcome::Refused(_) | Outcome::Occupied(_) => {}
        }
    }

    /// Makes readers of the written object wait until their cache shows the written version, if the
    /// object still exists.
    fn fence_target(
        &mut self,
        subject: &Subject,
        effect: usize,
        plan: &Plan,
        object: &Value,
    ) -> Option<String> {
        let runner = &self.runners[subject.lifecycle];
        let declared = &runner.ir.effects[effect];
        if plan.job == Job::Record {
            let lasting = declared.verb == Verb::Note;
            return self.fence_subject(subject, object, lasting);
        }
        let store = runner.stores[plan.input?]?;
        let lasting = declared.verb == Verb::Create;
        self.fence_object(store, (plan, lasting), object)
    }

    fn fence_object(
        &mut self,
        store: usize,
        (plan, lasting): (&Plan, bool),
        object: &Value,
    ) -> Option<String> {
        let text = |path: &str| {
            let value = object.pointer(path).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let live = plan.live.as_deref();
        let stays = plan.job != Job::Delete || text("/metadata/deletionTimestamp").is_some();
        let wrote = Fenced {
            uid: text("/metadata/uid").or_else(|| live.and_then(|l| l.meta.uid.clone())),
            version: text("/metadata/resourceVersion").filter(|_| stays),
            lasting,
        };
        let (at, version) = ((store, plan.name.clone()), wrote.version.clone());
        self.fences
            .raise(at, wrote, &self.stores[store], Instant::now());
        version
    }

    fn fence_subject(
        &mut self,
        subject: &Subject,
        object: &Value,
        lasting: bool,
    ) -> Option<String> {
        let store = self.runners[subject.lifecycle].subject_store;
        let text = |path: &str| {
            let value = object.pointer(path).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let wrote = Fenced {
            uid: text("/metadata/uid"),
            version: text("/metadata/resourceVersion"),
            lasting,
        };
        let (at, version) = ((store, subject.name.clone()), wrote.version.clone());
        self.fences
            .raise(at, wrote, &self.stores[store], Instant::now());
        version
    }

    fn call_ended(
        &mut self,
        subject: &Subject,
        effect: usize,
        plan: Plan,
        called: Result<Called, CallError>,
    ) {
        let random = self.random();
        let target = self.runners[subject.lifecycle].ir.effects[effect].target;
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        // Regardless of success or failure, an earlier answer is now stale.
        memory.called.insert(target, self.polls.turn());
        match called {
            Ok(_) => {
                memory.worked(WriteKind::Effect(effect));
                memory.outcomes.arrived(None);
                self.brake(subject, effect, &plan);
            }
            Err(CallError::Refused(sentence)) => {
                memory.refuse(effect, plan.id, (sentence, Backoff::REFUSED), random);
            }
            Err(error @ (CallError::Failed(_) | CallError::Later { .. })) => {
                let after = error.after();
                if after.is_some() {
                    self.settings.counters.update(|c| c.put_off += 1);
                }
                let later = Outcome::Later(error.to_string(), after);
                self.put_off(subject, WriteKind::Effect(effect), plan.id, later);
            }
        }
    }

    fn finalizer_ended(&mut self, subject: &Subject, seen: &Arc<Stored>, outcome: Outcome) {
        match outcome {
            Outcome::Done(object) => {
                self.fence_subject(subject, &object, false);
                if let Some(memory) = self.memories.get_mut(subject) {
                    memory.worked(WriteKind::Finalizer);
                }
            }
            // A policy forbids the finalizer: nothing may be acquired, and an administrator may change it at any time.
            Outcome::Refused(why) | Outcome::Occupied(why) => {
                let later = Outcome::Later(why, None);
                self.put_off(subject, WriteKind::Finalizer, subject_id(seen), later);
            }
            outcome @ (Outcome::Again(_) | Outcome::Later(..) | Outcome::Lost(_)) => {
                self.put_off(subject, WriteKind::Finalizer, subject_id(seen), outcome);
            }
        }
    }

    /// Handles the end of a write that removes a leftover. If the removal fails, that is reported
    /// once: the object itself may be well, and its status reports nothing about it.
    fn leftover_ended(&mut self, subject: &Subject, left: &Leftover, outcome: Outcome) {
        let (what, id) = (WriteKind::Leftover, left.plan.id.clone());
        if let Outcome::Refused(why) | Outcome::Occupied(why) | Outcome::Later(why, _) = &outcome {
            self.tell_left_behind(subject, left, why);
        }
        match outcome {
            Outcome::Done(object) => {
                let stores = &self.runners[subject.lifecycle].stores;
                match left.input.and_then(|input| stores[input]) {
                    Some(store) => self.fence_object(store, (&left.plan, false), &object),
                    None => self.fence_subject(subject, &object, false),
                };
                if let Some(memory) = self.memories.get_mut(subject) {
                    memory.worked(what);
                }
            }
            Outcome::Refused(why) | Outcome::Occupied(why) => {
                let random = self.random();
                if let Some(memory) = self.memories.get_mut(subject) {
                    let said = (why, true);
                    memory.pause(what, id, said, (Backoff::REFUSED, None), random);
                }
            }
            outcome @ (Outcome::Again(_) | Outcome::Later(..) | Outcome::Lost(_)) => {
                self.put_off(subject, what, id, outcome);
            }
        }
    }

    fn tell_left_behind(&mut self, subject: &Subject, left: &Leftover, why: &str) {
        let memory = self.memories.get(subject);
        if memory.is_none_or(|memory| memory.is_known(WriteKind::Leftover, why)) {
            return;
        }
        let runner = &self.runners[subject.lifecycle];
        let kind = runner.subject_kind.clone();
        let theirs = left.input.and_then(|input| runner.kinds[input].as_ref());
        let object = left.plan.name.of_kind(theirs.unwrap_or(&kind));
        let news = News {
            warning: true,
            reason: "LeftBehind".to_owned(),
            note: format!("leftovers of an older version at {object} cannot be removed: {why}"),
        };
        let about = (&subject.name, left.owner.as_deref());
        self.send_event(subject.lifecycle, &kind, about, news);
    }

    fn status_ended(
        &mut self,
        subject: &Subject,
        draft: Draft,
        seen: &Arc<Stored>,
        outcome: Outcome,
    ) {
        let id = status_id(&draft, seen);
        match outcome {
            Outcome::Done(object) => {
                self.fence_subject(subject, &object, false);
                let kind = self.runners[subject.lifecycle].subject_kind.clone();
                let kept = object.get("status").unwrap_or(&Value::Null);
                let kept = fingerprint(&timeless(kept));
                if let Some(memory) = self.memories.get_mut(subject) {
                    memory.worked(WriteKind::Status);
                    memory.differs_since = None;
                    memory.reported = Some((seen.meta.uid.clone(), draft.content(), kept));
                    if let Some(owes) = draft.owes_recovery() {
                        memory.owes_recovery = owes;
                    }
                }
                self.note_report(subject, &draft, seen);
                for news in draft.news {
                    let about = (&subject.name, seen.meta.uid.as_deref());
                    self.send_event(subject.lifecycle, &kind, about, news);
                }
            }
            Outcome::Refused(why) | Outcome::Occupied(why) => {
                let random = self.random();
                let Some(memory) = self.memories.get_mut(subject) else {
                    return;
                };
                let is_news = !memory.is_known(WriteKind::Status, &why);
                let said = (why.clone(), true);
                memory.pause(
                    WriteKind::Status,
                    id,
                    said,
                    (Backoff::REFUSED, None),
                    random,
                );
                if is_news {
                    // The status cannot report a failure of its own update, so an Event does.
                    let news = News {
                        warning: true,
                        reason: "ApplyStatus".to_owned(),
                        note: why,
                    };
                    let kind = self.runners[subject.lifecycle].subject_kind.clone();
                    let about = (&subject.name, seen.meta.uid.as_deref());
                    self.send_event(subject.lifecycle, &kind, about, news);
                }
            }
            outcome @ (Outcome::Again(_) | Outcome::Later(..) | Outcome::Lost(_)) => {
                self.put_off(subject, WriteKind::Status, id, outcome);
            }
        }
    }
}
