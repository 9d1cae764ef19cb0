//! The operator of KubeRay, built with controller-runtime: a RayCluster gets its Service and its Pods, is ready when they are, follows an edit, and takes
//! all of them along.

use std::time::Duration;

use anyhow::Result;
use lifecycle_tests::harness::{Case, Need, eventually};
use serde_json::{Value, json};

use crate::end::{distinct_events, neutral};
use crate::place::{TestCluster, both, with_log};

const PROGRAM: &str = "ray-operator";
const NEEDS: &[Need] = &[Need::Root, Need::Other(PROGRAM)];
const NEEDS_BOTH: &[Need] = &[Need::Root, Need::Other(PROGRAM), Need::Binaries];

const INSTALLED: [&str; 5] = [
    "ray.io_rayclusters.yaml",
    "ray.io_rayjobs.yaml",
    "ray.io_rayservices.yaml",
    "role.yaml",
    "leader_election_role.yaml",
];

/// Manifests that a person writes around the roles that come with the operator.
const BOUND: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: { name: kuberay-operator, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: kuberay-operator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kuberay-operator }
subjects: [{ kind: ServiceAccount, name: kuberay-operator, namespace: default }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: kuberay-operator-leader-election, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: kuberay-operator-leader-election }
subjects: [{ kind: ServiceAccount, name: kuberay-operator }]
";

const ACCOUNT: &str = "default:kuberay-operator";

const ARGUMENTS: [&str; 4] = [
    "--enable-leader-election",
    "--leader-election-namespace=default",
    "--metrics-addr=0",
    "--health-probe-bind-address=0",
];

/// The example that comes with it.
const SAMPLE: &str = "ray-cluster.sample.yaml";
const CLUSTER: &str = "/apis/ray.io/v1/namespaces/default/rayclusters/raycluster-kuberay";
const SERVICES: &str = "/api/v1/namespaces/default/services?labelSelector=ray.io/cluster";
const PODS: &str = "/api/v1/namespaces/default/pods?labelSelector=ray.io/cluster";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/ray-operator-leader";

pub(crate) fn cases() -> Vec<Case> {
    both(
        "a_ray_cluster_gets_its_pods_and_takes_them_along",
        [NEEDS, NEEDS_BOTH],
        run,
    )
    .into()
}

async fn run(place: TestCluster) -> Result<Value> {
    place.install(PROGRAM, &INSTALLED).await?;
    place.apply(BOUND).await?;
    let program = place.start(PROGRAM, ACCOUNT, &ARGUMENTS)?;
    with_log(clusters(&place).await, &program)
}

async fn clusters(place: &TestCluster) -> Result<Value> {
    place.until(LEASE, "somebody leads", |_| true).await?;
    place.install(PROGRAM, &[SAMPLE]).await?;
    let ready = ready(place, 1).await?;
    let grown = json!({ "spec": { "workerGroupSpecs": [] } });
    let mut wanted =
        place.get(CLUSTER).await?.unwrap_or_default()["spec"]["workerGroupSpecs"].take();
    wanted[0]["replicas"] = json!(2);
    let mut grown = grown;
    grown["spec"]["workerGroupSpecs"] = wanted;
    place.merge(CLUSTER, &grown).await?;
    let larger = self::ready(place, 2).await?;
    let events = place.list("/api/v1/namespaces/default/events").await?;
    let events = events
        .into_iter()
        .filter(|one| one["involvedObject"]["kind"] == "RayCluster");
    let said = distinct_events(events.collect());
    place.delete(CLUSTER).await?;
    place.until_gone(CLUSTER).await?;
    for path in [PODS, SERVICES] {
        let gone = async || Ok(place.list(path).await?.is_empty().then_some(()));
        eventually("what it had is gone", Duration::from_secs(60), gone).await?;
    }
    Ok(json!({ "ready": ready, "larger": larger, "said": said }))
}

/// Returns the ready cluster with this many workers, and its objects.
async fn ready(place: &TestCluster, workers: u64) -> Result<Value> {
    let ready = place.until(CLUSTER, "the cluster is ready", |one| {
        let status = &one["status"];
        status["state"] == "ready"
            && status["readyWorkerReplicas"] == workers
            && status["observedGeneration"] == one["metadata"]["generation"]
    });
    let ready = neutral(ready.await?);
    let mut owned = Vec::new();
    for path in [SERVICES, PODS] {
        let list = place.list(path).await?.into_iter();
        let mut list: Vec<Value> = list.map(neutral).collect();
        list.sort_by_key(|one| one["metadata"]["name"].to_string());
        owned.extend(list);
    }
    Ok(json!({ "cluster": ready, "owned": owned }))
}
