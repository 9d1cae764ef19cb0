//! What is managed: one file per resource, types and lifecycle.
//! Knows no client and no command line; how a resource is carried out is the operator's business.

pub mod crds;
pub mod listener;
pub mod listener_class;
pub mod listener_mount;
pub mod listener_provisioning;
pub mod pod_listeners;
pub mod skupper;
