//! Every way in which a Pod mounts a Listener, in one shared cluster.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::installed::{Account, Installed, PATIENCE};
use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{DaemonSet, StatefulSet};
use k8s_openapi::api::core::v1::{Event, PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::CSIDriver;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::audit::{self, Cost};
use lifecycle_tests::harness::eventually;
use serde_json::json;

use super::operator;
use super::pods::{
    balance, claim, class, cluster_ip, delete, ephemeral, is_ready, listener, make_balanced_class,
    make_claim, no_mount_failed, node_of, nothing_is_left, of_claim, pod_spec,
    read_default_address, run,
};

/// Reads and writes of a first mount, all of our processes together.
const MOST_READS: usize = 5;
const MOST_WRITES: usize = 7;

pub(super) async fn all() -> Result<()> {
    let site = Installed::start(2, operator()).await?;
    let node2 = site.cluster.nodes()[1].address();
    let balancer = balance(site.cluster.client(), node2.clone());

    // One after the other, and each of them once, for their requests are counted.
    republishes(&site, false).await?;
    counted(&site, "inside", "cluster-internal").await?;
    counted(&site, "outside", "external-unstable").await?;
    make_balanced_class(&site).await?;
    counted(&site, "balanced", "balanced").await?;
    republishes(&site, true).await?;
    // A Pod without a mount gets no traffic, regardless of its labels.
    run(&site, "lonely", None, &[]).await?;
    is_ready(&site, "lonely").await?;
    traffic(&site).await?;
    by_name(&site).await?;
    two_at_once(&site).await?;
    sets(&site).await?;
    pinned(&site).await?;
    unpinned(&site).await?;
    late(&site).await?;

    no_mount_failed(&site).await?;
    nothing_is_left(&site).await?;
    site.nothing_was_refused().await?;
    balancer.abort();
    site.cluster.stop()
}

/// Sets the flag that makes kubelet publish again and again a volume that is already published.
async fn republishes(site: &Installed, again: bool) -> Result<()> {
    let drivers: Api<CSIDriver> = Api::all(site.cluster.client());
    let patch = Patch::Merge(json!({ "spec": { "requiresRepublish": again } }));
    let params = PatchParams::default();
    drivers
        .patch("listeners.stackable.tech", &params, &patch)
        .await?;
    Ok(())
}

/// Checks the cost of a first mount, by a Pod of this name with a claim by class. A call that
/// kubelet or the provisioner repeats on a busy machine sends its requests again. A mount that
/// costs too much is therefore measured anew with another Pod.
async fn counted(site: &Installed, name: &str, of_class: &str) -> Result<()> {
    let again = [format!("{name}-again"), format!("{name}-once-more")];
    let mut dear = Vec::new();
    for name in std::iter::once(name).chain(again.iter().map(String::as_str)) {
        let ours = first_mount(site, name, of_class).await?;
        let counts = ours.counts();
        eprintln!("first mount of a Pod with its own Listener ({of_class}): {counts:?}");
        if counts.writes <= MOST_WRITES && counts.reads + counts.watches <= MOST_READS {
            return Ok(());
        }
        dear.push(ours.lines());
    }
    bail!("three times:\n{}", dear.join("\n\n"))
}

/// Our requests from the creation of a Pod until all is quiet again.
async fn first_mount(site: &Installed, name: &str, of_class: &str) -> Result<audit::Log> {
    let began = Timestamp::now();
    make_claim(site, name, &class(of_class)).await?;
    run(site, name, Some("node2"), &[of_claim("listener", name)]).await?;
    is_ready(site, name).await?;
    site.ready(name).await?;
    let known = Cell::new(0);
    let ours = eventually("all is quiet", PATIENCE, async || {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ours = ours(site, began).await?;
        Ok((known.replace(ours.len()) == ours.len()).then_some(ours))
    });
    ours.await
}

/// Returns the requests of our processes since a moment, except for those that they always send.
async fn ours(site: &Installed, since: Timestamp) -> Result<audit::Log> {
    let controller = site.requests(Account::Controller).await?;
    let node = site.requests(Account::Node).await?;
    let ours = controller.and(node).since(since);
    // A watch of all objects stands, and so does that of the CSINode; one of another single object belongs to a call.
    let stands = |uri: &str| {
        let is_of_one = uri.contains("metadata.name%3D") && !uri.contains("/csinodes?");
        uri.contains("watch=true") && !is_of_one
    };
    Ok(ours.only(|entry| {
        let aside = matches!(entry.cost(), Cost::Lease | Cost::Other);
        !aside && !stands(&entry.uri)
    }))
}

/// Checks the traffic from outside to each Pod by its own Listener. The files match the status of
/// the Listener.
async fn traffic(site: &Installed) -> Result<()> {
    let node2 = site.cluster.nodes()[1].address();
    let inside = site.ready("inside").await?;
    ensure!(
        inside[0].0 == "inside.default.svc.cluster.local",
        "{inside:?}"
    );
    ensure!(
        site.ready("outside").await?
            == [(
                node2.clone(),
                read_default_address(site, "outside", "listener")?.1
            )]
    );
    ensure!(site.ready("balanced").await? == [(node2, 8080)]);
    for name in ["inside", "outside", "balanced"] {
        let (address, port) = read_default_address(site, name, "listener")?;
        let shown = site.ready(name).await?;
        ensure!(shown == [(address.clone(), port)], "{name}: {shown:?}");
        let way = match name {
            // Names do not resolve outside the cluster.
            "inside" => cluster_ip(site, name, port).await?,
            _ => format!("{address}:{port}"),
        };
        for _ in 0..5 {
            site.answers(&way, name).await?;
        }
        // As a user without rights, by the group of the volume.
        let listed = site.inside(name, &["ls", "/listener/addresses"])?;
        ensure!(listed == address, "{listed}");
    }
    Ok(())
}

/// Checks two Pods on two nodes that share a Listener made by a user: each gets the address of its
/// own node.
async fn by_name(site: &Installed) -> Result<()> {
    site.create::<Listener>(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "shared" },
        "spec": { "className": "external-unstable", "ports": [{ "name": "http", "port": 8080 }] },
    }))
    .await?;
    for node in ["node1", "node2"] {
        let name = format!("shared-{node}");
        make_claim(site, &name, &listener("shared")).await?;
        run(site, &name, Some(node), &[of_claim("listener", &name)]).await?;
    }
    let mut told_all = BTreeSet::new();
    for node in ["node1", "node2"] {
        let name = format!("shared-{node}");
        let pod = is_ready(site, &name).await?;
        let (address, port) = read_default_address(site, &name, "listener")?;
        ensure!(
            address == node_of(site, &pod)?.1,
            "{name} is told {address}"
        );
        // A node leads to the Pods of all nodes.
        site.answers(&format!("{address}:{port}"), "shared-node")
            .await?;
        told_all.insert((address, port));
    }
    let shown = eventually("both nodes are shown", PATIENCE, async || {
        let shown: BTreeSet<_> = site.ready("shared").await?.into_iter().collect();
        Ok((shown == told_all).then_some(()))
    });
    shown.await
}

