//! What is remembered of one object between passes. Nothing here decides a state; all of it may be forgotten in a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::index::IndexKey;
use crate::cluster::observe::{Job, Plan, WriteId};
use crate::cluster::store::Name;
use crate::machine::backoff::Backoff;

/// What a pause or a count belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WriteKind {
    Effect(usize),
    Finalizer,
    Status,
    /// A world that cannot be, or a pass that failed.
    Pass,
}

/// A write that has to wait.
#[derive(Clone, Debug)]
struct Pause {
    id: WriteId,
    failures: u32,
    until: Instant,
    why: String,
    shown: bool,
}

#[derive(Clone, Debug)]
struct Refusal {
    sentence: String,
    times: u32,
    until: Instant,
}

/// Values that the server kept when we last wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settled {
    uid: String,
    desired: u64,
    live: u64,
}

/// The writes of one effect to one object that came about without a reason.
#[derive(Clone, Debug)]
struct Repeated {
    desired: u64,
    reads: u64,
    /// Since something changed that the write is built from, and since it held for a while.
    quick: u32,
    /// With the same content, however long it held.
    equal: u32,
    /// When the last one ended.
    ended: Instant,
    /// When the object was not as wanted again.
    undone: Option<Instant>,
    /// When the next may leave.
    free: Instant,
    why: String,
}

/// What is known of a write that was made once too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repetition {
    /// It is the first that makes the next one wait.
    pub(crate) is_news: bool,
    /// It wrote something else than the one before, and nothing that it is built from has changed.
    pub(crate) differs: bool,
}

/// The brake: a write of an effect to an object repeats the one before if nothing has changed that it is built from, and the object was not as wanted
/// for `HOLDS` in between - whatever it writes, for a builder may give something else each time, and another controller may write the same field. With
/// the third such write in a row people are told why, and each that follows waits, longer each time (`Backoff::REPEATED`).
///
/// Of calls, of a builder that reads what it writes (`apply book from book`), and of writes of the same content that do hold, but for less than
/// `REPEATED_WITHIN`, more are free: `REPEATED_FREELY`.
///
/// Never slowed are: a write after a change of the object or of what is read, also while another one waits; other members of a set, which are other
/// objects; what was refused, failed or met a newer object, which has pauses of its own; merging entries of managed fields.
const QUICK_FREELY: u32 = 2;
const REPEATED_FREELY: u32 = 5;
const HOLDS: Duration = Duration::from_secs(5);
const REPEATED_WITHIN: Duration = Duration::from_secs(60);

/// Since when an object is in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) state: &'static str,
    pub(crate) seen: Instant,
    /// How long it had been there before, by its own report.
    pub(crate) before: Duration,
}

#[derive(Default)]
pub(crate) struct ObjectMemory {
    /// A write is on its way.
    pub(crate) busy: bool,
    /// What the last pass looked for, by input.
    pub(crate) dependencies: Vec<BTreeSet<IndexKey>>,
    /// Since when the status differs from its report.
    pub(crate) differs_since: Option<Instant>,
    /// In which state, and since when: the wall clock may jump, this does not. The time before the first look counts extra.
    pub(crate) entered: Option<Entered>,
    /// What was last reported, and what the server made of it.
    pub(crate) reported: Option<(Option<String>, u64, u64)>,
    /// The polls that the last pass asked.
    pub(crate) asked: BTreeSet<(usize, String)>,
    /// When the last call to what an input asks about ended.
    pub(crate) called: BTreeMap<usize, u64>,
    pauses: BTreeMap<WriteKind, Pause>,
    refusals: BTreeMap<(usize, WriteId), Refusal>,
    settled: BTreeMap<Name, Settled>,
    repeated: BTreeMap<(usize, Name), Repeated>,
}

impl ObjectMemory {
    pub(crate) fn refusal(&self, effect: usize, write: &WriteId) -> Option<String> {
        let refusal = self.refusals.get(&(effect, write.clone()))?;
        (refusal.until > Instant::now()).then(|| refusal.sentence.clone())
    }

    /// Remembers a refusal for exactly this write; older ones of the effect are for objects that are no more.
    pub(crate) fn refuse(
        &mut self,
        effect: usize,
        write: WriteId,
        (sentence, backoff): (String, Backoff),
        random: u64,
    ) {
        let key = (effect, write);
        let times = self.refusals.get(&key).map_or(0, |r| r.times) + 1;
        self.refusals
            .retain(|(e, w), _| *e != effect || w.desired != key.1.desired || w == &key.1);
        let until = Instant::now() + backoff.after(times, random);
        let refusal = Refusal {
            sentence,
            times,
            until,
        };
        self.refusals.insert(key, refusal);
    }

