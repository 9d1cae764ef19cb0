//! Pods that mount Listeners, and the checks of their content.

use std::fs;

use crate::installed::{Installed, PATIENCE};
use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Event, PersistentVolume, PersistentVolumeClaim, Pod, Service};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::cluster::WORKLOAD;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const CLASS: &str = "listeners.stackable.tech/listener-class";
const NAME: &str = "listeners.stackable.tech/listener-name";

/// Returns the annotations of a claim for a class.
pub(crate) fn class(name: &str) -> Value {
    json!({ CLASS: name })
}

/// Returns the annotations of a claim for a Listener.
pub(crate) fn listener(name: &str) -> Value {
    json!({ NAME: name })
}

/// Creates the ListenerClass `balanced`, of load balancers: the manifests install none.
///
/// # Errors
/// The API server refuses it.
pub(crate) async fn make_balanced_class(site: &Installed) -> Result<()> {
    let classes: Api<ListenerClass> = Api::all(site.cluster.client());
    let class = ListenerClass::new(
        "balanced",
        ListenerClassSpec::new(ServiceType::LoadBalancer),
    );
    classes.create(&PostParams::default(), &class).await?;
    Ok(())
}

fn claim_spec() -> Value {
    json!({
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "listeners.stackable.tech",
        "resources": { "requests": { "storage": "1" } },
    })
}

/// A claim, as an object or as a template.
pub(crate) fn claim(name: &str, asks: &Value) -> Value {
    json!({ "metadata": { "name": name, "annotations": asks }, "spec": claim_spec() })
}

/// Returns a volume of an existing claim.
pub(crate) fn of_claim(volume: &str, claim: &str) -> Value {
    json!({ "name": volume, "persistentVolumeClaim": { "claimName": claim } })
}

/// Returns a volume with a claim that lives as long as the Pod.
pub(crate) fn ephemeral(volume: &str, asks: &Value) -> Value {
    let template = json!({ "metadata": { "annotations": asks }, "spec": claim_spec() });
    json!({ "name": volume, "ephemeral": { "volumeClaimTemplate": template } })
}

