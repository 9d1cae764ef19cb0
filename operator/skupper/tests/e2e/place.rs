//! Namespaces with Skupper sites on a real API server: one controller for all of them, and a router
//! process for each requested Pod. Black-box: it reads objects as a user of `kubectl` would, and
//! runs a router as its Pod specifies.

mod reported;
mod waits;

use std::fmt::Debug;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Container, Namespace, Pod, Service, ServiceAccount};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::site::Site;
use rustix::process::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::audit;
use lifecycle_tests::harness::{Deadline, eventually};
use lifecycle_tests::process::Process;

use crate::{PROGRAM, ROUTER};
pub(crate) use reported::{has_report, report};

/// The user as which the controller works.
pub(crate) const CONTROLLER: &str = "system:serviceaccount:skupper:skupper-controller";
/// The namespace of the controller.
pub(crate) const HOME: &str = "skupper";
/// Time limit for everything that is documented to converge soon, even on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);
/// Routers serve their state on the same port everywhere, so each has an address of its own.
static ADDRESSES: AtomicU16 = AtomicU16::new(1);

/// An API server with controllers, and the controller of Skupper sites.
pub(crate) struct TestEnv {
    server: ApiServer,
    controller: std::sync::Mutex<Option<Process>>,
}

static SHARED: Mutex<Option<Arc<TestEnv>>> = Mutex::const_new(None);

impl TestEnv {
    /// The one that all tests of a process share; each has a namespace of its own.
    ///
    /// # Errors
    /// Something does not start.
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

    /// One of its own.
    ///
    /// # Errors
    /// Something does not start.
    pub(crate) async fn start() -> Result<Self> {
        let options = Options::default()
            .with_controllers()
            .controller("deployment-controller")
            .controller("replicaset-controller")
            .controller("serviceaccount-controller");
        Self::start_with(options).await
    }

    /// As `start`, with a choice of how the API server runs.
    ///
    /// # Errors
    /// Something does not start.
    pub(crate) async fn start_with(options: Options) -> Result<Self> {
        // Its rights are those of the manifest.
        let env = Self::bare(options, &[manifest()?]).await?;
        env.run_controller()?;
        // The last one that is installed.
        let last: Api<RouterAccess> = Api::all(env.client().await?);
        let served = eventually("the kinds are served", SOON, async || {
            Ok(last.list(&ListParams::default()).await.ok())
        });
        served.await.with_context(|| env.log())?;
        Ok(env)
    }

    /// Starts an environment with these objects, whose controller does not run yet.
    ///
    /// # Errors
    /// Something does not start.
    pub(crate) async fn bare(options: Options, objects: &[String]) -> Result<Self> {
        let env = Self {
            server: ApiServer::start_with(options).await?,
            controller: std::sync::Mutex::new(None),
        };
        for objects in objects {
            env.apply(objects)?;
        }
        Ok(env)
    }

    fn apply(&self, manifest: &str) -> Result<()> {
        let file = self.server.folder().join("manifest.yaml");
        fs::write(&file, manifest)?;
        let mut apply = self.server.kubectl();
        let arguments = ["apply", "--server-side", "--filename"];
        let applied = apply.args(arguments).arg(&file).output()?;
        let said = String::from_utf8_lossy(&applied.stderr).into_owned();
        ensure!(
            applied.status.success(),
            "the manifest is not accepted: {said}"
        );
        Ok(())
    }

    /// Returns a client of a user with all rights.
    ///
    /// # Errors
    /// It cannot be built.
    pub(crate) async fn client(&self) -> Result<Client> {
        self.server
            .client_for("somebody", &["system:masters"])
            .await
    }

