//! Pending writes, polled in the order in which they were sent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::queue::Subject;
use super::report::Draft;
use crate::cluster::observe::{Job, Leftover, Plan};
use crate::cluster::outcome::Outcome;
use crate::lifecycle::Stored;
use crate::lifecycle::call::{CallError, Called};
use std::sync::Arc;

/// Write that was sent.
#[derive(Clone, Debug)]
pub(crate) enum WriteRecord {
    Effect {
        effect: usize,
        plan: Plan,
    },
    Finalizer {
        claim: bool,
        subject: Arc<Stored>,
    },
    Status {
        draft: Draft,
        subject: Arc<Stored>,
    },
    /// Removes leftovers of an older version.
    Leftover(Box<Leftover>),
    Event,
}

impl WriteRecord {
    /// Returns true if it changes only the ownership of fields.
    pub(crate) fn migrates(&self) -> bool {
        match self {
            Self::Effect { plan, .. } => plan.job == Job::Migrate,
            Self::Finalizer { .. } | Self::Status { .. } | Self::Leftover(_) | Self::Event => false,
        }
    }
}

/// How it ended.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    Write(Outcome),
    Call(Result<Called, CallError>),
}

/// A write that ended.
#[derive(Debug)]
pub(crate) struct Completed {
    /// Subject of the write; `None` for events.
    pub(crate) subject: Option<Subject>,
    pub(crate) wrote: WriteRecord,
    pub(crate) ended: Ended,
}

type InFlightWrite = Pin<Box<dyn Future<Output = Completed> + Send>>;

#[derive(Default)]
pub(crate) struct InFlightWrites(Vec<InFlightWrite>);

impl InFlightWrites {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn dispatch(&mut self, in_flight: InFlightWrite) {
        self.0.push(in_flight);
    }

    /// Polls each write, unless it `is_over` with our writes at that moment. A request that waits
    /// for its connection must not be sent then.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        is_over: impl Fn() -> bool,
    ) -> Poll<Vec<Completed>> {
        let mut completed = Vec::new();
        self.0.retain_mut(|in_flight| {
            if is_over() {
                return true;
            }
            match in_flight.as_mut().poll(cx) {
                Poll::Ready(done) => {
                    completed.push(done);
                    false
                }
                Poll::Pending => true,
            }
        });
        if completed.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(completed)
        }
    }
}
