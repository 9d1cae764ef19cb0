//! Decision of a reconcile, from the observation, the memory, and the time. Pure: `carry_out`
//! applies it.

use std::time::Duration;

use tokio::time::Instant;

use super::in_flight::WriteRecord;
use super::memory::{ObjectMemory, WriteKind, status_id, subject_id};
use super::report::{Draft, gives_up};
use super::ruled_out::RuledOut;
use super::why::WaitReason;
use crate::cluster::observe::{Job, Observed, Plan};
use crate::machine::ir::{Lifecycle, Phase};
use crate::machine::policy::{Class, Decision};

/// A status that differs for this long is reported although effects go on, or others are about to act.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// How long a call may take; a lease outlives it.
pub(super) const LONGEST_CALL: Duration = Duration::from_secs(8);
/// Delay before a Lease that is too short for a call is checked again.
const LEASE_RENEWAL: Duration = Duration::from_secs(1);

/// Decision of a reconcile.
#[derive(Debug)]
pub(crate) enum Decided {
    /// Exactly one thing leaves.
    Write(Box<WriteRecord>),
    /// Nothing leaves before this time, unless something changes.
    Wait { until: Instant, why: WaitReason },
    /// Nothing needs to be done. The object is reconciled again at this time.
    Rest { until: Instant },
}

/// Result of an observation.
pub(crate) struct Inspection {
    pub(crate) ir: &'static Lifecycle,
    pub(crate) observed: Observed,
    pub(crate) class: Class,
    pub(crate) next: Decision,
    /// Observation that the checker ruled out.
    pub(crate) ruled_out: Option<RuledOut>,
    /// Status to report, if it contains anything new.
    pub(crate) report: Option<Draft>,
    /// Time until which no new status is reported, because the answers of polls are not known yet.
    pub(crate) unanswered_until: Option<Instant>,
    /// When it has taken too long to be where it is.
    pub(crate) overdue_at: Option<Instant>,
}

/// Current time and the other activity in the process.
pub(crate) struct PassContext<'a> {
    pub(crate) now: Instant,
    /// Until when we may write.
    pub(crate) leads_until: Option<Instant>,
    /// Time of the next full reconciliation.
    pub(crate) resync: Instant,
    /// Returns true if another object of ours writes the target of a plan.
    pub(crate) is_taken: &'a dyn Fn(&Plan) -> bool,
    /// Succeeds if a call of an effect may leave now. Otherwise it fails with the earliest time, if
    /// that is known.
    pub(crate) is_turn: &'a dyn Fn(usize) -> Result<(), Option<Instant>>,
}

/// Decides the one action of a reconciliation. While it waits, it reconciles again at each time
/// that may change a fact.
pub(crate) fn decide(seen: &Inspection, memory: &ObjectMemory, at: &PassContext<'_>) -> Decided {
    let decided = undated(seen, memory, at);
    let due = memory.time.due().filter(|due| match &decided {
        Decided::Write(_) => false,
        Decided::Wait { until, .. } | Decided::Rest { until } => due < until,
    });
    match due {
        Some(until) => Decided::Wait {
            until,
            why: WaitReason::Time,
        },
        None => decided,
    }
}

fn undated(seen: &Inspection, memory: &ObjectMemory, at: &PassContext<'_>) -> Decided {
    let differs = memory.differs_since;
    if differs.is_some_and(|since| at.now >= since + REPORT_AFTER)
        && let Some(status) = status(seen, memory, at.now)
    {
        return Decided::Write(Box::new(status));
    }
    // A give-up is reported while the object can still be read.
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
        Decision::Effect(number) => turn(seen, memory, number, at),
        Decision::Rest => None,
    };
    // Pending changes by others would make the status outdated at once.
    let report = || match seen.moves_on() {
        true => None,
        false => status(seen, memory, at.now).map(|status| Decided::Write(Box::new(status))),
    };
    step.or_else(report)
        .unwrap_or_else(|| idle(seen, memory, at))
}

