//! Logging of a lasting failure: once when it begins or changes, again after pauses that grow to an
//! hour, and once when it ends. Independent of the failing part.

use std::time::Duration;

use tokio::time::Instant;

/// How long until a failure that lasts is logged again: at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));

/// One thing that may fail again and again.
#[derive(Debug, Default)]
pub(crate) struct Recurring(Option<Lasting>);

#[derive(Debug)]
struct Lasting {
    why: String,
    due: Instant,
    pause: Duration,
}

impl Recurring {
    /// Records a failure. Returns true if it must be logged.
    pub(crate) fn failed(&mut self, why: &str) -> bool {
        let now = Instant::now();
        match &mut self.0 {
            Some(lasting) if lasting.why == why && now < lasting.due => false,
            Some(lasting) if lasting.why == why => {
                lasting.pause = (lasting.pause * 2).min(PAUSE.1);
                lasting.due = now + lasting.pause;
                true
            }
            Some(_) | None => {
                self.0 = Some(Lasting {
                    why: why.to_owned(),
                    due: now + PAUSE.0,
                    pause: PAUSE.0,
                });
                true
            }
        }
    }

    /// Records a success. Returns true if it failed before, which is logged, too.
    pub(crate) fn worked(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_fails_for_a_day_is_logged_some_thirty_times_and_its_end_once() {
        let mut socket = Recurring::default();
        assert!(!socket.worked());
        let begun = Instant::now();
        let mut logged = Vec::new();
        while begun.elapsed() < Duration::from_secs(24 * 3600) {
            if socket.failed("Address already in use") {
                logged.push(begun.elapsed().as_secs() / 60);
            }
            tokio::time::advance(Duration::from_secs(5)).await;
        }
        assert_eq!(logged[..8], [0, 1, 3, 7, 15, 31, 63, 123]);
        assert!(logged.len() < 32, "{logged:?}");
        assert!(socket.failed("Permission denied"));
        assert!(!socket.failed("Permission denied"));
        assert!(socket.worked() && !socket.worked());
        assert!(socket.failed("Permission denied"));
    }
}
