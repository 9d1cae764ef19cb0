//! Pods that mount Listeners in the simulated cluster: the work of external-provisioner, scheduler
//! and kubelet, through the services of the driver, from the first Pod to the last deletion.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
use lifecycle_cli::process::cluster_domain;
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::{self, Options};
use lifecycle_listener::volume;
use lifecycle_listener::volume::Mount;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::world::{Volumes, World};
use lifecycle_simulator::{Server, User};
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): m18_m22_a_stateful_pod_that_is_made_anew_keeps_its_node_and_its_address, m13_what_was_made_for_a_pod_goes_with_it, b46_a_mount_that_fails_is_told_and_tried_again]
}

const DRIVER: &str = "listeners.stackable.tech";
const NODES: [&str; 2] = ["node-1", "node-2"];
const PATIENCE: Duration = Duration::from_secs(120);

struct Cluster {
    admin: Client,
    volumes: Volumes,
    folder: TempDir,
    _trigger: Trigger,
}

impl Cluster {
    async fn start() -> Result<Self> {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let (trigger, shutdown) = Shutdown::pair();
        let folder = TempDir::with_prefix("csi")?;
        let place = |name: &str| folder.path().join(format!("{name}.sock"));
        let endpoint = |name| place(name).display().to_string();
        let made = volume::provisions(DRIVER, &endpoint("c"));
        tokio::spawn(made.start(admin.clone(), shutdown.clone()));
        for node in NODES {
            let mount = Mount {
                endpoint: endpoint(node),
                node: node.to_owned(),
                registration: None,
            };
            let mounts = volume::mounts(DRIVER, mount);
            tokio::spawn(mounts.start(admin.clone(), shutdown.clone()));
        }
        let controller = Options {
            cluster_domain: cluster_domain::resolve(None),
            kinds: controller::KINDS,
            maintain_crds: true,
            preset: Preset::StableNodes,
            leadership: None,
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            watched: std::collections::BTreeSet::new(),
            csi_endpoint: None,
            health: Health::default(),
        };
        tokio::spawn(controller::run_controller(
            admin.clone(),
            controller,
            shutdown,
        ));
        let nodes = NODES.map(|node| (node, place(node)));
        let volumes = Volumes::inside(folder.path()).driver(DRIVER, place("c"), nodes);
        let world = World::full().volumes(Some(volumes.clone()));
        tokio::spawn(world.run(admin.clone()));
        let cluster = Self {
            admin,
            volumes,
            folder,
            _trigger: trigger,
        };
        let classes = cluster.all("listeners.stackable.tech/v1alpha1", "ListenerClass");
        eventually("the classes are there", PATIENCE, async || {
            Ok(classes.get_opt("external-stable").await.ok().flatten())
        })
        .await?;
        cluster
            .create(
                &json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "apps" } }),
            )
            .await?;
        let installed = [
            (
                "CSIDriver",
                json!({ "spec": { "attachRequired": false, "podInfoOnMount": true, "requiresRepublish": true } }),
            ),
            (
                "StorageClass",
                json!({ "provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer" }),
            ),
        ];
        for (kind, mut object) in installed {
            object["apiVersion"] = json!("storage.k8s.io/v1");
            object["kind"] = json!(kind);
            object["metadata"] = json!({ "name": DRIVER });
            cluster.create(&object).await?;
        }
        Ok(cluster)
    }

    fn api(&self, version: &str, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        let of = GroupVersionKind::gvk(group, version, kind);
        let resource = match kind {
            "PodListeners" => ApiResource::from_gvk_with_plural(&of, "podlisteners"),
            _ => ApiResource::from_gvk(&of),
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.admin.clone(), namespace, &resource),
            None => Api::all_with(self.admin.clone(), &resource),
        }
    }

    fn all(&self, version: &str, kind: &str) -> Api<DynamicObject> {
        self.api(version, kind, None)
    }

    fn here(&self, kind: &str) -> Api<DynamicObject> {
        let version = match kind {
            "StatefulSet" | "DaemonSet" => "apps/v1",
            "Listener" | "PodListeners" => "listeners.stackable.tech/v1alpha1",
            _ => "v1",
        };
        self.api(version, kind, Some("apps"))
    }

    async fn create(&self, object: &Value) -> Result<()> {
        let text = |at: &str| object[at].as_str().unwrap_or_default();
        let namespace = object["metadata"]["namespace"].as_str();
        let api = self.api(text("apiVersion"), text("kind"), namespace);
        let object = serde_json::from_value(object.clone())?;
        api.create(&PostParams::default(), &object).await?;
        Ok(())
    }

    /// A Pod that runs, by name.
    async fn running(&self, name: &str) -> Result<DynamicObject> {
        let pods = self.here("Pod");
        eventually("the Pod runs", PATIENCE, async || {
            let pod = pods.get_opt(name).await?;
            let runs = |pod: &DynamicObject| {
                pod.data["status"]["phase"] == "Running"
                    && pod.metadata.deletion_timestamp.is_none()
            };
            Ok(pod.filter(runs))
        })
        .await
    }

    /// Returns the folder in which a running Pod finds the volume of a claim.
    async fn folder_of(&self, pod: &DynamicObject, claim: &str) -> Result<PathBuf> {
        let claim = self.here("PersistentVolumeClaim").get(claim).await?;
        let volume = claim.data["spec"]["volumeName"]
            .as_str()
            .unwrap_or_default();
        let uid = pod.uid().unwrap_or_default();
        Ok(self.volumes.target(&node_of(pod), &uid, volume))
    }

    async fn address(&self, pod: &DynamicObject, claim: &str) -> Result<String> {
        let folder = self.folder_of(pod, claim).await?;
        Ok(std::fs::read_to_string(
            folder.join("default-address/address"),
        )?)
    }

    /// Waits until nothing of a kind is left.
    async fn none(&self, version: &str, kind: &str) -> Result<()> {
        let api = self.all(version, kind);
        eventually("nothing is left", PATIENCE, async || {
            let left = api.list(&ListParams::default()).await?;
            Ok(left.items.is_empty().then_some(()))
        })
        .await
    }
}

