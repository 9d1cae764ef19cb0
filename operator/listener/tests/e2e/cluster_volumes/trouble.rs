//! Failures of nodes and processes while Pods mount Listeners: Pods go on, mounts and unmounts
//! complete, and nothing is left over.

use std::time::Duration;

use crate::installed::{Installed, NAMESPACE, PATIENCE};
use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::storage::v1::CSINode;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde_json::json;

use super::operator;
use super::pods::{
    balance, class, delete, ephemeral, is_ready, make_balanced_class, make_claim, node_of,
    nothing_is_left, of_claim, read_default_address, run,
};

/// How long the API server is away.
const AWAY: Duration = Duration::from_secs(30);

pub(super) async fn all() -> Result<()> {
    let mut site = Installed::start(1, operator()).await?;
    make_claim(&site, "stays", &class("external-unstable")).await?;
    let volumes = [of_claim("listener", "stays")];
    run(&site, "stays", None, &volumes).await?;
    is_ready(&site, "stays").await?;

    let taken = what_is_written_is_taken_away(&site).await?;
    registration_is_removed(&site).await?;
    is_mended(&site, &taken).await?;
    kubelet_restarts(&mut site).await?;
    plugin_is_killed_in_the_middle_of_a_mount(&site).await?;
    controller_is_killed(&site).await?;
    api_server_is_away(&mut site).await?;

    goes_on(&site).await?;
    nothing_is_left(&site).await?;
    site.nothing_was_refused().await?;
    site.cluster.stop()
}

/// Checks that the first Pod was never restarted, and is still reachable.
async fn goes_on(site: &Installed) -> Result<()> {
    let pod = is_ready(site, "stays").await?;
    let containers = pod
        .status
        .iter()
        .flat_map(|status| &status.container_statuses);
    let restarts: i32 = containers.flatten().map(|one| one.restart_count).sum();
    ensure!(restarts == 0, "{restarts} restarts");
    let (address, port) = read_default_address(site, "stays", "listener")?;
    ensure!(address == node_of(site, &pod)?.1);
    site.answers(&format!("{address}:{port}"), "stays").await
}

/// Mounts and unmounts.
async fn works(site: &Installed, name: &str) -> Result<()> {
    run(
        site,
        name,
        None,
        &[ephemeral("listener", &class("external-unstable"))],
    )
    .await?;
    is_ready(site, name).await?;
    delete(site, name).await
}

/// Objects that describe the Pod to others: the label that its Service selects, and the name of its
/// PodListeners.
struct Written {
    label: String,
    list: String,
}

/// By hand, as by `kubectl`.
async fn what_is_written_is_taken_away(site: &Installed) -> Result<Written> {
    let pods = site.api::<Pod>();
    let pod = pods.get("stays").await?;
    let mut labels = pod.labels().keys();
    let label = labels.find(|key| key.contains("/mnt."));
    let written = Written {
        label: label.context("it has no label")?.clone(),
        list: format!("pod-{}", pod.uid().context("it has no uid")?),
    };
    let without = json!({ "metadata": { "labels": { written.label.as_str(): null } } });
    pods.patch("stays", &PatchParams::default(), &Patch::Merge(without))
        .await?;
    let lists = site.api::<PodListeners>();
    lists
        .delete(&written.list, &DeleteParams::default())
        .await?;
    Ok(written)
}

/// By kubelet, which publishes again every minute or so.
async fn is_mended(site: &Installed, taken: &Written) -> Result<()> {
    eventually("label and entry are there again", PATIENCE, async || {
        let pod = site.api::<Pod>().get("stays").await?;
        let list = site.api::<PodListeners>().get_opt(&taken.list).await?;
        Ok((pod.labels().contains_key(&taken.label) && list.is_some()).then_some(()))
    })
    .await?;
    goes_on(site).await
}

