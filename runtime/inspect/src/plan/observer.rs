//! Observer of the last events of an operator and of the state of each of its objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use lifecycle_runtime::controller::{Trace, TraceEvent};
use lifecycle_runtime::machine::ir::Phase;

use crate::plan::planned::ObjectState;
use crate::text::object_name;

/// Standing of one object, and true if the object is as wanted.
type ObservedState = (ObjectState, bool);

/// Watches an operator.
#[derive(Default)]
pub(crate) struct Observer {
    moments: AtomicU64,
    stands: Mutex<BTreeMap<String, ObservedState>>,
}

impl Observer {
    /// How many things happened so far.
    pub(crate) fn moments(&self) -> u64 {
        self.moments.load(Ordering::SeqCst)
    }

    /// How many objects there are, and those that are not where they should be.
    pub(crate) fn object_summary(&self) -> (usize, Vec<ObjectState>) {
        let stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        let wanting = stands.values().filter(|(_, is_fine)| !is_fine);
        let wanting = wanting.map(|(standing, _)| standing.clone()).collect();
        (stands.len(), wanting)
    }
}

impl Trace for Observer {
    fn saw(&self, moment: &TraceEvent<'_>) {
        self.moments.fetch_add(1, Ordering::SeqCst);
        let TraceEvent::Passed(passed) = moment else {
            return;
        };
        let ir = passed.lifecycle;
        let conditions = ir.conditions(
            &passed.observation.world,
            passed.observation.message_parts(),
        );
        let why = match (&passed.failure, conditions.last()) {
            (Some(failure), _) => failure.clone(),
            (None, Some(ready)) if ready.message.is_empty() => ready.reason.to_string(),
            (None, Some(ready)) => ready.message.replace('\n', "; "),
            (None, None) => String::new(),
        };
        let phase = ir.phase(passed.class);
        let is_fine = matches!(phase, Phase::Ready | Phase::Ignored | Phase::Suspended);
        let of = passed.object;
        let object = object_name(&of.kind, of.namespace.as_deref(), &of.name);
        let standing = ObjectState {
            object: object.clone(),
            state: passed.state().to_owned(),
            why,
        };
        let mut stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        stands.insert(object, (standing, is_fine && passed.failure.is_none()));
    }
}
