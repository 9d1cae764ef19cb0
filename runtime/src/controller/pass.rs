//! One pass: observe, then at most one write - an effect, the finalizer, or the report.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::Controller;
use super::in_flight::{Completed, Ended, WriteRecord};
use super::memory::{Entered, WriteKind};
use super::queue::Subject;
use super::report::{Draft, Notes, cleared, draft, timeless};
use super::runner::Caches;
use super::trace::Written;
use crate::cluster::act::{self, News, Reporter};
use crate::cluster::observe::{Failure, Job, Observed, Plan, WriteId};
use crate::cluster::outcome::answer;
use crate::cluster::store::Name;
use crate::lifecycle::call::{CallError, Once};
use crate::lifecycle::{Kind, Stored};
use crate::machine::backoff::Backoff;
use crate::machine::compare::fingerprint;
use crate::machine::ir::Phase;
use crate::machine::policy::{Class, Decision};

/// A status that differs for this long is reported although effects go on, or others are about to act.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// Every object is looked at this often, whatever happens; a settled one costs no request then.
const RESYNC: Duration = Duration::from_secs(3600);
/// How long a call may take; a lease outlives it.
const LONGEST_CALL: Duration = Duration::from_secs(10);
/// When a Lease that is too short for a call is looked at again.
const LEASE_RENEWAL: Duration = Duration::from_secs(1);

/// What a pass decided.
struct Decided {
    class: Class,
    next: Decision,
    now: Instant,
    wall: Timestamp,
    /// When it has taken too long to be where it is.
    overdue_at: Option<Instant>,
    overdue: Option<String>,
}

impl Controller {
    /// Looks at one object and does at most one thing.
    pub(super) fn pass(&mut self, subject: &Subject, now: Instant) {
        let runner = &self.runners[subject.lifecycle];
        let Some(stored) = self.stores[runner.subject_store]
            .get(&subject.name)
            .cloned()
        else {
            self.forget(subject);
            return;
        };
        let memory = self.memories.entry(subject.clone()).or_default();
        if memory.busy || stored.decoded.is_err() {
            return;
        }
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings
            .counters
            .with(|c| *c.passes.entry(object.clone()).or_default() += 1);
        let span = tracing::debug_span!("pass", %object);
        let _entered = span.enter();
        let observed = self.observe(subject, stored);
        if self.is_held(subject, &observed, now) {
            tracing::debug!("waits until the caches show our last write");
            return;
        }
        self.decide(subject, observed, now);
    }

    fn observe(&mut self, subject: &Subject, stored: Arc<Stored>) -> Observed {
        let (runner, memory) = (&self.runners[subject.lifecycle], &self.memories[subject]);
        let caches = Caches {
            lifecycle: subject.lifecycle,
            runner,
            stores: &self.stores,
            polls: &self.polls,
            memory,
        };
        let observed = runner.observer(&caches).observe(stored);
        if let Some(memory) = self.memories.get_mut(subject) {
            let before = std::mem::replace(&mut memory.dependencies, observed.dependencies.clone());
            let runner = &mut self.runners[subject.lifecycle];
            runner.depends_on(&subject.name, &before, &observed.dependencies);
            // A pass that failed did not get to see what it would ask for.
            if observed.failure.is_none() {
                let (ir, deleting) = (runner.ir, observed.is_deleting());
                let world = &observed.observation.world;
                memory.keep_refusals(|effect, write| {
                    let mut plans = observed.plans[effect].iter();
                    plans.any(|plan| plan.id == *write) && ir.permitted(world, effect, deleting)
                });
            }
        }
        observed
    }

    /// Whether an object that was seen is older than our last write to it, or an answer older than our last call.
    fn is_held(&mut self, subject: &Subject, observed: &Observed, now: Instant) -> bool {
        let runner = &self.runners[subject.lifecycle];
        let own = (runner.subject_store, subject.name.clone());
        let touched = observed.touched.iter();
        let touched = touched.filter_map(|(input, name)| {
            let store = runner.stores[*input]?;
            Some((store, name.clone()))
        });
        let all = std::iter::once(own).chain(touched);
        if let Some(until) = self.fences.hold(subject, all, now) {
            self.queue.add(subject.clone(), until);
            return true;
        }
        let called = self.memories[subject].called.clone();
        observed.polls.iter().any(|poll| {
            let call = called.get(&poll.0);
            call.is_some_and(|call| self.polls.is_older(subject, poll, *call))
        })
    }

