//! Log of the volume driver's operations on the world, each write with the world before and after
//! it. It also defines the faults of the driver's requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::objects::{Objects, ObjectsByKind};
use crate::outside::{OutsideStore, State};

/// State of all objects and external systems at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) objects: ObjectsByKind,
    pub(crate) outside: State,
}

/// All objects and external systems.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) objects: Objects,
    pub(crate) outside: OutsideStore,
    /// How many kinds are used.
    pub(crate) kinds: usize,
}

impl Scene {
    pub(crate) fn now(&self) -> Snapshot {
        Snapshot {
            objects: self.objects.all(self.kinds),
            outside: self.outside.state().clone(),
        }
    }
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Done,
    Refused,
    /// The object was another one.
    Conflict,
    /// The write was not answered, or failed.
    Failed,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum CallEvent {
    /// An effect was tried.
    Ran {
        effect: String,
        before: Box<Snapshot>,
        after: Box<Snapshot>,
        how: WriteOutcome,
    },
    /// Something could not be read or probed.
    Blind,
    /// The environment moved, and the driver's observation is uncertain.
    Moved,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Instant,
    pub(crate) what: CallEvent,
}

/// Fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not answered, and nothing comes of it.
    Lost,
    /// It arrives, and its answer does not.
    AnswerLost,
}

/// Log of events, and plan of faults.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    entries: Mutex<Vec<Entry>>,
    plan: Mutex<Plan>,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Fault, and the number of requests before it.
    pub(crate) fault: Option<(usize, Fault)>,
    /// Kinds whose applies are refused.
    pub(crate) refused: BTreeSet<usize>,
}

impl CallLog {
    pub(crate) fn record(&self, what: CallEvent) {
        let at = Instant::now();
        self.entries().push(Entry { at, what });
    }

    /// Takes the entries since the last call.
    pub(crate) fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.entries())
    }

    /// How much happened since then.
    pub(crate) fn len(&self) -> usize {
        self.entries().len()
    }

    pub(crate) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the fault of the current request.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let mut plan = self.plan();
        let (left, fault) = plan.fault?;
        plan.fault = left.checked_sub(1).map(|left| (left, fault));
        (left == 0).then_some(fault)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Log, and the world that it describes.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) log: Arc<CallLog>,
    pub(crate) scene: Scene,
}

impl Watched {
    pub(crate) fn ran(&self, effect: &str, before: Snapshot, how: WriteOutcome) {
        self.log.record(CallEvent::Ran {
            effect: effect.to_owned(),
            before: Box::new(before),
            after: Box::new(self.scene.now()),
            how,
        });
    }
}
