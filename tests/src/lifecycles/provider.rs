//! Simulated provider outside Kubernetes: deterministic, in the process, and reached over a line on
//! which faults can happen.

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
    /// Number of queries so far.
    questions: u64,
}

/// State of a provider, as the generated suite sees it.
pub trait ProviderState: Clone + Default + Send + 'static {
    /// Returns the resources that would leak if all objects were gone, one per line.
    fn leftovers(&self) -> Vec<String>;

    /// Names of the changes that a user may make by hand.
    const MEDDLINGS: &[&str];

    /// Changes it by hand.
    fn perturb(&mut self, what: &str);

    /// Releases the resources of an object that a user deleted.
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

    /// Reads or changes its state, as another user would.
    pub fn with_state<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        let mut reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut reach.state)
    }

    /// How many questions reached it.
    pub fn questions(&self) -> u64 {
        let reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        reach.questions
    }

    /// Stops or resumes all answers. Returns true if that is a change.
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
    /// Returns an error if the provider is down, a fault is injected, or there is no answer.
    pub async fn query<R: Debug>(
        &self,
        what: &str,
        question: impl FnOnce(&mut S) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let operation = || self.reached(false, question);
        match &self.line {
            Some(line) => line.query(what, operation).await,
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

impl<S: ProviderState> ExternalSystem for Provider<S> {
    fn changes(&self) -> u64 {
        let reach = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        reach.mutations
    }

    fn leftovers(&self) -> Vec<String> {
        self.with_state(|state| state.leftovers())
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
        self.with_state(|state| state.perturb(what));
    }

    fn follow(&self, deleted: &Value) {
        self.with_state(|state| state.follow(deleted));
    }
}
