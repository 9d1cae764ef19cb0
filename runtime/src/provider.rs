//! Providers that polls and calls name (`poll Bucket of cloud`), and their limits per process:
//! concurrency, rate and turns. This module knows neither lifecycles nor objects, only askers.
//!
//! No crate does this: a semaphore serves in the order of arrival, and a rate limiter knows no turns.

mod rate;
mod ring;
mod turns;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::Error;
use crate::lifecycle::call::CallError;
pub use turns::{Lane, Requester};
use turns::{Notice, Turns};

/// Limit on a process's requests to a provider. A part without a number is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    in_flight: Option<usize>,
    rate: Option<(u32, Duration)>,
    burst: u32,
}

impl Limit {
    /// No limit yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the number of calls and polls in flight at once. The limit is at least one.
    #[must_use]
    pub fn in_flight(mut self, most: usize) -> Self {
        self.in_flight = Some(most.max(1));
        self
    }

    /// Limits the number of calls and polls that leave in any second, evenly spread unless a
    /// `burst` is set. The limit is at least one.
    #[must_use]
    pub fn per_second(self, most: u32) -> Self {
        self.with_rate(most, Duration::from_secs(1))
    }

    /// Limits the number of calls and polls that leave in any minute, evenly spread unless a
    /// `burst` is set. The limit is at least one.
    #[must_use]
    pub fn per_minute(self, most: u32) -> Self {
        self.with_rate(most, Duration::from_secs(60))
    }

    /// Sets how many may leave at once after a pause; the default is one. In any second, up to
    /// `burst - 1` more than `per_second` may leave.
    #[must_use]
    pub fn burst(mut self, at_once: u32) -> Self {
        self.burst = at_once;
        self
    }

    fn with_rate(mut self, most: u32, time: Duration) -> Self {
        self.rate = Some((most.max(1), time));
        self
    }

    /// Returns true if it specifies a limit.
    pub fn is_limited(&self) -> bool {
        self.in_flight.is_some() || self.rate.is_some()
    }
}

/// Counters of one provider, since the start and at present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderCounts {
    /// Calls that left.
    pub calls: u64,
    /// Questions that left.
    pub polls: u64,
    /// On their way, or about to leave.
    pub in_flight: usize,
    /// The most that were on their way at once.
    pub most_in_flight: usize,
    /// Number of askers that wait for a turn.
    pub waiting: usize,
    /// Longest wait of an asker that got a turn.
    pub longest_wait: Duration,
    /// Number of answers that named a time to retry after.
    pub held: u64,
}

/// The providers of a process, by their names. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Providers(Arc<Mutex<BTreeMap<String, Known>>>);

#[derive(Debug)]
struct Known {
    provider: Arc<Provider>,
    /// Something that runs here names it.
    is_named: bool,
}

impl Providers {
    /// Sets the limit of a provider. Must be called before anything sends it a request.
    pub fn limit(&self, name: &str, limit: Limit) {
        let provider = Provider::new(name, limit);
        let is_named = self.all().get(name).is_some_and(|known| known.is_named);
        let known = Known { provider, is_named };
        self.all().insert(name.to_owned(), known);
    }

    /// For drivers: the provider that a declaration names.
    pub fn named(&self, name: &str) -> Arc<Provider> {
        let mut all = self.all();
        let known = all.entry(name.to_owned()).or_insert_with(|| Known {
            provider: Provider::new(name, Limit::new()),
            is_named: true,
        });
        known.is_named = true;
        Arc::clone(&known.provider)
    }

    /// For services that run beside an operator: their limits count for it, too.
    pub fn add_to(&self, others: &Self) {
        let limits: Vec<_> = {
            let all = self.all();
            all.iter()
                .map(|(n, k)| (n.clone(), k.provider.limit))
                .collect()
        };
        limits
            .into_iter()
            .for_each(|(name, limit)| others.limit(&name, limit));
    }

    /// Returns the counters of each provider.
    pub fn counts(&self) -> BTreeMap<String, ProviderCounts> {
        let all = self.all();
        let counts = all.iter().map(|(n, k)| (n.clone(), k.provider.counts()));
        counts.collect()
    }