/// A Pod that may do nothing that it need not: it serves its files and those of its volumes, which it mounts below `/`.
pub(crate) fn pod_spec(volumes: &[Value]) -> Value {
    let mounts = volumes
        .iter()
        .map(|volume| json!({ "name": volume["name"], "mountPath": mount_path(&volume["name"]) }));
    let mounts: Vec<Value> = mounts.collect();
    json!({
        "terminationGracePeriodSeconds": 1,
        "securityContext": { "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000 },
        "containers": [{
            "name": "serve",
            "image": WORKLOAD,
            "imagePullPolicy": "Never",
            "args": ["serve", "8080"],
            "ports": [{ "name": "http", "containerPort": 8080 }],
            "readinessProbe": { "httpGet": { "port": 8080 }, "periodSeconds": 1 },
            "securityContext": {
                "readOnlyRootFilesystem": true,
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": mounts,
        }],
        "volumes": volumes,
    })
}

fn mount_path(name: &Value) -> String {
    format!("/{}", name.as_str().unwrap_or_default())
}

/// Runs a Pod on a node, or on any node that the scheduler chooses.
pub(crate) async fn run(
    site: &Installed,
    name: &str,
    node: Option<&str>,
    volumes: &[Value],
) -> Result<Pod> {
    let mut spec = pod_spec(volumes);
    if let Some(node) = node {
        spec["nodeSelector"] = json!({ "kubernetes.io/hostname": node });
    }
    // A Service of an earlier version would select this label. Only the label of a mount decides.
    let metadata = json!({ "name": name, "labels": { "app": "served" } });
    site.create(json!({ "metadata": metadata, "spec": spec }))
        .await
}

pub(crate) async fn make_claim(site: &Installed, name: &str, asks: &Value) -> Result<()> {
    site.create::<PersistentVolumeClaim>(claim(name, asks))
        .await
        .map(drop)
}

/// A Pod that is Ready.
pub(crate) async fn is_ready(site: &Installed, name: &str) -> Result<Pod> {
    let pods = site.api::<Pod>();
    let what = format!("the Pod {name} is Ready");
    let ready = eventually(&what, PATIENCE, async || {
        let pod = pods.get_opt(name).await?;
        Ok(pod.filter(|pod| {
            let conditions = pod.status.iter().flat_map(|status| &status.conditions);
            let mut ready = conditions.flatten();
            ready.any(|condition| condition.type_ == "Ready" && condition.status == "True")
        }))
    });
    match ready.await {
        Ok(pod) => Ok(pod),
        Err(error) => {
            let mut describe = site.cluster.kubectl();
            describe.args(["describe", "pods,pvc,pv,listeners"]);
            let said = lifecycle_tests::process::output(&mut describe).unwrap_or_default();
            Err(error.context(said).context(site.describe_pods()))
        }
    }
}

/// The node that a Pod runs on: its name and its address.
pub(crate) fn node_of(site: &Installed, pod: &Pod) -> Result<(String, String)> {
    let name = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    let name = name.context("the Pod runs nowhere")?;
    let mut nodes = site.cluster.nodes().iter();
    let node = nodes.find(|node| node.name() == name).context("no node")?;
    Ok((name, node.address()))
}

/// The default address and its port `http`, as a Pod reads them.
pub(crate) fn read_default_address(
    site: &Installed,
    pod: &str,
    volume: &str,
) -> Result<(String, i32)> {
    let read = |path: &str| {
        let path = format!("/{volume}/default-address/{path}");
        site.inside(pod, &["cat", &path])
    };
    Ok((read("address")?, read("ports/http")?.parse()?))
}

/// Returns the cluster IP of a Service and its port: names do not resolve outside the cluster.
pub(crate) async fn cluster_ip(site: &Installed, service: &str, port: i32) -> Result<String> {
    let service = site.api::<Service>().get(service).await?;
    let ip = service.spec.and_then(|spec| spec.cluster_ip);
    Ok(format!("{}:{port}", ip.context("no cluster IP")?))
}

/// Checks that no kubelet reported a failed mount, except for the token of a Pod: on a busy machine
/// its caches may come late.
pub(crate) async fn no_mount_failed(site: &Installed) -> Result<()> {
    let events = site.api::<Event>().list(&ListParams::default()).await?;
    let failed: Vec<Option<String>> = events
        .into_iter()
        .filter(|event| event.reason.as_deref() == Some("FailedMount"))
        .map(|event| event.message)
        .filter(|said| {
            !said
                .as_ref()
                .is_some_and(|said| said.contains("\"kube-api-access-"))
        })
        .collect();
    ensure!(failed.is_empty(), "{failed:#?}");
    Ok(())
}

/// A small controller of load balancers, as some clusters have it: the address is that of a node, where kube-proxy leads on.
pub(crate) fn balance(client: Client, address: String) -> JoinHandle<()> {
    tokio::spawn(async move {
        let services: Api<Service> = Api::namespaced(client, "default");
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let Ok(found) = services.list(&ListParams::default()).await else {
                continue;
            };
            for service in found {
                let balanced = service.spec.as_ref().and_then(|spec| spec.type_.as_deref());
                let status = service
                    .status
                    .as_ref()
                    .and_then(|s| s.load_balancer.as_ref());
                let has = status.is_some_and(|status| status.ingress.is_some());
                if balanced == Some("LoadBalancer") && !has {
                    let ingress = json!([{ "ip": address }]);
                    let patch = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
                    let (name, params) = (service.name_any(), PatchParams::default());
                    // It may be gone by now.
                    let _gone = services
                        .patch_status(&name, &params, &Patch::Merge(&patch))
                        .await;
                }
            }
        }
    })
}

/// Deletes a Pod and waits until it is gone.
pub(crate) async fn delete(site: &Installed, name: &str) -> Result<()> {
    let pods = site.api::<Pod>();
    pods.delete(name, &DeleteParams::default()).await?;
    let gone = async || Ok(pods.get_opt(name).await?.is_none().then_some(()));
    eventually(&format!("the Pod {name} is gone"), PATIENCE, gone).await
}

/// Takes everything away, and waits until nothing is left: of the API, and of the disks of the nodes.
pub(crate) async fn nothing_is_left(site: &Installed) -> Result<()> {
    for kinds in ["statefulsets,daemonsets", "pods", "pvc"] {
        let mut delete = site.cluster.kubectl();
        delete.args(["delete", kinds, "--all", "--timeout=120s"]);
        lifecycle_tests::process::output(&mut delete)?;
    }
    let volumes: Api<PersistentVolume> = Api::all(site.cluster.client());
    let left = eventually("nothing is left in the API", PATIENCE, async || {
        let all = ListParams::default();
        let left = [
            volumes.list(&all).await?.items.len(),
            site.api::<PodListeners>().list(&all).await?.items.len(),
            // Those that were made by hand stay.
            owned(site.api::<Listener>().list(&all).await?.items),
            owned(site.api::<Service>().list(&all).await?.items),
        ];
        Ok((left == [0; 4]).then_some(()))
    });
    left.await?;
    for node in site.cluster.nodes() {
        let pods = node.folder().join("kubelet/pods");
        let gone = async || Ok((!has_mounts(&pods)).then_some(()));
        eventually("nothing is left on the disk", PATIENCE, gone).await?;
    }
    Ok(())
}

/// How many are owned by a volume, or by a Listener that is.
fn owned<K: ResourceExt>(all: Vec<K>) -> usize {
    let owned = |object: &K| {
        object
            .owner_references()
            .iter()
            .any(|owner| owner.kind == "PersistentVolume")
    };
    all.iter().filter(|object| owned(object)).count()
}

/// Returns true if a folder of Pods still has an entry of a driver in it.
fn has_mounts(pods: &std::path::Path) -> bool {
    let pods = fs::read_dir(pods).into_iter().flatten().flatten();
    let mut mounts = pods.filter_map(|pod| {
        let volumes = pod.path().join("volumes/kubernetes.io~csi");
        fs::read_dir(volumes).ok()?.next()
    });
    mounts.next().is_some()
}
