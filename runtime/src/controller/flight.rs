//! Writes on their way, polled in the order in which they left.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::queue::Subject;
use super::report::Draft;
use crate::cluster::observe::{Job, Plan};
use crate::cluster::outcome::Outcome;
use crate::lifecycle::Stored;
use crate::lifecycle::call::{CallError, Called};
use std::sync::Arc;

/// What was written.
#[derive(Clone, Debug)]
pub(crate) enum Wrote {
    Effect { effect: usize, plan: Plan },
    Finalizer { claim: bool, subject: Arc<Stored> },
    Status { draft: Draft, subject: Arc<Stored> },
    Event,
}

impl Wrote {
    /// Whether it changes nothing but who owns what.
    pub(crate) fn migrates(&self) -> bool {
        match self {
            Self::Effect { plan, .. } => plan.job == Job::Migrate,
            Self::Finalizer { .. } | Self::Status { .. } | Self::Event => false,
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
pub(crate) struct Landed {
    /// Whose it was; events belong to nobody.
    pub(crate) subject: Option<Subject>,
    pub(crate) wrote: Wrote,
    pub(crate) ended: Ended,
}

type Flight = Pin<Box<dyn Future<Output = Landed> + Send>>;

#[derive(Default)]
pub(crate) struct Flights(Vec<Flight>);

impl Flights {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn leave(&mut self, flight: Flight) {
        self.0.push(flight);
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<Landed>> {
        let mut landed = Vec::new();
        self.0.retain_mut(|flight| match flight.as_mut().poll(cx) {
            Poll::Ready(done) => {
                landed.push(done);
                false
            }
            Poll::Pending => true,
        });
        if landed.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(landed)
        }
    }
}