    /// Forgets refusals of writes that are not planned any more.
    pub(crate) fn keep_refusals(&mut self, planned: impl Fn(usize, &WriteId) -> bool) {
        self.refusals
            .retain(|(effect, write), _| planned(*effect, write));
    }

    pub(crate) fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool {
        let settled = self.settled.get(name);
        settled.is_some_and(|s| s.uid == uid && s.desired == desired && s.live == live)
    }

    /// Remembers that the server kept other values than we wrote, or that it kept ours.
    pub(crate) fn settle(&mut self, name: &Name, kept: Option<(String, u64, u64)>) {
        match kept {
            None => self.settled.remove(name),
            Some((uid, desired, live)) => self
                .settled
                .insert(name.clone(), Settled { uid, desired, live }),
        };
    }

    /// Until when exactly this write has to wait.
    pub(crate) fn paused(&self, what: WriteKind, write: &WriteId, now: Instant) -> Option<Instant> {
        let pause = self.pauses.get(&what)?;
        (pause.id == *write && pause.until > now).then_some(pause.until)
    }

    /// Makes a write wait after a failure. A conflict is nobody's fault: it is not shown.
    pub(crate) fn pause(
        &mut self,
        what: WriteKind,
        id: WriteId,
        (why, shown): (String, bool),
        (backoff, at_least): (Backoff, Option<Duration>),
        random: u64,
    ) -> Duration {
        let failures = self.pauses.get(&what).map_or(0, |p| p.failures) + 1;
        let wait = backoff
            .after(failures, random)
            .max(at_least.unwrap_or_default());
        let pause = Pause {
            id,
            failures,
            until: Instant::now() + wait,
            why,
            shown,
        };
        self.pauses.insert(what, pause);
        wait
    }

    pub(crate) fn worked(&mut self, what: WriteKind) {
        self.pauses.remove(&what);
    }

    /// Whether a write waits for this very reason already.
    pub(crate) fn is_known(&self, what: WriteKind, why: &str) -> bool {
        self.pauses.get(&what).is_some_and(|pause| pause.why == why)
    }

    /// Why writes wait, as people are told after the second failure.
    pub(crate) fn trouble(&self) -> Option<&str> {
        let shown = |p: &&Pause| p.shown && p.failures > 1;
        let now = Instant::now();
        let slowed = self.repeated.values().find(|r| r.free > now);
        let paused = self.pauses.values().find(shown).map(|p| p.why.as_str());
        paused.or(slowed.map(|r| r.why.as_str()))
    }

    /// Until when a write waits that was made too often.
    pub(crate) fn slowed(&self, effect: usize, plan: &Plan, now: Instant) -> Option<Instant> {
        let repeated = self.repeated.get(&(effect, plan.name.clone()))?;
        (repeated.reads == plan.reads && repeated.free > now).then_some(repeated.free)
    }

    /// Notes which of the objects that were written are not as wanted any more.
    pub(crate) fn undone(&mut self, is_wanted: impl Fn(usize, &Name) -> bool, now: Instant) {
        let held = self.repeated.iter_mut().filter(|(_, r)| r.undone.is_none());
        for ((effect, name), repeated) in held {
            repeated.undone = is_wanted(*effect, name).then_some(now);
        }
    }

    /// Counts a write that ended well; says so if it was made too often, and makes the next one wait.
    pub(crate) fn repeat(
        &mut self,
        (effect, reads_target): (usize, bool),
        plan: &Plan,
        why: impl FnOnce(bool) -> String,
    ) -> Option<Repetition> {
        let now = Instant::now();
        let key = (effect, plan.name.clone());
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
    pub(crate) fn why_slowed(&self, effect: usize, name: &Name) -> &str {
        let repeated = self.repeated.get(&(effect, name.clone()));
        repeated.map_or("", |r| r.why.as_str())
    }

    /// When something that was put off is due.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        let pauses = self.pauses.values().map(|p| p.until);
        let refusals = self.refusals.values().map(|r| r.until);
        let slowed = self.repeated.values().map(|r| r.free);
        pauses
            .chain(refusals)
            .chain(slowed)
            .filter(|at| *at > now)
            .min()
    }
}
