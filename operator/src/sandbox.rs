//! `lifecycle-operator sandbox`: a simulated cluster in this process, the operator at work in it,
//! and an API server for `kubectl`. It only assembles the parts: `lifecycle_simulator` implements
//! the cluster, and the operators implement their products.

mod balancer;
mod driver;
mod echo;
mod followed;
mod grants;
mod mounted;
mod ports;
mod sites;
mod subjects;
mod tokens;
mod tour;
pub mod world;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use tokio::net::TcpListener;

use crate::args::Sandbox;
use driver::Driver;
use followed::{Followed, FollowedKind};
use grants::GrantDoor;
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{self, Cluster, UNUSABLE, account, complain, print_line};
use lifecycle_cli::follow::Follow;
use lifecycle_cli::passes;
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_cli::process::logging;
use lifecycle_cli::updates::Verdict;
use lifecycle_listener::controller;
use lifecycle_runtime::cause;
use sites::Sites;
use subjects::OfProducts;
use tokens::Applying;
use tour::Tour;

/// Default port of the sandbox's echo server for Connectors that lead there.
const ECHO: u16 = 7007;

/// Runs the sandbox and returns the exit code.
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
    ports::check_free(options.local_address, &manifests)?;
    let shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let driver = Driver::new()?;
    let mut cluster = Cluster::open(cluster::Options {
        seed: options.seed,
        port: options.port,
        kubeconfig: options.kubeconfig.clone(),
        volumes: Some(driver.volumes()),
        balanced_elsewhere: Some(balancer::PODS),
        recorder: None,
    })
    .await?;
    cluster.introduce();
    let echo = echo_of(&options, &manifests).await?;
    let echo_at = echo.as_ref().map(TcpListener::local_addr).transpose();
    let echo_at = echo_at.context("the port has no number")?;
    if let Some(at) = echo_at {
        print_line(&format!("  what is sent to {at} comes back"));
    }
    let grants = GrantDoor::open(options.local_address).await?;
    let sites = Sites::new(options.local_address, echo_at);
    let subjects = OfProducts {
        volumes: driver.volumes(),
        sites: sites.clone(),
    };
    let (heard, decided) = tokio::sync::mpsc::unbounded_channel();
    let mut follow = Follow::new(subjects, decided);
    start(
        &mut cluster,
        (&options, &driver),
        &passes::observer(heard),
        (&sites, echo, grants),
    );
    let mut applying = Applying::new();
    let mut stopped = shutdown.clone();
    let verdict = tokio::select! {
        biased;
        () = stopped.wait() => Ok(Verdict::Stopped),
        verdict = inside(&cluster, &options, &manifests, (&mut follow, &sites, &mut applying)) => verdict,
    };
    let verdict = match verdict {
        Ok(Verdict::Ready | Verdict::Unready) if !options.once => {
            print_line(&how_to_look(&cluster, &manifests));
            stay(&cluster, &mut follow, shutdown).await;
            Ok(Verdict::Stopped)
        }
        other => other,
    };
    cluster.stop().await;
    verdict
}

/// Opens the socket of the echo server, if a Connector leads to it, or if the user requests it.
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
    let mut connectors = manifests
        .iter()
        .filter(|m| followed::is_of_site(m, "Connector"));
    if options.echo_port.is_none() && !connectors.any(leads) {
        return Ok(None);
    }
    echo::bind(at).await.map(Some)
}

