//! Something outside Kubernetes that stands in for a real provider: deterministic, in the process, reached over a line on which faults can happen.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::lifecycle::CallError;
use lifecycle_suite::faults::Line;
use lifecycle_suite::resources::ExternalSystem;
use serde_json::Value;

/// A provider and its state, which outlives every process. Clones share it.
#[derive(Clone, Default)]
pub struct Provider<S> {
    state: Arc<Mutex<Reach<S>>>,
    line: Option<Line>,
}

#[derive(Clone, Default)]
struct Reach<S> {
    state: S,
    is_down: bool,
    /// How many mutations were applied.
    mutations: u64,
    /// How many questions were asked.
    questions: u64,
}

/// What a provider keeps, as the generated suite looks at it.
pub trait Kept: Clone + Default + Send + 'static {
    /// What nobody would give back if all objects were gone, a line each.
    fn held(&self) -> Vec<String>;

    /// What somebody may change by hand, by name.
    const MEDDLINGS: &[&str];

    /// Changes it by hand.
    fn perturb(&mut self, what: &str);

    /// Gives up what hangs on an object that somebody deleted.
    fn follow(&mut self, _deleted: &Value) {}
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

    /// Looks at its state or changes it, as another user would.
    pub fn with<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut reach.state)
    }

    /// How many questions reached it.
    pub fn questions(&self) -> u64 {
        let reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        reach.questions
    }

    /// Answers nobody, or everybody again; whether that is another thing than before.
    pub fn set_down(&self, is_down: bool) -> bool {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut reach.is_down, is_down) != is_down
    }

    /// Applies a mutation.
    ///
    /// # Errors
    /// It is down, a fault is in the way, or the mutation fails.
    pub async fn mutate<R: Debug>(
        &self,
        what: &str,
        mutation: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let operation = || self.reached(true, mutation);
        match &self.line {
            Some(line) => line.mutate(what, operation).await,
            None => operation(),
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
        let operation = || self.reached(false, question);
        match &self.line {
            Some(line) => line.ask(what, operation).await,
            None => operation(),
        }
    }

    fn reached<R>(
        &self,
        is_mutation: bool,
        operation: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if reach.is_down {
            return Err(CallError::Failed(
                "the provider cannot be reached".to_owned(),
            ));
        }
        reach.mutations += u64::from(is_mutation);
        reach.questions += u64::from(!is_mutation);
        operation(&mut reach.state)
    }
}

impl<S: Kept> ExternalSystem for Provider<S> {
    fn changes(&self) -> u64 {
        let reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        reach.mutations
    }

    fn held(&self) -> Vec<String> {
        self.with(|state| state.held())
    }

    fn answer(&self, up: bool) -> bool {
        self.set_down(!up);
        true
    }

    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        let reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::new(Self {
            state: Arc::new(Mutex::new(reach.clone())),
            line: None,
        }))
    }

    fn meddlings(&self) -> Vec<String> {
        S::MEDDLINGS.iter().map(|&what| what.to_owned()).collect()
    }

    fn perturb(&self, what: &str) {
        self.with(|state| state.perturb(what));
    }

    fn follow(&self, deleted: &Value) {
        self.with(|state| state.follow(deleted));
    }
}