fn node_of(pod: &DynamicObject) -> String {
    let node = pod.data["spec"]["nodeName"].as_str();
    node.unwrap_or_default().to_owned()
}

fn claim_spec() -> Value {
    json!({
        "storageClassName": DRIVER, "accessModes": ["ReadWriteMany"],
        "resources": { "requests": { "storage": "1" } },
    })
}

fn template(volumes: Value) -> Value {
    json!({
        "metadata": { "labels": { "app": "web" } },
        "spec": {
            "containers": [{ "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 80 }] }],
            "volumes": volumes,
        },
    })
}

fn class(name: &str) -> Value {
    json!({ "listeners.stackable.tech/listener-class": name })
}

/// Of a StatefulSet each Pod has a Listener of its own, keeps its node where the class pins it, and finds it again when it is made anew.
async fn m18_m22_a_stateful_pod_that_is_made_anew_keeps_its_node_and_its_address() -> Result<()> {
    let cluster = Cluster::start().await?;
    let claims = json!([{
        "metadata": { "name": "listener", "annotations": class("external-stable") }, "spec": claim_spec(),
    }]);
    cluster
        .create(&json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "web", "namespace": "apps" },
            "spec": {
                "replicas": 1, "serviceName": "web", "selector": { "matchLabels": { "app": "web" } },
                "template": template(json!([])), "volumeClaimTemplates": claims,
            },
        }))
        .await?;
    let first = cluster.running("web-0").await?;
    let address = cluster.address(&first, "listener-web-0").await?;
    ensure!(
        address.starts_with("203.0.113.") || address.starts_with("172.18."),
        "{address}"
    );
    let old = cluster.folder_of(&first, "listener-web-0").await?;

    cluster
        .here("Pod")
        .delete("web-0", &DeleteParams::default())
        .await?;
    let uid = first.uid();
    let pods = cluster.here("Pod");
    eventually("another Pod is there", PATIENCE, async || {
        let pod = pods.get_opt("web-0").await?;
        Ok(pod.filter(|pod| pod.uid() != uid))
    })
    .await?;
    let second = cluster.running("web-0").await?;
    ensure!(node_of(&second) == node_of(&first), "it is pinned");
    ensure!(cluster.address(&second, "listener-web-0").await? == address);
    ensure!(
        !old.exists(),
        "what the first Pod had is gone: {}",
        old.display()
    );
    Ok(())
}

