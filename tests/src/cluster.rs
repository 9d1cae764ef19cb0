//! A real Kubernetes cluster for one test, or for a person: control plane, one or two nodes that run Pods, networks, all in namespaces of its own.
//! Needs root. Everything goes when it is dropped, also when the process is killed. Knows no operator and no lifecycle.

mod archive;
mod bill;
mod control;
mod images;
mod inside;
mod network;
mod node;
mod requirements;
mod settings;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{Node as NodeObject, ServiceAccount};
use kube::{Api, Client};
use rustix::process::Signal;

pub use archive::Image;
use control::{Control, PORT, URL};
pub use images::{DOCUMENTS, Program, WORKLOAD, csi_provisioner_image, image, image_of};
use inside::{Inside, Spaces, enter};
pub use node::Node;
pub(crate) use requirements::absence;
use settings::NodePlace;

use crate::api_server::client::{audited, client, is_ready};
use crate::api_server::guard::Guard;
use crate::api_server::identity::Identity;
use crate::api_server::ports::free_port;
use crate::audit;
use crate::binaries::{self, Binaries};
use crate::eventually::{Deadline, eventually, run_within};
use crate::process::{output, tail};

/// The name of the audit log in the folder of the control plane.
const AUDIT_LOG: &str = "audit.log";

/// How the names of all folders and control groups of clusters begin.
const PREFIX: &str = "lifecycle-cluster";

/// Ends a cluster and removes every trace of it.
const REMOVE: &str = include_str!("cluster/remove.sh");

/// Two idle cores need 5 s; a machine that compiles beside it needs far more.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// Longer than any of our workloads takes until it is available, of core time.
const AVAILABLE_WITHIN: Duration = Duration::from_secs(180);
/// How much of the log of each program of a node is shown where it does not become available.
const LAST_LINES: usize = 40;

/// Script of the init process of the PID namespace. It reaps orphaned processes, and its death
/// kills all others.
const INIT: &str = "while :; do sleep 1000; done";

/// A running cluster.
// The guard is dropped first: it ends and removes everything. The fields dropped later have ended
// by then.
pub struct Cluster {
    guard: Guard,
    folder: PathBuf,
    client: Client,
    admin_kubeconfig: PathBuf,
    url: String,
    identity: Identity,
    binaries: Binaries,
    control: Control,
    nodes: Vec<Node>,
    _forwarders: [Inside; 2],
    init: Inside,
}

