//! `replay`: the lifecycles of the operator, made with what it was made with when it was recorded, and held against what it recorded.

use std::collections::BTreeMap;
use std::io::stdout;
use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use lifecycle_process::cluster_domain::ClusterDomain;
use lifecycle_process::{compared, until_done};
use lifecycle_replay::{Error, Header, Replay, Replayed};

use crate::{Program, Surroundings, generate};

const CLUSTER_DOMAIN: &str = "kubernetesClusterDomain";
const NAMESPACE: &str = "operatorNamespace";

/// The command, without the options of the author.
pub(crate) fn command() -> Command {
    let about = "Say what this version would have decided where another one decided, by what `run --trace-file` recorded. Needs no cluster";
    let ends = "Ends with 0 if it decides the same everywhere, 1 if it does not, 2 if that cannot be said.";
    let command = Replay::augment_args(Command::new("replay"));
    command
        .about(about)
        .long_about(format!("{about}.\n\n{ends}"))
}

/// What a recording says of how the operator was made, beside options of its author.
pub(crate) fn settings(surroundings: &Surroundings) -> BTreeMap<String, String> {
    let domain = surroundings.cluster_domain.clone();
    let namespace = surroundings.namespace.clone();
    let all = [(CLUSTER_DOMAIN, domain), (NAMESPACE, namespace)];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Prints where this version decides otherwise, and says how the process is to end.
///
/// # Errors
/// The command line does not say what is to be replayed.
pub(crate) fn asked(program: Program, told: &ArgMatches) -> anyhow::Result<ExitCode> {
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
    let found = lifecycle_replay::run(&options, made, &mut stdout().lock());
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
    Ok(Replayed::all_of(&program.made(surroundings, told)?))
}
