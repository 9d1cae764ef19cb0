//! Choices of the command line: the part to run, and its options.

use std::collections::BTreeMap;
use std::future::pending;
use std::io::stdout;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use lifecycle_cli::process::args::Run;
use lifecycle_cli::process::{cluster_domain, definitions, exit_code, leadership, until_done};
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::kube::connect;
use lifecycle_runtime::shutdown::Shutdown;

use crate::args::{Arguments, Command, Controller, Mode, Node};
use crate::controller::{self, KINDS, NAME};
use crate::startup_taint;
use crate::volume::{self, Mount, Registration};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The program `listener-operator`.
pub fn main() -> ExitCode {
    exit_code(main_of(Arguments::parse().command))
}

fn main_of(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Crd => definitions::print((KINDS.definitions)(), &mut stdout().lock())?,
        Command::Run(options) => until_done(run(*options))??,
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(options: Run<Mode>) -> anyhow::Result<()> {
    let part = async |health, shutdown| match &options.mode {
        Mode::Controller(chosen) => run_controller(&options, chosen, KINDS, health, shutdown).await,
        Mode::Node(chosen) => run_node(&options, chosen, health, shutdown).await,
    };
    lifecycle_cli::process::run(options.frame(), part).await
}

/// Runs the part that the cluster needs once, until the shutdown. `kinds` names the command of the
/// program that prints them.
///
/// # Errors
/// No API server is configured, or something cannot be listened at.
pub async fn run_controller<M: Subcommand>(
    options: &Run<M>,
    chosen: &Controller,
    kinds: Kinds,
    health: Health,
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    let client = connect().await?;
    let cluster_domain =
        cluster_domain::resolve(options.cluster.kubernetes_cluster_domain.as_ref());
    let settings = BTreeMap::from([(
        controller::CLUSTER_DOMAIN.to_owned(),
        cluster_domain.to_string(),
    )]);
    let recorder = options.recording.begin((NAME, VERSION), settings)?;
    let told = controller::Options {
        cluster_domain,
        kinds,
        maintain_crds: !options.cluster.disable_crd_maintenance,
        preset: chosen.listener_class_preset,
        leadership: leadership(&options.cluster, &client, &format!("{NAME}-controller")),
        max_object_size: options.cluster.max_object_bytes(),
        watched: options.cluster.namespaces(),
        csi_endpoint: options.csi_endpoint.clone(),
        health,
    };
    Ok(controller::run_observed(client, told, recorder, shutdown).await?)
}

/// Runs the part that each node needs once, until the shutdown.
///
/// # Errors
/// An option is missing, no API server is configured, something cannot be listened at, or kubelet refuses the driver.
pub async fn run_node<M: Subcommand>(
    options: &Run<M>,
    chosen: &Node,
    health: Health,
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    options.records_nothing("node")?;
    let mount = mount(options, chosen)?;
    let node = mount.node.clone();
    let client = connect().await?;
    let volumes = volume::mounts(NAME, mount)
        .namespaces(options.cluster.namespaces())
        .health(health.clone());
    let removing = async {
        if chosen.remove_startup_taint {
            startup_taint::remove_once_ready(&client, &node, &health).await;
        }
        pending::<()>().await
    };
    tokio::select! {
        ended = volumes.start(client.clone(), shutdown) => Ok(ended?),
        () = removing => Ok(()),
    }
}

/// Returns the settings of a process on a node, from options and from an environment variable that
/// once had another name.
fn mount<M: Subcommand>(options: &Run<M>, chosen: &Node) -> anyhow::Result<Mount> {
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
            "{} is not a directory, so a node-driver-registrar must register the driver with kubelet; mount kubelet's `plugins_registry` there, or set --disable-plugin-registration",
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_kinds_are_printed_by_the_command_that_they_name() {
        let mut words = KINDS.printed_by.split(' ');
        assert_eq!(words.next(), Some(Arguments::command().get_name()));
        let named = Arguments::try_parse_from(KINDS.printed_by.split(' '));
        assert!(matches!(named.unwrap().command, Command::Crd));
    }
}
