//! Mutations and queries outside Kubernetes: single-use tokens, and their results.

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Permission for exactly one mutation: it cannot be copied, and [`Once::spend`] consumes it.
#[derive(Debug)]
pub struct Once<'a> {
    key: &'a str,
}

/// Outcome of a `call`: one of its declared alternatives, proved to come from its one mutation, or
/// an error.
pub type Outcome<R> = Result<Spent<R>, CallError>;

/// The result of a mutation that consumed its [`Once`]; cannot be made otherwise.
#[derive(Debug)]
pub struct Spent<R> {
    result: R,
    token: PhantomData<()>,
}

/// Why a call or a poll has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider would answer an equal request in the same way. The refusal is shown to users.
    /// A different request is sent at once, and an equal one after 1 min, 2 min, 4 min up to 1 h.
    #[error("{0}")]
    Refused(String),
    /// It may work later: repeated with back-off.
    #[error("{0}")]
    Failed(String),
    /// Failure like `Failed`, with a retry time from the provider, as in `Retry-After`. An equal
    /// request is not sent before then, for an hour at most.
    #[error("{why}")]
    Later {
        /// Message of the provider.
        why: String,
        /// From now on.
        after: Duration,
    },
}

/// Upper bound on the pause that a provider may request.
const LONGEST: Duration = Duration::from_secs(3600);

impl CallError {
    /// Returns the pause that the provider requests, within bounds.
    pub fn after(&self) -> Option<Duration> {
        match self {
            Self::Later { after, .. } => Some((*after).min(LONGEST)),
            Self::Refused(_) | Self::Failed(_) => None,
        }
    }
}

/// A mutation on its way, as the driver waits for it: the position of the alternative that came about.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Called, CallError>> + Send + 'a>>;

/// Position of the declared alternative that a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called(pub usize);

/// A question on its way.
pub type Polling<'a> = Pin<Box<dyn Future<Output = Result<Reply, CallError>> + Send + 'a>>;

/// Answer to a query, which can be compared with another answer.
#[derive(Clone)]
pub struct Reply {
    /// The answer, erased.
    pub answer: Arc<dyn Any + Send + Sync>,
    same: fn(&Self, &Self) -> bool,
}

impl Reply {
    /// Erases an answer.
    pub fn new<T: PartialEq + Send + Sync + 'static>(answer: T) -> Self {
        let same = |a: &Self, b: &Self| {
            let both = (a.answer.downcast_ref::<T>(), b.answer.downcast_ref::<T>());
            matches!(both, (Some(a), Some(b)) if a == b)
        };
        Self {
            answer: Arc::new(answer),
            same,
        }
    }

    /// Returns true if both answers are equal: then no object needs to reconcile again.
    pub fn says_the_same(&self, other: &Self) -> bool {
        (self.same)(self, other)
    }
}

impl<'a> Once<'a> {
    /// For drivers: a new token for one run of an effect under its key.
    pub fn new(key: &'a str) -> Self {
        Self { key }
    }

    /// The key under which the provider must treat a repetition as the same request.
    pub fn key(&self) -> &str {
        self.key
    }

    /// Runs the one mutation.
    ///
    /// # Errors
    /// Those of the mutation.
    pub async fn spend<R>(
        self,
        mutation: impl Future<Output = Result<R, CallError>>,
    ) -> Outcome<R> {
        mutation.await.map(|result| Spent {
            result,
            token: PhantomData,
        })
    }
}

/// Wraps a call whose result names its alternative by position, for generated code.
pub fn calling<'a, R: Send + 'a>(
    call: impl Future<Output = Outcome<R>> + Send + 'a,
    alternative: fn(&R) -> usize,
) -> Calling<'a> {
    Box::pin(async move { call.await.map(|spent| Called(alternative(&spent.result))) })
}

/// Wraps a poll whose answer is kept until the next one, for generated code.
pub fn polling<'a, T: PartialEq + Send + Sync + 'static>(
    poll: impl Future<Output = Result<T, CallError>> + Send + 'a,
) -> Polling<'a> {
    Box::pin(async move { poll.await.map(Reply::new) })
}
