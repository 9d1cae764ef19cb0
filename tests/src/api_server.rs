//! A real API server for one test: etcd and kube-apiserver on free loopback ports, without root, in a folder of its own.
//! Everything goes when it is dropped, also on a panic. Knows no operator and no lifecycle.

pub(crate) mod client;
pub(crate) mod guard;
pub(crate) mod identity;
pub(crate) mod options;
pub(crate) mod ports;
mod storage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::Client;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::audit;
use crate::binaries::{self, Binaries};
use crate::eventually::Deadline;
use crate::process::Process;
use client::{audited, client, is_ready};
use guard::Guard;
use identity::Identity;
pub use options::Options;
use ports::Ports;

const AUDIT_LOG: &str = "audit.log";

/// Two idle cores need 2 to 3 s; a machine that compiles beside it needs far more.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// How long kube-apiserver may take to end its requests in a restart.
const GRACE: Duration = Duration::from_secs(10);

/// How often another process that took a port between our look and our use is tolerated.
const ATTEMPTS: usize = 3;

/// A running etcd and kube-apiserver, and a kube-controller-manager if requested.
// Fields are dropped in this order: processes first, then the guard, then the folder.
pub struct ApiServer {
    controller_manager: Option<Process>,
    api_server: Option<Process>,
    etcd: Process,
    client: Client,
    admin_kubeconfig: PathBuf,
    identity: Identity,
    ports: Ports,
    options: Options,
    binaries: Binaries,
    _guard: Guard,
    folder: TempDir,
}

impl ApiServer {
    /// Starts an API server without controllers: no garbage collection, no namespace deletion, nothing becomes Ready.
    ///
    /// # Guarantees
    /// `/readyz` reports ok and the namespace `default` exists.
    ///
    /// # Errors
    /// The programs are missing, or one of them ended early (with the end of its log).
    pub async fn start() -> Result<Self> {
        Self::start_with(Options::default()).await
    }

