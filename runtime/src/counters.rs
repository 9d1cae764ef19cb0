//! Counters for tests and metrics: reconciliations and their results, states of objects, writes by
//! result, the queue, and calls. Makes no decisions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::lifecycle::ObjectRef;
use crate::machine::ir::{Code, Rpc};

/// Counts since the start; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    counts: Arc<Mutex<Counts>>,
    /// When each kind was last heard of.
    heard: Arc<Mutex<BTreeMap<String, Instant>>>,
}

/// A copy of all counts at one instant. Lifecycles are named as they are declared, which is the kind of their objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reconciliations by object, for existing objects.
    pub passes: BTreeMap<ObjectRef, u64>,
    /// Reconciliations of deleted objects.
    pub passes_of_gone: u64,
    /// Reconciliations by lifecycle and by result: a write (`effect`, `report`, `claim`, `release`,
    /// `retire`), `wait`, `rest`, or `contradiction`.
    pub outcomes: BTreeMap<(&'static str, &'static str), u64>,
    /// Objects by lifecycle and by the state in their last reconciliation.
    pub states: BTreeMap<(&'static str, &'static str), u64>,
    /// Changes of the state between reconciliations, by lifecycle, old state and new state.
    pub transitions: BTreeMap<[&'static str; 3], u64>,
    /// Objects that are where they are for too long, by lifecycle.
    pub overdue: BTreeMap<&'static str, u64>,
    /// Writes by lifecycle (empty: of an Event), by target (an effect's name, `status`, `event`,
    /// `claim`, `release`, `retire`) and by result (`done`, `refused`, `again`, `later`).
    pub writes: BTreeMap<[&'static str; 3], u64>,
    /// Reconciliations in a world that a lifecycle rules out, by object.
    pub contradictions: BTreeMap<ObjectRef, u64>,
    /// Answers that were already expired when given: of a fact whose `until` is not after `now`.
    pub expired_answers: u64,
    /// Number of poll queries.
    pub polls: u64,
    /// Answers of polls and calls that named a retry time.
    pub put_off: u64,
    /// The most writes that were on their way at once.
    pub most_in_flight: usize,
    /// Objects that were due and not yet reconciled at the last heartbeat of the loop.
    pub due: usize,
    /// Delay of reconciliations after their due time.
    pub latency: Latency,
    /// True if it may write. `None` for a process without a lifecycle of a resource.
    pub leads: Option<bool>,
    /// Name of the Lease whose holder may write. `None` if none is needed.
    pub lease: Option<String>,
    /// How long nothing was heard of each kind that is watched.
    pub silence: BTreeMap<String, Duration>,
    /// Calls of volumes that were answered, by how; `None`: well.
    pub calls: BTreeMap<(Rpc, Option<Code>), u64>,
}

/// A histogram of lengths of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// All of them.
    pub sum: Duration,
    /// How many were at most as long as each of `BOUNDS` and longer than the one before; at last those that were longer than all.
    pub counts: [u64; Self::BOUNDS.len() + 1],
}

impl Latency {
    /// Bounds in seconds.
    pub const BOUNDS: [f64; 9] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

    fn observe(&mut self, length: Duration) {
        self.sum += length;
        let seconds = length.as_secs_f64();
        let place = Self::BOUNDS.iter().position(|bound| seconds <= *bound);
        self.counts[place.unwrap_or(Self::BOUNDS.len())] += 1;
    }

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }
}

/// The place at which an object is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedState {
    pub(crate) state: &'static str,
    pub(crate) is_overdue: bool,
}

impl Counters {
    /// All counts at this instant.
    pub fn read(&self) -> Counts {
        let now = Instant::now();
        let heard = self.heard();
        let silence = heard.iter().map(|(kind, at)| {
            let silence = now.saturating_duration_since(*at);
            (kind.clone(), silence)
        });
        Counts {
            silence: silence.collect(),
            ..self.update(|counts| counts.clone())
        }
    }

    /// Counts a call of a volume that was answered with this code; `None`: well.
    pub fn called(&self, rpc: Rpc, code: Option<Code>) {
        self.update(|counts| *counts.calls.entry((rpc, code)).or_default() += 1);
    }

    /// Notes when a kind was last heard of.
    pub(crate) fn heard_of(&self, kind: &str, at: Instant) {
        let mut heard = self.heard();
        match heard.get_mut(kind) {
            Some(known) => *known = at,
            None => {
                heard.insert(kind.to_owned(), at);
            }
        }
    }

