//! Time as a move of the environment: it passes until an answer expires.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::sleep;

use super::harness::Harness;
use super::invariant::Invariant;

/// Maximum delay after the expiry of its answer until an object is evaluated again.
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

    /// Lets time pass until an answer expires. Returns true if there is one that expires.
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

    /// Checks that after some time no reconciliation relies on an expired answer.
    pub(crate) fn is_up_to_date(&mut self) {
        let now = self.faults.now();
        for (object, last) in self.observer.last() {
            if let Some(until) = last
                .observation
                .holds_until()
                .filter(|until| *until + AFTER < now)
            {
                let text = format!(
                    "{object}: an answer was valid until {until}; at {now} it was not queried again, or it had expired when it was given"
                );
                self.find(Invariant::HoldsUntil, text);
            }
        }
    }
}
