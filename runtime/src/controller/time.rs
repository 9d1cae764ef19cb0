//! Until when the answers of one object hold, and when it is looked at again for that. Pure: it is told what time it is.
//!
//! The wall clock says until when an answer holds; the wait is on a clock that nobody puts back. Every wait ends within the time after which everything is
//! looked at again, so a wall clock that jumps is noticed by then.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// So long after the time changed an answer it does not wake the object again: an answer that expires at once, again and again, costs a pass a second.
const AT_LEAST: Duration = Duration::from_secs(1);

/// What the last pass of an object knew of the time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Time {
    last: Option<Looked>,
    /// In how many passes the time may have changed an answer.
    ticks: u64,
    /// When it last did.
    ticked: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Looked {
    wall: Timestamp,
    at: Instant,
    until: Option<Timestamp>,
}

impl Time {
    /// Notes a pass and until when its answers hold; whether one of them had expired when it was given.
    pub(crate) fn passes(
        &mut self,
        wall: Timestamp,
        until: Option<Timestamp>,
        at: Instant,
    ) -> bool {
        let before = self.last.replace(Looked { wall, at, until });
        // A clock that was put back may change what it changed before.
        let ticked = before.is_some_and(|before| {
            wall < before.wall || before.until.is_some_and(|until| until <= wall)
        });
        if ticked {
            self.ticks += 1;
            self.ticked = Some(at);
        }
        until.is_some_and(|until| until <= wall)
    }

    /// Counts the passes in which the time may have changed an answer.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// When the time may change an answer, if it may.
    pub(crate) fn due(&self) -> Option<Instant> {
        let last = self.last?;
        let left = last.until?.duration_since(last.wall);
        // Nothing is left of a time that has passed.
        let left = Duration::try_from(left).unwrap_or_default();
        let earliest = match left.is_zero() {
            true => Some(last.at + AT_LEAST),
            false => self.ticked.map(|ticked| ticked + AT_LEAST),
        };
        // What is further away than any process runs needs no date.
        let due = last.at.checked_add(left)?;
        Some(earliest.map_or(due, |earliest| due.max(earliest)))
    }
}

#[cfg(test)]
mod tests;
