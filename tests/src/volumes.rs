//! A driver of plain directories with staging: two volume lifecycles that need no cluster, so that the language is not fitted to one driver.
//! A published volume is a symbolic link to its directory: no mount and no privilege, hence no read-only and no block volumes.

pub mod client;
pub mod disk;
pub mod mount;
pub mod provisioning;
pub mod sanity;
pub mod seeded;
pub mod suites;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lifecycle_csi::{Driver, Error, Plugin, Usage, Volumes};
use lifecycle_runtime::shutdown::Shutdown;

use disk::Disk;

/// The driver's name.
pub const NAME: &str = "directory.example.org";
/// Topology segment that gives the location of a node.
pub const SEGMENT: &str = "directory.example.org/node";
/// The one node.
pub const NODE: &str = "here";

/// Folders and sockets of the driver: the location of its volumes, and the sockets on which it
/// listens.
#[derive(Clone, Debug)]
pub struct Places {
    /// Folder with the volumes and their records.
    pub disk: PathBuf,
    /// The socket of the Controller service.
    pub controller: PathBuf,
    /// The socket of the Node service.
    pub node: PathBuf,
    /// Folder in which the driver registers itself, if it does.
    pub registrations: Option<PathBuf>,
}

impl Places {
    /// All inside one folder.
    pub fn inside(folder: &Path) -> Self {
        Self {
            disk: folder.join("disk"),
            controller: folder.join("c.sock"),
            node: folder.join("n.sock"),
            registrations: None,
        }
    }
}

/// Serves the driver until shutdown.
///
/// # Errors
/// A socket cannot be listened at.
pub async fn serve(places: Places, shutdown: Shutdown) -> Result<(), Error> {
    operator(places).start_without_cluster(shutdown).await
}

/// Returns the operator that serves the driver.
pub fn operator(places: Places) -> Volumes {
    let disk = Arc::new(Disk::new(places.disk));
    let plugin = Plugin::new(NAME, "1.0").with_controller().with_topology();
    let endpoint = |path: &Path| format!("unix://{}", path.display());
    let node = Driver::node(plugin.clone(), endpoint(&places.node), NODE);
    let mut node = node.segment(SEGMENT, NODE).usage(usage);
    if let Some(folder) = places.registrations {
        node = node.registers_in(folder);
    }
    let controller = Driver::controller(plugin, endpoint(&places.controller));
    let provisioning = provisioning::Provisioner(Arc::clone(&disk));
    Volumes::new(NAME)
        .serve(provisioning::machine(provisioning), controller)
        .serve(mount::machine(mount::Mounter(disk)), node)
}

fn usage(path: &Path) -> io::Result<Usage> {
    let of = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(of.f_frsize);
    Ok(Usage {
        total_bytes: bytes(of.f_blocks),
        used_bytes: bytes(of.f_blocks.saturating_sub(of.f_bfree)),
        available_bytes: bytes(of.f_bavail),
    })
}

/// The place of this driver's one node, as the interface writes it.
pub fn here() -> BTreeMap<String, String> {
    BTreeMap::from([(SEGMENT.to_owned(), NODE.to_owned())])
}
