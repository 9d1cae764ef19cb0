//! A node that joins a cluster may carry a taint until its driver is ready, so that no Pod is
//! placed on it too early. The process on the node removes it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use lifecycle_runtime::health::Health;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::controller::{NAME, retried};

/// Name of the taint behind the group, with any value and any effect.
const TAINT: &str = "agent-not-ready";
/// Interval at which the process checks its readiness.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until every part of the process is ready, as `/readyz` reports, and then removes the taint
/// from the node. Nothing adds it again while the node stays, so this ends.
pub(crate) async fn remove_once_ready(client: &Client, node: &str, health: &Health) {
    while !health.missing().is_empty() {
        sleep(LOOK).await;
    }
    retried(|| remove(client, node)).await;
}

/// Removes the taint, if the node has it. Other taints stay; one that comes meanwhile is a conflict.
async fn remove(client: &Client, name: &str) -> Result<(), kube::Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = nodes.get(name).await?;
    let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
    let version = node.metadata.resource_version.unwrap_or_default();
    let Some(patch) = without(&taints, &version) else {
        return Ok(());
    };
    let patch = Patch::Merge(patch);
    nodes.patch(name, &PatchParams::default(), &patch).await?;
    tracing::info!(
        node = name,
        "the driver is ready: the startup taint {NAME}/{TAINT} is removed"
    );
    Ok(())
}

/// The change that takes the taint away from a node of this version. None if it is not there.
fn without(taints: &[Taint], version: &str) -> Option<Value> {
    let key = format!("{NAME}/{TAINT}");
    let others: Vec<&Taint> = taints.iter().filter(|taint| taint.key != key).collect();
    let change = json!({
        "metadata": { "resourceVersion": version },
        "spec": { "taints": others },
    });
    (others.len() < taints.len()).then_some(change)
}

#[cfg(test)]
mod tests {
    use kube::api::PostParams;
    use lifecycle_simulator::{Server, User};

    use super::*;

    const OTHER: &str = "node.kubernetes.io/unschedulable";

    fn node(taints: &Value) -> Node {
        serde_json::from_value(json!({
            "metadata": { "name": "n1" },
            "spec": { "taints": taints },
        }))
        .unwrap()
    }

    async fn keys(nodes: &Api<Node>) -> Vec<String> {
        let spec = nodes.get("n1").await.unwrap().spec.unwrap_or_default();
        let taints = spec.taints.into_iter().flatten();
        taints.map(|taint| taint.key).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_taint_goes_when_the_process_is_ready_and_others_stay() {
        let client = Server::new(1).client(&User::admin());
        let nodes: Api<Node> = Api::all(client.clone());
        let key = format!("{NAME}/{TAINT}");
        let taints = json!([
            { "key": key, "effect": "NoSchedule" },
            { "key": OTHER, "effect": "NoSchedule" },
            { "key": key, "value": "true", "effect": "NoExecute" },
        ]);
        let params = PostParams::default();
        nodes.create(&params, &node(&taints)).await.unwrap();
        let health = Health::default();
        health.waits("registration", "kubelet has not registered the driver yet");
        health.started();
        let (waiting, ready) = (health.clone(), client.clone());
        let removing = tokio::spawn(async move { remove_once_ready(&ready, "n1", &waiting).await });
        sleep(LOOK * 10).await;
        assert_eq!(keys(&nodes).await.len(), 3, "it is not ready");
        health.works("registration");
        removing.await.unwrap();
        assert_eq!(keys(&nodes).await, [OTHER]);
    }

    #[test]
    fn a_node_without_the_taint_is_not_written() {
        let read = |taints: &Value| node(taints).spec.unwrap().taints.unwrap();
        let other = json!([{ "key": OTHER, "effect": "NoSchedule" }]);
        assert_eq!(without(&read(&other), "7"), None);
        assert_eq!(without(&[], "7"), None);
        let alone =
            json!([{ "key": "listeners.stackable.tech/agent-not-ready", "effect": "NoExecute" }]);
        let change = json!({ "metadata": { "resourceVersion": "7" }, "spec": { "taints": [] } });
        assert_eq!(without(&read(&alone), "7"), Some(change));
    }
}
