//! Sources of configurations. A source applies whole snapshots to a data plane. It reports
//! unreadable input, which changes nothing.

pub mod directory;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;

use std::sync::Arc;

use crate::boxed::BoxFuture;
use crate::data_plane::DataPlane;

/// Source of configurations.
pub enum Source {
    /// Files.
    Directory(directory::Directory),
    /// Objects in a namespace of Kubernetes.
    #[cfg(feature = "kubernetes")]
    Namespace(Box<kubernetes::Namespace>),
}

impl Source {
    /// Keeps the data plane at the configuration of the source. Never returns.
    pub fn follow(self, plane: impl DataPlane) -> BoxFuture<'static, ()> {
        self.follow_shared(Arc::new(plane))
    }

    fn follow_shared(self, plane: Arc<dyn DataPlane>) -> BoxFuture<'static, ()> {
        match self {
            Self::Directory(directory) => directory.follow_shared(plane),
            #[cfg(feature = "kubernetes")]
            Self::Namespace(namespace) => namespace.follow_shared(plane),
        }
    }
}
