//! Simulated cluster with a door: an API server on a loopback port, the controllers around it, two
//! nodes, and a kubeconfig that leads there. `lifecycle_simulator` implements the behavior of the
//! cluster.

mod door;
mod kubeconfig;
pub mod manifests;
mod nodes;
pub mod record;

use std::future::Future;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use kube::Client;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::http::{self, Recorder};
use lifecycle_simulator::world::{Volumes, World};
use lifecycle_simulator::{Server, User};
use tokio::task::JoinHandle;

use kubeconfig::Kubeconfig;
pub use nodes::names as nodes;

/// Time that started tasks have to end after a shutdown.
const GRACE: Duration = Duration::from_secs(3);
/// Exit code for a command line, a file or a port that cannot be used.
pub const UNUSABLE: u8 = 2;

/// Configuration of a cluster.
#[derive(Default)]
pub struct Options {
    /// Seed of uids, generated names and the like.
    pub seed: u64,
    /// The port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    pub port: u16,
    /// Path at which the kubeconfig is written; by default, in a temporary folder.
    pub kubeconfig: Option<PathBuf>,
    /// Volumes of the drivers with known sockets.
    pub volumes: Option<Volumes>,
    /// Label of Pods that the caller balances itself: Services that select by it get no address
    /// from the cluster.
    pub balanced_elsewhere: Option<(&'static str, &'static str)>,
    /// Recorder that is notified of each request on the port.
    pub recorder: Option<Recorder>,
}

/// A simulated cluster that runs in this process. It ends when it is dropped or stopped, and its kubeconfig goes with it.
///
/// # Guarantees
/// RBAC is enforced. A client with the kubeconfig is an administrator, and may impersonate another
/// user.
pub struct Cluster {
    server: Server,
    address: SocketAddr,
    kubeconfig: Kubeconfig,
    trigger: Trigger,
    shutdown: Shutdown,
    tasks: Vec<JoinHandle<()>>,
}

impl Cluster {
    /// Starts one.
    ///
    /// # Errors
    /// The port is in use, or the kubeconfig cannot be written.
    pub async fn open(options: Options) -> anyhow::Result<Self> {
        let listener = door::bind(options.port).await?;
        let address = listener.local_addr().context("the port has no number")?;
        let (lock, key) = door::locked()?;
        let kubeconfig = Kubeconfig::write(options.kubeconfig.as_deref(), address, &key)?;
        let server = Server::new(options.seed);
        server.set_clock(Timestamp::now());
        server.enforce_rbac(true);
        nodes::make(&server.client(&User::admin())).await?;
        let (trigger, shutdown) = Shutdown::pair();
        let mut cluster = Self {
            server,
            address,
            kubeconfig,
            trigger,
            shutdown,
            tasks: Vec::new(),
        };
        let mut until = cluster.shutdown();
        let stop = async move { until.wait().await };
        let inside = (cluster.server.clone(), lock);
        let serving = http::serve_recorded(listener, inside, options.recorder, stop);
        cluster.run(async move {
            if let Err(error) = serving.await {
                complain(&format!("kubectl cannot be answered: {error}"));
            }
        });
        let manager = User::new("system:kube-controller-manager", &["system:masters"]);
        let manager = cluster.server.client(&manager);
        let world = World::full()
            .volumes(options.volumes)
            .balanced_elsewhere(options.balanced_elsewhere);
        cluster.run(around(manager, world, cluster.shutdown()));
        Ok(cluster)
    }

    /// The API server itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The file that leads there.
    pub fn kubeconfig(&self) -> &Path {
        self.kubeconfig.path()
    }

    /// A client of an administrator, without a socket.
    pub fn client(&self) -> Client {
        self.server.client(&User::admin())
    }

    /// A client of a ServiceAccount, with its rights.
    pub fn account(&self, namespace: &str, name: &str) -> Client {
        account(&self.server, namespace, name)
    }

    /// Returns the shutdown signal of the cluster.
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// Runs something beside it, until it ends by itself; when the cluster is stopped, it is waited for.
    pub fn run(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(task));
    }

    /// Like `run`, for tasks that run already.
    pub fn keep(&mut self, tasks: impl IntoIterator<Item = JoinHandle<()>>) {
        self.tasks.extend(tasks);
    }

    /// Prints the address of the cluster and its kubeconfig.
    pub fn introduce(&self) {
        print_line(&format!("simulated cluster at https://{}", self.address));
        print_line(&format!(
            "  export KUBECONFIG={}",
            self.kubeconfig().display()
        ));
    }

    /// Ends all that runs in it.
    pub async fn stop(self) {
        self.trigger.stop();
        let all = async {
            for task in self.tasks {
                // A panicked task has already printed its message.
                let _ended = task.await;
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("something did not end in time, and is not waited for any more");
        }
    }
}

/// A client of a ServiceAccount, with its rights.
pub fn account(server: &Server, namespace: &str, name: &str) -> Client {
    let user = format!("system:serviceaccount:{namespace}:{name}");
    let all = format!("system:serviceaccounts:{namespace}");
    server.client(&User::new(&user, &["system:serviceaccounts", &all]))
}

/// Runs the controllers that simulate the rest of a cluster.
async fn around(client: Client, world: World, mut shutdown: Shutdown) {
    // Those that there are were made before, with addresses.
    let no_more_nodes: [&str; 0] = [];
    let world = world.nodes(no_more_nodes).origin(Timestamp::now());
    tokio::select! {
        biased;
        () = shutdown.wait() => {}
        () = world.run(client) => tracing::warn!("the controllers of the simulated cluster ended"),
    }
}

/// Prints a line for users. If standard output is closed, the line is dropped.
pub fn print_line(line: &str) {
    let _unheard = writeln!(io::stdout(), "{line}");
}

/// A line for people who have to act.
pub fn complain(line: &str) {
    let _unheard = writeln!(io::stderr(), "error: {line}");
}
