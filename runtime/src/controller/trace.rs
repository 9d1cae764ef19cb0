//! What an observer is told of a run: each pass as it decided, each write as it left and as it ended.
//! Without an observer nothing is made for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::Controller;
use super::decide::{Decided, Seen};
use super::in_flight::{Completed, Ended, WriteRecord};
use super::queue::Subject;
use super::why::Why;
use crate::cluster::observe::Job;
use crate::cluster::outcome::Outcome;
use crate::cluster::store::{Change, Keep, Name};
use crate::lifecycle::call::CallError;
use crate::lifecycle::{Kind, ObjectRef, Observation, Stored};
use crate::machine::ir::Lifecycle;
use crate::machine::policy::{Class, Decision};

/// Observes an operator that runs. It is told within the loop, so it must be quick, and it cannot change anything.
pub trait Trace: Send + Sync + 'static {
    /// Something happened.
    fn saw(&self, moment: &TraceEvent<'_>);

    /// Whether it is to be told of objects as well. Caches then keep all of them whole, not only those that are written.
    fn wants_objects(&self) -> bool {
        false
    }

    /// The operator begins, with these lifecycles, over caches of these kinds.
    fn begins(&self, _lifecycles: &[&'static Lifecycle], _kinds: &[&Kind]) {}

    /// A cache shows an object in another version from here on, or `None`: no longer. Told where [`Self::wants_objects`].
    fn changed(&self, _kind: &Kind, _object: &ObjectRef, _now: Option<&Arc<Stored>>) {}
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum TraceEvent<'a> {
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
        /// Which object was written; nothing of calls and of events.
        target: Option<&'a ObjectRef>,
        /// The version that it got, where it is there afterwards.
        version: Option<&'a str>,
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
    pub observation: &'a Arc<Observation>,
    /// Where the world is.
    pub class: Class,
    /// What is to be done in that world, if it need not wait.
    pub next: Decision,
    /// What the pass does.
    pub does: Move,
    /// Why there is no world, if there is none.
    pub failure: Option<String>,
    /// What the checker ruled out, and this pass shows.
    pub ruled_out: Option<String>,
    /// Where the API server keeps other values than were written, so that this counts as written.
    pub settled: Vec<Kept<'a>>,
    /// When.
    pub at: Instant,
}

/// What an API server kept of what was written, both as fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// The namespace of the object that was written.
    pub namespace: Option<&'a str>,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// What was written.
    pub desired: u64,
    /// What it kept of it.
    pub live: u64,
}

impl Passed<'_> {
    /// The name of the state that it found; of a world without one, a word of its own.
    pub fn state(&self) -> &'static str {
        self.class.word(self.lifecycle)
    }
}

impl std::fmt::Debug for Passed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passed")
            .field("object", &self.object)
            .field("world", &self.observation.world.describe(self.lifecycle))
            .field("class", &self.class)
            .field("next", &self.next)
            .field("does", &self.does)
            .field("failure", &self.failure)
            .field("ruled_out", &self.ruled_out)
            .finish_non_exhaustive()
    }
}

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One thing leaves.
    Write(Written),
    /// Nothing leaves before this time, unless something changes.
    Wait(Instant, Why),
    /// Nothing is to be done.
    Rest,
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
    /// What an older version of the lifecycle left was taken away.
    Leftover,
    /// The status.
    Status,
    /// An event about an object.
    Event,
}

