//! Conclusions from an observation beyond its world. They are the time of entry into its state,
//! results that the checker ruled out, the polls, and the status to report.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::Controller;
use super::decide::Inspection;
use super::lengths::length;
use super::memory::{Entered, WriteKind};
use super::queue::Subject;
use super::report::{Draft, Notes, draft, gives_up, holds_up, old_status, timeless, waits};
use super::ruled_out::{self, RuledOut};
use crate::cluster::observe::{Failure, Observed, WriteId};
use crate::lifecycle::Stored;
use crate::machine::backoff::Backoff;
use crate::machine::compare::fingerprint;
use crate::machine::ir::{Lifecycle, Phase};
use crate::machine::policy::{Class, Decision};

/// Fallback for a poll without an interval. The operator does not start with one.
const NO_INTERVAL: Duration = Duration::from_secs(30);

/// Overdue state of an object, at present or in the future.
#[derive(Default)]
struct Overdue {
    at: Option<Instant>,
    since: Option<String>,
}

impl Overdue {
    /// Adds a state that moves by itself, with the time that it may take.
    fn add(&mut self, state: &str, entered: &Entered, (limit, now): (Duration, Instant)) {
        let spent = entered.before + now.duration_since(entered.seen);
        if spent < limit {
            let at = now + (limit - spent);
            self.at = Some(self.at.map_or(at, |other| other.min(at)));
            return;
        }
        let limit = in_words(limit);
        let said = || format!("it has been {state} for more than {limit}");
        self.since.get_or_insert_with(said);
    }
}

impl Controller {
    /// Records an observation, and drafts the status to report.
    pub(super) fn learn(
        &mut self,
        subject: &Subject,
        observed: Observed,
        now: Instant,
    ) -> Inspection {
        let ir = self.runners[subject.lifecycle].ir;
        let world = &observed.observation.world;
        let (mut class, mut next) = observed.classify(ir);
        let ruled_out = self.ruled_out(subject, &observed, (class, next), now);
        if ruled_out.is_some() {
            (class, next) = (Class::Contradiction, Decision::Rest);
        }
        tracing::debug!(?class, ?next, world = world.describe(ir), "looked");
        let overdue = match observed.failure {
            None => self.enter(subject, &observed, class, now),
            Some(_) => Overdue::default(),
        };
        self.count_place(subject, class, overdue.since.is_some());
        self.note_trouble(subject, &observed, ruled_out.as_ref());
        self.note_undone(subject, &observed, (next, now));
        self.register_polls(subject, &observed);
        self.note_flaws(subject, &observed, class);
        let unanswered_until = self.polls.open_until(subject, &observed.polls, now);
        let notes = ((class, next), ruled_out.as_ref(), overdue.since);
        // A process that has just started would report for each object that nothing answers, and
        // correct that a moment later.
        let report = match unanswered_until {
            Some(_) if !gives_up(ir, &observed.observation.world, next) => None,
            Some(_) | None => self.draft(subject, &observed, notes, now),
        };
        if let Some(memory) = self.memories.get_mut(subject) {
            let since = memory.differs_since.unwrap_or(now);
            memory.differs_since = report.is_some().then_some(since);
        }
        Inspection {
            ir,
            observed,
            class,
            next,
            ruled_out,
            report,
            unanswered_until,
            overdue_at: overdue.at,
        }
    }

    /// Returns the observation that the checker ruled out, if any.
    fn ruled_out(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        (class, next): (Class, Decision),
        now: Instant,
    ) -> Option<RuledOut> {
        let ir = self.runners[subject.lifecycle].ir;
        let random = self.random();
        let memory = self.memories.get_mut(subject)?;
        let mut outcomes = std::mem::take(&mut memory.outcomes);
        let read = |besides: Option<&_>| self.read(subject, observed, besides);
        let astray = outcomes.check_outcome(ir, observed, read, (now, random));
        self.memories.get_mut(subject)?.outcomes = outcomes;
        let is_left_alone = ir.is_silent(class) || ir.is_suspended(class);
        if observed.failure.is_some() || is_left_alone {
            return None;
        }
        ruled_out::in_this_world(ir, observed, (class, next)).or(astray)
    }

