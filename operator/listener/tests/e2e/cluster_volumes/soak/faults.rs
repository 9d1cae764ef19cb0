//! Faults of a soak, one after another: the controller's Pod and a node driver's are deleted by force, and the second node is lost and comes back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt};
use lifecycle_tests::harness::eventually;

use super::work::NODES;
use crate::installed::{Installed, NAMESPACE, PATIENCE};

/// Between two faults.
const PAUSE: Duration = Duration::from_secs(6);
/// The index of the node that is lost; the other one has the control plane.
const LOST: usize = 1;
/// The garbage collector of Pods deletes those of a node that is away for a minute. The first time is shorter than that, the next one longer.
const AWAY: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(90)];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    KillController,
    KillDriver,
    LoseNode,
}

impl Fault {
    const ALL: [Self; 3] = [Self::KillController, Self::KillDriver, Self::LoseNode];
}

/// Everything that fails, and how often it did.
pub(super) struct Faults {
    pub(super) site: Installed,
    happened: BTreeMap<Fault, usize>,
    lasts: Duration,
}

impl Faults {
    pub(super) fn new(site: Installed, lasts: Duration) -> Self {
        Self {
            site,
            happened: BTreeMap::new(),
            lasts,
        }
    }

    pub(super) fn counts(&self) -> String {
        format!("faults {:?}", self.happened)
    }

    /// One fault after another until the time is over, and each at least once. The operator is killed in the first half only, so that the second one shows
    /// the memory of processes that live on.
    pub(super) async fn go_on(&mut self, began: Instant) -> Result<()> {
        for fault in Fault::ALL.into_iter().cycle() {
            let each_happened = self.happened.len() == Fault::ALL.len();
            if began.elapsed() > self.lasts && each_happened {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            let is_late = began.elapsed() > self.lasts / 2 && each_happened;
            if is_late && (fault != Fault::LoseNode || self.away() > self.left(began)) {
                continue;
            }
            let happened = self.happen(fault).await;
            happened.with_context(|| format!("{fault:?}"))?;
            *self.happened.entry(fault).or_default() += 1;
        }
        Ok(())
    }

    fn left(&self, began: Instant) -> Duration {
        self.lasts.saturating_sub(began.elapsed())
    }

    fn times(&self, fault: Fault) -> usize {
        self.happened.get(&fault).copied().unwrap_or_default()
    }

    fn away(&self) -> Duration {
        AWAY[self.times(Fault::LoseNode) % AWAY.len()]
    }

    async fn happen(&mut self, fault: Fault) -> Result<()> {
        match fault {
            Fault::KillController => self.kill("provisioner").await,
            Fault::KillDriver => self.kill("node-driver").await,
            Fault::LoseNode => self.lose_node().await,
        }
    }

    /// Deletes one of the Pods of a part by force. Its successor starts while the churn goes on.
    async fn kill(&self, role: &str) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.site.cluster.client(), NAMESPACE);
        let selector = format!("app.kubernetes.io/role={role}");
        let listed = pods.list(&ListParams::default().labels(&selector)).await?;
        let turn = self.times(Fault::KillDriver) % listed.items.len().max(1);
        let Some(pod) = listed.items.get(turn) else {
            // Its node is away, and its successor waits for the next one.
            return Ok(());
        };
        let force = DeleteParams::default().grace_period(0);
        match pods.delete(&pod.name_any(), &force).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            answer => answer.map(drop).context("a Pod cannot be deleted"),
        }
    }

    /// kubelet dies and the Node is deleted; containers stay, as on a machine that is only cut off.
    async fn lose_node(&mut self) -> Result<()> {
        let away = self.away();
        self.site.cluster.node_mut(LOST).stop_kubelet(true)?;
        let nodes: Api<Node> = Api::all(self.site.cluster.client());
        nodes.delete(NODES[LOST], &DeleteParams::default()).await?;
        tokio::time::sleep(away).await;
        self.site.cluster.node_mut(LOST).start_kubelet()?;
        self.nodes_are_ready().await
    }

    /// Waits until both nodes are Ready.
    pub(super) async fn nodes_are_ready(&self) -> Result<()> {
        let nodes: Api<Node> = Api::all(self.site.cluster.client());
        eventually("both nodes are Ready", PATIENCE, async || {
            let listed = nodes.list(&ListParams::default()).await?;
            let ready = listed.into_iter().filter(|node| {
                let conditions = node.status.iter().flat_map(|status| &status.conditions);
                let mut conditions = conditions.flatten();
                conditions.any(|one| one.type_ == "Ready" && one.status == "True")
            });
            Ok((ready.count() == NODES.len()).then_some(()))
        })
        .await
    }
}
