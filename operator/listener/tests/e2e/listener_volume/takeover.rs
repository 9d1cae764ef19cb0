//! Mounts that the replaced operator made, and the objects that it left in the cluster for them.

use std::fs;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::storage::v1::CSIDriver;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use lifecycle_client::yaml;
use lifecycle_proto::csi;
use lifecycle_tests::volumes::client::mount;
use serde_json::{Value, json};

use super::site::{Site, parsed};

/// Its volumes hold every annotation that the claim had, and `kubectl apply` alone adds a whole object.
pub(crate) async fn a_claim_of_the_replaced_operator_with_200_kb_of_annotations_is_mounted()
-> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    let mut publish = site.request().await?;
    let annotation = "kubectl.kubernetes.io/last-applied-configuration".to_owned();
    publish
        .volume_context
        .insert(annotation, "x".repeat(200_000));
    let stage = csi::NodeStageVolumeRequest {
        volume_id: publish.volume_id.clone(),
        staging_target_path: publish.staging_target_path.clone(),
        volume_capability: Some(mount()),
        volume_context: publish.volume_context.clone(),
        ..Default::default()
    };
    let mut node = site.node.clone();
    node.node_stage_volume(stage).await?;
    node.node_publish_volume(publish).await?;
    let address = site.read("default-address/address")?;
    ensure!(address == "web.apps.svc.cluster.local", "{address}");
    Ok(())
}

/// Tests that a plain folder with old files is updated in place, and removed like ours. A file does
/// not keep a Pod Terminating.
pub(crate) async fn what_the_replaced_operator_left_at_a_target_is_refreshed_and_removed()
-> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    // Its Listener exists, as after the mount that left the folder.
    site.publish().await?;
    site.unpublish().await?;
    let target = site.target();
    let left = || -> Result<()> {
        let folder = target.join("addresses/10.0.0.1");
        fs::create_dir_all(folder.join("ports"))?;
        fs::write(folder.join("address"), "10.0.0.1")?;
        fs::write(folder.join("ports/http"), "30080")?;
        std::os::unix::fs::symlink("addresses/10.0.0.1", target.join("default-address"))?;
        Ok(())
    };
    left()?;
    site.publish().await?;
    let address = site.read("default-address/address")?;
    ensure!(address == "web.apps.svc.cluster.local", "{address}");
    ensure!(!target.join("addresses/10.0.0.1").exists());
    site.unpublish().await?;
    ensure!(!target.exists());

    left()?;
    site.unpublish().await?;
    ensure!(!target.exists(), "its folder goes");
    fs::write(&target, "a file")?;
    site.unpublish().await?;
    ensure!(!target.exists(), "a file goes");
    site.unpublish().await
}

/// Tests the modes of the driver. They are immutable, so ours has those of the replaced one.
pub(crate) async fn the_csi_driver_of_the_replaced_operator_takes_our_manifest() -> Result<()> {
    let site = Site::start().await?;
    let drivers: Api<CSIDriver> = Api::all(site.admin.clone());
    let before: CSIDriver = parsed(json!({
        "metadata": { "name": "listeners.stackable.tech" },
        "spec": {
            "attachRequired": false, "podInfoOnMount": true, "fsGroupPolicy": "File",
            "volumeLifecycleModes": ["Ephemeral", "Persistent"],
        },
    }))?;
    let before = drivers.create(&PostParams::default(), &before).await?;
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../deploy/install/driver.yaml"
    );
    let text = fs::read_to_string(path)?;
    let documents = yaml::all::<Value>(&text)?;
    let mut drivers_of_ours = documents.iter().filter(|one| one["kind"] == "CSIDriver");
    let ours = drivers_of_ours.next().context("it has a CSIDriver")?;
    let params = PatchParams::apply("kubectl").force();
    let name = "listeners.stackable.tech";
    let after = drivers.patch(name, &params, &Patch::Apply(ours)).await?;
    ensure!(after.spec.requires_republish == Some(true), "{after:?}");
    let mut spec = after.spec.clone();
    spec.requires_republish = before.spec.requires_republish;
    ensure!(spec == before.spec, "only that differs: {after:?}");
    ensure!(after.metadata.uid == before.metadata.uid);
    Ok(())
}
