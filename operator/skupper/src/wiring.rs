//! Wiring of the command line: the selected part runs with the options that it was given.

use std::collections::BTreeMap;
use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lifecycle_cli::process::args::Run;
use lifecycle_cli::process::{definitions, exit_code, leadership, logging, until_done};
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::kube::connect;
use lifecycle_runtime::shutdown::Shutdown;

use crate::args::{Arguments, Command, Mode, SkupperArgs};
use crate::controller::{self, GrantOptions, KINDS, NAME};
use crate::files::{self, token};
use crate::platform::Platform;
use crate::router::https::Https;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The program `skupper-operator`.
pub fn main() -> ExitCode {
    exit_code(main_of(Arguments::parse().command))
}

fn main_of(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Crd => definitions::print((KINDS.definitions)(), &mut stdout().lock())?,
        Command::Run(options) => until_done(run(*options))??,
        Command::Token(command) => {
            until_done(async { token::run(&command, &mut stdout(), &mut stderr()).await })??;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(options: Run<Mode>) -> anyhow::Result<()> {
    let part = async |health, shutdown| match &options.mode {
        Mode::Skupper(chosen) => run_controller(&options, chosen, KINDS, health, shutdown).await,
        Mode::Site(chosen) => {
            options.records_nothing("site")?;
            files::run(chosen, health, shutdown).await
        }
    };
    let usual = match &options.mode {
        Mode::Skupper(_) => logging::USUAL_LEVEL,
        Mode::Site(_) => files::USUAL_LOG,
    };
    lifecycle_cli::process::run_logging(usual, options.frame(), part).await
}

/// Runs the controller of the Sites of a cluster until shutdown. `kinds` name the command of the
/// program that prints them.
///
/// # Errors
/// No API server is configured.
pub async fn run_controller<M: Subcommand>(
    options: &Run<M>,
    chosen: &SkupperArgs,
    kinds: Kinds,
    health: Health,
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    let client = connect().await?;
    let namespace = options.cluster.operator_namespace.as_deref();
    // Controllers of different names manage different namespaces.
    let lease = format!("{NAME}-{}", chosen.controller_name);
    let namespace = namespace.unwrap_or(client.default_namespace()).to_owned();
    let settings = [
        (controller::NAMESPACE, &namespace),
        (controller::CONTROLLER, &chosen.controller_name),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.clone()));
    let recorder = options
        .recording
        .begin((NAME, VERSION), BTreeMap::from(settings))?;
    let told = controller::Options {
        namespace,
        watched: chosen.all_watched(options.cluster.namespaces())?,
        name: chosen.controller_name.clone(),
        platform: Platform::Kubernetes,
        access: chosen.access(),
        router_options: chosen.router_options(),
        kinds,
        maintain_crds: !options.cluster.disable_crd_maintenance,
        leadership: leadership(&options.cluster, &client, &lease),
        max_object_size: options.cluster.max_object_bytes(),
        grants: chosen.grant_server_address.map(|listen| GrantOptions {
            listen,
            durable: None,
        }),
        health,
    };
    let routers = Https::new(client.clone());
    Ok(controller::run_observed(client, told, routers, recorder, shutdown).await?)
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
