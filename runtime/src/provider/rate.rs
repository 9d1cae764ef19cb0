//! How many may leave in a time: a token bucket, as the time at which it is full again.

use std::time::Duration;

use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Rate {
    /// Interval at which one token is added.
    step: Duration,
    /// How much of an empty bucket may be taken in advance: all tokens of a burst but one.
    slack: Duration,
    /// When it is full.
    full: Option<Instant>,
}

impl Rate {
    pub(super) fn new((most, time): (u32, Duration), burst: u32) -> Self {
        // Rounded up: never a token too early.
        let step = time.as_nanos().div_ceil(u128::from(most));
        let step = Duration::from_nanos(u64::try_from(step).unwrap_or(u64::MAX));
        Self {
            step,
            slack: step * burst.saturating_sub(1),
            full: None,
        }
    }

    /// When the next may leave.
    pub(super) fn next(&self, now: Instant) -> Instant {
        let at = self.full.and_then(|full| full.checked_sub(self.slack));
        at.map_or(now, |at| at.max(now))
    }

    /// One leaves now.
    pub(super) fn take(&mut self, now: Instant) {
        self.full = Some(self.full.map_or(now, |full| full.max(now)) + self.step);
    }
}
