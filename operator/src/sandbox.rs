//! `lifecycle-operator sandbox`: a simulated cluster in this process, the operator at work in it, and a door for `kubectl`.
//! Puts the parts together; what a cluster does is the business of `lifecycle_runtime::testing`, what the operator does of `wiring`.

mod driver;
mod follow;
pub mod http;
mod kubeconfig;
mod manifests;
mod mounted;
pub mod world;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use kube::Client;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_runtime::testing::{Server, User};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::args::Sandbox;
use crate::cluster_domain::ClusterDomain;
use crate::{cause, logging, wiring};
use driver::Driver;
use follow::{Follow, Verdict};
use kubeconfig::Kubeconfig;
use manifests::Manifest;

/// How long what has begun may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(3);
/// What a command line, a file or a port that cannot be used ends with.
const UNUSABLE: u8 = 2;

/// Runs the sandbox and says how the process is to end.
pub async fn run(options: Sandbox) -> ExitCode {
    match open(options).await {
        Ok(Verdict::Ready | Verdict::Stopped) => ExitCode::SUCCESS,
        Ok(Verdict::Unready) => ExitCode::FAILURE,
        Err(error) => {
            complain(&cause::in_one_line(error.as_ref()));
            ExitCode::from(UNUSABLE)
        }
    }
}

async fn open(options: Sandbox) -> anyhow::Result<Verdict> {
    logging::begin_quietly()?;
    let manifests = Manifest::read_all(&options.manifests)?;
    let shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let listener = http::bind(options.port).await?;
    let address = listener.local_addr().context("the port has no number")?;
    let kubeconfig = Kubeconfig::write(options.kubeconfig.as_deref(), address)?;
    say(&format!("simulated cluster at http://{address}"));
    say(&format!(
        "  export KUBECONFIG={}",
        kubeconfig.path().display()
    ));
    let driver = Driver::new()?;
    let (mut follow, onlooker) = Follow::new(driver.volumes());
    let cluster = Cluster::start(listener, &options, &driver, onlooker);
    let mut stopped = shutdown.clone();
    let verdict = tokio::select! {
        biased;
        () = stopped.wait() => Ok(Verdict::Stopped),
        verdict = inside(&cluster, &options, manifests, &mut follow) => verdict,
    };
    let verdict = match verdict {
        Ok(Verdict::Ready | Verdict::Unready) if !options.once => {
            stay(
                address,
                &kubeconfig,
                &cluster.client(),
                &mut follow,
                shutdown,
            )
            .await;
            Ok(Verdict::Stopped)
        }
        other => other,
    };
    cluster.stop().await;
    verdict
}

/// What happens once the cluster runs: the manifests are applied, and their Listeners and Pods followed.
async fn inside(
    cluster: &Cluster,
    options: &Sandbox,
    manifests: Vec<Manifest>,
    follow: &mut Follow,
) -> anyhow::Result<Verdict> {
    let client = cluster.client();
    world::prepare(&client, options.listener_class_preset).await?;
    let wanted = manifests::apply(&client, manifests).await?;
    if options.once && wanted.is_empty() {
        bail!(
            "the manifests contain no Listener and no Pod, so that there is nothing to wait for: leave out --once"
        );
    }
    follow
        .until_ready(&client, &wanted, Duration::from_secs(options.timeout))
        .await
}

/// Keeps serving, and goes on telling what becomes of Listeners and Pods.
async fn stay(
    address: SocketAddr,
    kubeconfig: &Kubeconfig,
    client: &Client,
    follow: &mut Follow,
    mut shutdown: Shutdown,
) {
    say(&how_to_look(address, kubeconfig));
    tokio::select! {
        biased;
        () = shutdown.wait() => {}
        never = follow.forever(client) => match never {},
    }
}

fn how_to_look(address: SocketAddr, kubeconfig: &Kubeconfig) -> String {
    format!(
        "\nLook around in another terminal (the API server is http://{address}):\n\n  export KUBECONFIG={}\n  \
         kubectl get listeners,services,pods,pvc,pv\n  kubectl describe listener\n  kubectl get listenerclasses\n  kubectl explain listener.spec\n\n\
         docs/sandbox.md says what is simulated. Ctrl-C ends it.",
        kubeconfig.path().display()
    )
}

/// The simulated cluster with everything that runs in it.
struct Cluster {
    server: Server,
    trigger: Trigger,
    tasks: Vec<JoinHandle<()>>,
}

impl Cluster {
    fn start(
        listener: TcpListener,
        options: &Sandbox,
        driver: &Driver,
        onlooker: Arc<dyn Trace>,
    ) -> Self {
        let server = Server::new(options.seed);
        server.set_clock(jiff::Timestamp::now());
        server.enforce_rbac(true);
        let (trigger, shutdown) = Shutdown::pair();
        let operator = wiring::Controller {
            cluster_domain: ClusterDomain::usual(),
            maintain_crds: true,
            preset: options.listener_class_preset,
            leadership: None,
            csi_endpoint: None,
            health: Health::default(),
        };
        let client = driver::account(&server, "listener-operator-controller");
        let admin = server.client(&User::admin());
        let running = wiring::run_watched(client, operator, Some(onlooker), shutdown.clone());
        let operator = tokio::spawn(async move {
            if let Err(error) = driver::install(&admin).await {
                complain(&cause::in_one_line(&error));
                return;
            }
            if let Err(error) = running.await {
                complain(&format!(
                    "the operator ended: {}",
                    cause::in_one_line(&error)
                ));
            }
        });
        let door = tokio::spawn(http::serve(listener, server.clone(), shutdown.clone()));
        let around = tokio::spawn(world::run(
            server.client(&User::new(
                "system:kube-controller-manager",
                &["system:masters"],
            )),
            driver.volumes(),
            shutdown.clone(),
        ));
        let mut tasks = driver.start(&server, &shutdown);
        tasks.extend([operator, door, around]);
        Self {
            server,
            trigger,
            tasks,
        }
    }

    fn client(&self) -> Client {
        self.server.client(&User::admin())
    }

    async fn stop(self) {
        self.trigger.stop();
        let all = async {
            for task in self.tasks {
                // One that panicked has said so already.
                let _ended = task.await;
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("something did not end in time and is dropped");
        }
    }
}

/// A line for people. With standard output closed there is nobody left to tell.
fn say(line: &str) {
    let _unheard = writeln!(io::stdout(), "{line}");
}

fn complain(line: &str) {
    let _unheard = writeln!(io::stderr(), "error: {line}");
}
