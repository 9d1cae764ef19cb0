//! Memory of one object between reconciles. Nothing in it decides a state, and a restart may lose
//! all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::brake::Brake;
use super::contested::Contested;
use super::outcomes::Outcomes;
use super::report::Draft;
use super::time::Time;
use super::why::WaitReason;
use crate::cluster::index::IndexKey;
use crate::cluster::observe::WriteId;
use crate::cluster::store::Name;
use crate::counters::CountedState;
use crate::lifecycle::Stored;
use crate::lifecycle::random::Seed;
use crate::machine::backoff::Backoff;
use crate::provider::Turn;

/// Subject of a pause or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WriteKind {
    Effect(usize),
    Finalizer,
    Leftover,
    Status,
    /// A contradictory world, or a failed reconciliation.
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
    /// Keys that the last reconcile looked up, by input.
    pub(crate) dependencies: Vec<BTreeSet<IndexKey>>,
    /// Since when the status differs from its report.
    pub(crate) differs_since: Option<Instant>,
    /// Current states that count for Ready, each with the time of its start. The wall clock may jump,
    /// this clock does not. The time before the first reconciliation is counted separately.
    pub(crate) entered: Vec<Entered>,
    /// The place at which it is counted.
    pub(crate) counted: Option<CountedState>,
    /// Last report: the uid of the object, and fingerprints of the report as sent and as the server
    /// kept it.
    pub(crate) reported: Option<(Option<String>, u64, u64)>,
    /// True if an Event reported the object as not ready, and none has reported its recovery yet.
    pub(crate) owes_recovery: bool,
    /// Repetitions of that status update.
    pub(crate) contested: Option<Contested>,
    /// Polls that the last reconciliation queried.
    pub(crate) asked: BTreeSet<(usize, String)>,
    /// End of the last call to the subject of an input.
    pub(crate) called: BTreeMap<usize, u64>,
    /// Outcomes of the last effects.
    pub(crate) outcomes: Outcomes,
    /// Invalid durations in the object, as reported to users.
    pub(crate) flaws: BTreeMap<usize, String>,
    /// Until when the last answers hold.
    pub(crate) time: Time,
    /// Its place in the line of a provider, while it waits to call.
    pub(crate) turn: Option<Turn>,
    /// Seed of minted values, until one may have been kept.
    pub(crate) seed: Option<Seed>,
    pauses: BTreeMap<WriteKind, Pause>,
    refusals: BTreeMap<(usize, WriteId), Refusal>,
    settled: BTreeMap<Name, Settled>,
    /// Writes that were repeated.
    pub(crate) brake: Brake,
}

impl ObjectMemory {
    pub(crate) fn refusal(&self, effect: usize, write: &WriteId, now: Instant) -> Option<String> {
        let refusal = self.refusals.get(&(effect, write.clone()))?;
        (refusal.until > now).then(|| refusal.sentence.clone())
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

    /// Remembers that the server changed the written values, or that it kept them.
    pub(crate) fn settle(&mut self, name: &Name, kept: Option<(String, u64, u64)>) {
        match kept {
            None => self.settled.remove(name),
            Some((uid, desired, live)) => self
                .settled
                .insert(name.clone(), Settled { uid, desired, live }),
        };
    }

    /// Returns all writes whose values the server changed: name, uid, the written value, the kept
    /// value.
    pub(crate) fn settled(&self) -> impl Iterator<Item = (&Name, &str, u64, u64)> {
        let settled = self.settled.iter();
        settled.map(|(name, s)| (name, s.uid.as_str(), s.desired, s.live))
    }

    /// Until when exactly this write has to wait.
    pub(crate) fn paused(&self, what: WriteKind, write: &WriteId, now: Instant) -> Option<Instant> {
        let pause = self.pauses.get(&what)?;
        (pause.id == *write && pause.until > now).then_some(pause.until)
    }

    /// Delays a write after a failure. A conflict is not an error, so it is not shown.
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

    /// Forgets why effects wait that have nothing to write any more.
    pub(crate) fn keep_pauses(&mut self, planned: impl Fn(usize) -> bool) {
        self.pauses.retain(|what, _| match what {
            WriteKind::Effect(effect) => planned(*effect),
            WriteKind::Finalizer | WriteKind::Leftover | WriteKind::Status | WriteKind::Pass => {
                true
            }
        });
    }

    /// Returns true if a write waits for this very reason already.
    pub(crate) fn is_known(&self, what: WriteKind, why: &str) -> bool {
        self.pauses.get(&what).is_some_and(|pause| pause.why == why)
    }

    /// Returns the reason why writes wait, as reported to users after the second failure.
    pub(crate) fn trouble(&self, now: Instant) -> Option<&str> {
        let shown = |p: &&Pause| p.shown && p.failures > 1;
        let paused = self.pauses.values().find(shown).map(|p| p.why.as_str());
        paused.or_else(|| self.brake.trouble(now))
    }

    /// When something that was put off is due, and why it was.
    pub(crate) fn put_off(&self) -> impl Iterator<Item = (Instant, WaitReason)> {
        let pauses = self.pauses.values().map(|p| (p.until, WaitReason::Failed));
        let refusals = self
            .refusals
            .values()
            .map(|r| (r.until, WaitReason::Refused));
        let contested = self.contested.iter().map(Contested::free);
        let slowed = self.brake.put_off().chain(contested);
        let slowed = slowed.map(|until| (until, WaitReason::Repeated));
        let astray = self
            .outcomes
            .until()
            .map(|until| (until, WaitReason::Undeclared));
        pauses.chain(refusals).chain(slowed).chain(astray)
    }
}

/// Returns the identity by which a report is remembered.
pub(crate) fn status_id(draft: &Draft, subject: &Stored) -> WriteId {
    WriteId {
        desired: draft.content(),
        ..subject_id(subject)
    }
}

/// Returns the identity by which a write to the object itself is remembered.
pub(crate) fn subject_id(subject: &Stored) -> WriteId {
    WriteId {
        desired: 0,
        uid: subject.meta.uid.clone(),
        version: subject.meta.resource_version.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_is_not_planned_any_more_is_no_trouble() {
        let mut memory = ObjectMemory::default();
        for _ in 0..2 {
            let why = ("500".to_owned(), true);
            let (what, id) = (WriteKind::Effect(1), WriteId::default());
            memory.pause(what, id, why, (Backoff::OBJECT, None), 0);
        }
        let now = Instant::now();
        memory.keep_pauses(|effect| effect == 1);
        assert_eq!(memory.trouble(now), Some("500"));
        memory.keep_pauses(|effect| effect == 0);
        assert_eq!(memory.trouble(now), None);
    }
}
