//! Kinds of `skupper.io/v2alpha1` that make up a site: Site, Listener, MultiKeyListener, Connector,
//! and the pair that attaches workloads of another namespace. Link, and AccessGrant and
//! AccessToken, which create Links, belong to it too. Fields and their validation are those of the
//! published definitions. Our additions are optional and documented as such. Beyond that, each list
//! and map of a spec has at most 1,000 members.

#![deny(missing_docs)]
#![allow(
    clippy::too_many_arguments,
    reason = "a method of a lifecycle gets all that its fact reads"
)]

pub mod access_grant;
pub mod access_token;
pub mod attached;
pub mod attached_binding;
pub mod certificate;
pub mod connector;
mod crds;
pub mod fragments;
pub mod link;
pub mod listener;
pub mod multi_key_listener;
pub mod pki;
pub mod router;
pub mod router_access;
pub mod secured_access;
pub mod site;
mod status;

pub use crds::crds;
pub use status::{SelectedPod, Status};

/// The group of all kinds.
pub const GROUP: &str = "skupper.io";
