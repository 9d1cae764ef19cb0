//! The node of the controller is cut off: measures the time without a leader, and prints it.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::output;
use serde_json::json;

use super::operator;
use crate::installed::{DEPLOYMENT, Installed, NAMESPACE, PATIENCE};

/// Node whose switch port is taken down; the other one has the control plane.
const LOST: &str = "node2";

/// The node controller waits 50 s and the manifest 10 s. Then a Pod starts, and waits 15 s for a
/// renewal of the Lease.
pub(super) async fn node() -> Result<()> {
    let site = Installed::start(2, operator()).await?;
    moved(&site).await?;
    expose(&site, "before").await?;
    cut(&site, "down")?;
    let began = Instant::now();
    expose(&site, "after").await?;
    let took = began.elapsed();
    eprintln!("a Listener made at the loss of the controller's node is Ready after {took:.1?}");
    cut(&site, "up")?;
    let nodes: Api<Node> = Api::all(site.cluster.client());
    eventually("the node to be back", PATIENCE, async || {
        let node = nodes.get(LOST).await?;
        let mut conditions = node.status.into_iter().flat_map(|s| s.conditions).flatten();
        let ready = conditions.any(|c| c.type_ == "Ready" && c.status == "True");
        Ok(ready.then_some(()))
    })
    .await?;
    site.is_available().await?;
    expose(&site, "back").await?;
    site.cluster.stop()
}

/// Moves the controller to the node that will be lost.
async fn moved(site: &Installed) -> Result<()> {
    let kubectl = |words: &[&str]| output(site.cluster.kubectl().args(words));
    kubectl(&["cordon", "node1"])?;
    kubectl(&["rollout", "restart", "--namespace", NAMESPACE, DEPLOYMENT])?;
    site.is_available().await?;
    kubectl(&["uncordon", "node1"])?;
    let pods: Api<Pod> = Api::namespaced(site.cluster.client(), NAMESPACE);
    let of_controller = ListParams::default().labels("app.kubernetes.io/role=provisioner");
    let found = pods.list(&of_controller).await?;
    let spec = found.items.first().and_then(|pod| pod.spec.as_ref());
    let on = spec.and_then(|spec| spec.node_name.as_deref());
    ensure!(on == Some(LOST), "the controller is on {on:?}");
    Ok(())
}

fn cut(site: &Installed, how: &str) -> Result<()> {
    let mut switch = site.cluster.outside("ip");
    output(switch.args(["link", "set", LOST, how])).map(drop)
}

async fn expose(site: &Installed, name: &str) -> Result<()> {
    let listener = json!({
        "metadata": { "name": name },
        "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }] },
    });
    site.create::<Listener>(listener).await?;
    site.ready(name)
        .await
        .map(drop)
        .with_context(|| site.describe_pods())
}