    pub(crate) fn waited(&self, length: Duration) {
        self.update(|counts| counts.latency.observe(length));
    }

    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut Counts) -> R) -> R {
        // Counts stay usable even if another thread panicked.
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn heard(&self) -> MutexGuard<'_, BTreeMap<String, Instant>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Adds the counts of another part of the process.
    pub(crate) fn add(&mut self, other: Self) {
        add_all(&mut self.passes, other.passes);
        self.passes_of_gone += other.passes_of_gone;
        add_all(&mut self.outcomes, other.outcomes);
        add_all(&mut self.states, other.states);
        add_all(&mut self.transitions, other.transitions);
        add_all(&mut self.overdue, other.overdue);
        add_all(&mut self.writes, other.writes);
        add_all(&mut self.contradictions, other.contradictions);
        self.expired_answers += other.expired_answers;
        self.polls += other.polls;
        self.put_off += other.put_off;
        self.most_in_flight = self.most_in_flight.max(other.most_in_flight);
        self.due += other.due;
        self.latency.add(other.latency);
        self.leads = self.leads.max(other.leads);
        self.lease = self.lease.take().or(other.lease);
        for (kind, silence) in other.silence {
            let longest = self.silence.entry(kind).or_default();
            *longest = silence.max(*longest);
        }
        add_all(&mut self.calls, other.calls);
    }

    pub(crate) fn forget(&mut self, object: &ObjectRef) {
        self.passes_of_gone += self.passes.remove(object).unwrap_or_default();
        self.contradictions.remove(object);
    }

    /// Counts an object of a lifecycle in another place.
    pub(crate) fn moved(
        &mut self,
        of: &'static str,
        from: Option<CountedState>,
        to: Option<CountedState>,
    ) {
        if let Some(from) = from {
            let left = self.states.entry((of, from.state)).or_default();
            *left = left.saturating_sub(1);
            let overdue = self.overdue.entry(of).or_default();
            *overdue = overdue.saturating_sub(from.is_overdue.into());
        }
        if let Some(to) = to {
            *self.states.entry((of, to.state)).or_default() += 1;
            *self.overdue.entry(of).or_default() += u64::from(to.is_overdue);
        }
        if let (Some(from), Some(to)) = (from, to)
            && from.state != to.state
        {
            let transition = [of, from.state, to.state];
            *self.transitions.entry(transition).or_default() += 1;
        }
    }

    /// Returns the number of all reconciliations.
    pub fn all_passes(&self) -> u64 {
        self.passes.values().sum::<u64>() + self.passes_of_gone
    }

    /// All writes but events.
    pub fn all_writes(&self) -> u64 {
        let writes = self
            .writes
            .iter()
            .filter(|([_, what, _], _)| *what != "event");
        writes.map(|(_, n)| n).sum()
    }
}

fn add_all<K: Ord>(counts: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, number) in more {
        *counts.entry(key).or_default() += number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_below_the_first_bound_that_it_does_not_exceed() {
        let mut latency = Latency::default();
        for length in [0, 1, 2, 100, 200_000].map(Duration::from_millis) {
            latency.observe(length);
        }
        assert_eq!(latency.counts, [2, 1, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(latency.sum, Duration::from_millis(200_103));
    }

    #[test]
    fn an_object_is_counted_in_one_state_until_it_is_gone() {
        let mut counts = Counts::default();
        let place = |state, is_overdue| Some(CountedState { state, is_overdue });
        let way = [
            None,
            place("Waiting", false),
            place("Waiting", true),
            place("Ready", false),
        ];
        for step in way.windows(2) {
            counts.moved("Web", step[0], step[1]);
        }
        assert_eq!(
            counts.states,
            [(("Web", "Ready"), 1), (("Web", "Waiting"), 0)].into()
        );
        assert_eq!(
            counts.transitions,
            [(["Web", "Waiting", "Ready"], 1)].into()
        );
        assert_eq!(counts.overdue, [("Web", 0)].into());
        counts.moved("Web", place("Ready", false), None);
        assert_eq!(counts.states.into_values().sum::<u64>(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_grows_until_something_is_heard() {
        let counters = Counters::default();
        counters.heard_of("Service", Instant::now());
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(counters.read().silence["Service"], Duration::from_secs(7));
        counters.heard_of("Service", Instant::now());
        assert_eq!(counters.read().silence["Service"], Duration::ZERO);
    }
}
