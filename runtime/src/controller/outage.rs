//! Time without a response from the API server. No request is sent until the server may be back.

use tokio::time::Instant;

use crate::machine::backoff::Backoff;

#[derive(Default)]
pub(crate) struct Outage {
    failures: u32,
    until: Option<Instant>,
}

impl Outage {
    /// A request had no answer. Those that left together count once.
    pub(crate) fn lost(&mut self, now: Instant, random: u64) {
        if self.until.is_some_and(|until| until > now) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + Backoff::WATCH.after(self.failures, random));
    }

    /// Records that a request had a response, of any kind.
    pub(crate) fn record_answer(&mut self) {
        *self = Self::default();
    }

    /// When something may be sent again.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_that_were_lost_together_make_one_pause_and_an_answer_ends_it() {
        let (now, middle) = (Instant::now(), u64::MAX / 2);
        let mut outage = Outage::default();
        (0..16).for_each(|_| outage.lost(now, middle));
        let first = outage.until().unwrap();
        assert!(
            first <= now + Duration::from_millis(501),
            "{:?}",
            first - now
        );
        (0..16).for_each(|_| outage.lost(first, middle));
        assert!(outage.until().unwrap() > first + Duration::from_millis(900));
        outage.record_answer();
        assert_eq!(outage.until(), None);
    }
}