/// Nothing leaves: when something that was put off is due.
fn idle(seen: &Inspection, memory: &ObjectMemory, at: &PassContext<'_>) -> Decided {
    let due = memory.differs_since.map(|since| since + REPORT_AFTER);
    let more = [
        (seen.unanswered_until, WaitReason::Unanswered),
        (due, WaitReason::Report),
        (seen.overdue_at, WaitReason::Overdue),
    ];
    let more = more.into_iter().filter_map(|(at, why)| Some((at?, why)));
    let all = memory.put_off().chain(more);
    match all.filter(|(until, _)| *until > at.now).min() {
        Some((until, why)) if until < at.resync => Decided::Wait { until, why },
        Some(_) | None => Decided::Rest { until: at.resync },
    }
}

/// Returns the write of the chosen effect, or that of an effect of another region if the chosen one
/// has to wait.
fn turn(
    seen: &Inspection,
    memory: &ObjectMemory,
    chosen: usize,
    at: &PassContext<'_>,
) -> Option<Decided> {
    let (ir, world) = (seen.ir, &seen.observed.observation.world);
    if seen.observed.is_deleting() {
        return effect(seen, memory, chosen, at);
    }
    let mut waits = None;
    for number in ir.turns(world, chosen) {
        let turn = match ir.needs_claim(number) && !ir.is_claimed(world) {
            true => finalizer(seen, memory, true, at.now),
            false => effect(seen, memory, number, at),
        };
        match turn {
            Some(Decided::Wait { .. } | Decided::Rest { .. }) => waits = waits.or(turn),
            Some(Decided::Write(_)) => return turn,
            None => {}
        }
    }
    waits
}

/// The first write of an effect that is neither refused nor has to wait.
fn effect(
    seen: &Inspection,
    memory: &ObjectMemory,
    number: usize,
    at: &PassContext<'_>,
) -> Option<Decided> {
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
        let (until, why) = (at.now + LEASE_RENEWAL, WaitReason::Lease);
        return Some(Decided::Wait { until, why });
    }
    if plan.job == Job::Call
        && let Err(until) = (at.is_turn)(number)
    {
        let (until, why) = (until.unwrap_or(at.resync), WaitReason::Provider);
        return Some(Decided::Wait { until, why });
    }
    if plan.job != Job::Call && (at.is_taken)(plan) {
        let (until, why) = (at.resync, WaitReason::Writing);
        return Some(Decided::Wait { until, why });
    }
    let (effect, plan) = (number, plan.clone());
    let write = WriteRecord::Effect { effect, plan };
    Some(Decided::Write(Box::new(write)))
}

/// Returns the first write that removes leftovers of an older version. It precedes other writes, so
/// that the content of a record is kept. Returns `None` if the object is left unchanged, or if its
/// deletion waits.
fn leftover(seen: &Inspection, memory: &ObjectMemory, now: Instant) -> Option<Decided> {
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

fn finalizer(
    seen: &Inspection,
    memory: &ObjectMemory,
    claim: bool,
    now: Instant,
) -> Option<Decided> {
    let subject = seen.observed.observation.subject();
    let paused = memory.paused(WriteKind::Finalizer, &subject_id(subject), now);
    let subject = subject.clone();
    let write = || Decided::Write(Box::new(WriteRecord::Finalizer { claim, subject }));
    paused.is_none().then(write)
}

fn status(seen: &Inspection, memory: &ObjectMemory, now: Instant) -> Option<WriteRecord> {
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

impl Inspection {
    /// Returns true if nothing is in the way, and the environment has promised to act.
    fn moves_on(&self) -> bool {
        let world = &self.observed.observation.world;
        let mut states = self.ir.current_states(world, self.class).into_iter();
        let is_under_way = |state| {
            let declared = &self.ir.states[state];
            declared.phase == Phase::Pending && declared.wakes.is_none()
        };
        states.any(is_under_way) && self.next == Decision::Rest
    }
}

#[cfg(test)]
mod tests;
