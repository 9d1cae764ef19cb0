//! A volume lifecycle together with the process that serves it.

use std::sync::Arc;

use k8s_openapi::api::storage::v1::CSINode;
use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::operator::Naming;

use crate::driver::{Driver, Role};

/// A volume lifecycle, its names, and the process that serves it.
#[derive(Clone)]
pub struct ServedVolume {
    /// The lifecycle.
    pub machine: Arc<dyn Machine>,
    /// Names made of those of operator and lifecycle.
    pub naming: Naming,
    /// The process that serves it.
    pub driver: Driver,
}

impl ServedVolume {
    /// Returns the kinds that the process always watches, even without a call.
    pub fn always_watched(&self) -> Vec<Kind> {
        let watched = self.driver.cache_policy.watched.iter();
        let mut kinds: Vec<Kind> = watched.map(|watched| watched.kind.clone()).collect();
        if let Role::Node(node) = &self.driver.role
            && let Some(registration) = &node.registration
            && registration.csi_node.is_some()
        {
            kinds.push(Kind::for_type::<CSINode>());
        }
        kinds
    }
}