/// Tests that the objects made for a Pod go with it, up to the last folder. Every Pod of a
/// DaemonSet has its own.
async fn m13_what_was_made_for_a_pod_goes_with_it() -> Result<()> {
    let cluster = Cluster::start().await?;
    let volumes = json!([{ "name": "listener", "ephemeral": { "volumeClaimTemplate": {
        "metadata": { "annotations": class("cluster-internal") }, "spec": claim_spec(),
    } } }]);
    cluster
        .create(&json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "web", "namespace": "apps" },
            "spec": { "selector": { "matchLabels": { "app": "web" } }, "template": template(volumes) },
        }))
        .await?;
    let pods = cluster.here("Pod");
    let names = eventually("each node has a Pod", PATIENCE, async || {
        let all = pods.list(&ListParams::default()).await?;
        let names: Vec<String> = all.items.iter().map(ResourceExt::name_any).collect();
        Ok(Some(names).filter(|names| names.len() == NODES.len()))
    })
    .await?;
    for name in &names {
        let pod = cluster.running(name).await?;
        let claim = format!("{name}-listener");
        let address = cluster.address(&pod, &claim).await?;
        ensure!(
            address == format!("{claim}.apps.svc.cluster.local"),
            "{address}"
        );
    }
    let events = cluster.here("Event").list(&ListParams::default()).await?;
    let failed = events.items.iter().find(|e| e.data["type"] == "Warning");
    ensure!(failed.is_none(), "{failed:?}");

    let sets = cluster.here("DaemonSet");
    sets.delete("web", &DeleteParams::default()).await?;
    cluster.none("v1", "Pod").await?;
    for (version, kind) in [
        ("v1", "PersistentVolumeClaim"),
        ("v1", "PersistentVolume"),
        ("listeners.stackable.tech/v1alpha1", "Listener"),
        ("listeners.stackable.tech/v1alpha1", "PodListeners"),
    ] {
        cluster.none(version, kind).await?;
    }
    eventually("no folder is left", PATIENCE, async || {
        let left = NODES.iter().any(|node| {
            let folder = cluster.folder.path().join(node);
            let is_empty = |at: &str| {
                let entries = std::fs::read_dir(folder.join(at));
                entries.map_or(true, |mut entries| entries.next().is_none())
            };
            !is_empty("pods") || !is_empty("plugins/kubernetes.io/csi/pv")
        });
        Ok((!left).then_some(()))
    })
    .await
}

/// Tests that an event reports a volume that cannot be mounted, and that the mount succeeds once
/// the cause is gone.
async fn b46_a_mount_that_fails_is_told_and_tried_again() -> Result<()> {
    let cluster = Cluster::start().await?;
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "web", "namespace": "apps", "annotations": class("cluster-internal") },
        "spec": claim_spec(),
    });
    cluster.create(&claim).await?;
    // A Listener of another user has the name that the claim's own would have.
    let foreign = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "web", "namespace": "apps" }, "spec": { "className": "cluster-internal" },
    });
    cluster.create(&foreign).await?;
    let mut pod =
        template(json!([{ "name": "listener", "persistentVolumeClaim": { "claimName": "web" } }]));
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"] = json!({ "name": "web-0", "namespace": "apps" });
    cluster.create(&pod).await?;
    let events = cluster.here("Event");
    let said = eventually("it is told", PATIENCE, async || {
        let all = events.list(&ListParams::default()).await?;
        let told = all
            .items
            .into_iter()
            .find(|e| e.data["reason"] == "FailedMount");
        Ok(told.map(|event| event.data["message"].to_string()))
    })
    .await?;
    ensure!(
        said.contains("code = FailedPrecondition")
            && said.contains("Listener `web` exists and is not of this claim"),
        "{said}"
    );
    let listeners = cluster.here("Listener");
    listeners.delete("web", &DeleteParams::default()).await?;
    let pod = cluster.running("web-0").await?;
    ensure!(cluster.address(&pod, "web").await? == "web.apps.svc.cluster.local");
    // The Pod goes, and the claim with its volume after it.
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "seen": "yes" } } }));
    cluster
        .here("Pod")
        .patch("web-0", &PatchParams::default(), &patch)
        .await?;
    cluster
        .here("PersistentVolumeClaim")
        .delete("web", &DeleteParams::default())
        .await?;
    let claim = cluster.here("PersistentVolumeClaim").get("web").await?;
    ensure!(
        claim.metadata.deletion_timestamp.is_some(),
        "a claim in use stays"
    );
    cluster
        .here("Pod")
        .delete("web-0", &DeleteParams::default())
        .await?;
    cluster.none("v1", "PersistentVolumeClaim").await?;
    cluster.none("v1", "PersistentVolume").await
}
