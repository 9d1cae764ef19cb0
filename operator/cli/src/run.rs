//! `run`: the operator against a real cluster, within the common frame of every program.

use std::future::pending;

use crate::process::health::{answer, bind};
use crate::process::{Frame, cluster_domain, leadership, metrics};
use clap::ArgMatches;
use kube::Client;
#[cfg(feature = "sandbox")]
use lifecycle_runtime::crds::{self, Kinds};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::kube::connect;
use lifecycle_runtime::shutdown::Shutdown;

use crate::args::Run;
use crate::{Program, Surroundings, definitions, replay};

const METRICS: &str = "--metrics-bind-address";

/// Runs the operator until the shutdown.
///
/// # Errors
/// Logging cannot begin, something cannot be listened at, no API server is configured, or the operator cannot run.
pub(crate) async fn run(program: Program, options: Run, told: &ArgMatches) -> anyhow::Result<()> {
    let frame = Frame {
        program: program.name,
        version: program.version,
        telemetry: &options.telemetry,
        probes: &options.probes,
    };
    let part = async |health, shutdown| {
        let client = connect().await?;
        inside(program, (&options, told), (client, health), shutdown).await
    };
    crate::process::run(frame, part).await
}

async fn inside(
    program: Program,
    (options, told): (&Run, &ArgMatches),
    (client, health): (Client, Health),
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    let kinds = definitions::kinds(program.name, &program.definitions)?;
    let door = match options.metrics_bind_address {
        Some(address) => Some(bind(address, METRICS).await?),
        None => None,
    };
    let domain = options.cluster.kubernetes_cluster_domain.as_ref();
    let namespace = options.cluster.operator_namespace.as_deref();
    let surroundings = Surroundings {
        client: client.clone(),
        cluster_domain: cluster_domain::resolve(domain).to_string(),
        namespace: namespace.unwrap_or(client.default_namespace()).to_owned(),
    };
    let leadership = leadership(&options.cluster, &client, program.name);
    let of = (program.name, program.version);
    let recorder = options
        .recording
        .begin(of, replay::settings(&surroundings))?;
    let made = program.build_operator(surroundings, told)?;
    let mut operator = made
        .health(health.clone())
        .max_object_size(options.cluster.max_object_bytes());
    let watched = options.cluster.namespaces();
    if !watched.is_empty() {
        operator = operator.namespaces(watched);
    }
    for one in kinds {
        operator = operator.definitions(one, !options.cluster.disable_crd_maintenance);
    }
    if let Some(recorder) = recorder {
        operator = operator.trace(recorder);
    }
    if let Some(leadership) = leadership {
        operator = operator.leadership(leadership);
    }
    let routes = metrics::routes(health.clone());
    let until = shutdown.clone();
    let counted = async {
        if let Some(door) = door {
            answer(door, routes, until).await;
        }
        pending().await
    };
    let work = async { anyhow::Ok(operator.start(client, shutdown).await?) };
    tokio::select! {
        done = work => done,
        never = counted => never,
    }
}

/// Installs the kinds of each group in a simulated cluster without other leaders, and waits until
/// they are served.
#[cfg(feature = "sandbox")]
pub(crate) async fn prepare(client: &Client, kinds: &[Kinds], maintain: bool, health: &Health) {
    let part = "definitions";
    for one in kinds {
        let group = one.group_version;
        health.waits(part, format!("the kinds of {group} are not served yet"));
        crds::prepare(client, one, maintain).await;
    }
    health.works(part);
}

#[cfg(all(test, feature = "sandbox"))]
#[path = "../../../runtime/examples/mirror.rs"]
pub(crate) mod mirror;

#[cfg(all(test, feature = "sandbox"))]
pub(crate) mod tests;