/// Checks an existing claim and an ephemeral one in one Pod: two labels, two entries.
async fn two_at_once(site: &Installed) -> Result<()> {
    make_claim(site, "first", &class("cluster-internal")).await?;
    let volumes = [
        of_claim("one", "first"),
        ephemeral("two", &class("external-unstable")),
    ];
    run(site, "both", None, &volumes).await?;
    let pod = is_ready(site, "both").await?;
    ensure!(site.ready("first").await? == [read_default_address(site, "both", "one")?]);
    let (address, port) = read_default_address(site, "both", "two")?;
    ensure!(site.ready("both-two").await? == [(address.clone(), port)]);
    site.answers(&format!("{address}:{port}"), "both").await?;
    let labels = pod.labels().keys();
    let labels = labels.filter(|key| key.starts_with("listener.stackable.tech/mnt."));
    ensure!(labels.count() == 2, "{:?}", pod.labels());
    let entries = format!("pod-{}", pod.uid().context("no uid")?);
    let entries = site.api::<PodListeners>().get(&entries).await?;
    let names: Vec<&String> = entries.spec.listeners.keys().collect();
    ensure!(names == ["one", "two"], "{names:?}");
    Ok(())
}

async fn sets(site: &Installed) -> Result<()> {
    let labels = |of: &str| json!({ "set": of });
    let mut claims = claim("listener", &class("cluster-internal"));
    claims["metadata"]["name"] = json!("listener");
    let mut spec = pod_spec(&[json!({ "name": "listener" })]);
    spec["volumes"] = json!([]);
    site.create::<StatefulSet>(json!({
        "metadata": { "name": "set" },
        "spec": {
            "replicas": 2, "serviceName": "set", "selector": { "matchLabels": labels("stateful") },
            "template": { "metadata": { "labels": labels("stateful") }, "spec": spec },
            "volumeClaimTemplates": [claims],
        },
    }))
    .await?;
    let volumes = [ephemeral("listener", &class("external-unstable"))];
    site.create::<DaemonSet>(json!({
        "metadata": { "name": "daemon" },
        "spec": {
            "selector": { "matchLabels": labels("daemon") },
            "template": { "metadata": { "labels": labels("daemon") }, "spec": pod_spec(&volumes) },
        },
    }))
    .await?;
    for name in ["set-0", "set-1"] {
        is_ready(site, name).await?;
        let (address, port) = read_default_address(site, name, "listener")?;
        ensure!(
            address == format!("listener-{name}.default.svc.cluster.local"),
            "{address}"
        );
        let way = cluster_ip(site, &format!("listener-{name}"), port).await?;
        site.answers(&way, name).await?;
    }
    let pods = site.api::<Pod>();
    let of_daemons = eventually("a Pod on each node", PATIENCE, async || {
        let found = pods
            .list(&ListParams::default().labels("set=daemon"))
            .await?
            .items;
        Ok((found.len() == 2).then_some(found))
    });
    for pod in of_daemons.await? {
        let pod = is_ready(site, &pod.name_any()).await?;
        let name = pod.name_any();
        let (address, port) = read_default_address(site, &name, "listener")?;
        ensure!(
            address == node_of(site, &pod)?.1,
            "{name} is told {address}"
        );
        site.answers(&format!("{address}:{port}"), &name).await?;
    }
    Ok(())
}

