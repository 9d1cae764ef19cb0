//! Where configurations come from. A source applies whole snapshots to a router; what it cannot read it reports, and that changes nothing.

pub mod directory;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;

use crate::boxed::BoxFuture;
use crate::router::Router;

/// Where configurations come from.
pub enum Source {
    /// Files.
    Directory(directory::Directory),
    /// Objects in a namespace of Kubernetes.
    #[cfg(feature = "kubernetes")]
    Namespace(Box<kubernetes::Namespace>),
}

impl Source {
    /// Keeps the router at what the source says, without end.
    pub fn follow(self, router: Router) -> BoxFuture<'static, ()> {
        match self {
            Self::Directory(directory) => directory.follow(router),
            #[cfg(feature = "kubernetes")]
            Self::Namespace(namespace) => namespace.follow(router),
        }
    }
}
