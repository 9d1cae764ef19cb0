//! Applies a decision: sends the one write, or waits.

use std::sync::Arc;

use tokio::time::{Instant, timeout};

use super::Controller;
use super::decide::{Decided, Inspection, LONGEST_CALL};
use super::in_flight::{Completed, Ended, WriteRecord};
use super::queue::Subject;
use super::report::{beside_others, cleared};
use super::trace::Written;
use super::why::WaitReason;
use crate::cluster::act::{self, News, Reporter};
use crate::cluster::judged::Awaited;
use crate::cluster::observe::Plan;
use crate::cluster::outcome::answer;
use crate::cluster::store::Name;
use crate::lifecycle::call::{CallError, Once};
use crate::lifecycle::{Kind, Observation};
use crate::machine::policy::Decision;
use crate::provider::InFlight;

impl Controller {
    pub(super) fn carry_out(
        &mut self,
        subject: &Subject,
        seen: &Inspection,
        decided: Decided,
        now: Instant,
    ) {
        self.keep_in_line(subject, seen, &decided);
        match (decided, seen.next) {
            (
                Decided::Wait {
                    until,
                    why: WaitReason::Provider,
                },
                Decision::Effect(effect),
            ) => {
                self.wait_for_turn(subject, seen, effect, (until, now));
            }
            (decided, _) => self.execute(subject, seen, decided, now),
        }
    }

    fn execute(&mut self, subject: &Subject, seen: &Inspection, decided: Decided, now: Instant) {
        match decided {
            Decided::Wait { until, why } => {
                self.queue_behind(subject, seen, why);
                self.wait(subject, until, why);
            }
            Decided::Rest { until } => self.queue.add(subject.clone(), until),
            Decided::Write(write) => match *write {
                WriteRecord::Effect { effect, plan } => {
                    self.effect(subject, seen, (effect, plan), now);
                }
                wrote @ (WriteRecord::Status { .. }
                | WriteRecord::Finalizer { .. }
                | WriteRecord::Leftover(_)
                | WriteRecord::Event) => self.own(subject, wrote),
            },
        }
    }

    pub(super) fn wait(&mut self, subject: &Subject, until: Instant, why: WaitReason) {
        tracing::debug!(?why, "waits");
        self.queue.add(subject.clone(), until);
    }

    /// Adds the object to the queue of its provider if needed, and reconciles it again at its turn.
    fn wait_for_turn(
        &mut self,
        subject: &Subject,
        seen: &Inspection,
        effect: usize,
        (until, now): (Instant, Instant),
    ) {
        let until = self.await_turn(subject, effect, now).unwrap_or(until);
        let until = self.stand_in_line(subject, seen, effect, (until, now));
        self.wait(subject, until, WaitReason::Provider);
    }

    /// Reconciles again once other objects have written this object's target.
    fn queue_behind(&mut self, subject: &Subject, seen: &Inspection, why: WaitReason) {
        let (WaitReason::Writing, Decision::Effect(effect)) = (why, seen.next) else {
            return;
        };
        for plan in &seen.observed.plans[effect] {
            let target = self.target(subject.lifecycle, plan);
            self.write_locks.wait(&target, subject);
        }
    }

    fn effect(
        &mut self,
        subject: &Subject,
        seen: &Inspection,
        (effect, plan): (usize, Plan),
        now: Instant,
    ) {
        let place = match self.take_turn(subject, effect, now) {
            Ok(place) => place,
            // Another part of this process was faster.
            Err(at) => {
                let until = at.unwrap_or(now + LONGEST_CALL);
                let until = self.stand_in_line(subject, seen, effect, (until, now));
                self.wait(subject, until, WaitReason::Provider);
                return;
            }
        };
        let observation = &seen.observed.observation;
        let declared = &seen.ir.effects[effect];
        let besides = self.read(subject, &seen.observed, Some(declared));
        if let Some(memory) = self.memories.get_mut(subject) {
            memory.outcomes.leaves(Awaited {
                effect,
                before: observation.world.clone(),
                besides,
                wrote: None,
            });
        }
        let runner = &self.runners[subject.lifecycle];
        let Some(sent) = act::write(&plan, runner.kind_of(&plan)) else {
            self.call(subject, observation, (effect, plan), place);
            return;
        };
        let target = self.target(subject.lifecycle, &plan);
        self.write_locks.take(target);
        self.send(Some(subject), WriteRecord::Effect { effect, plan }, sent);
    }

