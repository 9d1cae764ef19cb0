//! Who may leave when: the state of one provider, from what it is told and what time it is. Gives a turn, and no place, ahead: what leaves takes its
//! token then, so that the limits are exact however late it comes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::rate::Rate;
use super::ring::Line;
use super::{Limit, ProviderCounts};

/// What kind of thing takes a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// What changes something.
    Call,
    /// A question.
    Poll,
}

/// Who wants a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Of which lifecycle.
    pub lifecycle: String,
    /// For which object or volume.
    pub object: String,
    /// What for.
    pub lane: Lane,
}

/// Says that it is somebody's turn, and from when on.
pub(super) type Notice = Arc<dyn Fn(Instant) + Send + Sync>;

/// So many calls go before a question that waits.
const CALLS_IN_A_ROW: u32 = 3;
/// A turn that nobody takes for so long although it is time goes to the next; who had it comes last.
const UNTAKEN: Duration = Duration::from_secs(1);

struct Waiting {
    asker: Asker,
    since: Instant,
    notice: Notice,
}

/// Who waits, by what for.
#[derive(Default)]
struct Lines {
    calls: Line,
    polls: Line,
}

impl Lines {
    fn of(&mut self, lane: Lane) -> &mut Line {
        match lane {
            Lane::Call => &mut self.calls,
            Lane::Poll => &mut self.polls,
        }
    }
}

pub(super) struct Turns {
    limit: Limit,
    rate: Option<Rate>,
    /// On their way.
    left: usize,
    /// Who has a turn and did not take it yet, and since when it could have.
    given: BTreeMap<u64, Instant>,
    /// All who did not take a turn yet.
    askers: BTreeMap<u64, Waiting>,
    lines: Lines,
    calls_in_a_row: u32,
    /// The provider wants to be left alone until then.
    held: Option<Instant>,
    /// It did, and no answer has come since: one asks whether all may come.
    tries: bool,
    next: u64,
    counts: ProviderCounts,
}

impl Turns {
    pub(super) fn new(limit: Limit) -> Self {
        Self {
            limit,
            rate: limit.rate.map(|rate| Rate::new(rate, limit.burst)),
            left: 0,
            given: BTreeMap::new(),
            askers: BTreeMap::new(),
            lines: Lines::default(),
            calls_in_a_row: 0,
            held: None,
            tries: false,
            next: 0,
            counts: ProviderCounts::default(),
        }
    }

    pub(super) fn join(&mut self, asker: Asker, notice: Notice, now: Instant) -> u64 {
        self.next += 1;
        let waiting = Waiting {
            asker,
            since: now,
            notice,
        };
        self.askers.insert(self.next, waiting);
        self.line_up(self.next);
        self.next
    }

    fn line_up(&mut self, id: u64) {
        if let Some(Waiting { asker, .. }) = self.askers.get(&id) {
            let line = self.lines.of(asker.lane);
            line.push((&asker.lifecycle, &asker.object), id);
        }
    }

    pub(super) fn leave(&mut self, id: u64) {
        self.given.remove(&id);
        if let Some(Waiting { asker, .. }) = self.askers.remove(&id) {
            let line = self.lines.of(asker.lane);
            line.remove((&asker.lifecycle, &asker.object), id);
        }
    }

    /// From when on the next may leave, as far as that is a matter of time.
    fn earliest(&self, now: Instant) -> Instant {
        let at = self.rate.as_ref().map_or(now, |rate| rate.next(now));
        self.held.map_or(at, |held| at.max(held))
    }

    /// Whether one more may have a turn.
    fn has_room(&self) -> bool {
        let most = match self.tries {
            true => 1,
            false => self.limit.in_flight.unwrap_or(usize::MAX),
        };
        // Tokens are taken one after the other: so the order of turns is that in which they leave.
        let in_order = self.rate.is_none() || self.given.is_empty();
        self.in_flight() < most && in_order
    }

    pub(super) fn is_free(&self, now: Instant) -> bool {
        let nobody = self.lines.calls.is_empty() && self.lines.polls.is_empty();
        nobody && self.has_room() && self.earliest(now) <= now
    }

    pub(super) fn is_due(&self, id: u64, now: Instant) -> Result<(), Option<Instant>> {
        if !self.given.contains_key(&id) {
            return Err(None);
        }
        let at = self.earliest(now);
        if at > now { Err(Some(at)) } else { Ok(()) }
    }

    pub(super) fn take(&mut self, id: u64, now: Instant) -> Result<(), Option<Instant>> {
        self.is_due(id, now)?;
        self.given.remove(&id);
        self.left += 1;
        if let Some(rate) = &mut self.rate {
            rate.take(now);
        }
        if let Some(waiting) = self.askers.remove(&id) {
            match waiting.asker.lane {
                Lane::Call => self.counts.calls += 1,
                Lane::Poll => self.counts.polls += 1,
            }
            let waited = now - waiting.since;
            self.counts.longest_wait = self.counts.longest_wait.max(waited);
        }
        self.counts.most_in_flight = self.counts.most_in_flight.max(self.left);
        Ok(())
    }

    /// One is not on its way any more.
    pub(super) fn free(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Nobody comes before this time, and then one by itself.
    pub(super) fn hold(&mut self, until: Instant) {
        self.counts.held += 1;
        self.held = Some(self.held.map_or(until, |held| held.max(until)));
        self.tries = true;
        let given = std::mem::take(&mut self.given);
        given.keys().for_each(|id| self.line_up(*id));
    }

    /// It answers again, if it was asked after the time that it named.
    pub(super) fn answers(&mut self, left: Instant) {
        if self.held.is_none_or(|held| left >= held) {
            (self.held, self.tries) = (None, false);
        }
    }

    /// Gives turns to who is next, and says whom to tell.
    pub(super) fn advance(&mut self, now: Instant) -> Vec<(u64, Notice, Instant)> {
        let late = self.given.iter().filter(|(_, at)| **at + UNTAKEN <= now);
        for id in late.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.given.remove(&id);
            self.line_up(id);
        }
        let mut told = Vec::new();
        while self.has_room() {
            let Some(id) = self.pop() else {
                break;
            };
            let at = self.earliest(now);
            self.given.insert(id, at);
            let waiting = self.askers.get(&id);
            told.extend(waiting.map(|waiting| (id, Arc::clone(&waiting.notice), at)));
        }
        told
    }

    /// Calls go first, but a question that waits is not kept from its turn.
    fn pop(&mut self) -> Option<u64> {
        let calls_next = self.calls_in_a_row < CALLS_IN_A_ROW || self.lines.polls.is_empty();
        if calls_next && let Some(id) = self.lines.calls.pop() {
            self.calls_in_a_row = CALLS_IN_A_ROW.min(self.calls_in_a_row + 1);
            return Some(id);
        }
        self.calls_in_a_row = 0;
        self.lines.polls.pop()
    }

    pub(super) fn held_until(&self, now: Instant) -> Option<Instant> {
        self.held.filter(|held| *held > now)
    }

    /// On their way, or about to leave.
    pub(super) fn in_flight(&self) -> usize {
        self.left + self.given.len()
    }

    pub(super) fn waiting(&self) -> usize {
        self.askers.len() - self.given.len()
    }

    pub(super) fn counts(&self) -> ProviderCounts {
        ProviderCounts {
            in_flight: self.in_flight(),
            waiting: self.waiting(),
            ..self.counts.clone()
        }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("limit", &self.limit)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
