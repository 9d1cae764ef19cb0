//! A real API server with the controllers of its control plane, and with a task that plays nodes:
//! it reports that Jobs end and that servers run.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use kube::api::{Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::harness::eventually;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(60);
/// Long enough for everything that is going to happen by itself.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);

/// The server, and the task. Both end when it is dropped.
pub(crate) struct TestCluster {
    pub(crate) server: ApiServer,
    pub(crate) client: Client,
    nodes: tokio::task::JoinHandle<()>,
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        self.nodes.abort();
    }
}

impl TestCluster {
    pub(crate) async fn start() -> Result<Self> {
        // An owner reference that blocks the deletion of its owner needs a right of its own there.
        let plugin = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement";
        let server = ApiServer::start_with(
            Options::default()
                .with_controllers()
                .controller("persistentvolumeclaim-protection-controller")
                .flag(plugin),
        );
        let server = server.await?;
        let nodes = server.client_for("nodes", &["system:masters"]).await?;
        let client = server.client();
        Ok(Self {
            server,
            client,
            nodes: tokio::spawn(nodes_of(nodes)),
        })
    }

    /// Applies manifests by kubectl.
    pub(crate) fn apply(&self, yaml: &str) -> Result<()> {
        let file = tempfile::NamedTempFile::new().context("a file for a manifest")?;
        std::fs::write(file.path(), yaml).context("a manifest")?;
        let mut kubectl = self.server.kubectl();
        let output = kubectl
            .args(["apply", "--filename"])
            .arg(file.path())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl apply: {said}");
        Ok(())
    }

    pub(crate) fn all<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Waits until objects of this kind are served.
    pub(crate) async fn served<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + DeserializeOwned
            + Debug,
    {
        let all = self.all::<K>();
        eventually(&format!("{} is served", K::plural(&())), SOON, async || {
            Ok(all.list(&Default::default()).await.ok().map(drop))
        })
        .await
    }

    /// Waits until an object is as desired. `Null` represents an absent object.
    pub(crate) async fn until<K>(&self, name: &str, is: impl Fn(&Value) -> bool) -> Result<Value>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + DeserializeOwned
            + Serialize
            + Debug,
    {
        let all = self.all::<K>();
        let what = format!("{} {name}", K::kind(&()));
        let seen = eventually(&what, SOON, async || {
            let found = serde_json::to_value(all.get_opt(name).await?)?;
            Ok(is(&found).then_some(found))
        });
        let error = match seen.await {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let found = serde_json::to_value(all.get_opt(name).await?)?;
        Err(error.context(format!("it is {found:#}")))
    }
}

/// A change under a name of its own.
pub(crate) fn by(manager: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    }
}

/// Simulates nodes and the controllers of workloads. Jobs end, successfully except for those of the
/// version `broken`; Deployments and StatefulSets run as many Pods as they want.
async fn nodes_of(client: Client) {
    loop {
        let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
        for job in jobs.list(&Default::default()).await.into_iter().flatten() {
            if job.status.and_then(|status| status.conditions).is_none() {
                let name = job.metadata.name.unwrap_or_default();
                let status = json!({ "status": job_status(!name.ends_with("broken")) });
                // It may have gone meanwhile.
                let _ = jobs
                    .patch_status(&name, &by("nodes"), &Patch::Merge(status))
                    .await;
            }
        }
        run_all::<Deployment>(&client).await;
        run_all::<StatefulSet>(&client).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Reports that each server of a kind runs as it is wanted.
async fn run_all<K>(client: &Client)
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + Serialize
        + Debug,
{
    let servers: Api<K> = Api::namespaced(client.clone(), "default");
    let all = servers.list(&Default::default()).await;
    for server in all.into_iter().flatten() {
        let name = server.meta().name.clone().unwrap_or_default();
        let generation = server.meta().generation;
        let server = serde_json::to_value(server).unwrap_or_default();
        if server["status"]["observedGeneration"] == json!(generation) {
            continue;
        }
        let replicas = &server["spec"]["replicas"];
        let status = json!({ "status": {
            "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas,
        }});
        // It may have gone meanwhile.
        let _ = servers
            .patch_status(&name, &by("nodes"), &Patch::Merge(status))
            .await;
    }
}

fn job_status(well: bool) -> Value {
    let ended =
        |kind: &str| json!({ "type": kind, "status": "True", "reason": "Told", "message": "" });
    let time = "2026-01-01T00:00:00Z";
    match well {
        true => json!({
            "startTime": time, "completionTime": time, "succeeded": 1, "uncountedTerminatedPods": {},
            "conditions": [ended("SuccessCriteriaMet"), ended("Complete")],
        }),
        false => json!({
            "startTime": time, "failed": 1, "uncountedTerminatedPods": {}, "conditions": [ended("FailureTarget"), ended("Failed")],
        }),
    }
}
