//! One Skupper site: what its one writer decides for a namespace, and the configuration that its router reads. Pure; knows no cluster.

pub mod claims;
pub mod document;
pub mod pods;
