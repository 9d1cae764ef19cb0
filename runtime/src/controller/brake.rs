//! The brake: repeated writes without a reason are reported and slowed down.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Controller;
use super::queue::Subject;
use crate::cluster::act::News;
use crate::cluster::observe::{Job, Observed, Plan};
use crate::cluster::store::Name;
use crate::machine::backoff::Backoff;
use crate::machine::compare::contenders;
use crate::machine::ir::{Source, Verb};
use crate::machine::policy::Decision;

/// The writes of one effect to one object that came about without a reason.
#[derive(Clone, Debug)]
struct Repeated {
    desired: u64,
    reads: u64,
    /// Writes since a source of the write changed, and since a write lasted for a while.
    quick: u32,
    /// Writes with equal content, regardless of how long they lasted.
    equal: u32,
    /// When the last one ended.
    ended: Instant,
    /// When the object was not as wanted again.
    undone: Option<Instant>,
    /// When the next may leave.
    free: Instant,
    why: String,
}

/// Description of a write that was repeated once too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repetition {
    /// It is the first that makes the next one wait.
    pub(crate) is_news: bool,
    /// It wrote something else than the one before, and nothing that it is built from has changed.
    pub(crate) differs: bool,
}

/// The brake detects repeated writes of an effect to an object. A write repeats the previous one if
/// none of its sources has changed and the object was not as desired for `HOLDS` in between. Its
/// content does not matter, because a builder may return another value each time, and another
/// controller may write the field. The third such write in a row reports the reason to users. Each
/// following one waits, longer each time (`Backoff::REPEATED`).
///
/// More writes are free (`REPEATED_FREELY`) for calls, and for a builder that reads its own target
/// (`apply book from book`). This also holds for writes of equal content that last, but less than
/// `REPEATED_WITHIN`.
///
/// Some writes are never slowed. These are writes after a change of the object or its inputs, even
/// while another one waits, and writes to other members of a set. Refused, failed and conflicting
/// writes have their own pauses. Merging entries of managed fields is free as well.
const QUICK_FREELY: u32 = 2;
const REPEATED_FREELY: u32 = 5;
const HOLDS: Duration = Duration::from_secs(5);
const REPEATED_WITHIN: Duration = Duration::from_secs(60);

/// An effect and the object that it wrote: its input and its name.
type Written = (usize, Option<usize>, Name);

/// The writes of one object that repeat the one before.
#[derive(Default)]
pub(crate) struct Brake {
    repeated: BTreeMap<Written, Repeated>,
}

impl Brake {
    /// Returns the reason why a write waits, as reported to users.
    pub(crate) fn trouble(&self, now: Instant) -> Option<&str> {
        let slowed = self.repeated.values().find(|r| r.free > now);
        slowed.map(|r| r.why.as_str())
    }

    /// When writes that wait are free.
    pub(crate) fn put_off(&self) -> impl Iterator<Item = Instant> {
        self.repeated.values().map(|r| r.free)
    }

    /// Until when a write waits that was made too often.
    pub(crate) fn slowed(&self, effect: usize, plan: &Plan, now: Instant) -> Option<Instant> {
        let repeated = self.repeated.get(&written(effect, plan))?;
        (repeated.reads == plan.reads && repeated.free > now).then_some(repeated.free)
    }

    /// Notes which of the objects that were written are not as wanted any more.
    pub(crate) fn undone(&mut self, is_wanted: impl Fn(&Written) -> bool, now: Instant) {
        let held = self.repeated.iter_mut().filter(|(_, r)| r.undone.is_none());
        for (of, repeated) in held {
            repeated.undone = is_wanted(of).then_some(now);
        }
    }