/// Removes the registration, as the registrar of the replaced operator does at its end. kubelet
/// does it as well if the socket exists again before its next check.
async fn registration_is_removed(site: &Installed) -> Result<()> {
    let node = &site.cluster.nodes()[0];
    let registry = node.folder().join("kubelet/plugins_registry");
    std::fs::remove_file(registry.join("listeners.stackable.tech-reg.sock"))
        .context("the driver has no registration socket")?;
    works(site, "registered").await?;
    let nodes: Api<CSINode> = Api::all(site.cluster.client());
    let without = json!({ "spec": { "drivers": null } });
    nodes
        .patch(node.name(), &PatchParams::default(), &Patch::Merge(without))
        .await?;
    eventually("the driver is listed again", PATIENCE, async || {
        let spec = nodes.get(node.name()).await?.spec;
        let mut names = spec.drivers.iter().map(|driver| driver.name.as_str());
        Ok(names
            .find(|name| *name == "listeners.stackable.tech")
            .map(drop))
    })
    .await?;
    works(site, "listed").await
}

async fn kubelet_restarts(site: &mut Installed) -> Result<()> {
    for crash in [true, false] {
        run(
            site,
            "during",
            None,
            &[ephemeral("listener", &class("external-unstable"))],
        )
        .await?;
        site.cluster.node_mut(0).stop_kubelet(crash)?;
        site.cluster.node_mut(0).start_kubelet()?;
        is_ready(site, "during").await?;
        delete(site, "during").await?;
        goes_on(site).await?;
    }
    Ok(())
}

/// The load balancer has no address, so the mount waits until the process is killed.
async fn plugin_is_killed_in_the_middle_of_a_mount(site: &Installed) -> Result<()> {
    make_balanced_class(site).await?;
    run(
        site,
        "waits",
        None,
        &[ephemeral("listener", &class("balanced"))],
    )
    .await?;
    let listed = eventually("the mount has written and waits", PATIENCE, async || {
        let pod = site.api::<Pod>().get("waits").await?;
        Ok(pod
            .labels()
            .keys()
            .any(|key| key.contains("/mnt."))
            .then_some(()))
    });
    listed.await?;
    kill(site, "node-driver").await?;
    let balancer = balance(site.cluster.client(), site.cluster.nodes()[0].address());
    is_ready(site, "waits").await?;
    let (address, port) = read_default_address(site, "waits", "listener")?;
    site.answers(&format!("{address}:{port}"), "waits").await?;
    delete(site, "waits").await?;
    balancer.abort();
    let entries = site.api::<PodListeners>();
    let gone = async || {
        let left = entries.list(&ListParams::default()).await?.items;
        Ok((left.len() == 1).then_some(()))
    };
    eventually(
        "only the entry of the Pod that stays is left",
        PATIENCE,
        gone,
    )
    .await?;
    goes_on(site).await
}

async fn controller_is_killed(site: &Installed) -> Result<()> {
    kill(site, "provisioner").await?;
    works(site, "after").await?;
    goes_on(site).await
}

/// Kills a part of the operator as a crash would, and waits until it is back.
async fn kill(site: &Installed, role: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(site.cluster.client(), NAMESPACE);
    let selector = format!("app.kubernetes.io/role={role}");
    let listed = pods.list(&ListParams::default().labels(&selector)).await?;
    let name = listed
        .items
        .first()
        .context("no Pod of the operator")?
        .name_any();
    let mut kill = site.cluster.kubectl();
    kill.args([
        "delete",
        "pod",
        "--grace-period=0",
        "--force",
        "--namespace",
        NAMESPACE,
    ]);
    lifecycle_tests::process::output(kill.arg(name))?;
    site.is_available().await
}

/// A mount that began before ends after it.
async fn api_server_is_away(site: &mut Installed) -> Result<()> {
    make_claim(site, "while", &class("cluster-internal")).await?;
    run(site, "while", None, &[of_claim("listener", "while")]).await?;
    site.cluster.kill_api_server()?;
    tokio::time::sleep(AWAY).await;
    site.cluster.start_api_server().await?;
    is_ready(site, "while").await?;
    delete(site, "while").await?;
    works(site, "afterwards").await?;
    goes_on(site).await
}
