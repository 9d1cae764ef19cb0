//! Callers of the driver in tests: a client for each service, over a socket, and correct requests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use lifecycle_csi::Error;
use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_proto::csi::node_client::NodeClient;
use lifecycle_proto::csi::volume_capability::access_mode::Mode;
use lifecycle_proto::csi::volume_capability::{AccessMode, AccessType, MountVolume};
use lifecycle_runtime::provider::{Limit, Providers};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};

use super::{Places, operator};
use crate::eventually::Deadline;

/// A driver that runs in this process, in a folder of its own.
pub struct Running {
    /// Its services.
    pub controller: ControllerClient<Channel>,
    /// Its services on the node.
    pub node: NodeClient<Channel>,
    /// Locations of the driver's folders and sockets.
    pub places: Places,
    folder: TempDir,
    trigger: Trigger,
    ended: JoinHandle<Result<(), Error>>,
}

impl Running {
    /// Starts the driver and connects to it.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn start() -> Result<Self> {
        Self::limited(Limit::new())
            .await
            .map(|(running, _)| running)
    }

    /// Starts the driver with a limit on its disk. Returns the providers with their counts as well.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn limited(limit: Limit) -> Result<(Self, Providers)> {
        let folder = TempDir::with_prefix("csi").context("no folder to work in")?;
        let places = Places::inside(folder.path());
        let (trigger, shutdown) = Shutdown::pair();
        let serves = operator(places.clone()).provider("disk", limit);
        let providers = serves.providers();
        let ended = tokio::spawn(serves.start_without_cluster(shutdown));
        let running = Self {
            controller: ControllerClient::new(connect(&places.controller).await?),
            node: NodeClient::new(connect(&places.node).await?),
            places,
            folder,
            trigger,
            ended,
        };
        Ok((running, providers))
    }

    /// A path in its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Stops the driver. Returns an error if it failed.
    ///
    /// # Errors
    /// As it ended.
    pub async fn stop(self) -> Result<TempDir> {
        self.trigger.stop();
        self.ended.await.context("the driver panicked")??;
        Ok(self.folder)
    }

    /// Makes a volume; answers with its id.
    ///
    /// # Errors
    /// As the driver answers.
    pub async fn make(&self, name: &str) -> Result<String, tonic::Status> {
        let made = self.controller.clone().create_volume(create(name)).await?;
        let volume = made.into_inner().volume.unwrap_or_default();
        Ok(volume.volume_id)
    }

    /// A request to stage a volume in this folder.
    pub fn stage(&self, id: &str) -> csi::NodeStageVolumeRequest {
        csi::NodeStageVolumeRequest {
            volume_id: id.to_owned(),
            staging_target_path: self.text("staging"),
            volume_capability: Some(mount()),
            ..Default::default()
        }
    }

    /// A request to publish a volume in this folder.
    pub fn publish(&self, id: &str, target: &str) -> csi::NodePublishVolumeRequest {
        csi::NodePublishVolumeRequest {
            volume_id: id.to_owned(),
            staging_target_path: self.text("staging"),
            target_path: self.text(target),
            volume_capability: Some(mount()),
            ..Default::default()
        }
    }

    /// A request to take it back.
    pub fn unpublish(&self, id: &str, target: &str) -> csi::NodeUnpublishVolumeRequest {
        csi::NodeUnpublishVolumeRequest {
            volume_id: id.to_owned(),
            target_path: self.text(target),
        }
    }

    /// A request to take the staging back.
    pub fn unstage(&self, id: &str) -> csi::NodeUnstageVolumeRequest {
        csi::NodeUnstageVolumeRequest {
            volume_id: id.to_owned(),
            staging_target_path: self.text("staging"),
        }
    }
}

/// Connects to a socket, which may not be there yet.
///
/// # Errors
/// It does not appear.
pub async fn connect(socket: &Path) -> Result<Channel> {
    let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()))?;
    let mut deadline = Deadline::new(Duration::from_secs(120));
    loop {
        match endpoint.connect().await {
            Ok(channel) => return Ok(channel),
            Err(error) if deadline.is_over() => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// A mount for one node, without options.
pub fn mount() -> csi::VolumeCapability {
    csi::VolumeCapability {
        access_mode: Some(AccessMode {
            mode: Mode::SingleNodeWriter.into(),
        }),
        access_type: Some(AccessType::Mount(MountVolume::default())),
    }
}

/// A request to make a volume.
pub fn create(name: &str) -> csi::CreateVolumeRequest {
    csi::CreateVolumeRequest {
        name: name.to_owned(),
        volume_capabilities: vec![mount()],
        ..Default::default()
    }
}
