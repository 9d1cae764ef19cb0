//! The processes of the volume driver in the sandbox, one that makes volumes and one for each node, and the folder of their sockets and files.
//! Each has the rights of the manifest that installs it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use kube::Client;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::Server;
use lifecycle_simulator::world::Volumes;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::sites;
use lifecycle_cli::cluster::{account, complain, manifests, nodes};
use lifecycle_listener::controller::KINDS;
use lifecycle_listener::volume;
use lifecycle_runtime::{cause, crds};

const NAME: &str = "listeners.stackable.tech";
/// Namespace of the operator's ServiceAccounts, and the ServiceAccount of its controller.
pub(super) const NAMESPACE: &str = "listener-operator";
pub(super) const CONTROLLER: &str = "listener-operator-controller";
/// The path of a Unix socket has no more bytes.
const LONGEST: usize = 107;
/// Parent directory for folders if the path of the system's temporary directory is too long.
const SHORT: &str = "/tmp";

/// Manifests to install, as in any cluster: a name for error messages, and the text.
pub(super) const INSTALLED: [(&str, &str); 4] = [
    (
        "deploy/install/controller.yaml",
        include_str!("installed/controller.yaml"),
    ),
    (
        "deploy/install/node.yaml",
        include_str!("installed/node.yaml"),
    ),
    (
        "deploy/install/driver.yaml",
        include_str!("installed/driver.yaml"),
    ),
    sites::INSTALLED,
];

/// Interval of the checks that the cluster is prepared.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Working directory of the driver. Dropping it removes all its contents.
pub(super) struct Driver {
    folder: TempDir,
}

impl Driver {
    /// Makes its folder.
    pub(super) fn new() -> anyhow::Result<Self> {
        let longest = nodes().map(|node| socket(Path::new(""), node).as_os_str().len());
        let longest = longest.max().unwrap_or_default();
        // The sum includes a separator, and the unique part of the folder's name.
        let fits = |parent: &Path| parent.as_os_str().len() + longest + 18 <= LONGEST;
        let usual = std::env::temp_dir();
        let parent = if fits(&usual) {
            usual
        } else {
            PathBuf::from(SHORT)
        };
        let made = tempfile::Builder::new()
            .prefix("lifecycle-")
            .tempdir_in(&parent);
        let folder =
            made.with_context(|| format!("no folder can be made in {}", parent.display()))?;
        Ok(Self { folder })
    }

    /// Returns the driver's registration for the controllers around it.
    pub(super) fn volumes(&self) -> Volumes {
        let folder = self.folder.path();
        let nodes = nodes().map(|node| (node, socket(folder, node)));
        Volumes::inside(folder).driver(NAME, folder.join("c.sock"), nodes)
    }

    /// Starts its processes.
    pub(super) fn start(&self, server: &Server, shutdown: &Shutdown) -> Vec<JoinHandle<()>> {
        let folder = self.folder.path();
        let endpoint = folder.join("c.sock").display().to_string();
        let made = volume::provisions(NAME, &endpoint);
        let client = account(server, NAMESPACE, CONTROLLER);
        let mut tasks = vec![tokio::spawn(run(made, client, shutdown.clone()))];
        for node in nodes() {
            let mount = volume::Mount {
                endpoint: socket(folder, node).display().to_string(),
                node: node.to_owned(),
                registration: None,
            };
            let mounts = volume::mounts(NAME, mount);
            let client = account(server, NAMESPACE, "listener-operator-node");
            tasks.push(tokio::spawn(run(mounts, client, shutdown.clone())));
        }
        tasks
    }
}

fn socket(folder: &Path, node: &str) -> PathBuf {
    folder.join(format!("{node}.sock"))
}

/// Starts when the cluster is prepared. Otherwise the log would contain messages about missing
/// rights and kinds, which people read.
async fn run(served: lifecycle_csi::Volumes, client: Client, mut shutdown: Shutdown) {
    let prepared = async {
        while !matches!(crds::served(&client, &KINDS).await, Ok(true)) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::select! {
        biased;
        () = shutdown.wait() => return,
        () = prepared => {}
    }
    if let Err(error) = served.start(client, shutdown).await {
        let said = cause::in_one_line(&error);
        complain(&format!("the volume driver ended: {said}"));
    }
}

/// Gives the cluster the accounts, the rights, the driver and its StorageClass.
pub(super) async fn install(client: &Client) -> Result<(), manifests::Error> {
    for (name, text) in INSTALLED {
        manifests::install(client, name, text).await?;
    }
    Ok(())
}
