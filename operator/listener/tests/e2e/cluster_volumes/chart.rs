//! The Helm chart on a real cluster: it takes the place of a release of the replaced chart, Pods mount Listeners by it, it is upgraded while they run, and
//! uninstalled it leaves nothing but definitions and what users made.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use lifecycle_tests::cluster::{Cluster, Program, WORKLOAD, csi_provisioner_image, image_of};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::output;

use super::operator;
use super::pods::{class, ephemeral, is_ready, no_mount_failed, nothing_is_left, run, told};
use crate::installed::{DAEMON_SET, DEPLOYMENT, Installed, NAMESPACE, PATIENCE};

const RELEASE: &str = "listener-operator";

/// As the release that is replaced has it.
const PRESET: &str = "--set=preset=ephemeral-nodes";

/// Two replicas, so that both of their Leases are used.
const TWO: &str = "--set=csiProvisioner.replicas=2";

/// A taint that no Pod of a test tolerates: none starts before the driver has removed it.
const TAINT: &str = "listeners.stackable.tech/agent-not-ready=:NoSchedule";
const REMOVES: &str = "--set=csiNodeDriver.removeStartupTaint=true";

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn helm(site: &Installed, words: &[&str]) -> Result<String> {
    let helm = Helm::new(Some(site.cluster.admin_kubeconfig()))?;
    helm.say(&[words, &["--namespace", NAMESPACE]].concat())
}

pub(super) async fn all() -> Result<()> {
    let cluster = Cluster::start(1).await?;
    cluster.import(&image_of(Program::Listener, operator())?)?;
    cluster.import(&csi_provisioner_image()?)?;
    let site = Installed { cluster };
    let mut kubectl = site.cluster.kubectl();
    output(kubectl.args(["create", "namespace", NAMESPACE]))?;
    let replaced = folder("operator/tests/charts/replaced/listener-operator");
    let replaced = replaced.display().to_string();
    let image = format!("--set=image={WORKLOAD}");
    let pauses = "--set-json=args=[\"pause\"]";
    // As Helm 3 did it.
    let by = "--server-side=false";
    helm(&site, &["install", RELEASE, &replaced, &image, pauses, by])?;
    site.is_available().await?;

    let chart = folder("deploy/charts/listener-operator")
        .display()
        .to_string();
    let upgrade = [
        "upgrade",
        RELEASE,
        &chart,
        TWO,
        PRESET,
        REMOVES,
        "--wait",
        "--timeout=240s",
    ];
    output(
        site.cluster
            .kubectl()
            .args(["taint", "nodes", "--all", TAINT]),
    )?;
    helm(&site, &upgrade).with_context(|| site.told())?;
    mounts(&site, "web").await?;
    let taints = ["get", "nodes", "--output=jsonpath={..spec.taints[*].key}"];
    let taints = output(site.cluster.kubectl().args(taints))?;
    ensure!(!taints.contains("agent-not-ready"), "{taints}");
    let leases: Api<Lease> = Api::namespaced(site.cluster.client(), NAMESPACE);
    for name in [
        "listeners.stackable.tech-controller",
        "listeners-stackable-tech",
    ] {
        let lease = leases.get_opt(name).await?;
        ensure!(lease.is_some(), "no Lease {name}: {}", site.told());
    }
    // The driver begins anew below a Pod that goes on.
    let changed = ["--set=csiNodeDriver.podAnnotations.again=yes"];
    helm(&site, &[&upgrade[..], &changed[..]].concat()).with_context(|| site.told())?;
    let (address, port) = told(&site, "web", "listener")?;
    site.answers(&format!("{address}:{port}"), "web").await?;
    mounts(&site, "other").await?;

    no_mount_failed(&site).await?;
    nothing_is_left(&site).await?;
    helm(&site, &["uninstall", RELEASE, "--wait"])?;
    nothing_stays(&site).await?;
    site.cluster.stop()
}

/// A Pod with a Listener of its own is reached from outside.
async fn mounts(site: &Installed, name: &str) -> Result<()> {
    run(
        site,
        name,
        None,
        &[ephemeral("listener", &class("external-unstable"))],
    )
    .await?;
    is_ready(site, name).await.with_context(|| site.told())?;
    let (address, port) = told(site, name, "listener")?;
    site.answers(&format!("{address}:{port}"), name).await
}

/// Nothing of the release is there any more; its definitions and classes are.
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
