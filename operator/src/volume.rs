//! How a Listener volume is carried out: what a claim asks for, and how a Pod that mounts it gets traffic and learns its addresses.
//! Knows no client and no wire format; only `tree` touches the disk.

mod claim;
mod exposure;
mod listener;
mod mount;
mod pod;
mod provisioning;
mod tree;

pub use mount::Mounting;
pub use provisioning::Provisioning;

use lifecycle_runtime::Operator;
use lifecycle_runtime::csi::{Driver, Plugin};
use lifecycle_runtime::operator::Naming;
use lifecycle_specs::{listener_mount, listener_provisioning};

/// Name of the driver, and the prefix of what it writes.
const NAME: &str = "listeners.stackable.tech";
/// Topology key: the Kubernetes name of a node.
const TOPOLOGY: &str = "listeners.stackable.tech/hostname";

/// An operator that makes Listener volumes, at a path or a `unix://` URL.
#[must_use]
pub fn provisions(operator: Operator, endpoint: &str) -> Operator {
    let machine = listener_provisioning::machine(Provisioning);
    let naming = naming(listener_provisioning::IR.name);
    operator.serve_as(machine, naming, Driver::controller(plugin(), endpoint))
}

/// An operator that mounts Listener volumes on this node, at a path or a `unix://` URL.
#[must_use]
pub fn mounts(operator: Operator, endpoint: &str, node: &str) -> Operator {
    let machine = listener_mount::machine(Mounting {
        node: node.to_owned(),
    });
    let driver = Driver::node(plugin(), endpoint, node).segment(TOPOLOGY, node);
    operator.serve_as(machine, naming(listener_mount::IR.name), driver)
}

/// Every process says the same.
fn plugin() -> Plugin {
    Plugin::new(NAME, env!("CARGO_PKG_VERSION"))
        .with_controller()
        .with_topology()
}

/// The name under which the replaced operator wrote the same, so that its fields are ours.
fn naming(lifecycle: &str) -> Naming {
    Naming {
        manager: format!("{NAME}/volume"),
        ..Naming::of(NAME, lifecycle)
    }
}

#[cfg(test)]
mod tests;
