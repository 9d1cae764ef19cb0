//! Place in which a third-party operator runs: the simulated cluster as any client finds it, or a
//! real API server with the same controllers around it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http::{Method, Request};
use kube::Client;
use kube::config::Kubeconfig;
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{Cluster, Options};
use lifecycle_simulator::world::World;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::binaries;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::process::Process;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::end;

/// A machine that compiles beside it is slow.
const SOON: Duration = Duration::from_secs(100);

/// A cluster, and a folder for logs.
pub(crate) struct TestCluster {
    pub(crate) client: Client,
    kubeconfig: PathBuf,
    folder: TempDir,
    _server: Server,
}

/// Server that ends when it is dropped.
enum Server {
    Simulated {
        _cluster: Cluster,
    },
    Real {
        world: JoinHandle<()>,
        _server: Box<ApiServer>,
    },
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Self::Real { world, .. } = self {
            world.abort();
        }
    }
}

/// A scenario as two tests: it comes to its end on the simulated cluster, and to the same on a real API server.
pub(crate) fn both<R>(
    name: &str,
    [simulated, real]: [&'static [Need]; 2],
    run: fn(TestCluster) -> R,
) -> [Case; 2]
where
    R: Future<Output = Result<Value>> + 'static,
{
    let alone = move || async move { run(TestCluster::simulated().await?).await.map(drop) };
    let beside = move || async move {
        let real = async {
            run(TestCluster::real().await?)
                .await
                .context("on the real server")
        };
        let simulated = async {
            let ended = run(TestCluster::simulated().await?).await;
            ended.context("on the simulated server")
        };
        let (simulated, real) = tokio::try_join!(simulated, real)?;
        let differences = end::differences(&simulated, &real);
        ensure!(
            differences.is_empty(),
            "simulated (-) and real (+) end in another way:\n{differences}"
        );
        Ok(())
    };
    [
        case(&format!("{name}::simulated"), simulated, alone),
        case(&format!("{name}::real"), real, beside),
    ]
}

impl TestCluster {
    pub(crate) async fn simulated() -> Result<Self> {
        let cluster = Cluster::open(Options::default()).await?;
        Ok(Self {
            client: cluster.client(),
            kubeconfig: cluster.kubeconfig().to_owned(),
            folder: tempfile::tempdir()?,
            _server: Server::Simulated { _cluster: cluster },
        })
    }

    async fn real() -> Result<Self> {
        let server = Box::new(ApiServer::start().await?);
        let world = World::full().origin(jiff::Timestamp::now());
        Ok(Self {
            client: server.client(),
            kubeconfig: server.admin_kubeconfig().to_owned(),
            folder: tempfile::tempdir()?,
            _server: Server::Real {
                world: tokio::spawn(world.run(server.client())),
                _server: server,
            },
        })
    }

    /// Starts a program of others by its name, with the rights of a ServiceAccount.
    pub(crate) fn start(
        &self,
        program: &'static str,
        account: &str,
        arguments: &[&str],
    ) -> Result<Process> {
        let kubeconfig = self.kubeconfig_of(account)?;
        let mut command = Command::new(binaries::other(program)?);
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .current_dir(self.folder.path());
        Process::start(program, command, self.folder.path())
    }

    /// Starts a program of others with all rights.
    pub(crate) fn run(&self, program: &'static str, arguments: &[&str]) -> Result<Process> {
        let mut command = Command::new(binaries::other(program)?);
        command
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path());
        Process::start(program, command, self.folder.path())
    }

    /// Returns the folder of logs and reports.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a kubeconfig that authenticates as a ServiceAccount, whose rights are then enforced.
    fn kubeconfig_of(&self, account: &str) -> Result<PathBuf> {
        let mut config = Kubeconfig::read_from(&self.kubeconfig)?;
        for user in &mut config.auth_infos {
            let user = user.auth_info.as_mut().context("it has credentials")?;
            user.impersonate = Some(format!("system:serviceaccount:{account}"));
        }
        let path = self.folder.path().join("kubeconfig");
        fs::write(&path, serde_json::to_vec(&config)?)?;
        Ok(path)
    }

    /// Applies files that came with a program.
    pub(crate) async fn install(&self, program: &str, files: &[&str]) -> Result<()> {
        let beside = binaries::other(program)?;
        for file in files {
            let path = beside.with_file_name(file);
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            self.apply_from(&path, &text).await?;
        }
        Ok(())
    }

    /// Applies objects.
    pub(crate) async fn apply(&self, text: &str) -> Result<()> {
        self.apply_from(Path::new("objects"), text).await
    }

    async fn apply_from(&self, path: &Path, text: &str) -> Result<()> {
        for manifest in Manifest::parse(path, text)? {
            let applied = manifests::apply_one(&self.client, &manifest).await?;
            if manifest.kind().kind == "CustomResourceDefinition" {
                let name = applied.metadata.name.unwrap_or_default();
                let path =
                    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
                self.until(&path, "the definition is served", |one| {
                    has_condition(one, "Established")
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Returns the object at a path, if there is one.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Value>> {
        match self.client.request(request(Method::GET, path, None)?).await {
            Ok(found) => Ok(Some(found)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(error).with_context(|| format!("GET {path}")),
        }
    }

    /// The items of a list.
    pub(crate) async fn list(&self, path: &str) -> Result<Vec<Value>> {
        let mut list = self.get(path).await?.context("it is a list")?;
        Ok(serde_json::from_value(list["items"].take())?)
    }

    /// Sends a merge patch.
    pub(crate) async fn merge(&self, path: &str, patch: &Value) -> Result<Value> {
        let request = request(Method::PATCH, path, Some(patch))?;
        let patched = self.client.request(request).await;
        patched.with_context(|| format!("PATCH {path}"))
    }

    /// Deletes the object at a path, in the background.
    pub(crate) async fn delete(&self, path: &str) -> Result<()> {
        let deleted = self
            .client
            .request::<Value>(request(Method::DELETE, path, None)?);
        deleted.await.with_context(|| format!("DELETE {path}"))?;
        Ok(())
    }

    /// Waits for an object that is as wanted.
    pub(crate) async fn until(
        &self,
        path: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let ask = async || Ok(self.get(path).await?.filter(|one| wanted(one)));
        let waited = eventually(what, SOON, ask).await;
        match waited {
            Ok(found) => Ok(found),
            Err(error) => Err(error.context(format!("last seen: {:?}", self.get(path).await?))),
        }
    }

    /// Waits until nothing is at a path.
    pub(crate) async fn until_gone(&self, path: &str) -> Result<()> {
        let ask = async || Ok(self.get(path).await?.is_none().then_some(()));
        eventually(&format!("{path} is gone"), SOON, ask).await
    }
}

/// Returns true if a condition is true.
pub(crate) fn has_condition(object: &Value, name: &str) -> bool {
    let conditions = object.pointer("/status/conditions");
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    conditions.any(|one| one["type"] == name && one["status"] == "True")
}

/// Returns an outcome. Adds the end of the program's output to an error.
pub(crate) fn with_log<T>(outcome: Result<T>, program: &Process) -> Result<T> {
    outcome.map_err(|error| program.failure(&format!("did not do it ({error:#})")))
}

fn request(method: Method, path: &str, body: Option<&Value>) -> Result<Request<Vec<u8>>> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/merge-patch+json");
    let body = body.map(serde_json::to_vec).transpose()?;
    Ok(request.body(body.unwrap_or_default())?)
}