    /// Starts an API server with options.
    ///
    /// # Errors
    /// As `start`.
    pub async fn start_with(options: Options) -> Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::attempt(options.clone()).await {
                Err(error) if attempt < ATTEMPTS && is_port_taken(&error) => attempt += 1,
                result => return result,
            }
        }
    }

    async fn attempt(options: Options) -> Result<Self> {
        let binaries = binaries::locate()?;
        let folder = tempfile::Builder::new()
            .prefix("lifecycle-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        let guard = Guard::watch(folder.path())?;
        fs::write(
            folder.path().join("audit-policy.yaml"),
            options::AUDIT_POLICY,
        )
        .context("cannot write the audit policy")?;
        let identity = Identity::create(folder.path().join("identity"))?;
        let ports = Ports::free()?;
        let admin_kubeconfig = identity.kubeconfig(&ports.url(), "admin", &["system:masters"])?;
        let mut command = Command::new(binaries.etcd());
        command.args(options::etcd_arguments(&options, ports, folder.path()));
        let etcd = Process::start("etcd", command, folder.path())?;
        let mut server = Self {
            controller_manager: None,
            api_server: None,
            etcd,
            client: client(&admin_kubeconfig).await?,
            admin_kubeconfig,
            identity,
            ports,
            options,
            binaries,
            _guard: guard,
            folder,
        };
        server.start_api_server().await?;
        server.start_controller_manager()?;
        Ok(server)
    }

    /// Starts kube-apiserver again on the same port and data, after `stop_api_server` or `kill_api_server`.
    ///
    /// # Errors
    /// It runs already, or it ended early.
    pub async fn start_api_server(&mut self) -> Result<()> {
        if self.api_server.is_some() {
            bail!("kube-apiserver runs already");
        }
        let mut command = Command::new(self.binaries.kube_apiserver());
        command.args(options::api_server_arguments(
            &self.options,
            self.ports,
            self.folder.path(),
            &self.identity,
        ));
        let process = Process::start("kube-apiserver", command, self.folder.path())?;
        self.api_server = Some(process);
        self.wait_until_ready().await
    }

    fn start_controller_manager(&mut self) -> Result<()> {
        if self.options.controllers.is_empty() {
            return Ok(());
        }
        // By its own name it may only make tokens for the service accounts of its controllers, a detour that tests can spare.
        let user = "system:kube-controller-manager";
        let kubeconfig = self.kubeconfig(user, &["system:masters"])?;
        let mut command = Command::new(self.binaries.kube_controller_manager()?);
        command.args(options::controller_manager_arguments(
            &self.options,
            self.folder.path(),
            &self.identity,
            &kubeconfig,
        ));
        let process = Process::start("kube-controller-manager", command, self.folder.path())?;
        self.controller_manager = Some(process);
        Ok(())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let mut deadline = Deadline::new(READY_WITHIN);
        while !is_ready(&self.client).await {
            self.etcd.check_alive()?;
            let api_server = self.running_mut()?;
            api_server.check_alive()?;
            if deadline.is_over() {
                let what = format!("is not ready after {} s", READY_WITHIN.as_secs());
                return Err(api_server.failure(&what));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Ends kube-apiserver in an orderly way; etcd keeps the data.
    ///
    /// # Errors
    /// It does not run.
    pub async fn stop_api_server(&mut self) -> Result<()> {
        let process = self
            .api_server
            .take()
            .context("kube-apiserver does not run")?;
        let ended = tokio::task::spawn_blocking(move || process.terminate(GRACE));
        ended.await.context("cannot wait for kube-apiserver")??;
        Ok(())
    }

    /// Ends kube-apiserver as a crash would; etcd keeps the data.
    ///
    /// # Errors
    /// It does not run.
    pub fn kill_api_server(&mut self) -> Result<()> {
        let mut process = self
            .api_server
            .take()
            .context("kube-apiserver does not run")?;
        process.kill().map(drop)
    }

    /// Stops and starts kube-apiserver alone.
    ///
    /// # Errors
    /// It does not run, or ended early.
    pub async fn restart_api_server(&mut self) -> Result<()> {
        self.stop_api_server().await?;
        self.start_api_server().await
    }

    /// Gives kube-apiserver another certificate of the same authority and under the same names, for its next start.
    ///
    /// # Errors
    /// It cannot be signed or written.
    pub fn renew_certificate(&self) -> Result<()> {
        self.identity.api_server()
    }

    /// Makes kube-apiserver stop answering, with its connections open, until `thaw`.
    ///
    /// # Errors
    /// It does not run.
    pub fn freeze(&self) -> Result<()> {
        self.running()?.signal(Signal::STOP)
    }

    /// Lets a frozen kube-apiserver go on.
    ///
    /// # Errors
    /// It does not run.
    pub fn thaw(&self) -> Result<()> {
        self.running()?.signal(Signal::CONT)
    }

    fn running(&self) -> Result<&Process> {
        self.api_server
            .as_ref()
            .context("kube-apiserver does not run")
    }

    fn running_mut(&mut self) -> Result<&mut Process> {
        self.api_server
            .as_mut()
            .context("kube-apiserver does not run")
    }

    /// The URL, such as `https://127.0.0.1:23456`.
    pub fn url(&self) -> String {
        self.ports.url()
    }

    /// A client that may do everything, its retries off.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client for any user, its retries off; give it rights by RBAC objects.
    ///
    /// # Errors
    /// As `kubeconfig`.
    pub async fn client_for(&self, user: &str, groups: &[&str]) -> Result<Client> {
        client(&self.kubeconfig(user, groups)?).await
    }

    /// A certificate for a server on this machine, its key and the authority that the API server is to trust, as PEM.
    ///
    /// # Errors
    /// It cannot be signed or written.
    pub fn certificate(&self, name: &str) -> Result<[Vec<u8>; 3]> {
        self.identity
            .server(name, name, &["localhost", "127.0.0.1"])?;
        let read = |file: String| {
            let path = self.identity.file(&file);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        Ok([
            read(format!("{name}.crt"))?,
            read(format!("{name}.key"))?,
            read("ca.crt".to_owned())?,
        ])
    }

    /// The kubeconfig file of the user `admin`.
    pub fn admin_kubeconfig(&self) -> &Path {
        &self.admin_kubeconfig
    }

    /// A kubeconfig file for any user with up to two groups, by a client certificate.
    ///
    /// # Errors
    /// There are more than two groups.
    pub fn kubeconfig(&self, user: &str, groups: &[&str]) -> Result<PathBuf> {
        self.identity.kubeconfig(&self.url(), user, groups)
    }

    /// Returns a `kubectl` command that runs as the user `admin`. Callers can add arguments.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(self.binaries.kubectl());
        command.env("KUBECONFIG", &self.admin_kubeconfig);
        // Its discovery cache would otherwise be left in the home directory.
        command.env("KUBECACHEDIR", self.folder.path().join("kubectl"));
        command
    }

    /// Returns all requests that this API server has received so far. They include every request
    /// that was answered before this call.
    ///
    /// # Errors
    /// The API server does not answer, or its log cannot be read.
    pub async fn audit(&self) -> Result<audit::Log> {
        self.audit_by(&self.client).await
    }

    /// Reads the log as `audit` does, with a client of the caller's runtime. A client works only on
    /// the runtime that created it.
    ///
    /// # Errors
    /// As `audit`.
    pub async fn audit_by(&self, client: &Client) -> Result<audit::Log> {
        audited(client, &self.folder.path().join(AUDIT_LOG)).await
    }

    /// The folder of data, logs and identities, which goes when this is dropped.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The pids of all running programs.
    pub fn pids(&self) -> Vec<u32> {
        let optional = [&self.controller_manager, &self.api_server];
        let running = optional.into_iter().flatten();
        running.chain([&self.etcd]).map(Process::pid).collect()
    }
}

fn is_port_taken(error: &anyhow::Error) -> bool {
    format!("{error:#}").contains("address already in use")
}
