//! How long to wait after the n-th failure in a row. Pure arithmetic: randomness and time are the caller's.

use std::time::Duration;

/// An exponential back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// Never longer, but for jitter.
    pub longest: Duration,
}

impl Backoff {
    /// Of a failing object: 1 s, 2 s, 4 s up to 8 min; at most 18 attempts in the first hour, 9 in each further one.
    pub const OBJECT: Self = Self::new(Duration::from_secs(1), Duration::from_secs(480));
    /// Of a refused write: 1 min, 2 min, 4 min up to 1 h.
    pub const REFUSED: Self = Self::new(Duration::from_secs(60), Duration::from_secs(3600));
    /// Of a write that something is in the way of: 2 s, 4 s, 8 s up to 1 min.
    pub const OCCUPIED: Self = Self::new(Duration::from_secs(2), Duration::from_secs(60));
    /// Of a write that met a newer object: our cache is about to show it.
    pub const CONFLICT: Self = Self::new(Duration::from_millis(250), Duration::from_secs(480));
    /// Of a write that is made again and again: 4 s, 8 s, 16 s up to 1 min.
    pub const REPEATED: Self = Self::new(Duration::from_secs(4), Duration::from_secs(60));
    /// Of a watch that broke, or of a kind that is not served yet.
    pub const WATCH: Self = Self::new(Duration::from_millis(500), Duration::from_secs(10));

    /// Doubles from `first` to `longest`.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// Returns the pause after the n-th consecutive failure (the first is 1), within a fifth of the
    /// exact value. `random` selects the deviation.
    pub fn after(self, failures: u32, random: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let exact = self.first.saturating_mul(1 << doublings).min(self.longest);
        let share = (random >> 11) as f64 / (1u64 << 53) as f64;
        exact.mul_f64(0.8 + 0.4 * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_within_a_fifth() {
        for failures in 1..40 {
            let exact =
                Duration::from_secs(1 << (failures - 1).min(9)).min(Backoff::OBJECT.longest);
            let (least, most) = (
                Backoff::OBJECT.after(failures, 0),
                Backoff::OBJECT.after(failures, u64::MAX),
            );
            assert!(least >= exact.mul_f64(0.799) && most <= exact.mul_f64(1.201));
            assert!(least < most);
        }
    }

    #[test]
    fn a_failing_object_is_tried_fewer_than_twenty_times_in_any_hour() {
        let (mut at, mut attempts) = (Duration::ZERO, 0);
        while at < Duration::from_secs(3600) {
            attempts += 1;
            at += Backoff::OBJECT.after(attempts, 0);
        }
        assert!(attempts < 20, "{attempts}");
    }
}
