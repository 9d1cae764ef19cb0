//! A cluster with the controller of Skupper sites in it, a namespace for each test, and helpers for
//! tests there.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::place::{CONTROLLER, has_report};
use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::cluster::{Cluster, Program, WORKLOAD, image_of};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::output;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// Longer than anything takes on a machine that compiles as well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
/// Namespace of the controller, and its Deployment there.
const HOME: &str = "skupper";
const DEPLOYMENT: &str = "deployment/skupper-controller";
/// The port of echoes.
const PORT: u16 = 7007;
/// Pod that sends the requests.
pub(crate) const CLIENT: &str = "client";

/// A cluster with one node, and the controller.
pub(crate) struct TestEnv {
    pub(crate) cluster: Cluster,
}

static SHARED: Mutex<Option<Arc<TestEnv>>> = Mutex::const_new(None);

/// A file or folder that installs the controller.
fn deploy(path: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    folder.join(path)
}

impl TestEnv {
    /// The one that all tests share; each has a namespace of its own.
    pub(crate) async fn shared() -> Result<Arc<Self>> {
        let mut shared = SHARED.lock().await;
        if let Some(env) = &*shared {
            return Ok(Arc::clone(env));
        }
        let env = Arc::new(Self::start().await?);
        *shared = Some(Arc::clone(&env));
        Ok(env)
    }

    /// Drops the shared environment, because statics are never dropped.
    pub(crate) fn end_shared() {
        drop(SHARED.blocking_lock().take());
    }

    async fn start() -> Result<Self> {
        Self::installed(|env| {
            let manifest = deploy("skupper/controller.yaml");
            let mut apply = env.cluster.kubectl();
            output(apply.args(["apply", "--filename"]).arg(manifest)).map(drop)
        })
        .await
    }

    /// Starts an environment of its own, whose controller is installed by the Helm chart with
    /// default values.
    pub(crate) async fn by_chart() -> Result<Self> {
        Self::installed(|env| {
            let helm = Helm::new(Some(env.cluster.admin_kubeconfig()))?;
            let chart = deploy("charts/skupper").display().to_string();
            let words = ["install", "skupper", &chart, "--create-namespace"];
            let told = helm.stdout(&[&words[..], &["--namespace", HOME]].concat());
            told.map(drop)
        })
        .await
    }

    async fn installed(install: impl FnOnce(&Self) -> Result<()>) -> Result<Self> {
        let router = std::env::current_exe()?;
        let images = [
            image_of(Program::Skupper, Path::new(crate::PROGRAM))?,
            image_of(Program::Router, &router)?,
        ];
        let cluster = Cluster::start(1).await?;
        images.iter().try_for_each(|image| cluster.import(image))?;
        let env = Self { cluster };
        install(&env)?;
        env.is_available().await?;
        let sites: Api<Site> = Api::all(env.client().await?);
        let served = eventually("the kinds are served", PATIENCE, async || {
            Ok(sites.list(&ListParams::default()).await.ok())
        });
        served.await.with_context(|| env.recent_logs())?;
        Ok(env)
    }

    /// Waits until the controller is available.
    pub(crate) async fn is_available(&self) -> Result<()> {
        let available = self.cluster.is_available(HOME, DEPLOYMENT).await;
        available.with_context(|| self.recent_logs())
    }

    /// Sets the number of controller replicas.
    pub(crate) fn scale(&self, replicas: u8) -> Result<()> {
        let mut scale = self.cluster.kubectl();
        let replicas = format!("--replicas={replicas}");
        scale.args(["scale", "--namespace", HOME, DEPLOYMENT, &replicas]);
        output(&mut scale).map(drop)
    }

    /// Returns a client of a user with all rights, for the runtime of this test.
    async fn client(&self) -> Result<Client> {
        let all = ["system:masters"];
        self.cluster.client_for("somebody", &all).await
    }

    /// Returns the log of the controller, for a failed assertion.
    pub(crate) fn recent_logs(&self) -> String {
        let mut logs = self.cluster.kubectl();
        logs.args(["logs", "--namespace", HOME, "--tail=60", DEPLOYMENT]);
        output(&mut logs).unwrap_or_else(|error| format!("{error:#}"))
    }

    /// The rights of the controller and of a namespace's router are enough, and the router writes nothing.
    pub(crate) async fn nothing_was_refused(&self, namespace: &str) -> Result<()> {
        let log = self.cluster.audit().await?;
        let router = format!("system:serviceaccount:{namespace}:skupper-router");
        for user in [CONTROLLER, &router] {
            let all = log.of_user(user);
            ensure!(!all.is_empty(), "{user} asked nothing");
            let refused = all.refused();
            ensure!(refused.is_empty(), "{}", refused.lines());
        }
        let reads = ["get", "list", "watch"];
        let other = log.of_user(&router);
        let other = other.only(|entry| !reads.contains(&entry.verb.as_str()));
        ensure!(other.is_empty(), "{}", other.lines());
        Ok(())
    }
}

