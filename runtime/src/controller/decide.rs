//! What a pass does, from what was seen, what is remembered, and what time it is. Pure: whoever carries it out is `carry_out`.

use std::time::Duration;

use tokio::time::Instant;

use super::in_flight::WriteRecord;
use super::memory::{ObjectMemory, WriteKind, status_id, subject_id};
use super::report::{Draft, gives_up};
use super::ruled_out::RuledOut;
use super::why::Why;
use crate::cluster::observe::{Job, Observed, Plan};
use crate::machine::ir::{Lifecycle, Phase};
use crate::machine::policy::{Class, Decision};

/// A status that differs for this long is reported although effects go on, or others are about to act.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// How long a call may take; a lease outlives it.
pub(super) const LONGEST_CALL: Duration = Duration::from_secs(8);
/// When a Lease that is too short for a call is looked at again.
const LEASE_RENEWAL: Duration = Duration::from_secs(1);

/// What a pass does.
#[derive(Debug)]
pub(crate) enum Decided {
    /// Exactly one thing leaves.
    Write(Box<WriteRecord>),
    /// Nothing leaves before this time, unless something changes.
    Wait { until: Instant, why: Why },
    /// Nothing is to be done; it is looked at again at this time all the same.
    Rest { until: Instant },
}

/// What a look showed.
pub(crate) struct Seen {
    pub(crate) ir: &'static Lifecycle,
    pub(crate) observed: Observed,
    pub(crate) class: Class,
    pub(crate) next: Decision,
    /// What the checker ruled out, and this look shows.
    pub(crate) ruled_out: Option<RuledOut>,
    /// The status to report, if it says anything new.
    pub(crate) report: Option<Draft>,
    /// Until when the status says nothing new, for it is not known yet what polls answer.
    pub(crate) unanswered_until: Option<Instant>,
    /// When it has taken too long to be where it is.
    pub(crate) overdue_at: Option<Instant>,
}

/// When it is, and what else is going on.
pub(crate) struct Moment<'a> {
    pub(crate) now: Instant,
    /// Until when we may write.
    pub(crate) leads_until: Option<Instant>,
    /// When everything is looked at again.
    pub(crate) resync: Instant,
    /// Whether another object of ours writes what a plan of an effect writes.
    pub(crate) is_taken: &'a dyn Fn(&Plan) -> bool,
    /// Whether a call of an effect may leave now; else from when on, if that is known.
    pub(crate) is_turn: &'a dyn Fn(usize) -> Result<(), Option<Instant>>,
}

/// Decides the one thing that a pass does. Whatever it waits for, it looks again when the time may have changed an answer.
pub(crate) fn decide(seen: &Seen, memory: &ObjectMemory, at: &Moment<'_>) -> Decided {
    let decided = undated(seen, memory, at);
    let due = memory.time.due().filter(|due| match &decided {
        Decided::Write(_) => false,
        Decided::Wait { until, .. } | Decided::Rest { until } => due < until,
    });
    match due {
        Some(until) => Decided::Wait {
            until,
            why: Why::Time,
        },
        None => decided,
    }
}

fn undated(seen: &Seen, memory: &ObjectMemory, at: &Moment<'_>) -> Decided {
    let differs = memory.differs_since;
    if differs.is_some_and(|since| at.now >= since + REPORT_AFTER)
        && let Some(status) = status(seen, memory, at.now)
    {
        return Decided::Write(Box::new(status));
    }
    // What is given up is told while somebody can still read it.
    let world = &seen.observed.observation.world;
    if gives_up(seen.ir, world, seen.next)
        && let Some(status) = status(seen, memory, at.now)
    {
        return Decided::Write(Box::new(status));
    }
    if let Some(left) = leftover(seen, memory, at.now) {
        return left;
    }
    let step = match seen.next {
        Decision::Claim => finalizer(seen, memory, true, at.now),
        Decision::Release => finalizer(seen, memory, false, at.now),
        Decision::Effect(number) => effect(seen, memory, number, at),
        Decision::Rest => None,
    };
    // What others are about to do would make the status untrue at once.
    let report = || match seen.moves_on() {
        true => None,
        false => status(seen, memory, at.now).map(|status| Decided::Write(Box::new(status))),
    };
    step.or_else(report)
        .unwrap_or_else(|| idle(seen, memory, at))
}