/// Runs the sandbox after the cluster has started: applies the manifests, follows the resulting
/// objects, and removes and restores a Connector to the echo server.
async fn inside(
    cluster: &Cluster,
    options: &Sandbox,
    manifests: &[Manifest],
    (follow, sites, applying): (&mut Follow<OfProducts>, &Sites, &mut Applying),
) -> anyhow::Result<Verdict> {
    let client = cluster.client();
    world::prepare(&client, options.listener_class_preset).await?;
    let (tokens, others) = tokens::apart(manifests);
    manifests::apply(&client, &others).await?;
    let wanted = followed::all_wanted(manifests);
    if options.once && wanted.is_empty() {
        bail!(
            "the manifests contain no Listener, no Pod and no object of a site, so there is nothing to wait for: leave out --once"
        );
    }
    let limit = Duration::from_secs(options.timeout);
    for token in tokens.iter().filter_map(followed::followed_object) {
        follow.record(token, subjects::waiting());
    }
    applying.spawn(tokens::apply(client.clone(), tokens));
    let verdict = tokio::select! {
        verdict = follow.until_ready(&client, &wanted, limit) => verdict?,
        error = tokens::refused(applying) => return Err(error.into()),
    };
    match (verdict, Tour::from_manifests(manifests, sites)) {
        (Verdict::Ready, Some(tour)) => tour.show(&client, follow, &wanted, limit).await,
        (verdict, _) => Ok(verdict),
    }
}

/// Keeps serving, and continues to report the changes of Listeners and Pods.
async fn stay(cluster: &Cluster, follow: &mut Follow<OfProducts>, mut shutdown: Shutdown) {
    let client = cluster.client();
    tokio::select! {
        biased;
        () = shutdown.wait() => {}
        never = follow.forever(&client) => match never {},
    }
}

/// Returns commands for the contents of the manifests: for sites, for Listeners, or for both.
fn how_to_look(cluster: &Cluster, manifests: &[Manifest]) -> String {
    let (address, kubeconfig) = (cluster.address(), cluster.kubeconfig().display());
    let wanted = followed::all_wanted(manifests);
    let is_of_site = |one: &Followed| matches!(one.sort, FollowedKind::OfSite(_));
    let of_sites = wanted.iter().any(is_of_site);
    let of_listeners = !of_sites || !wanted.iter().all(is_of_site);
    let mut commands = vec![format!("export KUBECONFIG={kubeconfig}")];
    let mut add = |lines: &[&str]| commands.extend(lines.iter().map(|line| (*line).to_owned()));
    if of_listeners {
        add(&[
            "kubectl get listeners.listeners.stackable.tech,services,pods,pvc,pv",
            "kubectl describe listeners.listeners.stackable.tech",
            "kubectl get listenerclasses",
        ]);
    }
    if of_sites {
        add(&[
            "kubectl get sites,listeners.skupper.io,connectors,links --all-namespaces",
            "kubectl explain listeners.skupper.io.spec",
            "lifecycle-operator network --all-namespaces    # sites, their links, and what they offer",
        ]);
    }
    add(&[
        "lifecycle-operator explain KIND NAME            # why an object is in its state, and who must act",
    ]);
    format!(
        "\nLook around in another terminal (the API server is https://{address}):\n\n  {}\n\ndocs/sandbox.md describes what is simulated. Ctrl-C ends it.",
        commands.join("\n  ")
    )
}

/// Runs the operators, the volume driver and the routers in the cluster.
fn start(
    cluster: &mut Cluster,
    (options, driver): (&Sandbox, &Driver),
    observer: &Arc<dyn Trace>,
    (sites, echo, grants): (&Sites, Option<TcpListener>, GrantDoor),
) {
    let (server, shutdown) = (cluster.server().clone(), cluster.shutdown());
    let operator = controller::Options {
        cluster_domain: ClusterDomain::usual(),
        kinds: controller::KINDS,
        maintain_crds: true,
        preset: options.listener_class_preset,
        leadership: None,
        max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
        watched: std::collections::BTreeSet::new(),
        csi_endpoint: None,
        health: Health::default(),
    };
    let client = account(&server, driver::NAMESPACE, driver::CONTROLLER);
    let admin = cluster.client();
    let running =
        controller::run_observed(client, operator, Some(observer.clone()), shutdown.clone());
    let of_sites =
        sites
            .clone()
            .control((server.clone(), grants), observer.clone(), shutdown.clone());
    cluster.run(async move {
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
    cluster.keep(driver.start(&server, &shutdown));
    cluster.keep(sites.start(&server, echo, &shutdown));
}
