//! What lies outside Kubernetes: what polls ask and calls change, under a key each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lifecycle_runtime::lifecycle::CallError;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::author::Document;
use crate::dice::Dice;

/// So long a provider wants to be left alone, and at least so long it bears questions after that: no answer is lost by it, however long that is good.
const LEFT_ALONE: Duration = Duration::from_secs(4);
const BEARS: Duration = Duration::from_secs(600);

/// When providers say that they want to be left alone.
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

/// A handle; clones are the same outside.
#[derive(Clone, Debug, Default)]
pub struct Outside(Arc<Mutex<State>>);

/// What there is.
#[derive(Clone, Debug, Default)]
pub struct State {
    contents: BTreeMap<(String, String), Value>,
    down: BTreeSet<String>,
    /// How often something became another answer.
    pub changes: usize,
    /// Effects that are refused.
    pub refused: BTreeSet<String>,
    /// Which alternative the next calls end in.
    pub turn: usize,
    /// How much was minted.
    pub minted: u64,
    /// How many calls changed something.
    pub calls: usize,
    /// How often each poll was asked.
    pub questions: BTreeMap<String, u64>,
    /// When a poll was asked last.
    pub asked: Option<Instant>,
    /// Whether providers put off who asks.
    pub puts_off: Option<PutOff>,
    /// How often they did.
    pub put_off: usize,
}

impl Outside {
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
    /// What a poll is told.
    pub fn content(&self, input: &str, key: &str) -> Document {
        let known = self.contents.get(&(input.to_owned(), key.to_owned()));
        Arc::new(
            known
                .cloned()
                .unwrap_or_else(|| json!({ "outside": [input, key] })),
        )
    }

    /// What a provider says that wants to be left alone now.
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

    /// Whether a poll is not answered.
    pub fn is_down(&self, input: &str) -> bool {
        self.down.contains(input)
    }

    /// Does not answer a poll any more, or answers it again; whether that is new.
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

    /// Makes an answer about something what it is to be.
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
