//! Reasons why a process is not ready, and its counters. Its parts report them, and health queries
//! read them. Serves nothing itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::counters::{Counters, Counts};

/// How often a loop shows that it goes round, at least.
pub const BEAT: Duration = Duration::from_secs(5);
/// Time without progress after which a loop counts as hung.
const LONGEST_TURN: Duration = Duration::from_secs(60);

/// Health of a process: the parts that are not ready yet, with reasons, and the loops that make
/// progress. Clones share it. Not ready until an operator has started.
#[derive(Clone, Debug)]
pub struct Health {
    waiting: Arc<Mutex<BTreeMap<String, String>>>,
    notes: Arc<Mutex<BTreeMap<String, String>>>,
    beats: Arc<Mutex<BTreeMap<String, Instant>>>,
    counters: Arc<Mutex<Vec<Counters>>>,
}

/// The part that every process has.
const START: &str = "start";

impl Default for Health {
    fn default() -> Self {
        let starting = (START.to_owned(), "the operator is starting".to_owned());
        Self {
            waiting: Arc::new(Mutex::new([starting].into())),
            notes: Arc::default(),
            beats: Arc::default(),
            counters: Arc::default(),
        }
    }
}

impl Health {
    /// Records that every part has reported its readiness.
    pub fn started(&self) {
        self.works(START);
    }

    /// A part is not ready, for a reason in one sentence.
    pub fn waits(&self, part: impl Into<String>, why: impl Into<String>) {
        self.waiting().insert(part.into(), why.into());
    }

    /// A part is ready.
    pub fn works(&self, part: &str) {
        self.waiting().remove(part);
    }

    /// Returns the parts that are not ready: the name of each part and the reason, ordered by name.
    /// If it is empty, the process is ready.
    pub fn missing(&self) -> Vec<(String, String)> {
        let waiting = self.waiting();
        let parts = waiting.iter();
        parts
            .map(|(part, why)| (part.clone(), why.clone()))
            .collect()
    }

    /// Reports of a part that is ready why it does nothing now, in one sentence.
    pub fn set_note(&self, part: impl Into<String>, why: impl Into<String>) {
        self.all_notes().insert(part.into(), why.into());
    }

    /// Takes the note of a part away.
    pub fn clear_note(&self, part: &str) {
        self.all_notes().remove(part);
    }

    /// The notes of ready parts, by name.
    pub fn notes(&self) -> Vec<(String, String)> {
        let notes = self.all_notes();
        let parts = notes.iter();
        parts
            .map(|(part, why)| (part.clone(), why.clone()))
            .collect()
    }

    /// Records the progress of a loop, which then repeats this every `BEAT`.
    pub fn beats(&self, part: &str) {
        self.all_beats().insert(part.to_owned(), Instant::now());
    }

    /// A loop has ended as it should.
    pub fn mark_ended(&self, part: &str) {
        self.all_beats().remove(part);
    }

    /// The loops that hang, by name: only a new process helps.
    pub fn hanging(&self) -> Vec<String> {
        let now = Instant::now();
        let beats = self.all_beats();
        let hang = |at: &Instant| now.saturating_duration_since(*at) > LONGEST_TURN;
        let hanging = beats.iter().filter(|(_, at)| hang(at));
        hanging.map(|(part, _)| part.clone()).collect()
    }

    /// Publishes the counters of a part. They are read whenever the metrics of the process are
    /// requested.
    pub fn publish(&self, counters: Counters) {
        self.all_counters().push(counters);
    }

    /// Counts of all parts that published theirs, added up.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for counters in self.all_counters().iter() {
            counts.add(counters.read());
        }
        counts
    }

    fn all_counters(&self) -> MutexGuard<'_, Vec<Counters>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_beats(&self) -> MutexGuard<'_, BTreeMap<String, Instant>> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        // A part that panics leaves no partial report.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_named_until_it_works() {
        let health = Health::default();
        let same = health.clone();
        assert_eq!(health.missing().len(), 1, "it has not started");
        health.started();
        health.waits("caches", "Services are not listed yet");
        health.waits("caches", "Nodes are not listed yet");
        health.waits("csi", "no socket");
        same.works("csi");
        let missing = [("caches".to_owned(), "Nodes are not listed yet".to_owned())];
        assert_eq!(same.missing(), missing);
        same.works("caches");
        assert_eq!(health.missing(), []);
    }

    #[test]
    fn counts_of_all_parts_are_added_up() {
        let (health, parts) = (
            Health::default(),
            [Counters::default(), Counters::default()],
        );
        for (part, most_in_flight) in parts.iter().zip([3, 2]) {
            health.publish(part.clone());
            part.update(|counts| {
                counts.polls += 2;
                counts.writes.insert(["Web", "apply", "done"], 5);
                counts.most_in_flight = most_in_flight;
            });
        }
        let counts = health.clone().counts();
        let writes = counts.writes.into_values().collect::<Vec<_>>();
        assert_eq!((counts.polls, writes), (4, vec![10]));
        assert_eq!(counts.most_in_flight, 3);
    }

    #[test]
    fn a_part_with_a_note_is_ready() {
        let health = Health::default();
        health.started();
        health.set_note("lease", "another replica leads");
        assert_eq!(health.missing(), []);
        let noted = [("lease".to_owned(), "another replica leads".to_owned())];
        assert_eq!(health.clone().notes(), noted);
        health.clear_note("lease");
        assert_eq!(health.notes(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_hangs_that_has_not_gone_round_for_a_minute() {
        let health = Health::default();
        health.beats("controller");
        health.beats("watches");
        tokio::time::advance(Duration::from_secs(60)).await;
        health.beats("watches");
        assert_eq!(health.hanging(), [""; 0]);
        tokio::time::advance(BEAT).await;
        assert_eq!(health.hanging(), ["controller"]);
        health.mark_ended("controller");
        assert_eq!(health.hanging(), [""; 0]);
    }
}
