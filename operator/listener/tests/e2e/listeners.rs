//! A test API server with an operator of Listeners in a process of its own, and the operations of
//! tests on Listeners there. Knows no internals of a lifecycle: it reads objects as a user of
//! `kubectl` would.

use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use rustix::process::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::audit;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::Process;

/// User name of the operator, by which its requests are counted.
pub(crate) const OPERATOR: &str = "operator";

/// Longer than anything takes that happens at all.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// How long a stopped operator may take.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How much of a log an explained error shows.
const LINES: usize = 80;

/// An API server and an operator.
pub(crate) struct Cluster {
    /// The API server.
    pub(crate) server: ApiServer,
    /// A client that may do everything.
    pub(crate) client: Client,
    program: PathBuf,
    operator: Option<Process>,
}

impl Cluster {
    /// Starts both and waits for the preset classes, the last thing that an operator prepares.
    ///
    /// # Errors
    /// Either does not start.
    pub(crate) async fn start(program: &str) -> Result<Self> {
        Self::start_with(program, Options::default()).await
    }

    /// As `start`, with a choice of how the API server runs.
    ///
    /// # Errors
    /// Either does not start.
    pub(crate) async fn start_with(program: &str, options: Options) -> Result<Self> {
        let mut cluster = Self::without_operator(program, options).await?;
        cluster.run_operator(&[]).await?;
        cluster.prepared().await?;
        Ok(cluster)
    }

    /// Waits for the preset classes, the last thing that an operator prepares.
    ///
    /// # Errors
    /// They do not come.
    pub(crate) async fn prepared(&self) -> Result<()> {
        let classes = self.all::<ListenerClass>();
        let class = || classes.get_opt("external-stable");
        let prepared = eventually("the preset classes", SOON, async || {
            Ok(class().await.ok().flatten())
        });
        prepared.await.map(drop)
    }

