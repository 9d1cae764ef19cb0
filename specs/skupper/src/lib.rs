//! The kinds of `skupper.io/v2alpha1` that one site is made of: Site, Listener, Connector, and the pair that attaches workloads of another namespace.
//! Fields and their validation are those of the published definitions; what we add is optional and says so.

#![deny(missing_docs)]

pub mod attached;
pub mod attached_binding;
pub mod connector;
mod crds;
pub mod fragments;
pub mod listener;
pub mod router;
pub mod site;
mod status;

pub use crds::crds;
pub use status::{SelectedPod, Status};

/// The group of all kinds.
pub const GROUP: &str = "skupper.io";