    /// Starts the controller.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn run_controller(&self) -> Result<()> {
        self.run_controller_with(&[], &[])
    }

    /// Starts the controller with further options and variables, and where there are any without the right to install its kinds.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn run_controller_with(
        &self,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<()> {
        let maintains = more.is_empty() && variables.is_empty();
        let kubeconfig = self
            .server
            .kubeconfig(CONTROLLER, &["system:serviceaccounts"])?;
        let mut command = Command::new(PROGRAM);
        command
            .args(["run", "--operator-namespace", HOME])
            .args((!maintains).then_some("--disable-crd-maintenance"))
            .args(["skupper", "--router-image", "router:test"])
            .args(["--grant-server-address", "127.0.0.1:0"])
            .args(more)
            .envs(variables.iter().copied())
            .env("CONSOLE_LOG_LEVEL", "info,lifecycle_runtime=debug")
            .env("KUBECONFIG", kubeconfig);
        let process = Process::start("controller", command, self.server.folder())?;
        *self.lock_controller() = Some(process);
        Ok(())
    }

    /// Kills the controller.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn kill_controller(&self) -> Result<()> {
        let mut process = self
            .lock_controller()
            .take()
            .context("no controller runs")?;
        process.kill().map(drop)
    }

    fn lock_controller(&self) -> std::sync::MutexGuard<'_, Option<Process>> {
        let held = self.controller.lock();
        held.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the log of the controller.
    pub(crate) fn log(&self) -> String {
        self.lock_controller()
            .as_ref()
            .map(Process::log)
            .unwrap_or_default()
    }
}

/// The manifest of the controller.
///
/// # Errors
/// It cannot be read.
pub(crate) fn manifest() -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/skupper/controller.yaml");
    Ok(fs::read_to_string(path)?)
}

/// A namespace.
pub(crate) struct TestNamespace {
    /// Environment of the namespace.
    pub(crate) env: Arc<TestEnv>,
    /// Client of a user with all rights.
    pub(crate) client: Client,
    /// Its name.
    pub(crate) namespace: String,
    /// The address of its router.
    pub(crate) address: IpAddr,
    router: Option<Process>,
}

