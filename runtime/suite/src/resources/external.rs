//! What a lifecycle works on outside Kubernetes, as tests keep it.

use std::any::Any;
use std::sync::Arc;

use serde_json::Value;

/// A provider that polls ask and calls change, kept in memory.
pub trait ExternalSystem: Any + Send + Sync {
    /// How many changes calls have made so far.
    fn changes(&self) -> u64 {
        0
    }

    /// What nobody would give back if all objects were gone, a line each.
    fn held(&self) -> Vec<String> {
        Vec::new()
    }

    /// Stops to answer, or answers again. Whether it can.
    fn answer(&self, up: bool) -> bool {
        let _ = up;
        false
    }

    /// The same again, which from here on goes its own way. Without it every run replays the whole way to its world.
    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        None
    }

    /// What somebody may change by hand, by name.
    fn meddlings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Changes it by hand.
    fn perturb(&self, what: &str) {
        let _ = what;
    }

    /// Gives up what hangs on an object that somebody deleted.
    fn follow(&self, deleted: &Value) {
        let _ = deleted;
    }
}

/// There is nothing outside Kubernetes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl ExternalSystem for Nothing {
    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        Some(Arc::new(Self))
    }
}
