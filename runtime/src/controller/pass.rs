//! One reconciliation: observes an object, records the observation, decides, and applies the
//! decision.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Controller;
use super::counted::outcome;
use super::decide::{Decided, Inspection, PassContext, decide};
use super::queue::Subject;
use super::runner::Caches;
use super::why::WaitReason;
use crate::cluster::observe::{Observed, Plan};
use crate::cluster::store::Name;
use crate::lifecycle::Stored;
use crate::lifecycle::random::Seed;
use crate::machine::ir::Effect;
use crate::spans;

/// Interval at which every object is reconciled in any case. For a settled object, this costs no
/// request.
const RESYNC: Duration = Duration::from_secs(3600);

impl Controller {
    /// Reconciles one object and applies at most one action.
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
        // If the object is unreadable, the controller that manages it may also be unknown.
        let is_unknown = stored.decoded.is_err() && !runner.ir.knows_set_aside(0);
        if memory.busy || is_unknown {
            return;
        }
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings
            .counters
            .update(|c| *c.passes.entry(object.clone()).or_default() += 1);
        let reconcile = spans::of_reconcile(&object).entered();
        let span = tracing::debug_span!("pass", %object);
        let _entered = span.enter();
        let observed = self.observe(subject, stored);
        if let Some(until) = self.unseen_until(subject, &observed, now) {
            self.count_outcome(subject, "wait");
            spans::record_outcome(&reconcile, "wait");
            self.wait(subject, until, WaitReason::Unseen);
            return;
        }
        let seen = self.learn(subject, observed, now);
        let decided = self.decided(subject, &seen, now);
        let outcome = outcome(&seen, &decided);
        self.count_outcome(subject, outcome);
        spans::record_outcome(&reconcile, outcome);
        self.trace_pass(subject, &seen, &decided);
        self.carry_out(subject, &seen, decided, now);
    }

    fn observe(&mut self, subject: &Subject, stored: Arc<Stored>) -> Observed {
        self.draw_seed(subject);
        let (runner, memory) = (&self.runners[subject.lifecycle], &self.memories[subject]);
        let caches = Caches {
            lifecycle: subject.lifecycle,
            runner,
            stores: &self.stores,
            polls: &self.polls,
            memory,
            now: self.settings.clock.now(),
        };
        let now = caches.now;
        let observed = runner.observer(&caches).observe(stored);
        if let Some(memory) = self.memories.get_mut(subject) {
            let before = std::mem::replace(&mut memory.dependencies, observed.dependencies.clone());
            let runner = &mut self.runners[subject.lifecycle];
            runner.depends_on(&subject.name, &before, &observed.dependencies);
            let until = observed.observation.holds_until();
            let is_late = memory.time.passes(now, until, Instant::now());
            if is_late {
                let object = subject.name.of_kind(&runner.subject_kind);
                tracing::warn!(%object, %now, ?until, "an answer had expired before it was given");
                self.settings.counters.update(|c| c.expired_answers += 1);
            }
            // A failed reconciliation did not determine all of its writes.
            if observed.failure.is_none() {
                let (ir, deleting) = (runner.ir, observed.is_deleting());
                let world = &observed.observation.world;
                memory.keep_pauses(|effect| !observed.plans[effect].is_empty());
                memory.keep_refusals(|effect, write| {
                    let mut plans = observed.plans[effect].iter();
                    plans.any(|plan| plan.id == *write) && ir.permitted(world, effect, deleting)
                });
            }
        }
        observed
    }

    /// Draws the seed of an object. It is kept until a value may have been stored, so that a
    /// refused value is equal in every reconciliation.
    fn draw_seed(&mut self, subject: &Subject) {
        let mints = self.runners[subject.lifecycle].ir.mints();
        if let (true, Some(process), Some(memory)) =
            (mints, &mut self.minting, self.memories.get_mut(subject))
        {
            memory.seed.get_or_insert_with(|| Seed::next(process));
        }
    }

    /// Until when an object that was seen may be older than our last write to it, or an answer older than our last call.
    fn unseen_until(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        now: Instant,
    ) -> Option<Instant> {
        let runner = &self.runners[subject.lifecycle];
        let own = (runner.subject_store, subject.name.clone());
        let touched = observed.touched.iter();
        let touched = touched.filter_map(|(input, name)| {
            let store = runner.stores[*input]?;
            Some((store, name.clone()))
        });
        let all = std::iter::once(own).chain(touched);
        let fenced = self.fences.hold(subject, all, now);
        if fenced.is_some() {
            return fenced;
        }
        let called = self.memories[subject].called.clone();
        let is_older = observed.polls.iter().any(|poll| {
            let call = called.get(&poll.0);
            call.is_some_and(|call| self.polls.is_older(subject, poll, *call))
        });
        // Its answer wakes it.
        is_older.then(|| now + RESYNC)
    }

    fn decided(&mut self, subject: &Subject, seen: &Inspection, now: Instant) -> Decided {
        let share = self.random() as f64 / u64::MAX as f64;
        let is_taken = |plan: &Plan| {
            let target = self.target(subject.lifecycle, plan);
            self.write_locks.is_taken(&target)
        };
        let moment = PassContext {
            now,
            leads_until: self.leading.until(now),
            resync: now + RESYNC.mul_f64(1.0 + 0.1 * share),
            is_taken: &is_taken,
            is_turn: &|effect| self.is_turn(subject, effect, now),
        };
        decide(seen, &self.memories[subject], &moment)
    }

    /// Returns the target of a plan of an effect.
    pub(super) fn target(&self, lifecycle: usize, plan: &Plan) -> (usize, Name) {
        let runner = &self.runners[lifecycle];
        let store = plan.input.and_then(|input| runner.stores[input]);
        let store = store.unwrap_or(runner.subject_store);
        (store, plan.name.clone())
    }

    /// Returns the version of all observed objects. With an effect, its changes are excluded.
    pub(super) fn read(
        &self,
        subject: &Subject,
        observed: &Observed,
        besides: Option<&Effect>,
    ) -> u64 {
        let runner = &self.runners[subject.lifecycle];
        let answered = |input: usize, key: &str| self.polls.version(subject.lifecycle, input, key);
        let version = |input: usize, name: &Name| {
            let object = self.stores[runner.stores[input]?].get(name)?;
            object.meta.resource_version.clone()
        };
        let read = observed.read(runner.ir, besides, answered, version);
        // Where time passed that an answer depends on, something else happened.
        read.wrapping_add(self.memories[subject].time.ticks())
    }

    /// Drops the memory of a deleted object.
    fn forget(&mut self, subject: &Subject) {
        self.leave_line(subject);
        let Some(memory) = self.memories.remove(subject) else {
            return;
        };
        let runner = &mut self.runners[subject.lifecycle];
        runner.depends_on(&subject.name, &memory.dependencies, &[]);
        let object = subject.name.of_kind(&runner.subject_kind);
        self.settings.counters.update(|c| c.forget(&object));
        self.uncount_place(subject.lifecycle, memory.counted);
        self.polls.dispatch(subject, &memory.asked);
        self.queue.remove(subject);
    }
}