    /// Notes since when the object is where it is.
    fn enter(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        class: Class,
        now: Instant,
    ) -> Overdue {
        let runner = &self.runners[subject.lifecycle];
        let (ir, machine) = (runner.ir, &*runner.machine);
        let wall = self.settings.clock.now();
        let (Class::State(_), Some(memory)) = (class, self.memories.get_mut(subject)) else {
            return Overdue::default();
        };
        let states = ir.counting_states(&observed.observation.world, class);
        let before = std::mem::take(&mut memory.entered);
        let mut overdue = Overdue::default();
        for declared in states.into_iter().map(|state| &ir.states[state]) {
            let entered = match before.iter().find(|one| one.state == declared.name) {
                Some(entered) => *entered,
                None => Entered {
                    state: declared.name,
                    seen: now,
                    before: match before.is_empty() {
                        false => Duration::ZERO,
                        true => reported_for(observed.observation.subject(), declared.phase, wall),
                    },
                },
            };
            memory.entered.push(entered);
            if declared.phase != Phase::Pending || declared.wakes.is_some() {
                continue;
            }
            let limit = length(machine, &declared.overdue, &observed.observation).0;
            overdue.add(declared.name, &entered, (limit, now));
        }
        overdue
    }

    /// Reports the failure of the object as a whole, and reconciles it again later.
    fn note_trouble(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        ruled_out: Option<&RuledOut>,
    ) {
        let runner = &self.runners[subject.lifecycle];
        let object = subject.name.of_kind(&runner.subject_kind);
        let failure = observed
            .failure
            .as_ref()
            .filter(|_| observed.set_aside.is_none());
        // An unreadable object itself is reported once, when it is seen.
        let said = failure.filter(|failure| !matches!(failure, Failure::Unreadable(_)));
        if let Some(failure) = said {
            tracing::warn!(%object, "nothing can be done for {object}: {failure}");
        }
        if let Some(ruled_out) = ruled_out {
            let said = ruled_out.sentence(runner.ir, &observed.observation.world);
            tracing::error!(%object, reason = ruled_out.reason(), "{object}: {said}");
        }
        if ruled_out.is_some() || failure.is_some_and(Failure::is_ruled_out) {
            let counters = &self.settings.counters;
            counters.update(|c| *c.contradictions.entry(object).or_default() += 1);
        }
        let random = self.random();
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let is_retried = match failure {
            Some(Failure::Undecodable { .. } | Failure::Unreadable(_)) => false,
            Some(_) => true,
            None => ruled_out.is_some(),
        };
        if is_retried {
            let why = (String::new(), false);
            let id = WriteId::default();
            memory.pause(WriteKind::Pass, id, why, (Backoff::OBJECT, None), random);
        } else {
            memory.worked(WriteKind::Pass);
        }
    }

    /// Keeps the observation for its polls.
    fn register_polls(&mut self, subject: &Subject, observed: &Observed) {
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let asked: BTreeSet<_> = observed.polls.iter().cloned().collect();
        if asked.is_empty() && memory.asked.is_empty() {
            return;
        }
        let runner = &self.runners[subject.lifecycle];
        let (ir, machine) = (runner.ir, &*runner.machine);
        let every = |input: usize| match &ir.inputs[input].every {
            Some(every) => length(machine, every, &observed.observation).0,
            None => NO_INTERVAL,
        };
        let before = std::mem::replace(&mut memory.asked, asked.clone());
        self.polls
            .register(subject, &before, &asked, (&observed.observation, every));
    }

    /// Returns the status to report if it contains anything new.
    fn draft(
        &self,
        subject: &Subject,
        observed: &Observed,
        ((class, next), ruled_out, overdue): ((Class, Decision), Option<&RuledOut>, Option<String>),
        now: Instant,
    ) -> Option<Draft> {
        let (runner, memory) = (&self.runners[subject.lifecycle], &self.memories[subject]);
        // The previous status stays, because it now belongs to the other controller.
        if runner.ir.is_silent(class) {
            return None;
        }
        let trouble = memory.trouble(now);
        // An object that is being deleted gets no report, unless its cleanup keeps failing.
        let is_held_up = runner.ir.has_finalizer() && trouble.is_some();
        let is_held_up = is_held_up || is_stuck(observed, runner.ir) || ruled_out.is_some();
        let (ir, world) = (runner.ir, &observed.observation.world);
        let is_held_up = is_held_up || holds_up(ir, world).is_some();
        let is_held_up = is_held_up || waits(ir, world, next) || gives_up(ir, world, next);
        if observed.is_deleting() && !is_held_up {
            return None;
        }
        let notes = Notes {
            class,
            next,
            fields: &runner.fields,
            failure: observed.failure.as_ref(),
            ruled_out,
            trouble,
            overdue,
            owes_recovery: memory.owes_recovery,
            now: self.settings.clock.now(),
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
}

/// Giving back was refused: a person must look.
fn is_stuck(observed: &Observed, ir: &Lifecycle) -> bool {
    let mut undos = ir.effects.iter().filter(|e| e.is_undo || e.is_step);
    ir.has_finalizer() && undos.any(|e| observed.observation.world.get(e.refused) == 1)
}

/// Returns the time since which the last status has reported that the object is not ready, for use
/// after a restart. A future time counts as zero, because the wall clock was set back.
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
