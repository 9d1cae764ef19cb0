//! The Helm chart on a real cluster: it replaces a release of the replaced chart, and Pods mount
//! Listeners by it. It is upgraded while they run, rolled back and installed again. Uninstalled, it
//! leaves only definitions and the objects of users.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::output;

use super::pods::{
    class, ephemeral, is_ready, no_mount_failed, nothing_is_left, read_default_address, run,
};
use super::release::Release;
use super::swapped::there_and_back;
use crate::installed::{DAEMON_SET, DEPLOYMENT, Installed, NAMESPACE, PATIENCE};

/// A taint that no Pod of a test tolerates: none starts before the driver has removed it.
const TAINT: &str = "listeners.stackable.tech/agent-not-ready=:NoSchedule";

pub(super) async fn all() -> Result<()> {
    let release = Release::install().await?;
    let site = &release.site;
    let nodes = ["taint", "nodes", "--all", TAINT];
    output(site.cluster.kubectl().args(nodes))?;
    release.upgrade(&[])?;
    mounts(site, "web").await?;
    let taints = ["get", "nodes", "--output=jsonpath={..spec.taints[*].key}"];
    let taints = output(site.cluster.kubectl().args(taints))?;
    ensure!(!taints.contains("agent-not-ready"), "{taints}");
    let leases: Api<Lease> = Api::namespaced(site.cluster.client(), NAMESPACE);
    for name in [
        "listeners.stackable.tech-controller",
        "listeners-stackable-tech",
    ] {
        let lease = leases.get_opt(name).await?;
        ensure!(lease.is_some(), "no Lease {name}: {}", site.describe_pods());
    }
    // From here on there are times without a driver, in which kubelet reports that it cannot
    // repeat a mount.
    no_mount_failed(site).await?;
    // The driver begins anew below a Pod that goes on.
    release.upgrade(&["--set=csiNodeDriver.podAnnotations.again=yes"])?;
    let (address, port) = read_default_address(site, "web", "listener")?;
    site.answers(&format!("{address}:{port}"), "web").await?;
    mounts(site, "other").await?;

    there_and_back(&release).await?;
    mounts(site, "later").await?;
    site.answers(&format!("{address}:{port}"), "web").await?;
    nothing_is_left(site).await?;
    release.uninstall()?;
    nothing_stays(site).await?;
    release.site.cluster.stop()
}

/// Checks that a Pod with a Listener of its own is reachable from outside the cluster.
async fn mounts(site: &Installed, name: &str) -> Result<()> {
    run(
        site,
        name,
        None,
        &[ephemeral("listener", &class("external-unstable"))],
    )
    .await?;
    is_ready(site, name)
        .await
        .with_context(|| site.describe_pods())?;
    let (address, port) = read_default_address(site, name, "listener")?;
    site.answers(&format!("{address}:{port}"), name).await
}

/// Checks that nothing of the release is left except its definitions and classes.
async fn nothing_stays(site: &Installed) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(site.cluster.client(), NAMESPACE);
    eventually("its Pods are gone", PATIENCE, async || {
        let left = pods.list(&kube::api::ListParams::default()).await?;
        Ok(left.items.is_empty().then_some(()))
    })
    .await?;
    let listed = |kinds: &str| {
        let words = ["get", kinds, "--output=name", "--namespace", NAMESPACE];
        output(site.cluster.kubectl().args(words))
    };
    let left = listed(
        "deployments,daemonsets,services,roles,rolebindings,clusterroles,clusterrolebindings,csidrivers,storageclasses,\
         validatingadmissionpolicies,validatingadmissionpolicybindings,poddisruptionbudgets,serviceaccounts",
    )?;
    let ours: Vec<&str> = left
        .lines()
        .filter(|name| name.contains("listener"))
        .collect();
    ensure!(ours.is_empty(), "left behind: {ours:?}");
    let kept = listed("customresourcedefinitions,listenerclasses")?;
    ensure!(
        kept.contains("podlisteners") && kept.contains("external-stable"),
        "{kept}"
    );
    for part in [DEPLOYMENT, DAEMON_SET] {
        let words = ["get", part, "--namespace", NAMESPACE, "--ignore-not-found"];
        ensure!(output(site.cluster.kubectl().args(words))?.is_empty());
    }
    Ok(())
}
