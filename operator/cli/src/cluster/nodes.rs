//! The nodes of a simulated cluster: two Ready nodes, each with an internal and an external
//! address.

use k8s_openapi::api::core::v1::Node;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;

const MANAGER: &str = "sandbox";
/// Name, internal address and external address of each node. External addresses are from a range
/// that is reserved for documentation.
const NODES: [(&str, &str, &str); 2] = [
    ("node-1", "10.0.0.1", "192.0.2.1"),
    ("node-2", "10.0.0.2", "192.0.2.2"),
];

/// Makes them.
pub(super) async fn make(client: &Client) -> kube::Result<()> {
    for (name, inside, outside) in NODES {
        make_node(client, name, inside, outside).await?;
    }
    Ok(())
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    NODES.into_iter().map(|(name, _, _)| name)
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