    fn decide(&mut self, subject: &Subject, observed: Observed, now: Instant) {
        let ir = self.runners[subject.lifecycle].ir;
        let (world, deleting) = (&observed.observation.world, observed.is_deleting());
        let (class, next) = match (&observed.failure, observed.ignored) {
            (Some(_), Some(state)) => (Class::State(state), Decision::Rest),
            (Some(_), None) => (Class::Contradiction, Decision::Rest),
            (None, _) => (ir.classify(world, deleting), ir.next(world, deleting)),
        };
        tracing::debug!(?class, ?next, world = world.describe(ir), "looked");
        self.trace_pass(subject, &observed, (class, next));
        let mut decided = Decided {
            class,
            next,
            now,
            wall: self.settings.clock.now(),
            overdue_at: None,
            overdue: None,
        };
        if observed.failure.is_none() {
            self.enter(subject, &observed, &mut decided);
        }
        self.note_contradiction(subject, &observed, &decided);
        self.note_undone(subject, &observed, (decided.next, now));
        let observed = self.share(subject, observed);
        let left = self.act(subject, &observed, &decided);
        if !left {
            let open = self.open_until(subject, &observed, &decided);
            let since = self.memories[subject].differs_since;
            let due = since.map(|since| since + REPORT_AFTER);
            let due = due.filter(|due| *due > decided.now);
            self.sleep(subject, &decided, [open, due]);
        }
    }

    /// Notes since when the object is where it is.
    fn enter(&mut self, subject: &Subject, observed: &Observed, decided: &mut Decided) {
        let ir = self.runners[subject.lifecycle].ir;
        let Class::State(state) = decided.class else {
            return;
        };
        let declared = &ir.states[state];
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let entered = match memory.entered {
            Some(entered) if entered.state == declared.name => entered,
            before => Entered {
                state: declared.name,
                seen: decided.now,
                before: match before {
                    Some(_) => Duration::ZERO,
                    None => {
                        reported_for(observed.observation.subject(), declared.phase, decided.wall)
                    }
                },
            },
        };
        memory.entered = Some(entered);
        if declared.phase != Phase::Pending || declared.wakes.is_some() {
            return;
        }
        let limit = Duration::from_millis(declared.overdue);
        let spent = entered.before + decided.now.duration_since(entered.seen);
        if spent >= limit {
            let (name, limit) = (declared.name, in_words(limit));
            decided.overdue = Some(format!("it has been {name} for more than {limit}"));
        } else {
            decided.overdue_at = Some(decided.now + (limit - spent));
        }
    }

    fn note_contradiction(&mut self, subject: &Subject, observed: &Observed, decided: &Decided) {
        let runner = &self.runners[subject.lifecycle];
        let object = subject.name.of_kind(&runner.subject_kind);
        let failure = observed
            .failure
            .as_ref()
            .filter(|_| observed.ignored.is_none());
        match failure {
            Some(failure) => tracing::warn!(%object, "nothing can be done for {object}: {failure}"),
            None if decided.class == Class::Contradiction => {
                let world = observed.observation.world.describe(runner.ir);
                tracing::error!(%object, "{object} is in a world that cannot be: {world}");
                self.settings
                    .counters
                    .with(|c| *c.contradictions.entry(object).or_default() += 1);
            }
            None => {}
        }
        let retried = match failure {
            Some(Failure::Undecodable { .. }) => false,
            Some(_) => true,
            None => decided.class == Class::Contradiction,
        };
        let random = self.random();
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        if retried {
            let why = (String::new(), false);
            let id = WriteId::default();
            memory.pause(WriteKind::Pass, id, why, (Backoff::OBJECT, None), random);
        } else {
            memory.worked(WriteKind::Pass);
        }
    }

    /// Keeps the observation for the polls that were asked with it.
    fn share(&mut self, subject: &Subject, observed: Observed) -> Observed {
        let Some(memory) = self.memories.get_mut(subject) else {
            return observed;
        };
        let asked: BTreeSet<_> = observed.polls.iter().cloned().collect();
        if asked.is_empty() && memory.asked.is_empty() {
            return observed;
        }
        let ir = self.runners[subject.lifecycle].ir;
        let every = |input: usize| Duration::from_millis(ir.inputs[input].every.unwrap_or(30_000));
        let before = std::mem::replace(&mut memory.asked, asked.clone());
        self.polls
            .ask(subject, &before, &asked, (&observed.observation, every));
        observed
    }

    /// Sends the one write of this pass; says whether one left.
    fn act(&mut self, subject: &Subject, observed: &Observed, decided: &Decided) -> bool {
        let report = self.draft(subject, observed, decided);
        let Some(memory) = self.memories.get_mut(subject) else {
            return false;
        };
        let since = match (&report, memory.differs_since) {
            (None, _) => None,
            (Some(_), Some(since)) => Some(since),
            (Some(_), None) => Some(decided.now),
        };
        memory.differs_since = since;
        let is_time = since.is_some_and(|since| decided.now >= since + REPORT_AFTER);
        if is_time && self.report(subject, observed, report.clone(), decided) {
            return true;
        }
        let left = match decided.next {
            Decision::Claim => self.finalize(subject, observed, true, decided.now),
            Decision::Release => self.finalize(subject, observed, false, decided.now),
            Decision::Effect(effect) => self.effect(subject, observed, effect, decided.now),
            Decision::Rest => false,
        };
        // What others are about to do would make it untrue at once.
        left || !self.moves_on(subject, decided) && self.report(subject, observed, report, decided)
    }

