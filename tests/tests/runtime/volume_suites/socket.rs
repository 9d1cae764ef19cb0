//! The socket is lost during running calls. A caller that retries at the same path gets the same
//! end as without the loss.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lifecycle_csi::Error;
use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_proto::csi::node_client::NodeClient;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::volumes::client::{connect, create, mount};
use lifecycle_tests::volumes::{Places, serve};
use tokio::task::JoinHandle;
use tonic::Code;

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): a_socket_that_is_lost_changes_nothing_in_the_end]
}

const PODS: usize = 40;
const PATIENCE: Duration = Duration::from_secs(120);

/// One life of the driver.
struct Life(Trigger, JoinHandle<Result<(), Error>>);

impl Life {
    fn start(places: &Places) -> Self {
        let (trigger, shutdown) = Shutdown::pair();
        Self(trigger, tokio::spawn(serve(places.clone(), shutdown)))
    }

    async fn end(self) -> Result<()> {
        self.0.stop();
        Ok(self.1.await.context("the driver panicked")??)
    }
}

fn text(path: PathBuf) -> String {
    path.display().to_string()
}

fn publish(folder: &Path, volume: &str, pod: usize) -> csi::NodePublishVolumeRequest {
    csi::NodePublishVolumeRequest {
        volume_id: volume.to_owned(),
        staging_target_path: text(folder.join("staging")),
        target_path: text(folder.join(format!("pod-{pod}"))),
        volume_capability: Some(mount()),
        ..Default::default()
    }
}

async fn published(places: &Places, request: csi::NodePublishVolumeRequest) -> Result<(), Code> {
    let channel = connect(&places.node).await.map_err(|_| Code::Unavailable)?;
    let done = NodeClient::new(channel).node_publish_volume(request).await;
    done.map(drop).map_err(|status| {
        // Error of the client for a connection that ends in the middle of an answer.
        let is_cut = status.message().contains("h2 protocol error");
        if is_cut { Code::Unknown } else { status.code() }
    })
}

fn links(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut links = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Ok(target) = std::fs::read_link(&path) {
            links.insert(text(path), target);
        }
    }
    Ok(links)
}

async fn a_socket_that_is_lost_changes_nothing_in_the_end() -> Result<()> {
    let folder = tempfile::TempDir::with_prefix("csi")?;
    let places = Places::inside(folder.path());
    let life = Life::start(&places);
    let mut controller = ControllerClient::new(connect(&places.controller).await?);
    let made = controller.create_volume(create("one")).await?.into_inner();
    let volume = made.volume.context("it is made")?.volume_id;
    let mut node = NodeClient::new(connect(&places.node).await?);
    let staged = csi::NodeStageVolumeRequest {
        volume_id: volume.clone(),
        staging_target_path: text(folder.path().join("staging")),
        volume_capability: Some(mount()),
        ..Default::default()
    };
    node.node_stage_volume(staged).await?;

    let calls = (0..PODS).map(|pod| {
        let request = publish(folder.path(), &volume, pod);
        let places = places.clone();
        tokio::spawn(async move { published(&places, request).await })
    });
    let calls: Vec<_> = calls.collect();
    life.end().await?;
    ensure!(!places.node.exists(), "the socket goes with the driver");
    let life = Life::start(&places);
    for call in calls {
        if let Err(code) = call.await? {
            let may_be = [Code::Unavailable, Code::Cancelled, Code::Unknown];
            ensure!(may_be.contains(&code), "{code:?}");
        }
    }
    for pod in 0..PODS {
        eventually("it is published", PATIENCE, async || {
            let request = publish(folder.path(), &volume, pod);
            Ok(published(&places, request).await.ok())
        })
        .await?;
    }
    ensure!(links(folder.path())?.len() == PODS, "one link for each Pod");
    let mut node = NodeClient::new(connect(&places.node).await?);
    for pod in 0..PODS {
        let request = csi::NodeUnpublishVolumeRequest {
            volume_id: volume.clone(),
            target_path: text(folder.path().join(format!("pod-{pod}"))),
        };
        node.node_unpublish_volume(request).await?;
    }
    ensure!(links(folder.path())?.is_empty(), "nothing is left");
    life.end().await
}
