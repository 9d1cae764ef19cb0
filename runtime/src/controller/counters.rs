//! What tests and metrics read: passes, writes by outcome, contradictions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::lifecycle::ObjectRef;

/// Counts since the start; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Mutex<Counts>>);

/// A copy of all counts at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passes by object, of those that are still there.
    pub passes: BTreeMap<ObjectRef, u64>,
    /// Passes of objects that are no more.
    pub passes_of_gone: u64,
    /// Writes by what was written (an effect's name, `status`, `event`, `claim`, `release`) and how it ended (`done`, `refused`, `again`, `later`).
    pub writes: BTreeMap<(String, &'static str), u64>,
    /// Passes in a world that a lifecycle says cannot be, by object.
    pub contradictions: BTreeMap<ObjectRef, u64>,
    /// Answers that had expired when they were given: of a fact whose `until` is not after `now`.
    pub expired_answers: u64,
    /// Polls asked.
    pub polls: u64,
    /// Answers of polls and calls that said when to come again.
    pub put_off: u64,
    /// The most writes that were on their way at once.
    pub most_in_flight: usize,
}

impl Counters {
    /// All counts at this instant.
    pub fn read(&self) -> Counts {
        self.with(|counts| counts.clone())
    }

    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut Counts) -> R) -> R {
        // Counts stay usable whatever happened to another thread.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Counts {
    pub(crate) fn forget(&mut self, object: &ObjectRef) {
        self.passes_of_gone += self.passes.remove(object).unwrap_or_default();
        self.contradictions.remove(object);
    }

    /// All passes.
    pub fn all_passes(&self) -> u64 {
        self.passes.values().sum::<u64>() + self.passes_of_gone
    }

    /// All writes but events.
    pub fn all_writes(&self) -> u64 {
        let writes = self.writes.iter().filter(|((what, _), _)| what != "event");
        writes.map(|(_, n)| n).sum()
    }
}
