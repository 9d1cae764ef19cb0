//! A driver of the Container Storage Interface: a directory of its own for each Pod. Declared line by line in `docs/volume.md`.

use std::fs;
use std::io;
use std::path::Path;

use kube::Client;
use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::request::{Access, Capability};
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{Because, Operator, lifecycle};

/// State of a directory: true if it exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Folder(bool);

lifecycle! {
    /// A directory of its own for each Pod, on the disk of the node.
    volume Scratch;

    observe {
        folder: probe Folder by request.target_path;      // looked at on the node of the call
    }
    facts {
        /// Capability that the request demands. A directory supports only mounts.
        asked: { Mount, Block } from request.capabilities;
        /// True if the directory exists.
        held made: bool from folder;
    }
    states {
        Free      when !made;
        Published when made;
    }
    effects {
        make:   call folder sets { made = true } undo remove key request.target_path;
        remove: call folder sets { made = false } key request.target_path;
    }
    rpc {
        unfit     when asked == Block;
        unknown   never "no volume can be missing: each Pod gets a directory of its own";
        elsewhere never "each call creates it at the requested target";
        differs   never "directories do not differ";

        NodePublishVolume -> Published by make {
            refused(make)   => INTERNAL;
        }
        NodeUnpublishVolume -> Free by remove {
            refused(remove) => INTERNAL;
        }
    }
}

/// Directories of the disk of this node.
pub(crate) struct Folders;

impl ScratchLogic for Folders {
    async fn probe_folder(&self, target_path: &str) -> Result<Folder, CallError> {
        Ok(Folder(Path::new(target_path).is_dir()))
    }

    fn asked(&self, capabilities: &[Capability]) -> Because<Asked> {
        let block = |one: &Capability| one.access == Access::Block;
        match capabilities.iter().any(block) {
            true => Because::new(Asked::Block, "a directory is no block device"),
            false => Because::plain(Asked::Mount),
        }
    }

    fn made(&self, folder: Option<&Folder>) -> Because<bool> {
        Because::plain(folder.is_some_and(|folder| folder.0))
    }

    async fn make(&self, at: Make<'_>, once: Once<'_>) -> Outcome<MakeResult> {
        let path = at.request.target_path().unwrap_or_default().to_owned();
        let made = async move {
            fs::create_dir_all(path)
                .map(|()| MakeResult::Made)
                .map_err(failed)
        };
        once.spend(made).await
    }

    async fn remove(&self, at: Remove<'_>, once: Once<'_>) -> Outcome<RemoveResult> {
        let path = at.request.target_path().unwrap_or_default().to_owned();
        let gone = async move {
            fs::remove_dir_all(path)
                .map(|()| RemoveResult::NotMade)
                .map_err(failed)
        };
        once.spend(gone).await
    }
}

fn failed(error: io::Error) -> CallError {
    CallError::Failed(format!("the disk fails: {error}"))
}

/// Serves it on a node until shutdown is requested.
pub(crate) async fn serve(
    socket: &str,
    registration: &Path,
    node_name: &str,
    client: Client,
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    let plugin = Plugin::new("scratch.example.com", "1.0");
    let node = Driver::node(plugin, socket, node_name).registers_in(registration);
    let volumes = Volumes::new("scratch.example.com").serve(machine(Folders), node);
    let operator = Operator::new("scratch.example.com").with_service(volumes);
    operator.start(client, shutdown).await?;
    Ok(())
}
