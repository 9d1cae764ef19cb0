//! `explain`: explains one object of a live cluster by the lifecycles of the operator, which is
//! made with the options of `run`. It only reads, and queries nothing outside Kubernetes.

use std::io::{Write, stdout};
use std::sync::Arc;

use crate::process::cluster_domain::ClusterDomain;
use crate::process::{logging, until_done};
use anyhow::bail;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use kube::Client;
use lifecycle_inspect::explain::{Error, Explain, Explained};
use lifecycle_runtime::crds::{self, Kinds};

use crate::{Program, Surroundings, account, definitions, generate};

/// Object to explain, and the settings with which the operator runs in its cluster.
#[derive(Debug, Args)]
struct Explaining {
    #[command(flatten)]
    explain: Explain,

    #[command(flatten)]
    told: OperatorOptions,
}

/// Settings of the operator in the cluster that it runs in. Its answers may depend on them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Operator")]
struct OperatorOptions {
    /// Domain below which cluster DNS names Services. Without it, cluster.local.
    #[arg(long, env, value_name = "DOMAIN")]
    kubernetes_cluster_domain: Option<ClusterDomain>,

    /// Namespace of the operator itself. Without it, that of the manifest of its rights, else that of the kubeconfig's context.
    #[arg(long, env, value_name = "NAMESPACE")]
    operator_namespace: Option<String>,
}

/// The command.
pub(crate) fn command() -> Command {
    let about =
        "Explain why an object is in its state, who must act, and what comes next. Changes nothing";
    Explaining::augment_args(Command::new("explain"))
        .about(about)
        .long_about(format!(
            "{about}.\n\nEvaluates the object with the code and the options of the operator, and with the caller's rights to get and list.\n\nExits 0 if the object was found, even if something is wrong with it. Exits 1 if it does not exist or cannot be read."
        ))
}

/// Prints the reason for the state of the given object.
///
/// # Errors
/// If no API server is configured or answers, the operator cannot be made, or the object does not
/// exist.
pub(crate) fn run_command(program: Program, told: &ArgMatches) -> anyhow::Result<()> {
    let options = Explaining::from_arg_matches(told)?;
    logging::begin_quietly()?;
    until_done(async {
        let (client, namespace) = options.explain.connection.connect().await?;
        let live = (&client, namespace.as_str());
        explain_object((program, told), live, &mut stdout().lock()).await
    })?
}

/// Explains an object of a cluster; `namespace` is where one is looked for that names none.
pub(crate) async fn explain_object(
    (program, told): (Program, &ArgMatches),
    (live, namespace): (&Client, &str),
    into: &mut impl Write,
) -> anyhow::Result<()> {
    let options = Explaining::from_arg_matches(told)?;
    let name = program.name;
    let kinds = definitions::kinds(name, &program.definitions)?;
    let lifecycles = lifecycles(program, told, (&options.told, namespace))?;
    if lifecycles.is_empty() {
        bail!("`{name}` runs no lifecycle, so there is nothing to explain");
    }
    let wanted = (&options.explain, namespace);
    let explained = lifecycle_inspect::explain::run(live, &lifecycles, wanted, into).await;
    let Err(error) = explained else {
        return Ok(());
    };
    let missing = match &error {
        Error::Unreadable(_) => unserved(live, &kinds).await,
        Error::Kind { .. }
        | Error::NoName { .. }
        | Error::Absent { .. }
        | Error::Unserved { .. }
        | Error::Several { .. }
        | Error::Print(_) => None,
    };
    let error = anyhow::Error::new(error);
    Err(match missing {
        Some(group) => error.context(format!(
            "the kinds of {group} are not installed: `{name} crds --install` installs them"
        )),
        None => error,
    })
}

/// Returns the lifecycles that the operator runs. The operator is made only for inspection, so it
/// gets a client without a cluster.
fn lifecycles(
    program: Program,
    told: &ArgMatches,
    (options, namespace): (&OperatorOptions, &str),
) -> anyhow::Result<Vec<Explained>> {
    let domain = options.kubernetes_cluster_domain.clone();
    let own = match (&options.operator_namespace, program.rights) {
        (Some(own), _) => own.clone(),
        (None, Some(rights)) => account::parse_account(rights)?.namespace,
        (None, None) => namespace.to_owned(),
    };
    let surroundings = Surroundings {
        client: generate::nobody()?,
        cluster_domain: domain.unwrap_or_else(ClusterDomain::usual).to_string(),
        namespace: own,
    };
    let operator = program.build_operator(surroundings, told)?;
    let all = operator.lifecycles();
    let all = all.map(|(machine, naming)| Explained::new(Arc::clone(machine), naming.clone()));
    Ok(all.collect())
}

/// Returns the first group with kinds that the cluster does not serve, if the cluster answers.
async fn unserved(live: &Client, kinds: &[Kinds]) -> Option<&'static str> {
    for one in kinds {
        if let Ok(false) = crds::served(live, one).await {
            return Some(one.group_version);
        }
    }
    None
}

#[cfg(test)]
#[cfg(feature = "sandbox")]
mod tests;