    /// Counts a successful write. Returns a repetition if it was made too often, and delays the
    /// next one.
    pub(crate) fn repeat(
        &mut self,
        (effect, reads_target): (usize, bool),
        plan: &Plan,
        why: impl FnOnce(bool) -> String,
    ) -> Option<Repetition> {
        let now = Instant::now();
        let key = written(effect, plan);
        self.repeated
            .retain(|of, r| *of == key || now < r.free.max(r.ended) + REPEATED_WITHIN);
        let before = self.repeated.remove(&key);
        let (desired, reads) = (plan.id.desired, plan.reads);
        let held = |r: &Repeated| r.undone.map_or(Duration::ZERO, |at| at - r.ended);
        let quick = before
            .as_ref()
            .filter(|r| r.reads == reads && held(r) < HOLDS);
        let soon = |r: &&Repeated| now <= r.free.max(r.ended) + REPEATED_WITHIN;
        let equal = before
            .as_ref()
            .filter(soon)
            .filter(|r| r.desired == desired);
        let count = 1 + quick.map_or(0, |r| r.quick);
        let equals = 1 + equal.map_or(0, |r| r.equal);
        let free = match reads_target || plan.job == Job::Call {
            true => REPEATED_FREELY,
            false => QUICK_FREELY,
        };
        let too_often = count.saturating_sub(free);
        let too_often = too_often.max(equals.saturating_sub(REPEATED_FREELY));
        let differs = quick.is_some_and(|r| r.desired != desired);
        let wait = Backoff::REPEATED.after(too_often, u64::MAX / 2);
        let repetition = (too_often > 0).then_some(Repetition {
            is_news: too_often == 1,
            differs,
        });
        let repeated = Repeated {
            desired,
            reads,
            quick: count,
            equal: equals,
            ended: now,
            undone: None,
            free: repetition.map_or(now, |_| now + wait),
            why: repetition.map_or_else(String::new, |r| why(r.differs)),
        };
        self.repeated.insert(key, repeated);
        repetition
    }

    /// Why the last write to an object was one too many.
    pub(crate) fn why_slowed(&self, effect: usize, plan: &Plan) -> &str {
        let repeated = self.repeated.get(&written(effect, plan));
        repeated.map_or("", |r| r.why.as_str())
    }
}

fn written(effect: usize, plan: &Plan) -> Written {
    (effect, plan.input, plan.name.clone())
}

impl Controller {
    /// Delays the next write of an effect to an object if this one had no reason, and reports the
    /// reason.
    pub(super) fn brake(&mut self, subject: &Subject, effect: usize, plan: &Plan) {
        let runner = &self.runners[subject.lifecycle];
        let declared = &runner.ir.effects[effect];
        let object = plan.name.of_kind(runner.kind_of(plan)).to_string();
        let why = |differs: bool| why_again(declared.name, &object, plan, differs);
        let reads_target = declared.from.contains(&Source::Input(declared.target));
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let repeated = memory.brake.repeat((effect, reads_target), plan, why);
        if !repeated.is_some_and(|repeated| repeated.is_news) {
            return;
        }
        let note = memory.brake.why_slowed(effect, plan).to_owned();
        tracing::warn!(object, "slowing down: {note}");
        let (about, kind) = (subject.name.clone(), runner.subject_kind.clone());
        let store = runner.subject_store;
        let stored = self.stores[store].get(&about);
        let uid = stored.and_then(|stored| stored.meta.uid.clone());
        let news = News {
            warning: true,
            reason: "RepeatedWrites".to_owned(),
            note,
        };
        self.send_event(subject.lifecycle, &kind, (&about, uid.as_deref()), news);
    }

    /// Notes which of the objects that were written are not as wanted any more: an apply is planned exactly then, anything else where it is next.
    pub(super) fn note_undone(
        &mut self,
        subject: &Subject,
        observed: &Observed,
        (next, now): (Decision, Instant),
    ) {
        let ir = self.runners[subject.lifecycle].ir;
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let is_wanted = |of: &Written| {
            let effect = of.0;
            let is_due = ir.effects[effect].verb == Verb::Apply || next == Decision::Effect(effect);
            let mut plans = observed.plans[effect].iter();
            is_due && plans.any(|plan| written(effect, plan) == *of)
        };
        memory.brake.undone(is_wanted, now);
    }
}

/// Why a write is made again and again, as far as the object shows it.
fn why_again(effect: &str, object: &str, plan: &Plan, differs: bool) -> String {
    let raw = plan.live.as_ref().and_then(|live| live.raw.as_deref());
    let others = raw.map(|raw| contenders(&plan.body, raw, &plan.manager, &plan.replaced));
    let others: Vec<_> = others.into_iter().flatten().collect();
    match (plan.job, others.as_slice()) {
        (Job::Call, _) => {
            format!("`{effect}` is called again and again, for what it changes does not stay")
        }
        (_, [_, ..]) => {
            let others = others.iter().map(|other| format!("`{other}`"));
            let others = others.collect::<Vec<_>>().join(" and ");
            format!(
                "{object} is changed by field manager {others} whenever it is written: one of them must leave these fields alone"
            )
        }
        (_, []) if differs => format!(
            "`{effect}` builds another {object} each time, and nothing that it reads has changed: its builder must return the same for the same"
        ),
        (Job::Create, []) => format!("{object} is deleted whenever it is made"),
        (Job::Delete, []) => format!("{object} is made whenever it is deleted"),
        (_, []) => format!("{object} is changed whenever it is written"),
    }
}
