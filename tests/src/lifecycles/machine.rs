//! A machine of a cluster, as in the Cluster API. It has an object that represents it elsewhere, a
//! node that a poll queries, and a teardown in three stages.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a Machine.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "machines.tests",
    version = "v1",
    kind = "Machine",
    namespaced,
    status = "MachineStatus"
)]
pub struct MachineSpec {
    /// Name of the ConfigMap with the bootstrap data.
    pub bootstrap: String,
}

/// Observed state of a Machine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MachineStatus {
    /// Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Counterpart of a Machine at the infrastructure that makes it.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "machines.tests",
    version = "v1",
    kind = "InfraMachine",
    namespaced,
    status = "InfraMachineStatus"
)]
pub struct InfraMachineSpec {
    /// Script that runs at the start.
    pub script: String,
}

/// How far it is; nothing yet where both are empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct InfraMachineStatus {
    /// It runs.
    #[serde(default)]
    pub booted: Option<bool>,
    /// Why it never will.
    #[serde(default)]
    pub failed: Option<String>,
}

/// State of a node, as the other cluster reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeInfo {
    /// Pods that run on the node.
    pub pods: Pods,
    /// True if volumes are attached to the node.
    pub attached: bool,
}

/// State of the pods on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pods {
    /// It is no node.
    #[default]
    NoNode,
    /// Pods run, and new ones may start.
    Running,
    /// The pods are requested to leave.
    Leaving,
    /// None, and none comes.
    Gone,
}

/// All nodes of the other cluster, by the uid of their Machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes(pub BTreeMap<String, NodeInfo>);

/// The other cluster.
pub type OtherCluster = Provider<Nodes>;

include!("../../../macros/core/tests/lifecycles/machine.txt");

impl Nodes {
    /// Turns a booted machine into a node, on which pods with volumes start.
    pub fn join(&mut self, uid: &str) {
        let node = self.0.entry(uid.to_owned()).or_default();
        if node.pods == Pods::NoNode {
            *node = NodeInfo {
                pods: Pods::Running,
                attached: true,
            };
        }
    }

    /// Removes all pods that were requested to leave.
    pub fn leave(&mut self, uid: &str) {
        if let Some(node) = self.0.get_mut(uid)
            && node.pods == Pods::Leaving
        {
            node.pods = Pods::Gone;
        }
    }
}

impl ProviderState for Nodes {
    fn leftovers(&self) -> Vec<String> {
        let attached = self.0.iter().filter(|(_, node)| node.attached);
        let line = |(uid, _): (&String, &NodeInfo)| format!("the volumes of node {uid}");
        attached.map(line).collect()
    }

    const MEDDLINGS: &[&str] = &["drain all", "detach all", "lose all nodes"];

    fn perturb(&mut self, what: &str) {
        let nodes = self.0.values_mut();
        match what {
            "drain all" => nodes.for_each(|node| node.pods = Pods::Gone),
            "detach all" => nodes.for_each(|node| node.attached = false),
            _ => self.0.clear(),
        }
    }
}

/// The logic of a Machine: where its node is.
pub struct InCluster(pub OtherCluster);

fn uid(meta: &ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

impl MachineLogic for InCluster {
    async fn poll_node(&self, this: This<'_, Machine>) -> Result<NodeInfo, CallError> {
        let uid = uid(this.meta);
        let look = |all: &mut Nodes| Ok(all.0.get(&uid).copied().unwrap_or_default());
        self.0.query(&format!("look at {uid}"), look).await
    }

    fn booted(&self, _: This<'_, Machine>, infra: &InfraMachine) -> Because<Booted> {
        let status = infra.status.clone().unwrap_or_default();
        match (status.booted, status.failed) {
            (Some(true), _) => Because::plain(Booted::Yes),
            (_, Some(why)) => Because::new(Booted::Failed, why),
            (Some(false) | None, None) => Because::new(Booted::No, "it has not booted yet"),
        }
    }

    fn served(&self, _: This<'_, Machine>, node: &NodeInfo) -> Because<Served> {
        match node.pods {
            Pods::NoNode => Because::new(Served::No, "it is no node yet"),
            Pods::Running => Because::new(Served::Yes, "pods run on it"),
            Pods::Leaving => Because::new(Served::Draining, "pods are leaving it"),
            Pods::Gone => Because::new(Served::Drained, "it is drained: uncordon it"),
        }
    }

    fn volumes(&self, _: This<'_, Machine>, node: &NodeInfo) -> Because<Volumes> {
        match node.attached {
            true => Because::new(Volumes::Attached, "volumes are attached to it"),
            false => Because::plain(Volumes::Detached),
        }
    }

    fn make(&self, at: Make<'_>) -> Desired<InfraMachine> {
        let data = at.bootstrap.data.iter().flatten();
        let script = data.map(|(_, line)| line.clone()).collect();
        Desired::from_object(&InfraMachine {
            metadata: ObjectMeta::default(),
            spec: InfraMachineSpec { script },
            status: None,
        })
    }

    async fn drain(&self, at: Drain<'_>, once: Once<'_>) -> Outcome<DrainResult> {
        let uid = uid(at.this.meta);
        let operation = move |all: &mut Nodes| {
            all.0.entry(uid).or_default().pods = Pods::Leaving;
            Ok(DrainResult::Draining)
        };
        let what = format!("drain {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn detach(&self, at: Detach<'_>, once: Once<'_>) -> Outcome<DetachResult> {
        let uid = uid(at.this.meta);
        let operation = move |all: &mut Nodes| {
            all.0.entry(uid).or_default().attached = false;
            Ok(DetachResult::DetachedDrained)
        };
        let what = format!("detach {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }
}
