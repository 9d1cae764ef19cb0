//! Time as a move of the outside: it passes until an answer expires.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::sleep;

use super::harness::Harness;
use super::invariant::Invariant;

/// So much later than its answer says an object is looked at again at the latest.
const AT_ONCE: Duration = Duration::from_millis(5);
const AFTER: SignedDuration = SignedDuration::from_secs(2);

impl Harness {
    /// When the first answer expires, where time is free.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        if !self.core.cluster.is_simulated() {
            return None;
        }
        let last = self.observer.last();
        last.values()
            .filter_map(|last| last.observation.holds_until())
            .min()
    }

    /// Lets time pass until an answer expires; whether there is one that does.
    pub(crate) async fn tick(&mut self) -> bool {
        let Some(until) = self.expires() else {
            return false;
        };
        let left = until.duration_since(self.faults.now());
        self.adversary(true);
        sleep(Duration::try_from(left).unwrap_or_default() + AT_ONCE).await;
        self.adversary(false);
        true
    }

    /// After some time nobody counts on an answer that has expired.
    pub(crate) fn is_up_to_date(&mut self) {
        let now = self.faults.now();
        for (object, last) in self.observer.last() {
            if let Some(until) = last
                .observation
                .holds_until()
                .filter(|until| *until + AFTER < now)
            {
                let text = format!(
                    "{object}: an answer held until {until}, and at {now} it was not asked for again, or had expired when it was given"
                );
                self.find(Invariant::HoldsUntil, text);
            }
        }
    }
}
