//! Turns at one provider: its state, as a function of its inputs and the time. It grants turns
//! ahead, but no places. A request takes its token when it leaves, so that the limits are exact
//! however late it leaves.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::rate::Rate;
use super::ring::Line;
use super::{Limit, ProviderCounts};

/// Kind of request that takes a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Mutation.
    Call,
    /// A question.
    Poll,
}

/// Asker that wants a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requester {
    /// Lifecycle that asks.
    pub lifecycle: String,
    /// Object or volume that the request is for.
    pub object: String,
    /// Kind of request.
    pub lane: Lane,
}

/// Callback that notifies an asker of its turn, with the time from which the turn is valid.
pub(super) type Notice = Arc<dyn Fn(Instant) + Send + Sync>;

/// Number of calls that precede a waiting poll.
const CALLS_IN_A_ROW: u32 = 3;
/// Time after which a due turn that is not taken goes to the next asker. The asker that had the
/// turn moves to the end.
const UNTAKEN: Duration = Duration::from_secs(1);

struct Waiting {
    asker: Requester,
    since: Instant,
    notice: Notice,
}

/// Waiting askers, by kind of request.
#[derive(Default)]
struct Lines {
    calls: Line,
    polls: Line,
}

impl Lines {
    fn lane_mut(&mut self, lane: Lane) -> &mut Line {
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
    /// Askers that have a turn and did not take it yet, and the time since which they could have.
    given: BTreeMap<u64, Instant>,
    /// All who did not take a turn yet.
    askers: BTreeMap<u64, Waiting>,
    lines: Lines,
    calls_in_a_row: u32,
    /// The provider wants to be left alone until then.
    held: Option<Instant>,
    /// True if the provider asked for a pause and has not answered since. One request probes it
    /// before the others may leave.
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

    pub(super) fn join(&mut self, asker: Requester, notice: Notice, now: Instant) -> u64 {
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
            let line = self.lines.lane_mut(asker.lane);
            line.push((&asker.lifecycle, &asker.object), id);
        }
    }

    pub(super) fn leave(&mut self, id: u64) {
        self.given.remove(&id);
        if let Some(Waiting { asker, .. }) = self.askers.remove(&id) {
            let line = self.lines.lane_mut(asker.lane);
            line.remove((&asker.lifecycle, &asker.object), id);
        }
    }

    /// From when on the next may leave, as far as that is a matter of time.
    fn earliest(&self, now: Instant) -> Instant {
        let at = self.rate.as_ref().map_or(now, |rate| rate.next(now));
        self.held.map_or(at, |held| at.max(held))
    }

    /// Returns true if one more asker may have a turn.
    fn has_room(&self) -> bool {
        let most = match self.tries {
            true => 1,
            false => self.limit.in_flight.unwrap_or(usize::MAX),
        };
        // Tokens are taken one after the other, so turns are given in the order in which the
        // requests leave.
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

    /// Blocks all requests until this time. Then the first request leaves alone.
    pub(super) fn hold(&mut self, until: Instant) {
        self.counts.held += 1;
        self.held = Some(self.held.map_or(until, |held| held.max(until)));
        self.tries = true;
        let given = std::mem::take(&mut self.given);
        given.keys().for_each(|id| self.line_up(*id));
    }

    /// Records that the provider answers again, if the request left after the time that the
    /// provider named.
    pub(super) fn answers(&mut self, left: Instant) {
        if self.held.is_none_or(|held| left >= held) {
            (self.held, self.tries) = (None, false);
        }
    }

    /// Gives turns to the next askers, and returns the askers to notify.
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
