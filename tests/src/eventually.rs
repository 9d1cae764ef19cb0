//! Waits of tests, bounded by the core time available to a process and not by the clock. Other load
//! on the machine therefore fails no test. This module does not know the awaited conditions.

use std::fs;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

/// Interval at which `eventually` checks again.
const AGAIN: Duration = Duration::from_millis(50);

/// By the clock, a wait lasts at most this many times its limit.
const HARD: u32 = 10;

/// A limit in time that a process could have had: where 12 processes want two cores, 6 s by the clock count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    left: Duration,
    /// Remaining time by the wall clock, so that nothing hangs.
    hard: Duration,
}

impl Budget {
    /// A budget of this limit, and of ten times as much by the clock.
    pub fn new(limit: Duration) -> Self {
        Self {
            left: limit,
            hard: limit.saturating_mul(HARD),
        }
    }

    /// Subtracts a slice of time in which this many runnable processes shared this many cores.
    pub fn spend(&mut self, slice: Duration, runnable: u32, cores: u32) {
        let cores = cores.max(1);
        let share = slice.saturating_mul(cores) / runnable.max(cores);
        self.left = self.left.saturating_sub(share);
        self.hard = self.hard.saturating_sub(slice);
    }

    /// Returns true if nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left.is_zero() || self.hard.is_zero()
    }
}

/// A budget that is spent while it is polled.
#[derive(Clone, Debug)]
pub struct Deadline {
    limit: Duration,
    budget: Budget,
    began: Instant,
    polled: Instant,
}

impl Deadline {
    /// Creates a deadline whose budget begins now.
    pub fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self {
            limit,
            budget: Budget::new(limit),
            began: now,
            polled: now,
        }
    }

    /// Returns true if the budget is spent. Each call subtracts the time since the previous call,
    /// so poll often.
    pub fn is_over(&mut self) -> bool {
        let now = Instant::now();
        let slice = now.saturating_duration_since(self.polled);
        self.budget.spend(slice, runnable(), cores());
        self.polled = now;
        self.budget.is_spent()
    }

    /// Starts the budget anew.
    pub fn restart(&mut self) {
        self.budget = Budget::new(self.limit);
    }

    /// Returns an error that names the event that did not happen.
    pub fn missed(&self, what: &str) -> anyhow::Error {
        let (limit, took) = (self.limit, self.began.elapsed());
        anyhow!("not within {limit:?} of core time ({took:.1?} by the clock): {what}")
    }
}

/// Checks repeatedly until there is an answer, and returns it.
///
/// # Errors
/// Returns an error if there is no answer within the limit (the error names the awaited event), or
/// a check fails.
pub async fn eventually<T>(
    what: &str,
    limit: Duration,
    ask: impl AsyncFn() -> Result<Option<T>>,
) -> Result<T> {
    let seen = async || {
        let answer = ask().await?;
        Ok(answer.map_or(ControlFlow::Continue(()), ControlFlow::Break))
    };
    eventually_or_stuck(what, limit, seen).await
}

