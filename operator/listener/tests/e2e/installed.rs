//! The operator on a real cluster, installed by its unchanged manifests, with the queries that
//! tests make there. Knows the operator only by its image.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use kube::api::PostParams;
use kube::{Api, Resource};
use lifecycle_specs_listener::listener::Listener;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use lifecycle_tests::audit;
use lifecycle_tests::cluster::{Cluster, Program, csi_provisioner_image, image_of};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::output;

/// Longer than anything takes on a machine that compiles as well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Namespace in which it is installed.
pub(crate) const NAMESPACE: &str = "listener-operator";

/// The part that runs once in the cluster.
pub(crate) const DEPLOYMENT: &str = "deployment/listener-operator-csi-provisioner";

/// The part that runs on each node.
pub(crate) const DAEMON_SET: &str = "daemonset/listener-operator-csi-node-driver";

/// Identity of the installation that sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// Of the Deployment, without the side-car.
    Controller,
    /// Of the DaemonSet.
    Node,
}

impl Account {
    fn user(self) -> String {
        let name = match self {
            Self::Controller => "listener-operator-controller",
            Self::Node => "listener-operator-node",
        };
        format!("system:serviceaccount:{NAMESPACE}:{name}")
    }
}

/// A cluster with the operator in it.
pub(crate) struct Installed {
    /// The cluster.
    pub(crate) cluster: Cluster,
}

impl Installed {
    /// Starts a cluster, installs this program by the manifests, and waits until all of it is available.
    ///
    /// # Errors
    /// Something is missing, or does not become available.
    pub(crate) async fn start(nodes: usize, operator: &Path) -> Result<Self> {
        let operator = image_of(Program::Listener, operator)?;
        let provisioner = csi_provisioner_image()?;
        let cluster = Cluster::start(nodes).await?;
        cluster.import(&operator)?;
        cluster.import(&provisioner)?;
        let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/install");
        // By its name: the namespace is in the first one.
        let mut apply = cluster.kubectl();
        output(apply.args(["apply", "--filename"]).arg(manifests))?;
        let installed = Self { cluster };
        installed.is_available().await?;
        Ok(installed)
    }

    /// Waits until every part is available.
    ///
    /// # Errors
    /// If one of them is not available, with the logs of its Pods.
    pub(crate) async fn is_available(&self) -> Result<()> {
        for part in [DEPLOYMENT, DAEMON_SET] {
            let available = self.cluster.is_available(NAMESPACE, part).await;
            available.with_context(|| self.describe_pods())?;
        }
        Ok(())
    }

    /// Returns the output of its Pods about themselves, for a failed assertion.
    pub(crate) fn describe_pods(&self) -> String {
        let said = |words: &[&str]| {
            let said = output(self.cluster.kubectl().args(words));
            said.unwrap_or_else(|error| format!("{error:#}"))
        };
        let logs = ["--all-containers", "--prefix", "--tail=40"];
        let of = |part| [&["logs", "--namespace", NAMESPACE, part][..], &logs[..]].concat();
        let told = [
            said(&["describe", "pods", "--namespace", NAMESPACE]),
            said(&of(DEPLOYMENT)),
            said(&of(DAEMON_SET)),
        ];
        told.join("\n")
    }

    /// Objects of a kind in the namespace `default`.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.cluster.client(), "default")
    }

    /// Creates an object in the namespace `default`.
    ///
    /// # Errors
    /// As the API server answers.
    pub(crate) async fn create<K>(&self, object: Value) -> Result<K>
    where
        K: Resource<Scope = NamespaceResourceScope>
            + Serialize
            + DeserializeOwned
            + Clone
            + std::fmt::Debug,
        K::DynamicType: Default,
    {
        let object: K = serde_json::from_value(object)?;
        let created = self
            .api::<K>()
            .create(&PostParams::default(), &object)
            .await;
        created.context("an object cannot be created")
    }

    /// Runs the program of the workload in a container, and returns its output.
    ///
    /// # Errors
    /// It fails.
    pub(crate) fn inside(&self, pod: &str, words: &[&str]) -> Result<String> {
        let mut command = self.cluster.kubectl();
        output(command.args(["exec", pod, "--", "/workload"]).args(words))
    }

    /// Addresses and the port `http` of a Listener, once it is Ready.
    ///
    /// # Errors
    /// It does not become Ready.
    pub(crate) async fn ready(&self, name: &str) -> Result<Vec<(String, i32)>> {
        let what = format!("the Listener {name} is Ready");
        let listeners = self.api::<Listener>();
        eventually(&what, PATIENCE, async || {
            let Some(listener) = listeners.get_opt(name).await? else {
                return Ok(None);
            };
            Ok(addresses(&listener)?.filter(|addresses| !addresses.is_empty()))
        })
        .await
    }

    /// Retries from outside the cluster until a workload answers whose name has this prefix;
    /// another one must not.
    ///
    /// # Errors
    /// If no workload answers, or another one does.
    pub(crate) async fn answers(&self, way: &str, name: &str) -> Result<()> {
        let what = format!("{way} is answered by {name}");
        eventually(&what, PATIENCE, async || {
            let mut command = self.cluster.outside(self.cluster.workload());
            let output = command.args(["get", way]).output()?;
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let right = said.starts_with(name) && said.contains(" answers ");
            ensure!(right || said.is_empty(), "{way} is answered by: {said}");
            Ok(right.then_some(()))
        })
        .await
    }

    /// Returns the requests of an account to the API server so far.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub(crate) async fn requests(&self, account: Account) -> Result<audit::Log> {
        let ours = self.cluster.audit().await?.of_user(&account.user());
        // The side-car has the account of the Deployment.
        Ok(ours.only(|entry| !entry.agent.starts_with("csi-provisioner")))
    }

    /// The rights are enough.
    ///
    /// # Errors
    /// Something was refused.
    pub(crate) async fn nothing_was_refused(&self) -> Result<()> {
        for account in [Account::Controller, Account::Node] {
            let all = self.cluster.audit().await?.of_user(&account.user());
            ensure!(!all.is_empty(), "{account:?} asked nothing");
            let refused = all.refused();
            ensure!(refused.is_empty(), "{}", refused.lines());
        }
        Ok(())
    }
}

/// Returns addresses and ports of a Listener that reports Ready.
fn addresses(listener: &Listener) -> Result<Option<Vec<(String, i32)>>> {
    let status = serde_json::to_value(listener.status.clone().unwrap_or_default())?;
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let ready = conditions.any(|found| found["type"] == "Ready" && found["status"] == "True");
    let addresses = status["ingressAddresses"].as_array().into_iter().flatten();
    let addresses: Option<Vec<(String, i32)>> = addresses
        .map(|found| {
            let port = i32::try_from(found["ports"]["http"].as_i64()?).ok()?;
            Some((found["address"].as_str()?.to_owned(), port))
        })
        .collect();
    Ok(addresses.filter(|_| ready))
}
