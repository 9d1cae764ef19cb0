//! Rate limit on incoming items. Pure: the caller supplies the time.

use std::time::Duration;

/// Limits to a burst and to a rate per second.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    burst: u64,
    a_second: u64,
    used: u64,
    since: Duration,
}

impl Bucket {
    pub(super) const fn new(burst: u64, a_second: u64) -> Self {
        Self {
            burst,
            a_second,
            used: 0,
            since: Duration::ZERO,
        }
    }

    /// The same, from now on.
    pub(super) fn starting_at(&self, now: Duration) -> Self {
        Self {
            since: now,
            ..self.clone()
        }
    }

    /// One more; false if it is too many.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        let seconds = now.saturating_sub(self.since).as_secs();
        if seconds > 0 {
            let back = seconds.saturating_mul(self.a_second);
            self.used = self.used.saturating_sub(back);
            self.since += Duration::from_secs(seconds);
        }
        self.used += 1;
        self.used <= self.burst
    }
}
