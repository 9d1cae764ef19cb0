//! `lifecycle-operator sandbox`: a simulated cluster in this process, the operator at work in it, and a door for `kubectl`.
//! Puts the parts together; what a cluster does is the business of `lifecycle_simulator`, what the operators do of their products.

mod door;
mod driver;
mod echo;
mod follow;
mod kubeconfig;
mod manifests;
mod mounted;
mod sites;
mod tour;
pub mod world;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use kube::Client;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::{Server, User, http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::args::Sandbox;
use driver::Driver;
use follow::{Follow, Observers, Verdict};
use kubeconfig::Kubeconfig;
use lifecycle_listener::controller;
use lifecycle_process::cluster_domain::ClusterDomain;
use lifecycle_process::logging;
use lifecycle_runtime::cause;
use manifests::{Followed, Manifest};
use sites::Sites;
use tour::Tour;

/// How long what has begun may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(3);
/// What a command line, a file or a port that cannot be used ends with.
const UNUSABLE: u8 = 2;
/// Where the sandbox echoes for Connectors that lead there.
const ECHO: u16 = 7007;

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
    let listener = door::bind(options.port).await?;
    let address = listener.local_addr().context("the port has no number")?;
    let (lock, key) = door::locked()?;
    let kubeconfig = Kubeconfig::write(options.kubeconfig.as_deref(), address, &key)?;
    say(&format!("simulated cluster at https://{address}"));
    say(&format!(
        "  export KUBECONFIG={}",
        kubeconfig.path().display()
    ));
    let driver = Driver::new()?;
    let echo = echo_of(&options, &manifests).await?;
    let echo_at = echo.as_ref().map(TcpListener::local_addr).transpose();
    let echo_at = echo_at.context("the port has no number")?;
    if let Some(at) = echo_at {
        say(&format!("  what is sent to {at} comes back"));
    }
    let sites = Sites::new(options.local_address, echo_at);
    let (mut follow, observers) = Follow::new(driver.volumes(), sites.clone());
    let cluster = Cluster::start(
        (listener, lock),
        &options,
        &driver,
        observers,
        (&sites, echo),
    );
    let mut stopped = shutdown.clone();
    let verdict = tokio::select! {
        biased;
        () = stopped.wait() => Ok(Verdict::Stopped),
        verdict = inside(&cluster, &options, &manifests, (&mut follow, &sites)) => verdict,
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

/// The server that echoes, if a Connector leads to it, or somebody wants it.
async fn echo_of(
    options: &Sandbox,
    manifests: &[Manifest],
) -> Result<Option<TcpListener>, echo::Error> {
    let at = SocketAddr::new(options.local_address, options.echo_port.unwrap_or(ECHO));
    let leads = |connector: &Manifest| {
        let spec = connector.spec();
        let port = spec["port"].as_i64().unwrap_or_default();
        sites::leads_to(Some(at), spec["host"].as_str(), port)
    };
    let mut connectors = manifests.iter().filter(|m| m.is_of_site("Connector"));
    if options.echo_port.is_none() && !connectors.any(leads) {
        return Ok(None);
    }
    echo::bind(at).await.map(Some)
}

/// What happens once the cluster runs: the manifests are applied, what they make is followed, and a Connector to the server that echoes goes and comes back.
async fn inside(
    cluster: &Cluster,
    options: &Sandbox,
    manifests: &[Manifest],
    (follow, sites): (&mut Follow, &Sites),
) -> anyhow::Result<Verdict> {
    let client = cluster.client();
    world::prepare(&client, options.listener_class_preset).await?;
    let wanted: Vec<Followed> = manifests::apply(&client, manifests).await?;
    if options.once && wanted.is_empty() {
        bail!(
            "the manifests contain no Listener, no Pod and nothing of a site, so that there is nothing to wait for: leave out --once"
        );
    }
    let limit = Duration::from_secs(options.timeout);
    let verdict = follow.until_ready(&client, &wanted, limit).await?;
    match (verdict, Tour::of(manifests, sites)) {
        (Verdict::Ready, Some(tour)) => tour.show(&client, follow, &wanted, limit).await,
        (verdict, _) => Ok(verdict),
    }
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
        "\nLook around in another terminal (the API server is https://{address}):\n\n  export KUBECONFIG={}\n  \
         kubectl get listeners.listeners.stackable.tech,services,pods,pvc,pv\n  kubectl describe listeners.listeners.stackable.tech\n  \
         kubectl get listenerclasses\n  kubectl get sites,listeners.skupper.io,connectors\n  kubectl explain listeners.skupper.io.spec\n\n\
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
        (listener, lock): (TcpListener, http::Door),
        options: &Sandbox,
        driver: &Driver,
        observers: Observers,
        (sites, echo): (&Sites, Option<TcpListener>),
    ) -> Self {
        let server = Server::new(options.seed);
        server.set_clock(jiff::Timestamp::now());
        server.enforce_rbac(true);
        let (trigger, shutdown) = Shutdown::pair();
        let operator = controller::Options {
            cluster_domain: ClusterDomain::usual(),
            kinds: controller::KINDS,
            maintain_crds: true,
            preset: options.listener_class_preset,
            leadership: None,
            csi_endpoint: None,
            health: Health::default(),
        };
        let client = driver::account(&server, "listener-operator-controller");
        let admin = server.client(&User::admin());
        let running = controller::run_observed(
            client,
            operator,
            Some(observers.listeners),
            shutdown.clone(),
        );
        let of_sites = sites
            .clone()
            .control(server.clone(), observers.sites, shutdown.clone());
        let operator = tokio::spawn(async move {
            if let Err(error) = driver::install(&admin).await {
                complain(&cause::in_one_line(&error));
                return;
            }
            let running = async {
                if let Err(error) = running.await {
                    let said = cause::in_one_line(&error);
                    complain(&format!("the operator ended: {said}"));
                }
            };
            tokio::join!(running, of_sites);
        });
        let mut until = shutdown.clone();
        let stop = async move { until.wait().await };
        let serving = http::serve(listener, server.clone(), lock, stop);
        let door = tokio::spawn(async move {
            if let Err(error) = serving.await {
                complain(&format!("kubectl cannot be answered: {error}"));
            }
        });
        let around = tokio::spawn(world::run(
            server.client(&User::new(
                "system:kube-controller-manager",
                &["system:masters"],
            )),
            driver.volumes(),
            shutdown.clone(),
        ));
        let mut tasks = driver.start(&server, &shutdown);
        tasks.extend(sites.start(&server, echo, &shutdown));
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