/// Checks a Pod that keeps its node and its address, although it may run elsewhere and another node
/// is preferred.
async fn pinned(site: &Installed) -> Result<()> {
    let classes: Api<ListenerClass> = Api::all(site.cluster.client());
    let pins = serde_json::from_value(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": "pinned" }, "spec": { "serviceType": "NodePort", "pinnedNodePorts": true },
    }))?;
    classes.create(&PostParams::default(), &pins).await?;
    make_claim(site, "pinned", &class("pinned")).await?;
    waits_with(site, "pinned", "WaitForFirstConsumer", "").await?;
    let volumes = [of_claim("listener", "pinned")];
    run(site, "pinned", Some("node1"), &volumes).await?;
    is_ready(site, "pinned").await?;
    let before = read_default_address(site, "pinned", "listener")?;
    let claims = site.api::<PersistentVolumeClaim>();
    let volume = claims
        .get("pinned")
        .await?
        .spec
        .and_then(|spec| spec.volume_name);
    let all: Api<PersistentVolume> = Api::all(site.cluster.client());
    let volume = all.get(&volume.context("it is not bound")?).await?;
    let spec = volume.spec.clone().unwrap_or_default();
    let handle = spec.csi.map(|csi| csi.volume_handle);
    ensure!(handle == volume.metadata.name, "{handle:?}");
    let affinity = spec.node_affinity;
    let affinity = serde_json::to_string(&affinity)?;
    ensure!(
        affinity.contains("listeners.stackable.tech/hostname") && affinity.contains("node1"),
        "{affinity}"
    );

    delete(site, "pinned").await?;
    // The node stays in the status while the Pod is away.
    ensure!(site.ready("pinned").await? == std::slice::from_ref(&before));
    let mut spec = pod_spec(&volumes);
    spec["affinity"] = json!({ "nodeAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 100,
        "preference": { "matchExpressions": [{ "key": "kubernetes.io/hostname", "operator": "In", "values": ["node2"] }] },
    }] } });
    site.create::<Pod>(json!({ "metadata": { "name": "pinned" }, "spec": spec }))
        .await?;
    let pod = is_ready(site, "pinned").await?;
    ensure!(node_of(site, &pod)?.0 == "node1");
    ensure!(read_default_address(site, "pinned", "listener")? == before);
    site.answers(&format!("{}:{}", before.0, before.1), "pinned")
        .await
}

