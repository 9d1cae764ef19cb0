//! Time as a move of the environment: lets a day pass, and records the time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use lifecycle_client::clock::Clock;
use lifecycle_runtime::machine::ir::Mode;
use tokio::time::{Instant, sleep};

use super::Run;
use crate::hours;

impl Run<'_> {
    pub(super) fn has_clock(&self) -> bool {
        let mut inputs = self.machine.ir.inputs.iter();
        inputs.any(|input| input.mode == Mode::Clock)
    }

    /// Waits idle until a value that depends on the time changes. The driver has to notice that by
    /// itself.
    pub(super) async fn let_a_day_pass(&mut self) {
        let now = self.cluster.0.now();
        let left = hours::next(now).duration_since(now);
        let left = Duration::try_from(left).unwrap_or_default();
        self.log_line(|| format!("a day passes: {left:?}"));
        sleep(left).await;
        self.ran.moves += 1;
        self.ran.days += 1;
    }

    /// Returns the current day. The day is always the same if time decides nothing.
    pub(super) fn day(&self) -> u64 {
        let now = self.cluster.0.now();
        if self.has_clock() {
            hours::points(now)
        } else {
            0
        }
    }

    /// Returns the time of an instant on the clock of the cluster.
    pub(super) fn wall(&self, at: Instant) -> Timestamp {
        let ago = Instant::now().saturating_duration_since(at);
        self.cluster.0.now() - SignedDuration::try_from(ago).unwrap_or_default()
    }
}
