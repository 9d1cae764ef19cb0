//! External systems outside Kubernetes: the contents that polls query and calls change, each under
//! a key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lifecycle_runtime::lifecycle::CallError;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::author::Document;
use crate::dice::Dice;

/// Time for which a provider refuses requests, and minimum time for which it accepts them
/// afterwards. No answer expires because of a refusal, regardless of its validity.
const LEFT_ALONE: Duration = Duration::from_secs(4);
const BEARS: Duration = Duration::from_secs(600);

/// Schedule by which providers refuse requests.
#[derive(Clone, Debug)]
pub struct PutOff {
    dice: Dice,
    last: Option<Instant>,
}

impl PutOff {
    /// By these dice.
    pub fn new(dice: Dice) -> Self {
        Self { dice, last: None }
    }
}

/// Handle to the external systems. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct OutsideStore(Arc<Mutex<State>>);

/// State of the external systems.
#[derive(Clone, Debug, Default)]
pub struct State {
    contents: BTreeMap<(String, String), Value>,
    down: BTreeSet<String>,
    /// How often something became another answer.
    pub changes: usize,
    /// Effects that are refused.
    pub refused: BTreeSet<String>,
    /// Index of the alternative in which the next calls end.
    pub turn: usize,
    /// How much was minted.
    pub minted: u64,
    /// How many calls changed something.
    pub calls: usize,
    /// Number of queries of each poll.
    pub questions: BTreeMap<String, u64>,
    /// Time of the last query of a poll.
    pub asked: Option<Instant>,
    /// Settings by which providers put off their callers, if they do.
    pub puts_off: Option<PutOff>,
    /// How often they did.
    pub put_off: usize,
}

impl OutsideStore {
    /// All of it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that never was.
    pub fn mint(&self) -> u64 {
        let mut state = self.state();
        state.minted += 1;
        state.minted
    }
}

impl State {
    /// Returns the answer to a poll.
    pub fn content(&self, input: &str, key: &str) -> Document {
        let known = self.contents.get(&(input.to_owned(), key.to_owned()));
        Arc::new(
            known
                .cloned()
                .unwrap_or_else(|| json!({ "outside": [input, key] })),
        )
    }

    /// Returns the error of a provider that wants to be left alone now.
    pub fn later(&mut self) -> Option<CallError> {
        let (now, puts_off) = (Instant::now(), self.puts_off.as_mut()?);
        let bears = |last: Instant| now - last < LEFT_ALONE + BEARS;
        if puts_off.last.is_some_and(bears) || !puts_off.dice.one_in(8) {
            return None;
        }
        puts_off.last = Some(now);
        self.put_off += 1;
        Some(CallError::Later {
            why: "too many requests".to_owned(),
            after: LEFT_ALONE,
        })
    }

    /// Returns true if a poll is not answered.
    pub fn is_down(&self, input: &str) -> bool {
        self.down.contains(input)
    }

    /// Stops or resumes answering a poll. Returns true if that is a change.
    pub fn silence(&mut self, input: &str, down: bool) -> bool {
        let new = if down {
            self.down.insert(input.to_owned())
        } else {
            self.down.remove(input)
        };
        self.changes += usize::from(new);
        new
    }

    /// Everything answers.
    pub fn answer(&mut self) {
        self.changes += self.down.len();
        self.down.clear();
    }

    /// Sets the answer to a question.
    pub fn set(&mut self, (input, key): (&str, &str), question: &str, points: u64) {
        self.changes += 1;
        let place = (input.to_owned(), key.to_owned());
        let content = self
            .contents
            .entry(place)
            .or_insert_with(|| json!({ "outside": [input, key] }));
        content["spec"]["answers"][question] = json!(points);
    }
}
