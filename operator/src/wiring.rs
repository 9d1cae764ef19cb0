//! What runs: which lifecycles, under which names, and what is prepared before. Decides nothing about any object.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kube::Client;
use kube::runtime::events::{Recorder, Reporter};
use lifecycle_runtime::Operator;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::operator::{Error, Naming};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_specs::listener;

use crate::args::{Mode, Node, Preset, Run};
use crate::cluster_domain::ClusterDomain;
use crate::listener::Exposure;
use crate::skupper::platform::Platform;
use crate::volume::{Mount, Registration};
use crate::{cause, cluster_domain, crds, health, logging, presets, site, volume};

pub mod skupper;

/// Name of the operator, of its API group, and of what it writes.
const NAME: &str = "listeners.stackable.tech";
/// `reportingController` of its events.
const REPORTER: &str = "listener.listeners.stackable.tech";
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What a controller is told.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The domain below which cluster DNS names Services.
    pub cluster_domain: ClusterDomain,
    /// Whether to install and update CustomResourceDefinitions.
    pub maintain_crds: bool,
    /// The classes to create where they are missing.
    pub preset: Preset,
    /// The Lease that decides which replica writes; without it this one always does.
    pub leadership: Option<Leadership>,
    /// Where the service that provisions volumes listens; without it none are provisioned.
    pub csi_endpoint: Option<String>,
    /// Where its parts say whether they are ready.
    pub health: Health,
}

/// Runs what the command line asks for, until the process is told to stop.
///
/// # Errors
/// If logging cannot begin, no API server is configured, an option is missing, or something cannot be listened at.
pub async fn run(options: Run) -> anyhow::Result<()> {
    logging::begin(&options.telemetry)?;
    let shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let health = Health::default();
    let door = match options.health_probe_bind_address {
        Some(address) => Some(health::bind(address).await?),
        None => None,
    };
    let probes = async {
        if let Some(door) = door {
            health::serve(door, health.clone(), shutdown.clone()).await;
        }
        std::future::pending().await
    };
    let part = run_part(&options, health.clone(), shutdown.clone());
    tokio::select! {
        done = part => done,
        never = probes => never,
    }
}

async fn run_part(options: &Run, health: Health, shutdown: Shutdown) -> anyhow::Result<()> {
    match &options.mode {
        Mode::Controller(chosen) => {
            let client = lifecycle_runtime::kube::connect().await?;
            let lease =
                (!options.disable_leader_election).then(|| leadership(options, &client, NAME));
            let controller = Controller {
                cluster_domain: cluster_domain::resolve(options.kubernetes_cluster_domain.as_ref()),
                maintain_crds: !options.disable_crd_maintenance,
                preset: chosen.listener_class_preset,
                leadership: lease,
                csi_endpoint: options.csi_endpoint.clone(),
                health,
            };
            Ok(run_controller(client, controller, shutdown).await?)
        }
        Mode::Skupper(chosen) => {
            let client = lifecycle_runtime::kube::connect().await?;
            let namespace = options.operator_namespace.as_deref();
            let namespace = namespace.unwrap_or(client.default_namespace()).to_owned();
            let lease = (!options.disable_leader_election)
                .then(|| leadership(options, &client, skupper::NAME));
            let options = skupper::Options {
                namespace,
                name: chosen.controller_name.clone(),
                platform: Platform::Kubernetes,
                image: chosen.router_image.clone(),
                maintain_crds: !options.disable_crd_maintenance,
                leadership: lease,
                health,
            };
            Ok(skupper::run(client, options, shutdown).await?)
        }
        Mode::Site(chosen) => site::run(chosen, health, shutdown).await,
        Mode::Node(chosen) => {
            let mount = mount(options, chosen)?;
            let client = lifecycle_runtime::kube::connect().await?;
            let operator = volume::mounts(Operator::new(NAME).health(health), mount);
            Ok(operator.start(client, shutdown).await?)
        }
    }
}

