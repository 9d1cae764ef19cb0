//! The two servers that scripts run against, with the same kinds and the same small controllers around them, and a place on each
//! for every script: a namespace and a folder of its own. Both run until the last script is done.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::http;
use lifecycle_simulator::world::World;
use lifecycle_simulator::{Server, User};
use lifecycle_specs_listener::crds;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::binaries;
use lifecycle_tests::harness::Deadline;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

const SOON: Duration = Duration::from_secs(120);
const AGAIN: Duration = Duration::from_millis(50);
const GADGETS: &str = include_str!("manifests/definition.json");

/// Both servers, started by the first script that runs.
pub(crate) struct Servers {
    /// Scripts come and go with runtimes of their own.
    runtime: Runtime,
    running: OnceCell<Running>,
}

impl Default for Servers {
    fn default() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build();
        Self {
            runtime: runtime.expect("a runtime starts"),
            running: OnceCell::new(),
        }
    }
}

impl Servers {
    /// Returns the places of a script: one on the simulated server and one on the real server.
    pub(crate) async fn places(&self, script: &str) -> Result<[ScriptRun; 2]> {
        let start = || async { self.runtime.spawn(Running::start()).await? };
        let running = self.running.get_or_try_init(start).await?;
        let mut places = Vec::new();
        for (server, client, kubeconfig) in &running.servers {
            let (client, name) = (client.clone(), script.to_owned());
            self.runtime.spawn(make_namespace(client, name)).await??;
            places.push(running.prepare_run(server, script, kubeconfig)?);
        }
        let both = <[ScriptRun; 2]>::try_from(places);
        Ok(both.unwrap_or_else(|_| unreachable!("there are two servers")))
    }
}

/// The servers while they run.
struct Running {
    /// A name, a client for the administrator, and the kubeconfig of the same.
    servers: [(&'static str, Client, Value); 2],
    binaries: PathBuf,
    folder: TempDir,
    _real: ApiServer,
    _stopped_at_the_end: Trigger,
}

impl Running {
    async fn start() -> Result<Self> {
        let (trigger, mut shutdown) = Shutdown::pair();
        let real = ApiServer::start().await?;
        let kubeconfig = fs::read_to_string(real.admin_kubeconfig())
            .context("the kubeconfig of the real server cannot be read")?;
        let server = Server::new(7);
        server.set_clock(jiff::Timestamp::now());
        server.enforce_rbac(true);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let simulated = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": format!("http://{}", listener.local_addr()?)}}],
            "users": [{"name": "admin", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        });
        let stop = async move { shutdown.wait().await };
        tokio::spawn(http::serve(
            listener,
            server.clone(),
            http::AccessOptions::default(),
            stop,
        ));
        let servers = [
            ("simulated", server.client(&User::admin()), simulated),
            ("real", real.client(), serde_json::from_str(&kubeconfig)?),
        ];
        for (_, client, _) in &servers {
            install(client).await?;
            let world = World::empty().garbage(true).namespaces(true);
            let world = world.origin(jiff::Timestamp::now());
            tokio::spawn(world.run(client.clone()));
        }
        Ok(Self {
            servers,
            binaries: binaries::locate()?.folder().to_owned(),
            folder: tempfile::tempdir()?,
            _real: real,
            _stopped_at_the_end: trigger,
        })
    }

    fn prepare_run(&self, server: &str, script: &str, kubeconfig: &Value) -> Result<ScriptRun> {
        let folder = self.folder.path().join(server).join(script);
        fs::create_dir_all(&folder)?;
        let mut kubeconfig = kubeconfig.clone();
        kubeconfig["contexts"][0]["context"]["namespace"] = script.into();
        fs::write(folder.join("kubeconfig"), kubeconfig.to_string())?;
        Ok(ScriptRun {
            script: script.to_owned(),
            folder,
            binaries: self.binaries.clone(),
        })
    }
}

/// Installs the kinds that scripts use, and waits until they are served.
async fn install(client: &Client) -> Result<()> {
    let all: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut definitions = crds();
    definitions.push(serde_json::from_str(GADGETS)?);
    for definition in definitions {
        let made = all.create(&PostParams::default(), &definition).await?;
        let name = made.metadata.name.unwrap_or_default();
        let mut deadline = Deadline::new(SOON);
        while !is_served(&all, &name).await? {
            ensure!(!deadline.is_over(), "{name} is not served");
            tokio::time::sleep(AGAIN).await;
        }
    }
    Ok(())
}

async fn is_served(all: &Api<CustomResourceDefinition>, name: &str) -> Result<bool> {
    let status = all.get_status(name).await?.status;
    let conditions = status.and_then(|status| status.conditions);
    let mut conditions = conditions.into_iter().flatten();
    Ok(conditions.any(|one| one.type_ == "Established" && one.status == "True"))
}

async fn make_namespace(client: Client, name: String) -> Result<()> {
    let metadata = ObjectMeta {
        name: Some(name),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    let all: Api<Namespace> = Api::all(client);
    all.create(&PostParams::default(), &namespace).await?;
    Ok(())
}

/// Place of one script on one server.
pub(crate) struct ScriptRun {
    script: String,
    folder: PathBuf,
    binaries: PathBuf,
}

impl ScriptRun {
    /// Makes a command run here: `kubectl` is ours and uses this server, and `$CASE` is the name of
    /// the script.
    pub(crate) fn enter(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", self.binaries.display()))
            .env("KUBECONFIG", self.folder.join("kubeconfig"))
            .env("KUBECACHEDIR", self.folder.join("cache"))
            .env("KUBECTL_KUBERC", "false")
            // A command ends before its garbage is worth collecting.
            .env("GOGC", "800")
            .env("HOME", &self.folder)
            .env("FOLDER", &self.folder)
            .env("CASE", &self.script);
    }
}
