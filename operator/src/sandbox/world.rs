//! What surrounds the operator in the sandbox: two nodes, and the small controllers that stand for the rest of a cluster.

use std::time::Duration;

use anyhow::bail;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::world::{Volumes, World};
use lifecycle_specs_listener::listener_class::ListenerClass;
use serde_json::json;

use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::KINDS;
use lifecycle_listener::presets;
use lifecycle_runtime::crds;

const MANAGER: &str = "sandbox";
const AGAIN: Duration = Duration::from_millis(20);
/// The operator needs a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(30);
/// Name, address inside the cluster, and address outside of it; the latter are set aside for documentation.
const NODES: [(&str, &str, &str); 2] = [
    ("node-1", "10.0.0.1", "192.0.2.1"),
    ("node-2", "10.0.0.2", "192.0.2.2"),
];

/// Makes the nodes, and waits until the operator has installed its kinds and classes.
///
/// # Errors
/// The API server refuses the nodes, or the operator is not done in time.
pub async fn prepare(client: &Client, preset: Preset) -> anyhow::Result<()> {
    for (name, inside, outside) in NODES {
        make_node(client, name, inside, outside).await?;
    }
    let waited = tokio::time::timeout(PATIENCE, async {
        while !is_prepared(client, preset).await || !serves_sites(client).await {
            tokio::time::sleep(AGAIN).await;
        }
    });
    if waited.await.is_err() {
        bail!(
            "the operator did not install its kinds and classes within {} s",
            PATIENCE.as_secs()
        );
    }
    Ok(())
}

async fn is_prepared(client: &Client, preset: Preset) -> bool {
    let classes: Api<ListenerClass> = Api::all(client.clone());
    // Classes are made in their order, so that the last stands for all.
    match presets::classes(preset)
        .last()
        .and_then(|class| class.metadata.name.clone())
    {
        Some(last) => matches!(classes.get_opt(&last).await, Ok(Some(_))),
        None => matches!(crds::served(client, &KINDS).await, Ok(true)),
    }
}

async fn serves_sites(client: &Client) -> bool {
    matches!(
        crds::served(client, &lifecycle_skupper::controller::KINDS).await,
        Ok(true)
    )
}

async fn make_node(client: &Client, name: &str, inside: &str, outside: &str) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let params = PatchParams::apply(MANAGER);
    let node = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
    });
    nodes.patch(name, &params, &Patch::Apply(node)).await?;
    let status = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "status": {
            "addresses": [
                { "type": "InternalIP", "address": inside },
                { "type": "ExternalIP", "address": outside },
                { "type": "Hostname", "address": name },
            ],
            "capacity": { "cpu": "4", "memory": "8Gi", "pods": "110" },
            "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Simulated", "message": "the node is simulated",
                "lastHeartbeatTime": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                "lastTransitionTime": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            }],
            "nodeInfo": {
                "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "simulated://1", "kernelVersion": "simulated",
                "kubeProxyVersion": "", "kubeletVersion": "v1.36.3", "machineID": "", "operatingSystem": "linux",
                "osImage": "simulated", "systemUUID": "",
            },
        },
    });
    nodes
        .patch_status(name, &params, &Patch::Apply(status))
        .await?;
    Ok(())
}

/// The names of all nodes.
pub(super) fn nodes() -> impl Iterator<Item = &'static str> {
    NODES.into_iter().map(|(name, _, _)| name)
}

/// Runs the controllers of the world until told to stop.
pub async fn run(client: Client, volumes: Volumes, mut shutdown: Shutdown) {
    let no_more_nodes: [&str; 0] = [];
    let world = World::whole()
        .nodes(no_more_nodes)
        .volumes(Some(volumes))
        .origin(jiff::Timestamp::now());
    tokio::select! {
        biased;
        () = shutdown.wait() => {}
        () = world.run(client) => tracing::warn!("the controllers around the operator ended"),
    }
}