    /// Only the API server.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn without_operator(program: &str, options: Options) -> Result<Self> {
        let server = ApiServer::start_with(options).await?;
        let client = server.client();
        Ok(Self {
            server,
            client,
            program: program.into(),
            operator: None,
        })
    }

    /// Starts the operator as its own user with all rights; `options` come before `controller`.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn run_operator(&mut self, options: &[&str]) -> Result<()> {
        let kubeconfig = self.server.kubeconfig(OPERATOR, &["system:masters"])?;
        self.run_operator_with(options, kubeconfig, &[])
    }

    /// Starts the operator with a kubeconfig and an environment of the test's choice.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn run_operator_with(
        &mut self,
        options: &[&str],
        kubeconfig: PathBuf,
        environment: &[(&str, &str)],
    ) -> Result<()> {
        ensure!(self.operator.is_none(), "an operator runs already");
        let mut command = self.command(options, kubeconfig);
        command.envs(environment.iter().copied());
        self.operator = Some(Process::start("operator", command, self.server.folder())?);
        Ok(())
    }

    /// Starts one more operator with its log in `<name>.log`. Its requests are counted by `user`.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn replica(
        &self,
        name: &'static str,
        user: &str,
        options: &[&str],
    ) -> Result<Process> {
        let kubeconfig = self.server.kubeconfig(user, &["system:masters"])?;
        let mut command = self.command(options, kubeconfig);
        command.env("HOSTNAME", name);
        Process::start(name, command, self.server.folder())
    }

    fn command(&self, options: &[&str], kubeconfig: PathBuf) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("run")
            .args(["--kubernetes-cluster-domain", "cluster.test"]);
        command.args(options).arg("controller");
        // So that a class of the preset makes a load balancer.
        command.args(["--listener-class-preset", "ephemeral-nodes"]);
        command
            .env("CONSOLE_LOG_LEVEL", "info,lifecycle_runtime=debug")
            .env("KUBECONFIG", kubeconfig);
        command
    }

    /// Adds the end of the operator log to an error.
    ///
    /// # Errors
    /// The one that is given.
    pub(crate) fn explain<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
            anyhow!("{error:#}; the operator says at the end:\n{end}")
        })
    }

    /// Returns the log of the operator.
    pub(crate) fn log(&self) -> String {
        self.operator.as_ref().map(Process::log).unwrap_or_default()
    }

    /// The process of the operator.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn operator_pid(&self) -> Result<u32> {
        let operator = self.operator.as_ref().context("no operator runs")?;
        Ok(operator.pid())
    }

    /// Sends the operator a signal.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn signal_operator(&self, signal: Signal) -> Result<()> {
        let operator = self.operator.as_ref().context("no operator runs")?;
        operator.signal(signal)
    }

    /// Sends SIGTERM and waits.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn stop_operator(&mut self) -> Result<ExitStatus> {
        self.stop_operator_by(Signal::TERM)
    }

    /// Sends a signal that ends it and waits.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn stop_operator_by(&mut self, signal: Signal) -> Result<ExitStatus> {
        let operator = self.operator.take().context("no operator runs")?;
        operator.end_by(signal, GRACE)
    }

    /// Sends SIGKILL and waits.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn kill_operator(&mut self) -> Result<()> {
        self.operator
            .take()
            .context("no operator runs")?
            .kill()
            .map(drop)
    }

    /// Checks that the operator still runs.
    ///
    /// # Errors
    /// It has ended by itself.
    pub(crate) fn check_operator(&mut self) -> Result<()> {
        self.operator
            .as_mut()
            .context("no operator runs")?
            .check_alive()
    }

    /// Objects of a kind in namespace `default`.
    pub(crate) fn namespaced<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::default_namespaced(self.client.clone())
    }

    /// Objects of a kind in all namespaces, or of a kind without.
    pub(crate) fn all<K: kube::Resource<DynamicType = ()>>(&self) -> Api<K> {
        Api::all(self.client.clone())
    }

    /// Creates a Listener in namespace `default`.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn create(&self, name: &str, spec: Value) -> Result<Listener> {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "Listener",
            "metadata": { "name": name },
            "spec": spec,
        });
        let listener = serde_json::from_value(listener)?;
        let created = self
            .namespaced::<Listener>()
            .create(&PostParams::default(), &listener)
            .await;
        created.with_context(|| format!("cannot create Listener {name}"))
    }

    /// Creates a Listener of a class with one port named `http`.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn expose(&self, name: &str, class: &str) -> Result<Listener> {
        let ports = json!([{ "name": "http", "port": 8080 }]);
        self.create(name, json!({ "className": class, "ports": ports }))
            .await
    }

    /// Waits until a condition of a Listener has a status and a reason.
    ///
    /// # Errors
    /// It does not come to that; the error shows the conditions and the operator's log.
    pub(crate) async fn condition(
        &self,
        name: &str,
        wanted: ExpectedCondition<'_>,
    ) -> Result<Listener> {
        self.condition_within(name, wanted, SOON).await
    }

    async fn condition_within(
        &self,
        name: &str,
        wanted: ExpectedCondition<'_>,
        limit: Duration,
    ) -> Result<Listener> {
        let listeners = self.namespaced::<Listener>();
        let what = format!("{wanted:?} of Listener {name}");
        let found = eventually(&what, limit, async || {
            let listener = listeners.get(name).await?;
            Ok(wanted.holds_in(&listener).then_some(listener))
        });
        match found.await {
            Ok(listener) => Ok(listener),
            Err(error) => {
                let now = listeners
                    .get_opt(name)
                    .await?
                    .map(|l| serde_json::to_string_pretty(&l.status));
                bail!(
                    "{error:#}; now: {now:?}; the operator says:\n{}",
                    self.log()
                )
            }
        }
    }

    /// Waits until a Listener is Ready.
    ///
    /// # Errors
    /// As `condition`.
    pub(crate) async fn ready(&self, name: &str) -> Result<Listener> {
        self.ready_within(name, SOON).await
    }

    /// As `ready`, within a limit of core time.
    ///
    /// # Errors
    /// As `condition`.
    pub(crate) async fn ready_within(&self, name: &str, limit: Duration) -> Result<Listener> {
        let ready = ExpectedCondition("Ready", "True", "Ready");
        self.condition_within(name, ready, limit).await
    }

    /// Merges a patch into an object of namespace `default`, as another user.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn patch<K>(&self, name: &str, patch: Value) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
        K: DeserializeOwned + Clone + std::fmt::Debug,
    {
        let params = PatchParams::default();
        let patched = self
            .namespaced::<K>()
            .patch(name, &params, &Patch::Merge(patch))
            .await;
        patched.with_context(|| format!("cannot patch {name}"))
    }

    /// Creates an object from its JSON; kinds without a namespace too.
    ///
    /// # Errors
    /// It does not decode, or the API server refuses it.
    pub(crate) async fn make<K>(&self, api: Api<K>, object: Value) -> Result<K>
    where
        K: Serialize + DeserializeOwned + Clone + std::fmt::Debug,
    {
        let object: K = serde_json::from_value(object)?;
        Ok(api.create(&PostParams::default(), &object).await?)
    }

    /// A node with addresses of (type, address).
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn node(&self, name: &str, addresses: &[(&str, &str)]) -> Result<()> {
        let nodes = self.all::<Node>();
        self.make(nodes.clone(), json!({ "metadata": { "name": name } }))
            .await?;
        let addresses: Vec<_> = addresses
            .iter()
            .map(|(kind, address)| json!({ "type": kind, "address": address }))
            .collect();
        let status = json!({ "status": { "addresses": addresses } });
        nodes
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// Writes, like the endpoint controller, that Pods of a Service run on these nodes.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn endpoints(&self, service: &str, nodes: &[&str]) -> Result<()> {
        let endpoints: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(n, node)| json!({ "addresses": [format!("10.85.0.{}", n + 2)], "nodeName": node, "conditions": { "ready": true } }))
            .collect();
        let slice = json!({
            "metadata": { "name": format!("{service}-1"), "labels": { "kubernetes.io/service-name": service } },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
        });
        let slices = self.namespaced::<EndpointSlice>();
        if slices.get_opt(&format!("{service}-1")).await?.is_some() {
            slices
                .delete(&format!("{service}-1"), &DeleteParams::default())
                .await?;
        }
        self.make(slices, slice).await.map(drop)
    }

    /// A volume that ties a Pod of a Listener to a node.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn volume(&self, name: &str, listener: &str, node: &str) -> Result<()> {
        let rule = json!({ "key": "listeners.stackable.tech/hostname", "operator": "In", "values": [node] });
        let volume = json!({
            "metadata": { "name": name, "labels": {
                "listeners.stackable.tech/listener-namespace": "default",
                "listeners.stackable.tech/listener-name": listener,
            } },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": { "storage": "1" },
                "csi": { "driver": "listeners.stackable.tech", "volumeHandle": name },
                "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [rule] }] } },
            },
        });
        self.make(self.all::<PersistentVolume>(), volume)
            .await
            .map(drop)
    }

    /// Answers as a load balancer would.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn balance(&self, service: &str, ingress: Value) -> Result<()> {
        let status = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
        let services = self.namespaced::<Service>();
        services
            .patch_status(service, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// A namespace.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn namespace(&self, name: &str) -> Result<()> {
        let namespace = json!({ "metadata": { "name": name } });
        self.make(self.all::<Namespace>(), namespace)
            .await
            .map(drop)
    }

    /// Returns the requests of the operator to the API server so far.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub(crate) async fn requests(&self) -> Result<audit::Log> {
        Ok(self.server.audit().await?.of_user(OPERATOR))
    }
}