/// Nothing leaves: when something that was put off is due.
fn idle(seen: &Seen, memory: &ObjectMemory, at: &Moment<'_>) -> Decided {
    let due = memory.differs_since.map(|since| since + REPORT_AFTER);
    let more = [
        (seen.unanswered_until, Why::Unanswered),
        (due, Why::Report),
        (seen.overdue_at, Why::Overdue),
    ];
    let more = more.into_iter().filter_map(|(at, why)| Some((at?, why)));
    let all = memory.put_off().chain(more);
    match all.filter(|(until, _)| *until > at.now).min() {
        Some((until, why)) if until < at.resync => Decided::Wait { until, why },
        Some(_) | None => Decided::Rest { until: at.resync },
    }
}

/// The first write of an effect that is neither refused nor has to wait.
fn effect(seen: &Seen, memory: &ObjectMemory, number: usize, at: &Moment<'_>) -> Option<Decided> {
    let mut plans = seen.observed.plans[number].iter();
    let plan = plans.find(|plan| {
        let what = WriteKind::Effect(number);
        memory.refusal(number, &plan.id, at.now).is_none()
            && memory.paused(what, &plan.id, at.now).is_none()
            && memory.brake.slowed(number, plan, at.now).is_none()
    })?;
    // Its provider must not hear of it after another process has begun to lead.
    let leads = |until: Instant| until >= at.now + LONGEST_CALL;
    if plan.job == Job::Call && !at.leads_until.is_some_and(leads) {
        let (until, why) = (at.now + LEASE_RENEWAL, Why::Lease);
        return Some(Decided::Wait { until, why });
    }
    if plan.job == Job::Call
        && let Err(until) = (at.is_turn)(number)
    {
        let (until, why) = (until.unwrap_or(at.resync), Why::Provider);
        return Some(Decided::Wait { until, why });
    }
    if plan.job != Job::Call && (at.is_taken)(plan) {
        let (until, why) = (at.resync, Why::Writing);
        return Some(Decided::Wait { until, why });
    }
    let (effect, plan) = (number, plan.clone());
    let write = WriteRecord::Effect { effect, plan };
    Some(Decided::Write(Box::new(write)))
}

/// The first write that takes away what an older version left. It comes before what this one does, so that what a record held goes on; not where the object is
/// to be left alone, and while it is deleted not where that waits.
fn leftover(seen: &Seen, memory: &ObjectMemory, now: Instant) -> Option<Decided> {
    let (ir, world) = (seen.ir, &seen.observed.observation.world);
    let is_left_alone = match seen.observed.is_deleting() {
        true => ir.holds_deletion(world).is_some(),
        false => {
            let class = seen.class;
            class == Class::Contradiction || ir.is_silent(class) || ir.is_suspended(class)
        }
    };
    if is_left_alone {
        return None;
    }
    let mut leftovers = seen.observed.leftovers.iter();
    let left = leftovers.find(|left| {
        let paused = memory.paused(WriteKind::Leftover, &left.plan.id, now);
        paused.is_none()
    })?;
    let write = WriteRecord::Leftover(Box::new(left.clone()));
    Some(Decided::Write(Box::new(write)))
}

fn finalizer(seen: &Seen, memory: &ObjectMemory, claim: bool, now: Instant) -> Option<Decided> {
    let subject = seen.observed.observation.subject();
    let paused = memory.paused(WriteKind::Finalizer, &subject_id(subject), now);
    let subject = subject.clone();
    let write = || Decided::Write(Box::new(WriteRecord::Finalizer { claim, subject }));
    paused.is_none().then(write)
}

fn status(seen: &Seen, memory: &ObjectMemory, now: Instant) -> Option<WriteRecord> {
    let draft = seen.report.clone()?;
    let subject = seen.observed.observation.subject();
    let id = status_id(&draft, subject);
    let paused = memory.paused(WriteKind::Status, &id, now);
    let slowed = || memory.contested?.slowed(&draft, subject, now);
    let paused = paused.or_else(slowed);
    let subject = subject.clone();
    let write = || WriteRecord::Status { draft, subject };
    paused.is_none().then(write)
}

impl Seen {
    /// Whether nothing is in the way, and the outside has promised to act.
    fn moves_on(&self) -> bool {
        let Class::State(state) = self.class else {
            return false;
        };
        let declared = &self.ir.states[state];
        declared.phase == Phase::Pending && declared.wakes.is_none() && self.next == Decision::Rest
    }
}

#[cfg(test)]
mod tests;
