//! Something outside Kubernetes that stands in for a real provider: deterministic, in the process, reached over a line on which faults can happen.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::testing::faults::Line;

/// A provider and its state, which outlives every process. Clones share it.
#[derive(Clone, Default)]
pub struct Provider<S> {
    state: Arc<Mutex<Reach<S>>>,
    line: Option<Line>,
}

#[derive(Default)]
struct Reach<S> {
    state: S,
    is_down: bool,
}

impl<S> Provider<S> {
    /// The same provider as one process reaches it.
    #[must_use]
    pub fn on(&self, line: Line) -> Self {
        Self {
            state: Arc::clone(&self.state),
            line: Some(line),
        }
    }

    /// Looks at its state or changes it, as somebody else would.
    pub fn with<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut reach.state)
    }

    /// Answers nobody, or everybody again.
    pub fn set_down(&self, is_down: bool) {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        reach.is_down = is_down;
    }

    /// Carries a mutation out.
    ///
    /// # Errors
    /// It is down, a fault is in the way, or the mutation fails.
    pub async fn mutate<R: Debug>(
        &self,
        what: &str,
        mutation: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let deed = || self.reached(mutation);
        match &self.line {
            Some(line) => line.mutate(what, deed).await,
            None => deed(),
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// It is down, a fault is in the way, or there is no answer.
    pub async fn ask<R: Debug>(
        &self,
        what: &str,
        question: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let deed = || self.reached(question);
        match &self.line {
            Some(line) => line.ask(what, deed).await,
            None => deed(),
        }
    }

    fn reached<R>(
        &self,
        deed: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if reach.is_down {
            return Err(CallError::Failed(
                "the provider cannot be reached".to_owned(),
            ));
        }
        deed(&mut reach.state)
    }
}
