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

/// Topology key: the Kubernetes name of a node.
const TOPOLOGY: &str = "listeners.stackable.tech/hostname";

#[cfg(test)]
mod tests;
