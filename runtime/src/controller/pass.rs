//! One pass: observe, then at most one write - an effect, the finalizer, or the report.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::Controller;
use super::flight::{Ended, Landed, Wrote};
use super::queue::Subject;
use super::report::{Draft, Notes, draft, timeless};
use super::runner::Caches;
use super::trace::Written;
use super::track::{Entered, What};
use crate::cluster::act::{self, News, Reporter};
use crate::cluster::observe::{Failure, Job, Plan, Sight, WriteId};
use crate::cluster::outcome::answer;
use crate::cluster::store::Name;
use crate::lifecycle::call::{CallError, Once};
use crate::lifecycle::{Kind, Stored};
use crate::machine::backoff::Backoff;
use crate::machine::compare::fingerprint;
use crate::machine::ir::Phase;
use crate::machine::policy::{Class, Move};

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
    next: Move,
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
        let track = self.tracks.entry(subject.clone()).or_default();
        if track.busy || stored.decoded.is_err() {
            return;
        }
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings
            .counters
            .with(|c| *c.passes.entry(object.clone()).or_default() += 1);
        let span = tracing::debug_span!("pass", %object);
        let _entered = span.enter();
        let sight = self.observe(subject, stored);
        if self.is_held(subject, &sight, now) {
            tracing::debug!("waits until the caches show our last write");
            return;
        }
        self.decide(subject, sight, now);
    }

    fn observe(&mut self, subject: &Subject, stored: Arc<Stored>) -> Sight {
        let (runner, track) = (&self.runners[subject.lifecycle], &self.tracks[subject]);
        let caches = Caches {
            lifecycle: subject.lifecycle,
            runner,
            stores: &self.stores,
            polls: &self.polls,
            track,
        };
        let sight = runner.observer(&caches).observe(stored);
        if let Some(track) = self.tracks.get_mut(subject) {
            let before = std::mem::replace(&mut track.looked, sight.looked.clone());
            let runner = &mut self.runners[subject.lifecycle];
            runner.looks(&subject.name, &before, &sight.looked);
            // A pass that failed did not get to see what it would ask for.
            if sight.failure.is_none() {
                track.keep_refusals(|effect, write| {
                    sight.plans[effect].iter().any(|plan| plan.id == *write)
                });
            }
        }
        sight
    }

    /// Whether an object that was seen is older than our last write to it, or an answer older than our last call.
    fn is_held(&mut self, subject: &Subject, sight: &Sight, now: Instant) -> bool {
        let runner = &self.runners[subject.lifecycle];
        let own = (runner.subject_store, subject.name.clone());
        let touched = sight.touched.iter();
        let touched = touched.filter_map(|(input, name)| {
            let store = runner.stores[*input]?;
            Some((store, name.clone()))
        });
        let all = std::iter::once(own).chain(touched);
        if let Some(until) = self.fences.hold(subject, all, now) {
            self.queue.add(subject.clone(), until);
            return true;
        }
        let called = self.tracks[subject].called.clone();
        sight.polls.iter().any(|poll| {
            let call = called.get(&poll.0);
            call.is_some_and(|call| self.polls.is_older(subject, poll, *call))
        })
    }

    fn decide(&mut self, subject: &Subject, sight: Sight, now: Instant) {
        let ir = self.runners[subject.lifecycle].ir;
        let (world, deleting) = (&sight.board.world, sight.is_deleting());
        let (class, next) = match (&sight.failure, sight.ignored) {
            (Some(_), Some(state)) => (Class::State(state), Move::Rest),
            (Some(_), None) => (Class::Contradiction, Move::Rest),
            (None, _) => (ir.classify(world, deleting), ir.next(world, deleting)),
        };
        tracing::debug!(?class, ?next, world = world.describe(ir), "looked");
        self.trace_pass(subject, &sight, (class, next));
        let mut decided = Decided {
            class,
            next,
            now,
            wall: self.settings.clock.now(),
            overdue_at: None,
            overdue: None,
        };
        if sight.failure.is_none() {
            self.enter(subject, &sight, &mut decided);
        }
        self.note_contradiction(subject, &sight, &decided);
        let sight = self.share(subject, sight);
        let left = self.act(subject, &sight, &decided);
        if !left {
            let open = self.open_until(subject, &sight, &decided);
            let since = self.tracks[subject].differs_since;
            let due = since.map(|since| since + REPORT_AFTER);
            let due = due.filter(|due| *due > decided.now);
            self.sleep(subject, &decided, [open, due]);
        }
    }

    /// Notes since when the object is where it is.
    fn enter(&mut self, subject: &Subject, sight: &Sight, decided: &mut Decided) {
        let ir = self.runners[subject.lifecycle].ir;
        let Class::State(state) = decided.class else {
            return;
        };
        let declared = &ir.states[state];
        let Some(track) = self.tracks.get_mut(subject) else {
            return;
        };
        let entered = match track.entered {
            Some(entered) if entered.state == declared.name => entered,
            before => Entered {
                state: declared.name,
                seen: decided.now,
                before: match before {
                    Some(_) => Duration::ZERO,
                    None => reported_for(sight.board.subject(), declared.phase, decided.wall),
                },
            },
        };
        track.entered = Some(entered);
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

    fn note_contradiction(&mut self, subject: &Subject, sight: &Sight, decided: &Decided) {
        let runner = &self.runners[subject.lifecycle];
        let object = subject.name.of_kind(&runner.subject_kind);
        let failure = sight.failure.as_ref().filter(|_| sight.ignored.is_none());
        match failure {
            Some(failure) => tracing::warn!(%object, "nothing can be done for {object}: {failure}"),
            None if decided.class == Class::Contradiction => {
                let world = sight.board.world.describe(runner.ir);
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
        let Some(track) = self.tracks.get_mut(subject) else {
            return;
        };
        if retried {
            let why = (String::new(), false);
            let id = WriteId::default();
            track.pause(What::Pass, id, why, (Backoff::OBJECT, None), random);
        } else {
            track.worked(What::Pass);
        }
    }

    /// Keeps the board for the polls that were asked with it.
    fn share(&mut self, subject: &Subject, sight: Sight) -> Sight {
        let Some(track) = self.tracks.get_mut(subject) else {
            return sight;
        };
        let asked: BTreeSet<_> = sight.polls.iter().cloned().collect();
        if asked.is_empty() && track.asked.is_empty() {
            return sight;
        }
        let ir = self.runners[subject.lifecycle].ir;
        let every = |input: usize| Duration::from_millis(ir.inputs[input].every.unwrap_or(30_000));
        let before = std::mem::replace(&mut track.asked, asked.clone());
        self.polls
            .ask(subject, &before, &asked, (&sight.board, every));
        sight
    }

    /// Sends the one write of this pass; says whether one left.
    fn act(&mut self, subject: &Subject, sight: &Sight, decided: &Decided) -> bool {
        let report = self.draft(subject, sight, decided);
        let Some(track) = self.tracks.get_mut(subject) else {
            return false;
        };
        let since = match (&report, track.differs_since) {
            (None, _) => None,
            (Some(_), Some(since)) => Some(since),
            (Some(_), None) => Some(decided.now),
        };
        track.differs_since = since;
        let is_time = since.is_some_and(|since| decided.now >= since + REPORT_AFTER);
        if is_time && self.report(subject, sight, report.clone(), decided) {
            return true;
        }
        let left = match decided.next {
            Move::Claim => self.finalize(subject, sight, true, decided.now),
            Move::Release => self.finalize(subject, sight, false, decided.now),
            Move::Effect(effect) => self.effect(subject, sight, effect, decided.now),
            Move::Rest => false,
        };
        // What others are about to do would make it untrue at once.
        left || !self.moves_on(subject, decided) && self.report(subject, sight, report, decided)
    }

    /// Whether nothing is in the way, and somebody else has promised to act.
    fn moves_on(&self, subject: &Subject, decided: &Decided) -> bool {
        let Class::State(state) = decided.class else {
            return false;
        };
        let declared = &self.runners[subject.lifecycle].ir.states[state];
        declared.phase == Phase::Pending && declared.wakes.is_none() && decided.next == Move::Rest
    }

    /// Until when the status says nothing new, for it is not known yet what polls answer.
    fn open_until(&self, subject: &Subject, sight: &Sight, decided: &Decided) -> Option<Instant> {
        self.polls.open_until(subject, &sight.polls, decided.now)
    }

    /// The status to report, if it says anything new.
    fn draft(&self, subject: &Subject, sight: &Sight, decided: &Decided) -> Option<Draft> {
        // A process that has just started would say of each object that nobody answers, and take that back a moment later.
        if self.open_until(subject, sight, decided).is_some() {
            return None;
        }
        let (runner, track) = (&self.runners[subject.lifecycle], &self.tracks[subject]);
        // What was told before stays: it is the other controller's now.
        if runner.ir.is_silent(decided.class) {
            return None;
        }
        let trouble = track.trouble();
        // An object that goes away is not reported on, unless giving back what it holds is in trouble.
        let claims = runner.ir.has_finalizer();
        if sight.is_deleting() && !(claims && trouble.is_some()) && !self.is_stuck(sight, runner.ir)
        {
            return None;
        }
        let notes = Notes {
            class: decided.class,
            failure: sight.failure.as_ref(),
            trouble,
            overdue: decided.overdue.clone(),
            now: decided.wall,
        };
        let draft = draft(&*runner.machine, &sight.board, &notes);
        let old = sight.board.subject();
        let known = (
            old.meta.uid.clone(),
            draft.content(),
            fingerprint(&timeless(old_status(old))),
        );
        (draft.differs && track.reported.as_ref() != Some(&known)).then_some(draft)
    }

    /// Giving back was refused: a person must look.
    fn is_stuck(&self, sight: &Sight, ir: &'static crate::machine::ir::Lifecycle) -> bool {
        let mut undos = ir.effects.iter().filter(|e| e.is_undo);
        ir.has_finalizer() && undos.any(|e| sight.board.world.get(e.refused) == 1)
    }

    fn report(
        &mut self,
        subject: &Subject,
        sight: &Sight,
        draft: Option<Draft>,
        decided: &Decided,
    ) -> bool {
        let Some(draft) = draft else {
            return false;
        };
        let stored = Arc::clone(sight.board.subject());
        let id = status_id(&draft, &stored);
        if self.tracks[subject]
            .paused(What::Status, &id, decided.now)
            .is_some()
        {
            return false;
        }
        let runner = &self.runners[subject.lifecycle];
        let manager = &runner.naming.status_manager;
        let sent = act::status(&runner.subject_kind, &stored, manager, &draft.status);
        let wrote = Wrote::Status {
            draft,
            subject: stored,
        };
        self.send(Some(subject), wrote, sent);
        true
    }

    fn finalize(&mut self, subject: &Subject, sight: &Sight, claim: bool, now: Instant) -> bool {
        let stored = Arc::clone(sight.board.subject());
        if self.tracks[subject]
            .paused(What::Finalizer, &subject_id(&stored), now)
            .is_some()
        {
            return false;
        }
        let runner = &self.runners[subject.lifecycle];
        let ours = &runner.naming.finalizer;
        let sent = act::finalizer(&runner.subject_kind, &stored, ours, claim);
        let wrote = Wrote::Finalizer {
            claim,
            subject: stored,
        };
        self.send(Some(subject), wrote, sent);
        true
    }

    /// Runs the first write of an effect that is neither refused nor has to wait.
    fn effect(&mut self, subject: &Subject, sight: &Sight, effect: usize, now: Instant) -> bool {
        let track = &self.tracks[subject];
        let mut plans = sight.plans[effect].iter();
        let ready = plans.find(|plan| {
            track.refusal(effect, &plan.id).is_none()
                && track.paused(What::Effect(effect), &plan.id, now).is_none()
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
            self.call(subject, sight, effect, plan);
            return true;
        }
        let runner = &self.runners[subject.lifecycle];
        let target = runner.ir.effects[effect].target;
        let kind = runner.kinds[target].as_ref();
        let kind = kind.unwrap_or(&runner.subject_kind);
        let Some(sent) = act::write(&plan, kind) else {
            return false;
        };
        // What somebody else writes at this moment is looked at again after that.
        let store = runner.stores[target].unwrap_or(runner.subject_store);
        if !self.targets.take(&(store, plan.name.clone()), subject) {
            return true;
        }
        self.send(Some(subject), Wrote::Effect { effect, plan }, sent);
        true
    }

    fn call(&mut self, subject: &Subject, sight: &Sight, effect: usize, plan: Plan) {
        let machine = Arc::clone(&self.runners[subject.lifecycle].machine);
        let board = Arc::clone(&sight.board);
        let key = plan.body.as_str().unwrap_or_default().to_owned();
        let name = machine.ir().effects[effect].name;
        tracing::debug!(effect = name, "calls");
        self.trace_sent(Some(subject), Written::Call(effect));
        let subject = subject.clone();
        self.leave(Some(&subject.clone()), async move {
            let called = match machine.call(&board, effect, Once::new(&key)) {
                None => Err(CallError::Failed(format!("`{name}` cannot be called yet"))),
                Some(calling) => timeout(LONGEST_CALL, calling).await.unwrap_or_else(|_| {
                    let limit = LONGEST_CALL.as_secs();
                    let said = format!("`{name}` had no answer within {limit} s");
                    Err(CallError::Failed(said))
                }),
            };
            Landed {
                subject: Some(subject),
                wrote: Wrote::Effect { effect, plan },
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
        self.send(None, Wrote::Event, sent);
    }

    fn send(&mut self, subject: Option<&Subject>, wrote: Wrote, sent: act::Sent) {
        let client = self.client.clone();
        let owner = subject.cloned();
        if let Ok(request) = &sent {
            tracing::debug!(method = %request.method(), path = request.uri().path(), "writes");
        }
        self.trace_sent(subject, wrote.what());
        self.leave(subject, async move {
            let outcome = answer(client, sent).await;
            Landed {
                subject: owner,
                wrote,
                ended: Ended::Write(outcome),
            }
        });
    }

    fn leave(
        &mut self,
        subject: Option<&Subject>,
        flight: impl Future<Output = Landed> + Send + 'static,
    ) {
        if let Some(track) = subject.and_then(|s| self.tracks.get_mut(s)) {
            track.busy = true;
        }
        self.flights.leave(Box::pin(flight));
        let in_flight = self.flights.len();
        self.settings
            .counters
            .with(|c| c.most_in_flight = c.most_in_flight.max(in_flight));
    }

    /// Nothing left: looks again when something that was put off is due.
    fn sleep(&mut self, subject: &Subject, decided: &Decided, reports: [Option<Instant>; 2]) {
        let share = self.random() as f64 / u64::MAX as f64;
        let resync = decided.now + RESYNC.mul_f64(1.0 + 0.1 * share);
        let track = &self.tracks[subject];
        let put_off = [track.next(decided.now), decided.overdue_at, Some(resync)];
        if let Some(at) = put_off.into_iter().chain(reports).flatten().min() {
            self.queue.add(subject.clone(), at);
        }
    }

    /// Drops what is remembered of an object that is no more.
    fn forget(&mut self, subject: &Subject) {
        let Some(track) = self.tracks.remove(subject) else {
            return;
        };
        let runner = &mut self.runners[subject.lifecycle];
        runner.looks(&subject.name, &track.looked, &[]);
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings.counters.with(|c| c.forget(&object));
        self.polls.leave(subject, &track.asked);
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