/// What a process on a node is told, by options and by an environment variable that had another name once.
fn mount(options: &Run, chosen: &Node) -> anyhow::Result<Mount> {
    let endpoint = options.csi_endpoint.clone().context(
        "`run node` needs a socket for kubelet to call: set --csi-endpoint or CSI_ENDPOINT",
    )?;
    let name = options.kubernetes_node_name.clone();
    let node = name.or_else(|| std::env::var("NODE_NAME").ok()).context(
        "`run node` needs to know its node: set --kubernetes-node-name or KUBERNETES_NODE_NAME, in a Pod from `spec.nodeName`",
    )?;
    let folder = &chosen.plugin_registration_path;
    let registers = !chosen.disable_plugin_registration && folder.is_dir();
    if !chosen.disable_plugin_registration && !registers {
        tracing::warn!(
            "{} is no folder: a node-driver-registrar has to register the driver with kubelet; \
             mount kubelet's `plugins_registry` there, or say --disable-plugin-registration",
            folder.display()
        );
    }
    Ok(Mount {
        endpoint,
        node,
        registration: registers.then(|| Registration {
            folder: folder.clone(),
            endpoint_on_host: chosen.kubelet_registration_path.clone(),
        }),
    })
}

/// A restarted container has the name of the one before and takes its Lease back at once; processes of one machine differ by number.
fn leadership(options: &Run, client: &Client, operator: &str) -> Leadership {
    let namespace = options.operator_namespace.as_deref();
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| NAME.to_owned());
    Leadership {
        namespace: namespace.unwrap_or(client.default_namespace()).to_owned(),
        name: format!("{operator}-controller"),
        identity: format!("{host}-{}", std::process::id()),
    }
}

/// Prepares the cluster and runs the Listener lifecycle until told to stop.
///
/// # Errors
/// Only for a lifecycle that cannot be carried out; an API server that does not answer is waited for.
pub async fn run_controller(
    client: Client,
    controller: Controller,
    shutdown: Shutdown,
) -> Result<(), Error> {
    run_watched(client, controller, None, shutdown).await
}

/// As `run_controller`, with somebody who looks on.
///
/// # Errors
/// As `run_controller`.
pub async fn run_watched(
    client: Client,
    controller: Controller,
    onlooker: Option<Arc<dyn Trace>>,
    mut shutdown: Shutdown,
) -> Result<(), Error> {
    let part = "definitions";
    let health = controller.health;
    health.waits(
        part,
        "the kinds of listeners.stackable.tech are not served yet",
    );
    tokio::select! {
        biased;
        () = shutdown.wait() => return Ok(()),
        () = crds::prepare(&client, &crds::LISTENERS, controller.maintain_crds) => health.works(part),
    }
    let logic = Exposure {
        cluster_domain: controller.cluster_domain.to_string(),
    };
    let part = "classes";
    health.waits(part, "the ListenerClasses of the preset are not there yet");
    let mut operator = Operator::new(NAME).health(health.clone());
    operator = operator.run_as(listener::machine(logic), naming());
    if let Some(endpoint) = controller.csi_endpoint {
        operator = volume::provisions(operator, &endpoint);
    }
    if let Some(leadership) = controller.leadership {
        operator = operator.leadership(leadership);
    }
    if let Some(onlooker) = onlooker {
        operator = operator.trace(onlooker);
    }
    let classes = async {
        create_classes(&client, controller.preset).await;
        health.works(part);
        std::future::pending().await
    };
    tokio::select! {
        biased;
        done = operator.start(client.clone(), shutdown) => done,
        never = classes => never,
    }
}

/// The names under which the replaced operator wrote the same, so that its fields are ours.
fn naming() -> Naming {
    Naming {
        manager: format!("{NAME}/{NAME}_listener"),
        status_manager: format!("{NAME}/listener"),
        reporter: REPORTER.to_owned(),
        ..Naming::of(NAME, listener::IR.name)
    }
}

/// Tries until the classes are there; what is in the way is said once for each reason.
async fn create_classes(client: &Client, preset: Preset) {
    let reporter = Reporter {
        controller: REPORTER.to_owned(),
        instance: std::env::var("HOSTNAME").ok(),
    };
    let events = Recorder::new(client.clone(), reporter);
    let (mut pause, mut said) = (FIRST_PAUSE, String::new());
    while let Err(error) = presets::ensure(client, preset, &events).await {
        let reason = cause::in_one_line(&error);
        if reason != said {
            tracing::warn!("{reason}; trying again");
            said = reason;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_written_under_the_names_of_the_replaced_operator() {
        let naming = naming();
        assert_eq!(
            naming.manager,
            "listeners.stackable.tech/listeners.stackable.tech_listener"
        );
        assert_eq!(naming.status_manager, "listeners.stackable.tech/listener");
        assert_eq!(naming.reporter, "listener.listeners.stackable.tech");
        assert_eq!(naming.action, "Reconcile");
    }
}
