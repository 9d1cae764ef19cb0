//! Trace of a run for an observer: each reconciliation as it decided, each write as it left and as
//! it ended. Without an observer the runtime builds no trace.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::Controller;
use super::decide::{Decided, Inspection};
use super::in_flight::{Completed, Ended, WriteRecord};
use super::queue::Subject;
use super::why::WaitReason;
use crate::cluster::observe::Job;
use crate::cluster::outcome::Outcome;
use crate::cluster::store::{Change, Keep, Name};
use crate::lifecycle::call::CallError;
use crate::lifecycle::{Kind, ObjectRef, Observation, Stored};
use crate::machine::ir::Lifecycle;
use crate::machine::policy::{Class, Decision};

/// Observer of a running operator. It is called within the loop, so it must be quick, and it cannot
/// change anything.
pub trait Trace: Send + Sync + 'static {
    /// Something happened.
    fn saw(&self, moment: &TraceEvent<'_>);

    /// Returns true if the observer also receives objects. Caches then keep all objects whole, not
    /// only those that are written.
    fn wants_objects(&self) -> bool {
        false
    }

    /// The operator begins, with these lifecycles, over caches of these kinds.
    fn begins(&self, _lifecycles: &[&'static Lifecycle], _kinds: &[&Kind]) {}

    /// Reports that a cache now shows another version of an object, or `None` if it is gone. Called
    /// if [`Self::wants_objects`] returns true.
    fn changed(&self, _kind: &Kind, _object: &ObjectRef, _now: Option<&Arc<Stored>>) {}
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum TraceEvent<'a> {
    /// A reconciliation observed an object and decided. One that only waits for its caches is not
    /// reported.
    Passed(Passed<'a>),
    /// A write of the last reconciliation was sent.
    Sent {
        /// Object of the reconciliation; `None` for events about objects.
        object: Option<&'a ObjectRef>,
        /// Kind of write.
        what: Written,
    },
    /// A write ended.
    Ended {
        /// Object of the reconciliation.
        object: Option<&'a ObjectRef>,
        /// Kind of write.
        what: Written,
        /// As counters name it: `done`, `refused`, `again`, `later`.
        how: &'static str,
        /// Object that was written; `None` for calls and events.
        target: Option<&'a ObjectRef>,
        /// Resulting version, if the object exists afterwards.
        version: Option<&'a str>,
    },
}

/// Reconciliation with a decision.
#[derive(Clone)]
pub struct Passed<'a> {
    /// The lifecycle of the object.
    pub lifecycle: &'static Lifecycle,
    /// The object.
    pub object: &'a ObjectRef,
    /// Observation of the reconciliation: inputs, answers and sentences.
    pub observation: &'a Arc<Observation>,
    /// Class of the world.
    pub class: Class,
    /// Decision for that world, if it need not wait.
    pub next: Decision,
    /// Move of the reconciliation.
    pub does: Move,
    /// Reason for a missing world.
    pub failure: Option<String>,
    /// Violation of a checked property that this reconciliation observes.
    pub ruled_out: Option<String>,
    /// Writes for which the API server keeps values other than the written ones, and that therefore
    /// count as written.
    pub settled: Vec<AlteredWrite<'a>>,
    /// When.
    pub at: Instant,
}

/// Part of a write that an API server kept; both values are fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlteredWrite<'a> {
    /// The namespace of the object that was written.
    pub namespace: Option<&'a str>,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// Fingerprint of the written value.
    pub desired: u64,
    /// Fingerprint of the value that the API server kept.
    pub live: u64,
}

impl Passed<'_> {
    /// The name of the state that it found; of a world without one, a word of its own.
    pub fn state(&self) -> &'static str {
        self.class.name(self.lifecycle)
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

/// Move of a reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One thing leaves.
    Write(Written),
    /// Nothing leaves before this time, unless something changes.
    Wait(Instant, WaitReason),
    /// Nothing needs to be done.
    Rest,
}

/// Kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Written {
    /// Write of an effect to the API server.
    Effect(usize),
    /// A call of an effect outside Kubernetes.
    Call(usize),
    /// Our finalizer was put on the object.
    Claim,
    /// Our finalizer was taken away.
    Release,
    /// Removal of a leftover of an older version of the lifecycle.
    Leftover,
    /// The status.
    Status,
    /// An event about an object.
    Event,
}

impl Controller {
    /// Reports the observable lifecycles and kinds, and makes caches keep the objects for the
    /// observer.
    pub(super) fn trace_begin(&mut self) {
        let Some(trace) = &self.settings.trace else {
            return;
        };
        let wants_all = trace.wants_objects();
        let subjects: BTreeSet<usize> = self.runners.iter().map(|one| one.subject_store).collect();
        for (number, store) in self.stores.iter_mut().enumerate() {
            // An observer of reconciliations gets their objects as a whole.
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

    pub(super) fn trace_pass(&self, subject: &Subject, seen: &Inspection, decided: &Decided) {
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
            does: decided.as_move(),
            failure: seen.observed.failure.as_ref().map(ToString::to_string),
            ruled_out: seen
                .ruled_out
                .as_ref()
                .map(|ruled_out| ruled_out.sentence(runner.ir, &seen.observed.observation.world)),
            settled: self.memories[subject]
                .settled()
                .map(altered_write)
                .collect(),
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
            // The write migrated managed fields to us. The next write brings the object to its
            // desired state.
            Ended::Write(Outcome::Done(_)) if completed.wrote.migrates() => "moved",
            Ended::Write(outcome) => outcome.as_str(),
            Ended::Call(Ok(_)) => "done",
            Ended::Call(Err(CallError::Refused(_))) => "refused",
            Ended::Call(Err(CallError::Failed(_) | CallError::Later { .. })) => "later",
        };
        let object = completed.subject.as_ref().map(|s| self.object_of(s));
        let object = object.as_ref();
        let what = completed.wrote.as_written();
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
            // The kind of another object's leftover is not known here.
            (WriteRecord::Leftover(_), _) => None,
            (WriteRecord::Finalizer { .. } | WriteRecord::Status { .. }, _) => object.cloned(),
        }
    }

    pub(super) fn object_of(&self, subject: &Subject) -> ObjectRef {
        let runner = &self.runners[subject.lifecycle];
        subject.name.of_kind(&runner.subject_kind)
    }
}

fn altered_write<'a>(
    (name, uid, desired, live): (&'a Name, &'a str, u64, u64),
) -> AlteredWrite<'a> {
    AlteredWrite {
        namespace: name.namespace.as_deref(),
        name: &name.name,
        uid,
        desired,
        live,
    }
}

impl WriteRecord {
    pub(super) fn as_written(&self) -> Written {
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
    /// Converts the decision to the observer's form.
    pub(super) fn as_move(&self) -> Move {
        match self {
            Self::Write(write) => Move::Write(write.as_written()),
            Self::Wait { until, why } => Move::Wait(*until, *why),
            Self::Rest { .. } => Move::Rest,
        }
    }
}
