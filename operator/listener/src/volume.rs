//! Provisioning and mounting of a Listener volume: the request of a claim, and the traffic and
//! addresses of a Pod that mounts it. Knows no client and no wire format; only `tree` accesses the
//! disk.

mod claim;
mod exposure;
mod listener;
mod mount;
mod pod;
mod provisioning;
mod tree;
mod unlabelled;

pub use mount::Mounting;
pub use provisioning::Provisioning;
pub use unlabelled::is_unlabelled;
pub(crate) use unlabelled::label;

use std::path::PathBuf;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_runtime::Machine;
use lifecycle_runtime::operator::Naming;
use lifecycle_specs_listener::listener::{Listener, TOPOLOGY};
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::{self, PodListeners};
use lifecycle_specs_listener::{listener_mount, listener_provisioning};

/// Name of the driver, and prefix of its names in the cluster.
const NAME: &str = "listeners.stackable.tech";

/// Options of a process that mounts volumes.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Endpoint on which it listens: a path or a `unix://` URL.
    pub endpoint: String,
    /// The Kubernetes name of its node.
    pub node: String,
    /// How it registers with kubelet; without it a node-driver-registrar does.
    pub registration: Option<Registration>,
}

/// How a process registers with kubelet.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The folder that kubelet watches.
    pub folder: PathBuf,
    /// Path at which kubelet finds the endpoint.
    pub endpoint_on_host: PathBuf,
}

/// The process that makes Listener volumes for an operator, at a path or a `unix://` URL.
#[must_use]
pub fn provisions(operator: &str, endpoint: &str) -> Volumes {
    let machine = listener_provisioning::machine(Provisioning);
    let naming = naming(listener_provisioning::IR.name);
    // There are few classes, and every claim leads to one.
    let driver = Driver::controller(plugin(), endpoint).watching::<ListenerClass>("");
    Volumes::new(operator).serve_as(machine, naming, driver)
}

/// Returns the parts by which volumes are made for claims, for inspection: the lifecycle, its
/// names, and the name of the driver.
pub fn provisioned() -> (Arc<dyn Machine>, Naming, &'static str) {
    let machine = listener_provisioning::machine(Provisioning);
    (
        Arc::new(machine),
        naming(listener_provisioning::IR.name),
        NAME,
    )
}

/// The name of the Listener that is made for a claim when a Pod mounts it; `None` of a claim that names one.
pub fn made_for(claim: &PersistentVolumeClaim) -> Option<String> {
    match claim::parse_selector(|key| claim::annotation(claim, key)) {
        Ok(claim::Selector::Class(_)) => claim.metadata.name.clone(),
        Ok(claim::Selector::Name(_)) | Err(_) => None,
    }
}

/// Returns the process that mounts Listener volumes of an operator on a node. Classes are read
/// again whenever addresses are published, so that after an edit no address of the old type
/// remains. A repeated publish without a change reads only the Listener, with one request: no watch
/// of a node could select it.
#[must_use]
pub fn mounts(operator: &str, mount: Mount) -> Volumes {
    let node = &mount.node;
    let machine = listener_mount::machine(Mounting { node: node.clone() });
    let mut driver = Driver::node(plugin(), mount.endpoint, node)
        .segment(TOPOLOGY, node)
        .watching::<Node>(format!("metadata.name={node}"))
        .watching::<Pod>(format!("spec.nodeName={node}"))
        .watching_for_repeats::<ListenerClass>(None)
        .watching_for_repeats::<PodListeners>(Some((pod_listeners::NODE, &pod::node_label(node))))
        .watching_on_read::<Listener>()
        .reusing_after_stage::<PersistentVolume>()
        .reusing_after_stage::<PersistentVolumeClaim>()
        .remembering_for_repeats::<PersistentVolume>()
        .remembering_for_repeats::<PersistentVolumeClaim>();
    if let Some(registration) = mount.registration {
        driver = driver
            .registers_in(registration.folder)
            .listed_in_csi_node(node)
            .endpoint_on_host(registration.endpoint_on_host);
    }
    Volumes::new(operator).serve_as(machine, naming(listener_mount::IR.name), driver)
}

/// Returns the plugin description, which is equal in all processes.
fn plugin() -> Plugin {
    Plugin::new(NAME, env!("CARGO_PKG_VERSION"))
        .with_controller()
        .with_topology()
}

/// Returns the field manager of the replaced operator for these objects, so that its fields are
/// ours.
fn naming(lifecycle: &str) -> Naming {
    Naming {
        manager: format!("{NAME}/volume"),
        ..Naming::new(NAME, lifecycle)
    }
}

#[cfg(test)]
mod tests;