/// Behaves as `eventually`, for events with visible progress. `ask` breaks with the answer or
/// continues with its observation, and the limit begins anew whenever the observation changes.
///
/// # Errors
/// Returns an error if nothing changes within the limit, or a check fails.
pub async fn eventually_or_stuck<T, S: PartialEq>(
    what: &str,
    limit: Duration,
    ask: impl AsyncFn() -> Result<ControlFlow<T, S>>,
) -> Result<T> {
    let mut deadline = Deadline::new(limit);
    let mut before = None;
    loop {
        let answer = ask().await;
        let seen = match answer.with_context(|| format!("cannot ask for: {what}"))? {
            ControlFlow::Break(answer) => return Ok(answer),
            ControlFlow::Continue(seen) => Some(seen),
        };
        if before.is_some() && seen != before {
            deadline.restart();
        }
        before = seen;
        if deadline.is_over() {
            return Err(deadline.missed(what));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Returns the answer for `eventually_or_stuck` while a count rises to its total.
pub fn all(count: usize, all: usize) -> ControlFlow<(), usize> {
    match count == all {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(count),
    }
}

/// Runs a future until its budget is spent: `None` if it did not end by then.
pub async fn run_within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    let mut deadline = Deadline::new(limit);
    let mut future = pin!(future);
    loop {
        match tokio::time::timeout(AGAIN.min(limit), future.as_mut()).await {
            Ok(answer) => return Some(answer),
            Err(_) if deadline.is_over() => return None,
            Err(_) => {}
        }
    }
}

/// Returns how many processes want a core now, including this one; 1 if the system does not report
/// it.
fn runnable() -> u32 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    read_runnable(&text).unwrap_or(1)
}

/// The first number of the fourth field: `0.50 0.40 0.30 12/345 6789`.
fn read_runnable(loadavg: &str) -> Option<u32> {
    let field = loadavg.split_whitespace().nth(3)?;
    field.split('/').next()?.parse().ok()
}

fn cores() -> u32 {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cores).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns how many seconds of clock time ten seconds of core time take with this many runnable
    /// processes and cores.
    fn stretched_seconds(runnable: u32, cores: u32) -> usize {
        let mut budget = Budget::new(10 * SECOND);
        let spend = || {
            budget.spend(SECOND, runnable, cores);
            budget.is_spent().then_some(())
        };
        1 + std::iter::repeat_with(spend)
            .position(|over| over.is_some())
            .unwrap()
    }

    #[test]
    fn a_budget_lasts_longer_the_more_processes_share_the_cores() {
        assert_eq!(stretched_seconds(1, 2), 10);
        assert_eq!(stretched_seconds(2, 2), 10);
        assert_eq!(stretched_seconds(4, 2), 20);
        assert_eq!(stretched_seconds(8, 2), 40);
    }

    #[test]
    fn a_budget_is_never_longer_than_ten_times_by_the_clock() {
        assert_eq!(stretched_seconds(4000, 2), 100);
        assert!(Budget::new(Duration::ZERO).is_spent());
        let mut forever = Budget::new(Duration::MAX);
        forever.spend(SECOND, 1, 2);
        assert!(!forever.is_spent());
    }

    #[test]
    fn a_system_that_does_not_say_who_waits_counts_as_idle() {
        assert_eq!(stretched_seconds(0, 0), 10);
        assert_eq!(read_runnable(""), None);
        assert_eq!(read_runnable("0.50 0.40 0.30 12/345 6789\n"), Some(12));
        assert!(runnable() >= 1 && cores() >= 1);
    }

    #[tokio::test]
    async fn eventually_asks_until_there_is_an_answer_or_says_what_it_missed() {
        let asked = Cell::new(0);
        let third = async || {
            asked.set(asked.get() + 1);
            Ok((asked.get() == 3).then_some("answer"))
        };
        let answer = eventually("a third time", 10 * SECOND, third).await;
        assert_eq!(answer.unwrap(), "answer");
        let never = async || Ok(None::<()>);
        let missed = eventually("a miracle", Duration::ZERO, never).await;
        assert!(missed.unwrap_err().to_string().contains("a miracle"));
    }

    #[tokio::test]
    async fn a_wait_begins_anew_with_each_change_and_ends_without_one() {
        // Longer than the limit in all, and much shorter from one change to the next.
        let (limit, changes) = (SECOND / 2, 20);
        let seen = Cell::new(0);
        let counts = async || {
            seen.set(seen.get() + 1);
            Ok(all(seen.get(), changes))
        };
        eventually_or_stuck("all", limit, counts).await.unwrap();
        let idles = async || Ok(ControlFlow::<(), _>::Continue(()));
        let stuck = eventually_or_stuck("a change", AGAIN, idles).await;
        assert!(stuck.unwrap_err().to_string().contains("a change"));
        let mut deadline = Deadline::new(Duration::ZERO);
        assert!(deadline.is_over());
        deadline.limit = 10 * SECOND;
        deadline.restart();
        assert!(!deadline.is_over());
    }

    #[tokio::test]
    async fn a_future_ends_within_its_budget_or_is_dropped() {
        assert_eq!(run_within(10 * SECOND, async { 1 }).await, Some(1));
        let never = std::future::pending::<()>();
        assert_eq!(run_within(Duration::from_millis(10), never).await, None);
    }
}
