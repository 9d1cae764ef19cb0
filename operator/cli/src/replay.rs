//! `replay`: compares the lifecycles of the operator with a recording. The operator is made with
//! the recorded settings.

use std::collections::BTreeMap;
use std::io::stdout;
use std::process::ExitCode;

use crate::process::cluster_domain::ClusterDomain;
use crate::process::{compared, until_done};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use lifecycle_inspect::replay::{Error, Header, Replay, Replayed};

use crate::{Program, Surroundings, generate};

const CLUSTER_DOMAIN: &str = "kubernetesClusterDomain";
const NAMESPACE: &str = "operatorNamespace";

/// The command, without the options of the author.
pub(crate) fn command() -> Command {
    let about = "Compare the decisions of this version with those that `run --trace-file` recorded of another one. Needs no cluster";
    let ends =
        "Exits 0 if all decisions are the same, 1 if some differ, 2 if they cannot be compared.";
    let command = Replay::augment_args(Command::new("replay"));
    command
        .about(about)
        .long_about(format!("{about}.\n\n{ends}"))
}

/// Returns the settings with which the operator was made, as a recording stores them beside the
/// options of its author.
pub(crate) fn settings(surroundings: &Surroundings) -> BTreeMap<String, String> {
    let domain = surroundings.cluster_domain.clone();
    let namespace = surroundings.namespace.clone();
    let all = [(CLUSTER_DOMAIN, domain), (NAMESPACE, namespace)];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Prints the decisions of this version that differ, and returns the exit code of the process.
///
/// # Errors
/// If the command line does not name a recording.
pub(crate) fn run_command(program: Program, told: &ArgMatches) -> anyhow::Result<ExitCode> {
    let options = Replay::from_arg_matches(told)?;
    let mut program = Some(program);
    let mut all = Vec::new();
    // It is made once, as the first of its processes was.
    let made = |header: &Header| -> Result<Vec<Replayed>, Error> {
        if let Some(program) = program.take() {
            let made = until_done(lifecycles(program, told, header));
            let made = made.map_err(|error| Error::Lifecycles(error.to_string()))?;
            all = made.map_err(|error| Error::Lifecycles(format!("{error:#}")))?;
        }
        Ok(all.clone())
    };
    let found = lifecycle_inspect::replay::run(&options, made, &mut stdout().lock());
    Ok(compared(
        found.map(|verdict| verdict as u8).map_err(Into::into),
    ))
}

async fn lifecycles(
    program: Program,
    told: &ArgMatches,
    header: &Header,
) -> anyhow::Result<Vec<Replayed>> {
    let setting = |name: &str| header.settings.get(name).cloned();
    let usual = || ClusterDomain::usual().to_string();
    let surroundings = Surroundings {
        client: generate::nobody()?,
        cluster_domain: setting(CLUSTER_DOMAIN).unwrap_or_else(usual),
        namespace: setting(NAMESPACE).unwrap_or_else(|| program.name.to_owned()),
    };
    Ok(Replayed::all_of(
        &program.build_operator(surroundings, told)?,
    ))
}