impl TestNamespace {
    /// A new namespace; the name of the test is part of its own.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) async fn new(env: Arc<TestEnv>, name: &str) -> Result<Self> {
        let client = env.client().await?;
        let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
        let namespace = format!("{}-{number}", name.replace('_', "-"));
        let object = json!({ "metadata": { "name": namespace } });
        make(Api::<Namespace>::all(client.clone()), object).await?;
        let [high, low] = number.to_be_bytes();
        // Tests run in several processes at once.
        let third = u8::try_from(std::process::id() % 120).unwrap_or_default() + 100;
        Ok(Self {
            address: Ipv4Addr::new(127, third, high, low).into(),
            env,
            client,
            namespace,
            router: None,
        })
    }

    /// The namespace of the controller.
    #[must_use]
    pub(crate) fn controller(&self) -> Self {
        Self {
            env: Arc::clone(&self.env),
            client: self.client.clone(),
            namespace: HOME.to_owned(),
            address: self.address,
            router: None,
        }
    }

    /// Objects of a kind.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates an object.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn make<K>(&self, name: &str, spec: Value) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Serialize + DeserializeOwned + Clone + Debug,
    {
        let mut object = json!({
            "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name },
        });
        for (key, value) in spec.as_object().into_iter().flatten() {
            object[key] = value.clone();
        }
        let made = make(self.api::<K>(), object).await;
        made.with_context(|| format!("cannot create {} {name}", K::kind(&())))
    }

    /// Creates an object that may lack anything, and returns the answer.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn post<K>(&self, object: &Value) -> kube::Result<Value>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let path = K::url_path(&(), Some(&self.namespace));
        let body = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        let request = http::Request::post(path)
            .header("Content-Type", "application/json")
            .body(body)
            .expect("it is a request");
        self.client.request(request).await
    }

    /// Merges a patch into an object.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn patch<K>(&self, name: &str, patch: Value) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        let (api, params) = (self.api::<K>(), PatchParams::default());
        let patched = api.patch(name, &params, &Patch::Merge(patch)).await;
        patched.with_context(|| format!("cannot patch {} {name}", K::kind(&())))
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn delete<K>(&self, name: &str) -> Result<()>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        let params = DeleteParams::background();
        self.api::<K>().delete(name, &params).await?;
        Ok(())
    }

    /// A Site with its router.
    ///
    /// # Errors
    /// It does not come to run.
    pub(crate) async fn site(&mut self) -> Result<()> {
        self.make::<Site>("west", json!({ "spec": {} })).await?;
        self.run_router().await
    }

    /// Runs a router as specified by the Pod of the Deployment, as the user of the Pod.
    ///
    /// # Errors
    /// Returns an error if the Pod does not exist, or if the process does not start.
    pub(crate) async fn run_router(&mut self) -> Result<()> {
        let pod = self.pod().await?;
        let container = pod.spec.as_ref().and_then(|spec| spec.containers.first());
        let container = container.context("the Pod has no container")?;
        self.run_router_as(&pod, container, &[]).await
    }

    /// Runs a container of a Pod as the router, with further arguments. Its Pod is then ready.
    ///
    /// # Errors
    /// One runs already, or the process does not start.
    pub(crate) async fn run_router_as(
        &mut self,
        pod: &Pod,
        container: &Container,
        more: &[&str],
    ) -> Result<()> {
        ensure!(self.router.is_none(), "a router runs already");
        let mut command = self.command(pod, container).await?;
        command.args(more);
        // Each has a log of its own.
        let folder = self.env.server.folder().join(&self.namespace);
        fs::create_dir_all(&folder)?;
        self.router = Some(Process::start("router", command, &folder)?);
        self.set_pod_ready(&pod.name_any(), true).await
    }

    /// The program of a container of the router's Pod, as the user that the Pod would be.
    ///
    /// # Errors
    /// The Pod has no ServiceAccount, or that does not exist.
    pub(crate) async fn command(&self, pod: &Pod, container: &Container) -> Result<Command> {
        let (cache, certificates) = (self.cache(), self.certificates());
        fs::create_dir_all(&cache)?;
        let words = container.command.iter().flatten().skip(1);
        let words = words.chain(container.args.iter().flatten());
        let arguments = words.map(|argument| {
            let argument = argument.replace("$(POD_IP)", &self.address.to_string());
            let argument = argument.replace(
                "--certificates=/etc/skupper-router-certs",
                &format!("--certificates={}", certificates.display()),
            );
            argument.replace("--cache=/cache", &format!("--cache={}", cache.display()))
        });
        let variables = container.env.iter().flatten();
        let variables = variables.filter_map(|v| Some((v.name.clone(), v.value.clone()?)));
        let account = pod
            .spec
            .as_ref()
            .and_then(|spec| spec.service_account_name.clone());
        let account = account.context("the Pod has no ServiceAccount")?;
        self.api::<ServiceAccount>().get(&account).await?;
        let user = format!("system:serviceaccount:{}:{account}", self.namespace);
        let kubeconfig = self
            .env
            .server
            .kubeconfig(&user, &["system:serviceaccounts"])?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg0(ROUTER);
        command
            .args(arguments)
            .envs(variables)
            .env("KUBECONFIG", kubeconfig)
            // A name that no file of this machine contains is unknown at once: no external
            // resolver is queried.
            .env("RES_OPTIONS", "attempts:0")
            .env("CONSOLE_LOG_LEVEL", "debug");
        Ok(command)
    }

    /// The folder of certificates that an adaptor shares with its router.
    pub(crate) fn certificates(&self) -> PathBuf {
        let folder = self.env.server.folder().join(&self.namespace);
        folder.join("certificates")
    }

    fn cache(&self) -> PathBuf {
        let folder = self.env.server.folder().join(&self.namespace);
        folder.join("cache")
    }

    /// The Pod that runs, or is to run, the router.
    ///
    /// # Errors
    /// Returns an error if the Pod does not exist.
    pub(crate) async fn pod(&self) -> Result<Pod> {
        self.pod_of("application=skupper-router").await
    }

    /// A Pod that these labels select, and that is not being deleted.
    ///
    /// # Errors
    /// Returns an error if the Pod does not exist.
    pub(crate) async fn pod_of(&self, labels: &str) -> Result<Pod> {
        let pods = self.api::<Pod>();
        let labelled = ListParams::default().labels(labels);
        let pod = eventually("a Pod of the router", SOON, async || {
            let all = pods.list(&labelled).await?.items.into_iter();
            let mut staying = all.filter(|pod| pod.metadata.deletion_timestamp.is_none());
            Ok(staying.next())
        });
        pod.await.with_context(|| self.recent_logs())
    }

    /// Sets the readiness of the router's Pod, as kubelet would.
    ///
    /// # Errors
    /// Returns an error if the Pod does not exist.
    pub(crate) async fn set_pod_ready(&self, pod: &str, ready: bool) -> Result<()> {
        let status = json!({ "status": {
            "phase": "Running", "podIP": self.address.to_string(),
            "podIPs": [{ "ip": self.address.to_string() }],
            "conditions": [{ "type": "Ready", "status": if ready { "True" } else { "False" } }],
        } });
        let pods = self.api::<Pod>();
        pods.patch_status(pod, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// Kills the router.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn kill_router(&mut self) -> Result<()> {
        let mut router = self.router.take().context("no router runs")?;
        router.kill().map(drop)
    }

    /// Sends a signal to the router.
    ///
    /// # Errors
    /// None runs.
    pub(crate) fn signal_router(&self, signal: Signal) -> Result<()> {
        let router = self.router.as_ref().context("no router runs")?;
        router.signal(signal)
    }

    /// A Pod of a workload that runs at an address and is ready.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn workload(&self, name: &str, app: &str, address: IpAddr) -> Result<Pod> {
        let spec = json!({
            "metadata": { "name": name, "labels": { "app": app } },
            "spec": { "containers": [{ "name": "c", "image": "workload" }], "automountServiceAccountToken": false },
        });
        let pods = self.api::<Pod>();
        // The default ServiceAccount comes a moment after the namespace.
        eventually("a Pod of a workload", SOON, async || {
            match make(pods.clone(), spec.clone()).await {
                Ok(pod) => Ok(Some(pod)),
                Err(error) if format!("{error:#}").contains("serviceaccount") => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await?;
        let status = json!({ "status": {
            "phase": "Running", "podIP": address.to_string(), "podIPs": [{ "ip": address.to_string() }],
            "conditions": [{ "type": "Ready", "status": "True" }],
        } });
        let patch = Patch::Merge(status);
        Ok(pods
            .patch_status(name, &PatchParams::default(), &patch)
            .await?)
    }

    /// The port at which the router listens for a port of a Service.
    ///
    /// # Errors
    /// Returns an error if the port does not exist.
    pub(crate) async fn router_port(&self, service: &str, port: i32) -> Result<u16> {
        let service = self.api::<Service>().get(service).await?;
        let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
        let found = ports.into_iter().find(|one| one.port == port);
        let target = found
            .and_then(|one| one.target_port)
            .context("no such port")?;
        match target {
            IntOrString::Int(port) => Ok(u16::try_from(port)?),
            other @ IntOrString::String(_) => bail!("{other:?} is no number"),
        }
    }

    /// Returns all writes of the controller in this namespace so far, except events.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub(crate) async fn writes(&self) -> Result<Vec<audit::Entry>> {
        let log = self.env.server.audit_by(&self.client).await?;
        let ours = log
            .iter()
            .filter(|e| e.user == CONTROLLER && e.namespace == self.namespace);
        Ok(ours
            .filter(|e| e.cost() == audit::Cost::Write)
            .cloned()
            .collect())
    }

    /// Waits until the controller has written nothing here for three seconds; all that it has written.
    ///
    /// # Errors
    /// Returns an error if the namespace does not settle.
    pub(crate) async fn wait_until_idle(&self) -> Result<Vec<audit::Entry>> {
        let mut before = self.writes().await?;
        let mut deadline = Deadline::new(SOON);
        loop {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let now = self.writes().await?;
            if now.len() == before.len() {
                return Ok(now);
            }
            ensure!(!deadline.is_over(), "{:?}", now.last());
            before = now;
        }
    }

    /// Returns the ConfigMap that the Site has written for its router.
    ///
    /// # Errors
    /// Returns an error if the ConfigMap does not exist.
    pub(crate) async fn table(&self) -> Result<ConfigMap> {
        let table = self.api::<ConfigMap>().get("skupper-router").await;
        table.context("no ConfigMap skupper-router")
    }

    /// The Deployment of the router.
    ///
    /// # Errors
    /// Returns an error if the Deployment does not exist.
    pub(crate) async fn deployment(&self) -> Result<Deployment> {
        let what = "the Deployment of the router is there";
        self.until("skupper-router", what, |_| true).await
    }
}

async fn make<K>(api: Api<K>, object: Value) -> Result<K>
where
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    let object: K = serde_json::from_value(object)?;
    Ok(api.create(&PostParams::default(), &object).await?)
}
