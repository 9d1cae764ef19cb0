//! What an onlooker is told of a run: each pass as it decided, each write as it left and as it ended.
//! Without an onlooker nothing is made for it.

use std::sync::Arc;

use tokio::time::Instant;

use super::Controller;
use super::flight::{Ended, Landed, Wrote};
use super::queue::Subject;
use crate::cluster::observe::{Job, Sight};
use crate::cluster::outcome::Outcome;
use crate::lifecycle::call::CallError;
use crate::lifecycle::{Board, ObjectRef};
use crate::machine::ir::Lifecycle;
use crate::machine::policy::{Class, Move};

/// Looks on while an operator runs. It is told within the loop, so it must be quick, and it cannot change anything.
pub trait Trace: Send + Sync + 'static {
    /// Something happened.
    fn saw(&self, moment: &Moment<'_>);
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Moment<'a> {
    /// A pass looked at an object and decided; one that only waits for its caches is not told.
    Passed(Passed<'a>),
    /// A write of the last pass left.
    Sent {
        /// Whose pass it was; nobody's for what is told about objects.
        object: Option<&'a ObjectRef>,
        /// What was written.
        what: Written,
    },
    /// A write ended.
    Ended {
        /// Whose pass it was.
        object: Option<&'a ObjectRef>,
        /// What was written.
        what: Written,
        /// As counters name it: `done`, `refused`, `again`, `later`.
        how: &'static str,
    },
}

/// A pass that decided.
#[derive(Clone)]
pub struct Passed<'a> {
    /// The lifecycle of the object.
    pub lifecycle: &'static Lifecycle,
    /// The object.
    pub object: &'a ObjectRef,
    /// What it saw: inputs, answers and sentences.
    pub board: &'a Arc<Board>,
    /// Where the world is.
    pub class: Class,
    /// What it does next, unless that must wait.
    pub next: Move,
    /// Why there is no world, if there is none.
    pub failure: Option<String>,
    /// When.
    pub at: Instant,
}

impl std::fmt::Debug for Passed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passed")
            .field("object", &self.object)
            .field("world", &self.board.world.describe(self.lifecycle))
            .field("class", &self.class)
            .field("next", &self.next)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Written {
    /// What an effect writes to the API server.
    Effect(usize),
    /// What an effect does outside Kubernetes.
    Call(usize),
    /// Our finalizer was put on the object.
    Claim,
    /// Our finalizer was taken away.
    Release,
    /// The status.
    Status,
    /// An event about an object.
    Event,
}

impl Controller {
    pub(super) fn trace_pass(&self, subject: &Subject, sight: &Sight, decided: (Class, Move)) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let runner = &self.runners[subject.lifecycle];
        trace.saw(&Moment::Passed(Passed {
            lifecycle: runner.ir,
            object: &subject.name.of_kind(&runner.subject_kind),
            board: &sight.board,
            class: decided.0,
            next: decided.1,
            failure: sight.failure.as_ref().map(ToString::to_string),
            at: Instant::now(),
        }));
    }

    pub(super) fn trace_sent(&self, subject: Option<&Subject>, what: Written) {
        if let Some(trace) = &self.settings.trace {
            let object = subject.map(|s| self.object_of(s));
            let object = object.as_ref();
            trace.saw(&Moment::Sent { object, what });
        }
    }

    pub(super) fn trace_ended(&self, landed: &Landed) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let how = match &landed.ended {
            // What others owned is ours now; the next write makes it as wanted.
            Ended::Write(Outcome::Done(_)) if landed.wrote.migrates() => "moved",
            Ended::Write(outcome) => outcome.word(),
            Ended::Call(Ok(_)) => "done",
            Ended::Call(Err(CallError::Refused(_))) => "refused",
            Ended::Call(Err(CallError::Failed(_))) => "later",
        };
        let object = landed.subject.as_ref().map(|s| self.object_of(s));
        let object = object.as_ref();
        let what = landed.wrote.what();
        trace.saw(&Moment::Ended { object, what, how });
    }

    fn object_of(&self, subject: &Subject) -> ObjectRef {
        let runner = &self.runners[subject.lifecycle];
        subject.name.of_kind(&runner.subject_kind)
    }
}

impl Wrote {
    pub(super) fn what(&self) -> Written {
        match self {
            Self::Effect { effect, plan } if plan.job == Job::Call => Written::Call(*effect),
            Self::Effect { effect, .. } => Written::Effect(*effect),
            Self::Finalizer { claim: true, .. } => Written::Claim,
            Self::Finalizer { claim: false, .. } => Written::Release,
            Self::Status { .. } => Written::Status,
            Self::Event => Written::Event,
        }
    }
}