    /// Whether nothing is in the way, and the outside has promised to act.
    fn moves_on(&self, subject: &Subject, decided: &Decided) -> bool {
        let Class::State(state) = decided.class else {
            return false;
        };
        let declared = &self.runners[subject.lifecycle].ir.states[state];
        declared.phase == Phase::Pending
            && declared.wakes.is_none()
            && decided.next == Decision::Rest
    }

    /// Until when the status says nothing new, for it is not known yet what polls answer.
    fn open_until(
        &self,
        subject: &Subject,
        observed: &Observed,
        decided: &Decided,
    ) -> Option<Instant> {
        self.polls.open_until(subject, &observed.polls, decided.now)
    }

    /// The status to report, if it says anything new.
    fn draft(&self, subject: &Subject, observed: &Observed, decided: &Decided) -> Option<Draft> {
        // A process that has just started would say of each object that nobody answers, and take that back a moment later.
        if self.open_until(subject, observed, decided).is_some() {
            return None;
        }
        let (runner, memory) = (&self.runners[subject.lifecycle], &self.memories[subject]);
        // What was told before stays: it is the other controller's now.
        if runner.ir.is_silent(decided.class) {
            return None;
        }
        let trouble = memory.trouble();
        // An object that is being deleted gets no report, unless its cleanup keeps failing.
        let claims = runner.ir.has_finalizer();
        if observed.is_deleting()
            && !(claims && trouble.is_some())
            && !self.is_stuck(observed, runner.ir)
        {
            return None;
        }
        let notes = Notes {
            class: decided.class,
            fields: &runner.fields,
            failure: observed.failure.as_ref(),
            trouble,
            overdue: decided.overdue.clone(),
            now: decided.wall,
        };
        let draft = draft(&*runner.machine, &observed.observation, &notes);
        let old = observed.observation.subject();
        let known = (
            old.meta.uid.clone(),
            draft.content(),
            fingerprint(&timeless(old_status(old))),
        );
        (draft.differs && memory.reported.as_ref() != Some(&known)).then_some(draft)
    }

    /// Giving back was refused: a person must look.
    fn is_stuck(&self, observed: &Observed, ir: &'static crate::machine::ir::Lifecycle) -> bool {
        let mut undos = ir.effects.iter().filter(|e| e.is_undo);
        ir.has_finalizer() && undos.any(|e| observed.observation.world.get(e.refused) == 1)
    }

    fn report(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        draft: Option<Draft>,
        decided: &Decided,
    ) -> bool {
        let Some(draft) = draft else {
            return false;
        };
        let stored = Arc::clone(observed.observation.subject());
        let id = status_id(&draft, &stored);
        if self.memories[subject]
            .paused(WriteKind::Status, &id, decided.now)
            .is_some()
        {
            return false;
        }
        let runner = &self.runners[subject.lifecycle];
        let manager = &runner.naming.status_manager;
        let declared = runner.ir.conditions.iter().map(|c| c.name);
        let known: Vec<&str> = declared.chain(["Ready"]).collect();
        let raw = stored.raw.as_deref();
        let told = (&runner.fields[..], &known[..]);
        let sent = match cleared(raw, manager, told, &draft.status) {
            Some(merged) => act::merged_status(&runner.subject_kind, &stored, manager, &merged),
            None => act::status(&runner.subject_kind, &stored, manager, &draft.status),
        };
        let wrote = WriteRecord::Status {
            draft,
            subject: stored,
        };
        self.send(Some(subject), wrote, sent);
        true
    }

    fn finalize(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        claim: bool,
        now: Instant,
    ) -> bool {
        let stored = Arc::clone(observed.observation.subject());
        if self.memories[subject]
            .paused(WriteKind::Finalizer, &subject_id(&stored), now)
            .is_some()
        {
            return false;
        }
        let runner = &self.runners[subject.lifecycle];
        let ours = &runner.naming.finalizer;
        let sent = act::finalizer(&runner.subject_kind, &stored, ours, claim);
        let wrote = WriteRecord::Finalizer {
            claim,
            subject: stored,
        };
        self.send(Some(subject), wrote, sent);
        true
    }

