//! Validity of the facts of one object, and the time of its next reconciliation. Pure: the current
//! time is an argument.
//!
//! Validity is measured by the wall clock, and the wait by a monotonic clock. Every wait ends
//! before the next resync, so a jump of the wall clock is noticed by then.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Minimum delay between wakes by time. A fact that always expires at once thus costs one
/// reconciliation a second.
const AT_LEAST: Duration = Duration::from_secs(1);

/// Time-related memory of the last reconciliation of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Time {
    last: Option<LastPass>,
    /// Number of reconciliations in which the time may have changed a fact.
    ticks: u64,
    /// When it last did.
    ticked: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct LastPass {
    wall: Timestamp,
    at: Instant,
    until: Option<Timestamp>,
}

impl Time {
    /// Records a reconciliation and the end of its facts' validity. Returns true if a fact was
    /// already expired.
    pub(crate) fn passes(
        &mut self,
        wall: Timestamp,
        until: Option<Timestamp>,
        at: Instant,
    ) -> bool {
        let before = self.last.replace(LastPass { wall, at, until });
        // A clock that was set back may change these facts again.
        let ticked = before.is_some_and(|before| {
            wall < before.wall || before.until.is_some_and(|until| until <= wall)
        });
        if ticked {
            self.ticks += 1;
            self.ticked = Some(at);
        }
        until.is_some_and(|until| until <= wall)
    }

    /// Returns the number of reconciliations in which the time may have changed a fact.
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
        // A time beyond the life of any process needs no deadline.
        let due = last.at.checked_add(left)?;
        Some(earliest.map_or(due, |earliest| due.max(earliest)))
    }
}

#[cfg(test)]
mod tests;
