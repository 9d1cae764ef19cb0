//! The registration with kubelet, as the CSINode shows it.

use std::path::Path;

use anyhow::{Result, ensure};
use k8s_openapi::api::storage::v1::CSINode;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use lifecycle_listener::volume::{self, Mount, Registration};
use lifecycle_proto::csi;
use lifecycle_proto::registration::registration_client::RegistrationClient;
use lifecycle_proto::registration::{InfoRequest, RegistrationStatus};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::volumes::client::connect;
use serde_json::json;
use tempfile::TempDir;

use super::PATIENCE;
use super::site::{Site, parsed};

const DRIVER: &str = "listeners.stackable.tech";

/// Registers a socket as kubelet does: queries the driver, lists it, and notifies it.
async fn registers(nodes: &Api<CSINode>, socket: &Path) -> Result<()> {
    let mut kubelet = RegistrationClient::new(connect(socket).await?);
    let info = kubelet.get_info(InfoRequest {}).await?.into_inner();
    ensure!(info.name == DRIVER);
    let listed = json!([
        { "name": "another.example.org", "nodeID": "node-1", "topologyKeys": null },
        { "name": DRIVER, "nodeID": "node-1", "topologyKeys": ["listeners.stackable.tech/hostname"] },
    ]);
    drivers(nodes, &listed).await?;
    let status = RegistrationStatus {
        plugin_registered: true,
        error: String::new(),
    };
    kubelet.notify_registration_status(status).await?;
    Ok(())
}

async fn drivers(nodes: &Api<CSINode>, listed: &serde_json::Value) -> Result<()> {
    let patch = Patch::Merge(json!({ "spec": { "drivers": listed } }));
    nodes
        .patch("node-1", &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

/// Tests that the driver is registered again after another process deregistered it. The old socket
/// still exists, but kubelet notices only a new one.
pub(crate) async fn b17_a_driver_that_its_csi_node_does_not_list_is_registered_anew() -> Result<()>
{
    let admin = Server::new(1).client(&User::admin());
    let nodes: Api<CSINode> = Api::all(admin.clone());
    let node: CSINode =
        parsed(json!({ "metadata": { "name": "node-1" }, "spec": { "drivers": [] } }))?;
    nodes.create(&PostParams::default(), &node).await?;
    let folder = TempDir::with_prefix("csi")?;
    let health = Health::default();
    let (_trigger, shutdown) = Shutdown::pair();
    let mount = Mount {
        endpoint: folder.path().join("n.sock").display().to_string(),
        node: "node-1".to_owned(),
        registration: Some(Registration {
            folder: folder.path().to_owned(),
            endpoint_on_host: folder.path().join("n.sock"),
        }),
    };
    let mounts = volume::mounts(DRIVER, mount).health(health.clone());
    tokio::spawn(mounts.start(admin.clone(), shutdown));
    let socket = folder.path().join(format!("{DRIVER}-reg.sock"));
    let part = format!("registration of {DRIVER}");
    let missing = || {
        let all = health.missing().into_iter();
        let mut ours = all.filter(|(missing, _)| *missing == part);
        ours.next().map(|(_, why)| why)
    };
    registers(&nodes, &socket).await?;
    eventually("it is registered", PATIENCE, async || {
        Ok(missing().is_none().then_some(()))
    })
    .await?;

    let inode = || {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(&socket).ok().map(|there| there.ino())
    };
    let before = inode();
    let without =
        json!([{ "name": "another.example.org", "nodeID": "node-1", "topologyKeys": null }]);
    drivers(&nodes, &without).await?;
    eventually("readiness says it", PATIENCE, async || {
        Ok(missing().filter(|why| why.contains("CSINode `node-1` does not list")))
    })
    .await?;
    eventually("there is another socket", PATIENCE, async || {
        Ok(inode().filter(|now| Some(*now) != before))
    })
    .await?;
    registers(&nodes, &socket).await?;
    eventually("it is registered again", PATIENCE, async || {
        Ok(missing().is_none().then_some(()))
    })
    .await?;
    Ok(())
}

/// A limit would become one of 32 bits in the CSINode; none at all is zero here.
pub(crate) async fn b48_a_node_names_no_limit_of_volumes() -> Result<()> {
    let site = Site::start().await?;
    let mut node = site.node.clone();
    let info = node.node_get_info(csi::NodeGetInfoRequest {}).await?;
    let info = info.into_inner();
    ensure!(info.max_volumes_per_node == 0, "{info:?}");
    ensure!(info.node_id == "node-1", "{info:?}");
    Ok(())
}
