//! The Listener of a claim and its owner, the PersistentVolume: as the replaced operator made it,
//! and as an earlier release of ours did.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{PersistentVolume, Pod};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use serde_json::{Value, json};
use tonic::Code;

use super::site::{Site, VOLUME};

/// Creates the Listener of the claim before any Pod of ours mounts it. The reference to the volume
/// has these fields, and the other references are added.
async fn made_before(site: &Site, controls: Value, others: &[Value]) -> Result<Listener> {
    let volumes: Api<PersistentVolume> = Api::all(site.admin.clone());
    let uid = volumes.get(VOLUME).await?.uid();
    let mut owner =
        json!({ "apiVersion": "v1", "kind": "PersistentVolume", "name": VOLUME, "uid": uid });
    for (key, value) in controls.as_object().into_iter().flatten() {
        owner[key] = value.clone();
    }
    let owners: Vec<&Value> = std::iter::once(&owner).chain(others).collect();
    let listener = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "web", "labels": { "team": "a" }, "ownerReferences": owners },
        "spec": {
            "className": "cluster-internal", "publishNotReadyAddresses": true,
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP" }],
        },
    });
    let params = PatchParams::apply("listeners.stackable.tech/volume").force();
    let listeners = site.objects::<Listener>();
    Ok(listeners
        .patch("web", &params, &Patch::Apply(&listener))
        .await?)
}

pub(crate) async fn the_listener_of_the_replaced_operator_is_accepted_and_kept() -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    let before = made_before(&site, json!({}), &[]).await?;
    site.stage().await?;
    site.publish().await?;
    let after = site.objects::<Listener>().get("web").await?;
    ensure!(after.uid() == before.uid(), "Pods would be cut off");
    ensure!(after.metadata.owner_references == before.metadata.owner_references);
    ensure!(after.spec == before.spec && after.metadata.generation == Some(1));
    ensure!(
        site.sent.writes() == 3,
        "the volume, the Pod, its entry: {:?}",
        site.sent.sent()
    );
    let address = site.read("default-address/address")?;
    ensure!(address == "web.apps.svc.cluster.local", "{address}");
    Ok(())
}

/// Tests the owner reference, also if an earlier release of ours controlled the Listener: its
/// reference is then made plain.
pub(crate) async fn the_listener_of_a_claim_is_owned_as_the_replaced_operator_did_it() -> Result<()>
{
    let is_plain = async |site: &Site| {
        let listener = site.objects::<Listener>().get("web").await?;
        let [owner] = listener.owner_references() else {
            anyhow::bail!("it has one owner: {:?}", listener.owner_references());
        };
        ensure!(owner.kind == "PersistentVolume" && owner.name == VOLUME);
        ensure!(
            owner.controller.is_none() && owner.block_owner_deletion.is_none(),
            "{owner:?}"
        );
        anyhow::Ok(listener.uid())
    };
    let (fresh, _) = Site::with_pod("cluster-internal").await?;
    fresh.stage().await?;
    fresh.publish().await?;
    is_plain(&fresh).await?;

    let (site, _) = Site::with_pod("cluster-internal").await?;
    let controls = json!({ "controller": true, "blockOwnerDeletion": true });
    let before = made_before(&site, controls, &[]).await?;
    site.stage().await?;
    site.publish().await?;
    ensure!(is_plain(&site).await? == before.uid());
    Ok(())
}

pub(crate) async fn b46_a_listener_that_another_object_controls_is_not_ours() -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    let other = site.with_names("other", VOLUME, "other").pod().await?;
    let uid = other.uid();
    let controller = json!({ "apiVersion": "v1", "kind": "Pod", "name": "other", "uid": uid, "controller": true });
    let before = made_before(&site, json!({}), &[controller]).await?;
    let status = site.publish().await.expect_err("it is another's");
    ensure!(status.code() == Code::FailedPrecondition, "{status:?}");
    ensure!(
        status.message().contains("is not of this claim"),
        "{status:?}"
    );
    let after = site.objects::<Listener>().get("web").await?;
    ensure!(after.metadata.generation == before.metadata.generation);
    let pod = site.objects::<Pod>().get("web-0").await?;
    ensure!(pod.labels().is_empty(), "{:?}", pod.labels());
    Ok(())
}