    /// Checks the limits. Drivers call this once everything that names a provider is registered.
    ///
    /// # Errors
    /// Returns an error if a limit is set for a provider that nothing names.
    pub fn check(&self) -> Result<(), Error> {
        let all = self.all();
        let stray = all.iter().find(|(_, known)| !known.is_named);
        let Some((stray, _)) = stray else {
            return Ok(());
        };
        let named = all.iter().filter(|(_, known)| known.is_named);
        let named: Vec<_> = named.map(|(name, _)| format!("`{name}`")).collect();
        let named = match named.is_empty() {
            true => "none is: name one by `poll Type of cloud by ..`".to_owned(),
            false => format!("providers in use: {}", named.join(", ")),
        };
        Err(Error::UnknownProvider {
            provider: stray.clone(),
            named,
        })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        // Nothing is left half done in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One provider. Every call and every question of it takes a turn.
#[derive(Debug)]
pub struct Provider {
    name: String,
    limit: Limit,
    turns: Mutex<Turns>,
}

impl Provider {
    fn new(name: &str, limit: Limit) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            limit,
            turns: Mutex::new(Turns::new(limit)),
        })
    }

    /// As declared.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Joins the queue. Runs `told` when this asker has its turn, with the time from which it may
    /// take the turn. A new asker is not notified of a turn that is free at once: it tries.
    pub fn queue(
        self: &Arc<Self>,
        asker: Requester,
        told: impl Fn(Instant) + Send + Sync + 'static,
    ) -> Turn {
        let (now, lane) = (Instant::now(), asker.lane);
        let (id, others) = {
            let mut turns = self.turns();
            let id = turns.join(asker, Arc::new(told), now);
            (id, turns.advance(now))
        };
        send_notices(others.into_iter().filter(|(other, ..)| *other != id));
        Turn {
            provider: Arc::clone(self),
            id,
            lane,
            since: now,
            is_told: false,
        }
    }

    /// Returns true if a new asker need not wait.
    pub fn is_free(&self, now: Instant) -> bool {
        self.turns().is_free(now)
    }

    /// Revokes turns that were due but not taken, and gives them to the next askers in the queue.
    pub fn advance(&self) {
        self.change(Instant::now(), |_| ());
    }

    /// Describes for users why an object waits.
    pub fn busy(&self, now: Instant) -> String {
        let turns = self.turns();
        let why = match turns.held_until(now) {
            Some(until) => format!(
                "it requested a pause, which lasts {} s more",
                (until - now).as_secs() + 1
            ),
            None => format!(
                "{} are on their way and {} wait",
                turns.in_flight(),
                turns.waiting()
            ),
        };
        format!("provider `{}`: {why}", self.name)
    }

    fn counts(&self) -> ProviderCounts {
        self.turns().counts()
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        // The turns stay usable even if another thread panicked.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the turns, gives away those that became free, and notifies the askers that have a
    /// turn now. Notifies after releasing the lock, because an asker may respond at once.
    fn change<R>(&self, now: Instant, change: impl FnOnce(&mut Turns) -> R) -> R {
        let (result, told) = {
            let mut turns = self.turns();
            let result = change(&mut turns);
            (result, turns.advance(now))
        };
        send_notices(told);
        result
    }
}

fn send_notices(all: impl IntoIterator<Item = (u64, Notice, Instant)>) {
    all.into_iter().for_each(|(_, notice, at)| notice(at));
}

/// A place in the line of a provider; who drops it leaves.
#[derive(Debug)]
pub struct Turn {
    provider: Arc<Provider>,
    id: u64,
    lane: Lane,
    since: Instant,
    is_told: bool,
}

impl Turn {
    /// Returns the provider of this turn.
    pub fn provider(&self) -> &Arc<Provider> {
        &self.provider
    }

    /// For a call or for a question.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Since when it waits.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Returns true if users should be informed now that it waits; true only once.
    pub fn is_news(&mut self, now: Instant) -> bool {
        now >= self.since + LONG && !std::mem::replace(&mut self.is_told, true)
    }

    /// Returns the time at which the wait is reported to users, if it has not been reported yet.
    pub fn told_at(&self) -> Option<Instant> {
        (!self.is_told).then_some(self.since + LONG)
    }

    /// Returns `Ok` if the turn could be taken now; otherwise the time from which it could, if that
    /// is known.
    ///
    /// # Errors
    /// It could not.
    pub fn is_due(&self, now: Instant) -> Result<(), Option<Instant>> {
        self.provider.turns().is_due(self.id, now)
    }

    /// Takes it: something leaves now.
    ///
    /// # Errors
    /// It is not time yet; from when on, if that is known.
    pub fn take(self, now: Instant) -> Result<InFlight, (Self, Option<Instant>)> {
        let taken = self.provider.change(now, |turns| turns.take(self.id, now));
        match taken {
            Ok(()) => Ok(InFlight {
                provider: Arc::clone(&self.provider),
                left: now,
            }),
            Err(at) => Err((self, at)),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Of one that was taken nothing is known any more.
        let (id, now) = (self.id, Instant::now());
        self.provider.change(now, |turns| turns.leave(id));
    }
}

/// Something is on its way to a provider; who drops it has an answer, or does not want one any more.
#[derive(Debug)]
pub struct InFlight {
    provider: Arc<Provider>,
    left: Instant,
}

impl InFlight {
    /// Returns true if its provider has a limit, which bounds the requests in flight.
    pub fn is_limited(&self) -> bool {
        self.provider.limit.is_limited()
    }

    /// Records how the request ended. A provider that names a time to retry after gets no request
    /// until then.
    pub fn record_outcome<T>(&self, answer: &Result<T, CallError>) {
        let now = Instant::now();
        let after = answer.as_ref().err().and_then(CallError::after);
        self.provider.change(now, |turns| match after {
            Some(after) => turns.hold(now + after),
            None => turns.answers(self.left),
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.provider.change(Instant::now(), Turns::free);
    }
}

/// Time that an asker may wait before the wait is reported to users.
pub(crate) const LONG: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