    /// Writes the object itself.
    fn own(&mut self, subject: &Subject, wrote: WriteRecord) {
        let runner = &self.runners[subject.lifecycle];
        let (kind, naming) = (&runner.subject_kind, &runner.naming);
        let sent = match &wrote {
            WriteRecord::Status { draft, subject } => {
                let manager = &naming.status_manager;
                let mut known = runner.ir.condition_types();
                known.extend(runner.ir.retired_conditions());
                let mut fields = runner.fields.clone();
                fields.extend(runner.ir.retired_fields());
                let told = (&fields[..], &known[..]);
                let raw = subject.raw.as_deref();
                let merged = match &subject.decoded {
                    Ok(_) => cleared(raw, manager, told, &draft.status),
                    // The API server refuses an apply to a status that violates its schema.
                    Err(_) => Some(beside_others(raw, &known, &draft.status)),
                };
                match merged {
                    Some(merged) => act::merged_status(kind, subject, manager, &merged),
                    None => act::status(kind, subject, manager, &draft.status),
                }
            }
            WriteRecord::Finalizer { claim, subject } => {
                let ours = &naming.finalizer;
                let retired = runner.ir.retired_finalizers(ours);
                act::finalizer(kind, subject, (ours, &retired), *claim)
            }
            WriteRecord::Leftover(left) => {
                let theirs = left.input.and_then(|input| runner.kinds[input].as_ref());
                match act::write(&left.plan, theirs.unwrap_or(kind)) {
                    Some(sent) => sent,
                    None => return,
                }
            }
            WriteRecord::Effect { .. } | WriteRecord::Event => return,
        };
        self.send(Some(subject), wrote, sent);
    }

    fn call(
        &mut self,
        subject: &Subject,
        observation: &Arc<Observation>,
        (effect, plan): (usize, Plan),
        place: Option<InFlight>,
    ) {
        let machine = Arc::clone(&self.runners[subject.lifecycle].machine);
        let observation = Arc::clone(observation);
        let key = plan.body.as_str().unwrap_or_default().to_owned();
        let name = machine.ir().effects[effect].name;
        tracing::debug!(effect = name, "calls");
        self.trace_sent(Some(subject), Written::Call(effect));
        let subject = subject.clone();
        self.dispatch(Some(&subject.clone()), async move {
            let called = match machine.call(&observation, effect, Once::new(&key)) {
                None => Err(CallError::Failed(format!("`{name}` cannot be called yet"))),
                Some(calling) => timeout(LONGEST_CALL, calling).await.unwrap_or_else(|_| {
                    let limit = LONGEST_CALL.as_secs();
                    let said = format!("`{name}` had no answer within {limit} s");
                    Err(CallError::Failed(said))
                }),
            };
            if let Some(place) = place {
                place.record_outcome(&called);
            }
            Completed {
                subject: Some(subject),
                wrote: WriteRecord::Effect { effect, plan },
                ended: Ended::Call(called),
            }
        });
    }

    /// Reports an event about an object to users.
    pub(super) fn send_event(
        &mut self,
        lifecycle: usize,
        kind: &Kind,
        about: (&Name, Option<&str>),
        news: News,
    ) {
        let number = self.random();
        let naming = &self.runners[lifecycle].naming;
        let by = Reporter {
            controller: &naming.reporter,
            action: &naming.action,
            instance: &self.settings.instance,
        };
        let time = self.settings.clock.now();
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let sent = act::event(kind, about, &news, &by, (time, number));
        self.send(None, WriteRecord::Event, sent);
    }

    fn send(&mut self, subject: Option<&Subject>, wrote: WriteRecord, sent: act::Sent) {
        let client = self.client.clone();
        let owner = subject.cloned();
        if let Ok(request) = &sent {
            tracing::debug!(method = %request.method(), path = request.uri().path(), "writes");
        }
        self.trace_sent(subject, wrote.as_written());
        self.dispatch(subject, async move {
            let outcome = answer(client, sent).await;
            Completed {
                subject: owner,
                wrote,
                ended: Ended::Write(outcome),
            }
        });
    }

    fn dispatch(
        &mut self,
        subject: Option<&Subject>,
        in_flight: impl Future<Output = Completed> + Send + 'static,
    ) {
        if let Some(memory) = subject.and_then(|s| self.memories.get_mut(s)) {
            memory.busy = true;
        }
        self.in_flight_writes.dispatch(Box::pin(in_flight));
        let in_flight = self.in_flight_writes.len();
        self.settings
            .counters
            .update(|c| c.most_in_flight = c.most_in_flight.max(in_flight));
    }
}