    /// Runs the first write of an effect that is neither refused nor has to wait.
    fn effect(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        effect: usize,
        now: Instant,
    ) -> bool {
        let memory = &self.memories[subject];
        let mut plans = observed.plans[effect].iter();
        let ready = plans.find(|plan| {
            memory.refusal(effect, &plan.id).is_none()
                && memory
                    .paused(WriteKind::Effect(effect), &plan.id, now)
                    .is_none()
                && memory.slowed(effect, plan, now).is_none()
        });
        let Some(plan) = ready.cloned() else {
            return false;
        };
        if plan.job == Job::Call {
            // Its provider must not hear of it after another process has begun to lead.
            let until = self.leading.until(now);
            if until.is_none_or(|until| until < now + LONGEST_CALL) {
                self.queue.add(subject.clone(), now + LEASE_RENEWAL);
                return true;
            }
            self.call(subject, observed, effect, plan);
            return true;
        }
        let runner = &self.runners[subject.lifecycle];
        let target = runner.ir.effects[effect].target;
        let kind = runner.kinds[target].as_ref();
        let kind = kind.unwrap_or(&runner.subject_kind);
        let Some(sent) = act::write(&plan, kind) else {
            return false;
        };
        // Another object writes the same one at this moment: this one is requeued after that.
        let store = runner.stores[target].unwrap_or(runner.subject_store);
        if !self.write_locks.take(&(store, plan.name.clone()), subject) {
            return true;
        }
        self.send(Some(subject), WriteRecord::Effect { effect, plan }, sent);
        true
    }

    fn call(&mut self, subject: &Subject, observed: &Observed, effect: usize, plan: Plan) {
        let machine = Arc::clone(&self.runners[subject.lifecycle].machine);
        let observation = Arc::clone(&observed.observation);
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
            Completed {
                subject: Some(subject),
                wrote: WriteRecord::Effect { effect, plan },
                ended: Ended::Call(called),
            }
        });
    }

    /// Tells people something about an object.
    pub(super) fn tell(
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
        self.trace_sent(subject, wrote.what());
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
            .with(|c| c.most_in_flight = c.most_in_flight.max(in_flight));
    }

    /// Nothing left: looks again when something that was put off is due.
    fn sleep(&mut self, subject: &Subject, decided: &Decided, reports: [Option<Instant>; 2]) {
        let share = self.random() as f64 / u64::MAX as f64;
        let resync = decided.now + RESYNC.mul_f64(1.0 + 0.1 * share);
        let memory = &self.memories[subject];
        let put_off = [memory.next(decided.now), decided.overdue_at, Some(resync)];
        if let Some(at) = put_off.into_iter().chain(reports).flatten().min() {
            self.queue.add(subject.clone(), at);
        }
    }

    /// Drops what is remembered of an object that is no more.
    fn forget(&mut self, subject: &Subject) {
        let Some(memory) = self.memories.remove(subject) else {
            return;
        };
        let runner = &mut self.runners[subject.lifecycle];
        runner.depends_on(&subject.name, &memory.dependencies, &[]);
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings.counters.with(|c| c.forget(&object));
        self.polls.dispatch(subject, &memory.asked);
        self.queue.remove(subject);
    }
}

/// What a report is remembered by.
pub(super) fn status_id(draft: &Draft, subject: &Stored) -> WriteId {
    WriteId {
        desired: draft.content(),
        ..subject_id(subject)
    }
}

/// What a write to the object itself is remembered by.
pub(super) fn subject_id(subject: &Stored) -> WriteId {
    WriteId {
        desired: 0,
        uid: subject.meta.uid.clone(),
        version: subject.meta.resource_version.clone(),
    }
}

fn old_status(subject: &Stored) -> &Value {
    let raw = subject.raw.as_deref();
    raw.and_then(|raw| raw.get("status"))
        .unwrap_or(&Value::Null)
}

/// After a restart: for how long the last report says that it is not ready. A time in the future is none: the wall clock was put back.
fn reported_for(subject: &Stored, phase: Phase, wall: Timestamp) -> Duration {
    let since = reported_since(subject, phase).unwrap_or(wall).min(wall);
    Duration::try_from(wall.duration_since(since)).unwrap_or_default()
}

fn reported_since(subject: &Stored, phase: Phase) -> Option<Timestamp> {
    let raw = subject.raw.as_deref()?;
    let conditions = raw.pointer("/status/conditions")?.as_array()?;
    let ready = conditions
        .iter()
        .find(|c| c.get("type").and_then(Value::as_str) == Some("Ready"))?;
    let is_ready = ready.get("status").and_then(Value::as_str) == Some("True");
    if is_ready != (phase == Phase::Ready) {
        return None;
    }
    ready.get("lastTransitionTime")?.as_str()?.parse().ok()
}

fn in_words(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds if seconds > 0 => format!("{seconds} s"),
        _ => format!("{} ms", limit.as_millis()),
    }
}
