//! Drivers of volumes, and the folders in which a kubelet keeps their published volumes.
//! Independent of objects, and makes no calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Drivers of volumes by name, and the folder that represents the disks of all nodes.
#[derive(Clone, Debug)]
pub struct Volumes {
    folder: PathBuf,
    drivers: BTreeMap<String, Sockets>,
}

/// Sockets of the processes of a driver.
#[derive(Clone, Debug)]
pub(super) struct Sockets {
    pub(super) controller: PathBuf,
    nodes: BTreeMap<String, PathBuf>,
}

impl Volumes {
    /// Returns volumes without a driver, to be published in this folder.
    pub fn inside(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            drivers: BTreeMap::new(),
        }
    }

    /// A driver, with the socket that makes volumes and the socket of each node.
    #[must_use]
    pub fn driver<N: Into<String>, P: Into<PathBuf>>(
        mut self,
        name: impl Into<String>,
        controller: impl Into<PathBuf>,
        nodes: impl IntoIterator<Item = (N, P)>,
    ) -> Self {
        let nodes = nodes.into_iter().map(|(n, p)| (n.into(), p.into()));
        let sockets = Sockets {
            controller: controller.into(),
            nodes: nodes.collect(),
        };
        self.drivers.insert(name.into(), sockets);
        self
    }

    /// Returns the path at which a Pod finds a PersistentVolume.
    pub fn target(&self, node: &str, pod_uid: &str, volume: &str) -> PathBuf {
        let pod = self.folder.join(node).join("pods").join(pod_uid);
        pod.join("volumes/kubernetes.io~csi")
            .join(volume)
            .join("mount")
    }

    /// Returns the path at which a node keeps a PersistentVolume for all its Pods.
    pub(super) fn staging(&self, node: &str, volume: &str) -> PathBuf {
        let all = self.folder.join(node).join("plugins/kubernetes.io/csi/pv");
        all.join(volume).join("globalmount")
    }

    pub(super) fn knows(&self, driver: &str) -> bool {
        self.drivers.contains_key(driver)
    }

    pub(super) fn controller(&self, driver: &str) -> Option<&Path> {
        Some(&self.drivers.get(driver)?.controller)
    }

    pub(super) fn node(&self, driver: &str, node: &str) -> Option<&Path> {
        Some(self.drivers.get(driver)?.nodes.get(node)?)
    }

    /// The drivers that run on a node.
    pub(super) fn on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a str> {
        let all = self.drivers.iter();
        let here = all.filter(move |(_, sockets)| sockets.nodes.contains_key(node));
        here.map(|(name, _)| name.as_str())
    }
}
