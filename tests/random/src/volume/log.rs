//! What the driver of volumes did to the world, each write with the world before and after it; and what goes wrong with its requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::objects::{All, Objects};
use crate::outside::{Outside, State};

/// Everything that there is, at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) objects: All,
    pub(crate) outside: State,
}

/// Everything that there is.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) objects: Objects,
    pub(crate) outside: Outside,
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
pub(crate) enum How {
    Done,
    Refused,
    /// The object was another one.
    Conflict,
    /// Nobody answered, or in vain.
    Failed,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// An effect was tried.
    Ran {
        effect: String,
        before: Box<Snapshot>,
        after: Box<Snapshot>,
        how: How,
    },
    /// Something could not be read or probed.
    Blind,
    /// The outside moved while nobody knows what the driver had seen.
    Moved,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Instant,
    pub(crate) what: What,
}

/// What goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not answered, and nothing comes of it.
    Lost,
    /// It arrives, and its answer does not.
    AnswerLost,
}

/// What happened, and what is to go wrong.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    entries: Mutex<Vec<Entry>>,
    plan: Mutex<Plan>,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// After so many requests.
    pub(crate) fault: Option<(usize, Fault)>,
    /// Kinds whose applies are refused.
    pub(crate) refused: BTreeSet<usize>,
}

impl CallLog {
    pub(crate) fn note(&self, what: What) {
        let at = Instant::now();
        self.entries().push(Entry { at, what });
    }

    /// What happened since this was asked last.
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

    /// What goes wrong with the request that is made now.
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

/// The log and the world that it tells of.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) log: Arc<CallLog>,
    pub(crate) scene: Scene,
}

impl Watched {
    pub(crate) fn ran(&self, effect: &str, before: Snapshot, how: How) {
        self.log.note(What::Ran {
            effect: effect.to_owned(),
            before: Box::new(before),
            after: Box::new(self.scene.now()),
            how,
        });
    }
}