impl Cluster {
    /// Starts a cluster with one or two nodes.
    ///
    /// # Guarantees
    /// All nodes are Ready, have the image `WORKLOAD`, and admit Pods of the namespace `default`.
    ///
    /// # Errors
    /// Something that it needs is missing, or a program ended early (with the end of its log).
    pub async fn start(nodes: usize) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}-"))
            .tempdir()
            .context("cannot create a temporary folder")?;
        Self::start_in(folder.keep(), nodes).await
    }

    /// Starts a cluster that outlives this process, to be removed by `down`; returns how to reach it.
    ///
    /// # Errors
    /// Returns an error if the cluster exists already, or for the same reasons as `start`.
    pub async fn up(nodes: usize) -> Result<Reach> {
        let folder = folder_of_up();
        fs::create_dir(&folder)
            .with_context(|| format!("cannot create {}: is it up already?", folder.display()))?;
        let cluster = Self::start_in(folder, nodes).await?;
        let reach = Reach {
            kubeconfig: cluster.admin_kubeconfig.clone(),
            kubectl: cluster.binaries.kubectl(),
            folder: cluster.folder.clone(),
        };
        let Self {
            guard,
            control,
            nodes,
            _forwarders,
            init,
            ..
        } = cluster;
        guard.disarm()?;
        // Dropping these values would end the cluster, so they are forgotten.
        std::mem::forget((control, nodes, _forwarders, init));
        Ok(reach)
    }

    /// Removes the cluster that `up` started, or its remains. There may be none.
    ///
    /// # Errors
    /// Returns an error that names the remains, if there are any.
    pub fn down() -> Result<()> {
        remove(&folder_of_up())
    }

    async fn start_in(folder: PathBuf, count: usize) -> Result<Self> {
        let guard = Guard::start(&format!("read -r _\n{REMOVE}"), &folder)?;
        ensure!((1..=2).contains(&count), "a cluster has one or two nodes");
        if let Some(absent) = absence() {
            bail!(absent);
        }
        let binaries = binaries::locate()?;
        let identity = Identity::create(folder.join("identity"))?;
        let group = format!(
            "{PREFIX}-{:016x}",
            RandomState::new().build_hasher().finish()
        );
        fs::write(folder.join("group"), &group).context("cannot write a file")?;
        let init = start_init(&folder)?;
        let mut nodes = Vec::new();
        for number in 1..=count {
            let place = NodePlace::new(number, &folder, &group);
            nodes.push(Node::hold(place, init.pid(), binaries.clone())?);
        }
        let holders: Vec<u32> = nodes.iter().map(Node::holder).collect();
        network::connect(init.pid(), &holders)?;
        nodes.iter_mut().try_for_each(Node::start_containerd)?;
        let control_folder = folder.join("control");
        fs::create_dir_all(&control_folder).context("cannot create a folder")?;
        let control = Control::start(&control_folder, holders[0], &identity, binaries.clone())?;
        let (forwarders, url) = forward(init.pid(), holders[0], &folder)?;
        let admin_kubeconfig = identity.kubeconfig(&url, "admin", &["system:masters"])?;
        let mut cluster = Self {
            guard,
            client: client(&admin_kubeconfig).await?,
            folder,
            admin_kubeconfig,
            url,
            identity,
            binaries,
            control,
            nodes,
            _forwarders: forwarders,
            init,
        };
        cluster.import_common()?;
        cluster.wait_for_api_server().await?;
        cluster.control.start_others(&cluster.identity)?;
        for node in &mut cluster.nodes {
            node.configure(&cluster.identity, URL)?;
            node.start_kubelet()?;
            node.start_kube_proxy()?;
        }
        cluster.wait_until_ready().await?;
        Ok(cluster)
    }

    fn import_common(&mut self) -> Result<()> {
        let workload = images::compile_workload(&self.folder)?;
        for node in &mut self.nodes {
            node.wait_for_containerd()?;
        }
        for image in images::common(&workload)? {
            self.import(&image)?;
        }
        Ok(())
    }

    async fn wait_for_api_server(&mut self) -> Result<()> {
        let mut deadline = Deadline::new(READY_WITHIN);
        while !is_ready(&self.client).await {
            self.check_alive()?;
            ensure!(!deadline.is_over(), "the API server is not ready");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let mut deadline = Deadline::new(READY_WITHIN);
        let count = self.nodes.len();
        while !matches!(ready_nodes(&self.client).await, Ok(ready) if ready == count) {
            self.check_alive()?;
            if deadline.is_over() {
                bail!(
                    "the nodes are not Ready; kubelet says:\n{}",
                    self.nodes[count - 1].log("kubelet")
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// An error with the end of its log if a program has ended by itself.
    ///
    /// # Errors
    /// One has.
    pub fn check_alive(&mut self) -> Result<()> {
        self.init.check_alive()?;
        self.control.check_alive()?;
        self.nodes.iter_mut().try_for_each(Node::check_alive)
    }

    /// A client that may do everything, its retries off.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client for any user, its retries off; give it rights by RBAC objects.
    ///
    /// # Errors
    /// There are more than two groups.
    pub async fn client_for(&self, user: &str, groups: &[&str]) -> Result<Client> {
        client(&self.identity.kubeconfig(&self.url, user, groups)?).await
    }

    /// The kubeconfig file of the user `admin`.
    pub fn admin_kubeconfig(&self) -> &Path {
        &self.admin_kubeconfig
    }

    /// Returns a `kubectl` command that runs as the user `admin`. Callers can add arguments.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(self.binaries.kubectl());
        command.env("KUBECONFIG", &self.admin_kubeconfig);
        // Its discovery cache would otherwise be left in the home directory.
        command.env("KUBECACHEDIR", self.folder.join("kubectl"));
        command
    }

    /// Waits until all Pods of a workload are available, for example of `deployment/x`.
    ///
    /// # Errors
    /// Returns an error if they do not become available. It contains the state of the namespace's
    /// Pods and of the nodes from the API server, and the ends of the nodes' logs.
    pub async fn is_available(&self, namespace: &str, workload: &str) -> Result<()> {
        let what = format!("{workload} is available");
        let available = eventually(&what, AVAILABLE_WITHIN, async || {
            let mut wait = self.kubectl();
            wait.args(["rollout", "status", "--timeout=5s", "--namespace"]);
            Ok(output(wait.args([namespace, workload])).ok())
        });
        let Err(error) = available.await else {
            return Ok(());
        };
        let pods = "POD:.metadata.name,NODE:.spec.nodeName,PHASE:.status.phase,REASON:.status.reason,MESSAGE:.status.message";
        let nodes = "NODE:.metadata.name,TAINTS:.spec.taints[*].key";
        let seen = [("pods", pods), ("nodes", nodes)].map(|(kind, columns)| {
            let mut get = self.kubectl();
            get.args(["get", kind, "--namespace", namespace, "--output"]);
            let seen = output(get.arg(format!("custom-columns={columns}")));
            seen.unwrap_or_else(|error| format!("{error:#}"))
        });
        let logs = self.nodes.iter().flat_map(|node| {
            ["kubelet", "containerd"].map(|program| {
                let last = tail(&node.log(program), LAST_LINES);
                format!("{program} of {} says at the end:\n{last}", node.name())
            })
        });
        let logs: Vec<String> = logs.collect();
        bail!("{error:#}\n{}\n{}", seen.join("\n"), logs.join("\n"))
    }

    /// The nodes, `node1` first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node, counted from 0, to end and start its programs.
    pub fn node_mut(&mut self, index: usize) -> &mut Node {
        &mut self.nodes[index]
    }

    /// Returns a command that runs outside the cluster: on the network of the nodes, and with
    /// access to the Pods only through Services.
    pub fn outside(&self, program: impl AsRef<Path>) -> Command {
        enter(self.init.pid(), Spaces::Network, program)
    }

    /// Returns the path of the program of the image `WORKLOAD`, to run outside the cluster or on a
    /// node.
    pub fn workload(&self) -> PathBuf {
        self.folder.join("workload")
    }

    /// Brings an image onto every node.
    ///
    /// # Errors
    /// containerd does not take it.
    pub fn import(&self, image: &Image) -> Result<()> {
        let archive = self.folder.join("image.tar");
        image.write(&archive)?;
        self.nodes
            .iter()
            .try_for_each(|node| node.import(&archive))?;
        fs::remove_file(&archive).context("cannot remove an archive")
    }

    /// Returns all requests that the API server has received so far. They include every request
    /// that was answered before this call.
    ///
    /// # Errors
    /// The API server does not answer, or its log cannot be read.
    pub async fn audit(&self) -> Result<audit::Log> {
        // A client ends with the runtime that created it, which may be that of another test.
        let client = client(&self.admin_kubeconfig).await?;
        audited(&client, &self.folder.join("control").join(AUDIT_LOG)).await
    }

    /// Ends kube-apiserver as a crash would, until `start_api_server`. An orderly end waits for those who watch.
    ///
    /// # Errors
    /// It does not run.
    pub fn kill_api_server(&mut self) -> Result<()> {
        self.control.end_api_server(Signal::KILL)
    }

    /// Starts kube-apiserver again.
    ///
    /// # Errors
    /// It runs already, or it ended early.
    pub async fn start_api_server(&mut self) -> Result<()> {
        self.control.start_api_server(&self.identity)?;
        self.wait_for_api_server().await
    }

    /// Makes kube-apiserver stop answering, with its connections open, until `thaw_api_server`.
    ///
    /// # Errors
    /// It does not run.
    pub fn freeze_api_server(&self) -> Result<()> {
        self.control.signal_api_server(Signal::STOP)
    }

    /// Lets a frozen kube-apiserver go on.
    ///
    /// # Errors
    /// It does not run.
    pub fn thaw_api_server(&self) -> Result<()> {
        self.control.signal_api_server(Signal::CONT)
    }

    /// The folder of data, logs and identities, which goes with the cluster.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The pid of the process that everything else in the cluster dies with.
    pub fn init(&self) -> u32 {
        self.init.pid()
    }

    /// Ends the cluster and removes every trace of it, as a drop does. Returns an error if that
    /// fails.
    ///
    /// # Errors
    /// Something is left.
    pub fn stop(self) -> Result<()> {
        self.guard.finish()
    }
}

/// How to reach a cluster that `up` started.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Of a user who may do everything.
    pub kubeconfig: PathBuf,
    /// Fits the version of the cluster.
    pub kubectl: PathBuf,
    /// Logs and data.
    pub folder: PathBuf,
}

fn folder_of_up() -> PathBuf {
    std::env::temp_dir().join(PREFIX)
}

fn remove(folder: &Path) -> Result<()> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", REMOVE, "remove"]).arg(folder);
    inside::run("remove a cluster", command).map(drop)
}

/// Everything in the cluster lives in the PID namespace of this process.
fn start_init(folder: &Path) -> Result<Inside> {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--net", "--pid", "--kill-child", "--mount-proc"])
        .args(["--propagation", "private", "sh", "-c", INIT]);
    let init = Inside::start("init", command, folder)?;
    let space = fs::read_link(format!("/proc/{}/ns/pid", init.pid()))
        .context("cannot read the name of a namespace")?;
    let line = format!("{} {}\n", init.pid(), space.display());
    fs::write(folder.join("init"), line).context("cannot write which process is init")?;
    Ok(init)
}

/// Forwards a port of this machine's loopback to the API server. The two networks share a socket
/// file.
fn forward(init: u32, node: u32, folder: &Path) -> Result<([Inside; 2], String)> {
    let socket = folder.join("api.sock");
    let mut command = enter(node, Spaces::Network, "socat");
    command
        .arg(format!("UNIX-LISTEN:{},fork,backlog=128", socket.display()))
        .arg(format!("TCP4:127.0.0.1:{PORT}"));
    let inner = Inside::start("forward-inside", command, folder)?;
    for _ in 0..10 {
        // Another process may take the port between this check and its use.
        let port = free_port()?;
        let mut command = enter(init, Spaces::Own, "socat");
        command
            .arg(format!(
                "TCP4-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork,backlog=128"
            ))
            .arg(format!("UNIX-CONNECT:{}", socket.display()));
        let mut outer = Inside::start("forward", command, folder)?;
        while outer.check_alive().is_ok() {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
                && outer.check_alive().is_ok()
            {
                return Ok(([inner, outer], format!("https://127.0.0.1:{port}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    bail!("socat does not listen on any port")
}

async fn ready_nodes(client: &Client) -> Result<usize> {
    let look = async {
        // Without it no Pod is admitted.
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
        if accounts.get_opt("default").await?.is_none() {
            return Ok(0);
        }
        let nodes: Api<NodeObject> = Api::all(client.clone());
        let nodes = nodes.list(&Default::default()).await?;
        Ok::<usize, kube::Error>(nodes.iter().filter(|node| is_ready_node(node)).count())
    };
    let looked = run_within(Duration::from_secs(5), look).await;
    Ok(looked.context("the API server does not answer")??)
}

fn is_ready_node(node: &NodeObject) -> bool {
    let conditions = node.status.iter().flat_map(|status| &status.conditions);
    conditions
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}