/// A namespace.
pub(crate) struct TestNamespace {
    pub(crate) env: Arc<TestEnv>,
    pub(crate) namespace: String,
    client: Client,
}

impl TestNamespace {
    /// A new one.
    pub(crate) async fn new(env: Arc<TestEnv>, namespace: &str) -> Result<Self> {
        let place = Self {
            client: env.client().await?,
            namespace: namespace.to_owned(),
            env,
        };
        place.kubectl(&["create", "namespace", &place.namespace])?;
        // Without it no Pod is admitted.
        let what = "the namespace has its account";
        eventually(what, PATIENCE, async || {
            let accounts = place.api::<k8s_openapi::api::core::v1::ServiceAccount>();
            Ok(accounts.get_opt("default").await?)
        })
        .await?;
        Ok(place)
    }

    /// `kubectl` with these words.
    pub(crate) fn kubectl(&self, words: &[&str]) -> Result<String> {
        output(self.env.cluster.kubectl().args(words))
    }

    /// Objects of a kind.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The namespace of the controller.
    pub(crate) fn home(&self) -> Self {
        Self {
            env: Arc::clone(&self.env),
            namespace: HOME.to_owned(),
            client: self.client.clone(),
        }
    }

    /// The Pods of the controller.
    pub(crate) fn controllers(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), HOME)
    }

    /// Applies an object, as a user of `kubectl` would.
    pub(crate) async fn apply<K>(&self, name: &str, mut object: Value) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        object["apiVersion"] = json!(K::api_version(&()));
        object["kind"] = json!(K::kind(&()));
        object["metadata"]["name"] = json!(name);
        let params = PatchParams::apply("somebody").force();
        let applied = self
            .api::<K>()
            .patch(name, &params, &Patch::Apply(object))
            .await;
        applied.with_context(|| format!("cannot apply {} {name}", K::kind(&())))
    }

    /// Deletes an object.
    pub(crate) async fn delete<K>(&self, name: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        let params = DeleteParams::background();
        self.api::<K>().delete(name, &params).await?;
        Ok(())
    }

    /// Waits until an object is as it should be.
    pub(crate) async fn until<K>(
        &self,
        name: &str,
        what: &str,
        is: impl Fn(&K) -> bool,
    ) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Serialize + DeserializeOwned + Clone + Debug,
    {
        let api = self.api::<K>();
        let found = eventually(what, PATIENCE, async || {
            Ok(api.get_opt(name).await?.filter(|object| is(object)))
        });
        match found.await {
            Ok(found) => Ok(found),
            Err(error) => {
                let now = api.get_opt(name).await?;
                let now = now.map(|object| serde_json::to_string_pretty(&object));
                bail!(
                    "{error:#}; {name} is now {now:?}; {}",
                    self.env.recent_logs()
                )
            }
        }
    }

    /// Waits until the object does not exist any more.
    pub(crate) async fn gone<K>(&self, name: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        let what = format!("{} {name} is gone", K::kind(&()));
        eventually(&what, PATIENCE, async || {
            Ok(self.api::<K>().get_opt(name).await?.is_none().then_some(()))
        })
        .await
        .with_context(|| self.env.recent_logs())
    }

    /// Creates a Site with a running router, and the client Pod.
    pub(crate) async fn site(&self) -> Result<()> {
        self.pod(CLIENT, &["pause"], json!({})).await?;
        self.apply::<Site>("west", json!({ "spec": {} })).await?;
        let ready = |site: &Site| has_report(site, "Ready", "OK");
        self.until("west", "the Site is Ready", ready).await?;
        self.runs(CLIENT).await.map(drop)
    }

    /// A Pod of the workload.
    pub(crate) async fn pod(&self, name: &str, words: &[&str], labels: Value) -> Result<()> {
        let object = json!({
            "metadata": { "labels": labels },
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [{ "name": "main", "image": WORKLOAD, "imagePullPolicy": "Never", "args": words }],
            },
        });
        self.apply::<Pod>(name, object).await.map(drop)
    }

    /// Creates a Pod that echoes; it answers with its name.
    pub(crate) async fn echo(&self, name: &str) -> Result<()> {
        let words = ["echo", &PORT.to_string()];
        self.pod(name, &words, json!({ "app": "echo" })).await
    }

    /// A Listener of the key `backend` on port 8080 of a host of its name.
    pub(crate) async fn listen(&self, name: &str, spec: Value) -> Result<()> {
        let whole = json!({ "routingKey": "backend", "host": name, "port": 8080 });
        let object = json!({ "spec": merged(whole, spec) });
        self.apply::<Listener>(name, object).await.map(drop)
    }

    /// A Connector of the key `backend` to the Pods that echo.
    pub(crate) async fn connect(&self, spec: Value) -> Result<()> {
        let whole = json!({ "routingKey": "backend", "port": PORT, "selector": "app=echo" });
        let object = json!({ "spec": merged(whole, spec) });
        self.apply::<Connector>("echo", object).await.map(drop)
    }

    /// Waits until a Pod runs and is ready.
    pub(crate) async fn runs(&self, name: &str) -> Result<Pod> {
        let what = format!("Pod {name} runs");
        self.until(name, &what, is_ready).await
    }

    /// The Pod of the router that is ready and none of these.
    pub(crate) async fn router_but(&self, others: &[String]) -> Result<Pod> {
        let pods = self.api::<Pod>();
        let ours = ListParams::default().labels("skupper.io/component=router");
        eventually("a Pod of the router is ready", PATIENCE, async || {
            let mut all = pods.list(&ours).await?.into_iter();
            Ok(all.find(|pod| is_ready(pod) && !others.contains(&pod.name_any())))
        })
        .await
        .with_context(|| self.env.recent_logs())
    }

    /// Waits until the Listener is Ready.
    pub(crate) async fn ready(&self, name: &str) -> Result<Listener> {
        let what = format!("Listener {name} is Ready");
        self.until(name, &what, |l: &Listener| has_report(l, "Ready", "OK"))
            .await
    }

    /// Returns the address and port of a Service.
    pub(crate) async fn service_address(&self, service: &str, port: u16) -> Result<String> {
        let what = format!("Service {service} has an address");
        let address = |s: &Service| s.spec.as_ref().and_then(|spec| spec.cluster_ip.clone());
        let found = self
            .until(service, &what, |s: &Service| address(s).is_some())
            .await?;
        Ok(format!(
            "{}:{port}",
            address(&found).context("it has an address")?
        ))
    }

    /// Returns the name of the Pod that answers at an address, after comparing every byte. Returns
    /// `None` if the exchange fails.
    pub(crate) fn exchanged(&self, way: &str) -> Result<Option<String>> {
        let exchange = self.exchange(way, &[]).stdin(Stdio::null()).output()?;
        let error = String::from_utf8_lossy(&exchange.stderr);
        ensure!(!error.contains("bytes"), "{way}: {error}");
        let name = String::from_utf8_lossy(&exchange.stdout);
        Ok(exchange.status.success().then(|| name.trim().to_owned()))
    }

    /// Waits until this Pod answers at an address; others may before.
    pub(crate) async fn wait_for_answer(&self, way: &str, name: &str) -> Result<()> {
        let what = format!("{name} answers at {way}");
        eventually(&what, PATIENCE, async || {
            Ok(self.exchanged(way)?.filter(|said| said == name))
        })
        .await
        .map(drop)
        .with_context(|| self.env.recent_logs())
    }

    /// Waits until no server answers at an address any more.
    pub(crate) async fn refused(&self, way: &str) -> Result<()> {
        let what = format!("nothing answers at {way}");
        eventually(&what, PATIENCE, async || {
            Ok(self.exchanged(way)?.is_none().then_some(()))
        })
        .await
    }

    /// Opens a connection that exchanges bytes until it is closed.
    pub(crate) fn stream(&self, way: &str) -> Result<Stream> {
        let mut exchange = self.exchange(way, &["--stdin"]);
        exchange
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(Stream(exchange.spawn()?))
    }

    /// Exchanges bytes until its standard input ends. Without `--stdin` it has none: of one that ends at once, the end may get lost on the way to the Pod.
    fn exchange(&self, way: &str, more: &[&str]) -> Command {
        let mut command = self.env.cluster.kubectl();
        command.arg("exec").args(more);
        command.args(["--namespace", &self.namespace, CLIENT]);
        command.args(["--", "/workload", "exchange", way]);
        command
    }
}

/// A connection that goes on.
pub(crate) struct Stream(Child);

impl Stream {
    /// Fails if it ended by itself.
    pub(crate) fn is_open(&mut self) -> Result<()> {
        let ended = self.0.try_wait()?;
        ensure!(ended.is_none(), "the connection ended: {ended:?}");
        Ok(())
    }

    /// Ends it; who answered, if every byte came back.
    pub(crate) fn end(mut self) -> Result<String> {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the connection failed: {error}");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| &status.conditions);
    let mut ready = conditions.flatten().filter(|found| found.type_ == "Ready");
    pod.metadata.deletion_timestamp.is_none() && ready.any(|found| found.status == "True")
}

fn merged(mut whole: Value, spec: Value) -> Value {
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    whole
}
