//! System outside Kubernetes that a lifecycle works on, as tests implement it.

use std::any::Any;
use std::sync::Arc;

use serde_json::Value;

/// A provider that polls ask and calls change, kept in memory.
pub trait ExternalSystem: Any + Send + Sync {
    /// How many changes calls have made so far.
    fn changes(&self) -> u64 {
        0
    }

    /// Returns the resources that would leak if all objects were gone, one line each.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Stops answering, or answers again. Returns true if that is supported.
    fn answer(&self, up: bool) -> bool {
        let _ = up;
        false
    }

    /// The same again, which from here on goes its own way. Without it every run replays the whole way to its world.
    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        None
    }

    /// Returns the changes that another user may make by hand, by name.
    fn meddlings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Changes it by hand.
    fn perturb(&self, what: &str) {
        let _ = what;
    }

    /// Releases the resources of an object that a user deleted.
    fn follow(&self, deleted: &Value) {
        let _ = deleted;
    }
}

/// Placeholder for lifecycles without a system outside Kubernetes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExternalSystem;

impl ExternalSystem for NoExternalSystem {
    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        Some(Arc::new(Self))
    }
}
