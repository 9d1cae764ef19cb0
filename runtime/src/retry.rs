//! Retries of a process's startup requirements, with growing pauses. Each reason is reported once.

use std::time::Duration;

use tokio::time::sleep;

const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Operation that is retried until it succeeds.
#[derive(Debug)]
pub struct Retry {
    pause: Duration,
    longest: Duration,
    said: String,
}

impl Retry {
    /// Pauses of a second at first, each twice as long as the one before, up to `longest`.
    pub fn new(longest: Duration) -> Self {
        Self {
            pause: FIRST_PAUSE.min(longest),
            longest,
            said: String::new(),
        }
    }

    /// Returns true if a reason differs from the last one; only then it is worth a line of the log.
    pub fn is_new(&mut self, reason: &str) -> bool {
        let new = reason != self.said;
        self.said = reason.to_owned();
        new
    }

    /// Waits until the next try is due.
    pub async fn pause(&mut self) {
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(self.longest);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_up_to_the_longest() {
        let (begin, mut retry) = (Instant::now(), Retry::new(Duration::from_secs(5)));
        for seconds in [1, 3, 7, 12, 17] {
            retry.pause().await;
            assert_eq!(begin.elapsed().as_secs(), seconds);
        }
    }

    #[test]
    fn a_reason_is_new_once() {
        let mut retry = Retry::new(Duration::from_secs(5));
        assert!(retry.is_new("down") && !retry.is_new("down"));
        assert!(retry.is_new("refused") && retry.is_new("down"));
    }
}
