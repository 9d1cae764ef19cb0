//! A simulated cluster in a few lines, for a test of any client. Shown in `docs/cluster.md`.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{Cluster, Options};

/// Starts a cluster with a Deployment in it, and returns how many Pods became of that.
pub(crate) async fn pods_of_a_deployment() -> anyhow::Result<usize> {
    let cluster = Cluster::open(Options::default()).await?;
    let fixtures = Manifest::parse("fixtures".as_ref(), DEPLOYMENT)?;
    manifests::apply(&cluster.client(), &fixtures).await?;
    // Other programs find it by the file `cluster.kubeconfig()`; a client in this process needs no socket.
    let pods: Api<Pod> = Api::default_namespaced(cluster.client());
    let mut found = 0;
    while found < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        found = pods.list(&ListParams::default()).await?.items.len();
    }
    cluster.stop().await;
    Ok(found)
}

/// Deployment that a user applies.
const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
";