/// A Pod that moves, and the status with it.
async fn unpinned(site: &Installed) -> Result<()> {
    make_claim(site, "moves", &class("external-unstable")).await?;
    for node in site.cluster.nodes() {
        let name = node.name();
        run(site, "moves", Some(name), &[of_claim("listener", "moves")]).await?;
        is_ready(site, "moves").await?;
        let told = read_default_address(site, "moves", "listener")?;
        ensure!(told.0 == node.address(), "on {name}: {told:?}");
        let shown = eventually("the status follows", PATIENCE, async || {
            Ok((site.ready("moves").await? == std::slice::from_ref(&told)).then_some(()))
        });
        shown.await?;
        site.answers(&format!("{}:{}", told.0, told.1), "moves")
            .await?;
        delete(site, "moves").await?;
    }
    Ok(())
}

/// Waits until an event about a claim has a reason and words; the claim is Pending then, and has no volume.
async fn waits_with(site: &Installed, name: &str, reason: &str, words: &str) -> Result<()> {
    let events = site.api::<Event>();
    let fits = |event: &Event| {
        let about = &event.involved_object;
        let is_of_claim = about.kind.as_deref() == Some("PersistentVolumeClaim")
            && about.name.as_deref() == Some(name);
        let said = event.message.as_deref().unwrap_or_default();
        is_of_claim && event.reason.as_deref() == Some(reason) && said.contains(words)
    };
    let what = format!("{reason} on claim {name}");
    eventually(&what, PATIENCE, async || {
        let all = events.list(&ListParams::default()).await?;
        Ok(all.items.iter().any(fits).then_some(()))
    })
    .await?;
    let claim = site.api::<PersistentVolumeClaim>().get(name).await?;
    let phase = claim.status.as_ref().and_then(|s| s.phase.as_deref());
    let volume = claim.spec.as_ref().and_then(|s| s.volume_name.as_ref());
    ensure!(phase == Some("Pending") && volume.is_none(), "{claim:?}");
    Ok(())
}

/// Claims with Pods that came before their class and their Listener become Bound once these exist.
async fn late(site: &Installed) -> Result<()> {
    make_claim(site, "late-class", &class("late")).await?;
    make_claim(site, "late-listener", &listener("late")).await?;
    for name in ["late-class", "late-listener"] {
        run(site, name, None, &[of_claim("listener", name)]).await?;
    }
    waits_with(
        site,
        "late-class",
        "ProvisioningFailed",
        "the ListenerClass does not exist",
    )
    .await?;
    waits_with(
        site,
        "late-listener",
        "ProvisioningFailed",
        "the Listener that",
    )
    .await?;
    site.create::<Listener>(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "late" },
        "spec": { "className": "late", "ports": [{ "name": "http", "port": 8080 }] },
    }))
    .await?;
    let classes: Api<ListenerClass> = Api::all(site.cluster.client());
    let late = ListenerClass::new("late", ListenerClassSpec::new(ServiceType::ClusterIP));
    classes.create(&PostParams::default(), &late).await?;
    for name in ["late-class", "late-listener"] {
        is_ready(site, name).await?;
        let claim = site.api::<PersistentVolumeClaim>().get(name).await?;
        let phase = claim.status.and_then(|s| s.phase);
        ensure!(phase.as_deref() == Some("Bound"), "{name}: {phase:?}");
    }
    Ok(())
}