/// A condition as a test wants it: type, status, reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedCondition<'a>(pub &'a str, pub &'a str, pub &'a str);

impl ExpectedCondition<'_> {
    /// Returns true if the Listener reports the condition for its present generation.
    pub(crate) fn holds_in(&self, listener: &Listener) -> bool {
        let conditions = listener
            .status
            .iter()
            .flat_map(|s| s.conditions.iter().flatten());
        let current = listener.metadata.generation;
        conditions.into_iter().any(|c| {
            (c.type_.as_str(), c.status.as_str(), c.reason.as_str()) == (self.0, self.1, self.2)
                && c.observed_generation == current
        })
    }
}

/// The message of a condition.
pub(crate) fn message(listener: &Listener, condition: &str) -> String {
    let conditions = listener
        .status
        .iter()
        .flat_map(|s| s.conditions.iter().flatten());
    let found = conditions.into_iter().find(|c| c.type_ == condition);
    found.map(|c| c.message.clone()).unwrap_or_default()
}

/// The published addresses, as `address:port`.
pub(crate) fn addresses(listener: &Listener) -> Vec<String> {
    let all = listener
        .status
        .iter()
        .flat_map(|s| s.ingress_addresses.iter().flatten());
    all.flat_map(|i| i.ports.values().map(|port| format!("{}:{port}", i.address)))
        .collect()
}