impl Controller {
    /// Says what there is to be observed, and has caches keep what the observer is to see.
    pub(super) fn trace_begin(&mut self) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let wants_all = trace.wants_objects();
        let subjects: BTreeSet<usize> = self.runners.iter().map(|one| one.subject_store).collect();
        for (number, store) in self.stores.iter_mut().enumerate() {
            // Who observes passes is shown their objects whole.
            if wants_all || subjects.contains(&number) {
                store.keep(Keep::Whole);
            }
        }
        let lifecycles: Vec<_> = self.runners.iter().map(|runner| runner.ir).collect();
        let kinds: Vec<_> = self.stores.iter().map(|store| &store.kind).collect();
        trace.begins(&lifecycles, &kinds);
    }

    pub(super) fn trace_change(&self, store: usize, change: &Change) {
        let trace = self.settings.trace.as_ref();
        let Some(trace) = trace.filter(|trace| trace.wants_objects()) else {
            return;
        };
        let kind = &self.stores[store].kind;
        trace.changed(kind, &change.name.of_kind(kind), change.new.as_ref());
    }

    pub(super) fn trace_pass(&self, subject: &Subject, seen: &Seen, decided: &Decided) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let runner = &self.runners[subject.lifecycle];
        trace.saw(&TraceEvent::Passed(Passed {
            lifecycle: runner.ir,
            object: &subject.name.of_kind(&runner.subject_kind),
            observation: &seen.observed.observation,
            class: seen.class,
            next: seen.next,
            does: decided.told(),
            failure: seen.observed.failure.as_ref().map(ToString::to_string),
            ruled_out: seen
                .ruled_out
                .as_ref()
                .map(|ruled_out| ruled_out.sentence(runner.ir, &seen.observed.observation.world)),
            settled: self.memories[subject].settled().map(kept).collect(),
            at: Instant::now(),
        }));
    }

    pub(super) fn trace_sent(&self, subject: Option<&Subject>, what: Written) {
        if let Some(trace) = &self.settings.trace {
            let object = subject.map(|s| self.object_of(s));
            let object = object.as_ref();
            trace.saw(&TraceEvent::Sent { object, what });
        }
    }

    pub(super) fn trace_ended(&self, completed: &Completed) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let how = match &completed.ended {
            // What others owned is ours now; the next write makes it as wanted.
            Ended::Write(Outcome::Done(_)) if completed.wrote.migrates() => "moved",
            Ended::Write(outcome) => outcome.word(),
            Ended::Call(Ok(_)) => "done",
            Ended::Call(Err(CallError::Refused(_))) => "refused",
            Ended::Call(Err(CallError::Failed(_) | CallError::Later { .. })) => "later",
        };
        let object = completed.subject.as_ref().map(|s| self.object_of(s));
        let object = object.as_ref();
        let what = completed.wrote.what();
        let target = self.target_of(completed, object);
        let done = match &completed.ended {
            Ended::Write(Outcome::Done(done)) if done["kind"] != "Status" => Some(done),
            Ended::Write(_) | Ended::Call(_) => None,
        };
        trace.saw(&TraceEvent::Ended {
            object,
            what,
            how,
            target: target.as_ref(),
            version: done.and_then(|done| done["metadata"]["resourceVersion"].as_str()),
        });
    }

    fn target_of(&self, completed: &Completed, object: Option<&ObjectRef>) -> Option<ObjectRef> {
        match (&completed.wrote, &completed.subject) {
            (WriteRecord::Event, _) | (_, None) => None,
            (WriteRecord::Effect { plan, .. }, _) if plan.job == Job::Call => None,
            (WriteRecord::Effect { plan, .. }, Some(subject)) => {
                let runner = &self.runners[subject.lifecycle];
                Some(plan.name.of_kind(runner.kind_of(plan)))
            }
            // What of it is on another object is not known by its kind here.
            (WriteRecord::Leftover(_), _) => None,
            (WriteRecord::Finalizer { .. } | WriteRecord::Status { .. }, _) => object.cloned(),
        }
    }

    pub(super) fn object_of(&self, subject: &Subject) -> ObjectRef {
        let runner = &self.runners[subject.lifecycle];
        subject.name.of_kind(&runner.subject_kind)
    }
}

fn kept<'a>((name, uid, desired, live): (&'a Name, &'a str, u64, u64)) -> Kept<'a> {
    Kept {
        namespace: name.namespace.as_deref(),
        name: &name.name,
        uid,
        desired,
        live,
    }
}

impl WriteRecord {
    pub(super) fn what(&self) -> Written {
        match self {
            Self::Effect { effect, plan } if plan.job == Job::Call => Written::Call(*effect),
            Self::Effect { effect, .. } => Written::Effect(*effect),
            Self::Finalizer { claim: true, .. } => Written::Claim,
            Self::Finalizer { claim: false, .. } => Written::Release,
            Self::Leftover(_) => Written::Leftover,
            Self::Status { .. } => Written::Status,
            Self::Event => Written::Event,
        }
    }
}

impl Decided {
    /// As an observer is told.
    pub(super) fn told(&self) -> Move {
        match self {
            Self::Write(write) => Move::Write(write.what()),
            Self::Wait { until, why } => Move::Wait(*until, *why),
            Self::Rest { .. } => Move::Rest,
        }
    }
}
