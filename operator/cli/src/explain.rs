//! `explain`: one object of a live cluster by the lifecycles of the operator, made with the options of `run`. Reads alone, and nobody outside Kubernetes is
//! asked.

use std::io::{Write, stdout};
use std::sync::Arc;

use anyhow::bail;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use kube::Client;
use lifecycle_explain::{Error, Explain, Explained};
use lifecycle_process::cluster_domain::ClusterDomain;
use lifecycle_process::{logging, until_done};
use lifecycle_runtime::crds::{self, Kinds};

use crate::{Program, Surroundings, account, definitions, generate};

/// Which object, and as what the operator runs there.
#[derive(Debug, Args)]
struct Explaining {
    #[command(flatten)]
    explain: Explain,

    #[command(flatten)]
    told: Told,
}

/// What the operator is told where it runs, and what its answers may depend on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Operator")]
struct Told {
    /// Domain below which cluster DNS names Services. Without it, cluster.local.
    #[arg(long, env, value_name = "DOMAIN")]
    kubernetes_cluster_domain: Option<ClusterDomain>,

    /// Namespace of the operator itself. Without it, that of the manifest of its rights, else that of the kubeconfig's context.
    #[arg(long, env, value_name = "NAMESPACE")]
    operator_namespace: Option<String>,
}

/// The command.
pub(crate) fn command() -> Command {
    let about = "Say why an object of a cluster is where it is, who must act, and what comes next. Changes nothing";
    Explaining::augment_args(Command::new("explain"))
        .about(about)
        .long_about(format!(
            "{about}.\n\n\
             Looks at the object by the code of the operator, with the options that it is run with and with the rights to get and list of whoever asks.\n\n\
             Ends with 0 if the object was found, whatever is wrong with it, and with 1 if there is none or it cannot be read."
        ))
}

/// Prints why the object that is asked for is where it is.
///
/// # Errors
/// No API server is configured or answers, the operator cannot be made, or there is no such object.
pub(crate) fn asked(program: Program, told: &ArgMatches) -> anyhow::Result<()> {
    let options = Explaining::from_arg_matches(told)?;
    logging::begin_quietly()?;
    until_done(async {
        let (client, namespace) = options.explain.connect().await?;
        let live = (&client, namespace.as_str());
        of((program, told), live, &mut stdout().lock()).await
    })?
}

/// Explains an object of a cluster; `namespace` is where one is looked for that names none.
pub(crate) async fn of(
    (program, told): (Program, &ArgMatches),
    (live, namespace): (&Client, &str),
    into: &mut impl Write,
) -> anyhow::Result<()> {
    let options = Explaining::from_arg_matches(told)?;
    let name = program.name;
    let kinds = definitions::kinds(name, &program.definitions)?;
    let lifecycles = lifecycles(program, told, (&options.told, namespace))?;
    if lifecycles.is_empty() {
        bail!("`{name}` runs no lifecycle, so that there is nothing to explain");
    }
    let wanted = (&options.explain, namespace);
    let explained = lifecycle_explain::run(live, &lifecycles, wanted, into).await;
    let Err(error) = explained else {
        return Ok(());
    };
    let missing = match &error {
        Error::Unreadable(_) => unserved(live, &kinds).await,
        Error::Connect(_)
        | Error::Kind { .. }
        | Error::NoName { .. }
        | Error::Absent { .. }
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

/// The lifecycles that the operator runs. It is made to be looked at: what its author gives the client of a cluster gets that of nobody.
fn lifecycles(
    program: Program,
    told: &ArgMatches,
    (options, namespace): (&Told, &str),
) -> anyhow::Result<Vec<Explained>> {
    let domain = options.kubernetes_cluster_domain.clone();
    let own = match (&options.operator_namespace, program.rights) {
        (Some(own), _) => own.clone(),
        (None, Some(rights)) => account::of(rights)?.namespace,
        (None, None) => namespace.to_owned(),
    };
    let surroundings = Surroundings {
        client: generate::nobody()?,
        cluster_domain: domain.unwrap_or_else(ClusterDomain::usual).to_string(),
        namespace: own,
    };
    let operator = program.made(surroundings, told)?;
    let all = operator.lifecycles();
    let all = all.map(|(machine, naming)| Explained::new(Arc::clone(machine), naming.clone()));
    Ok(all.collect())
}

/// The first group whose kinds the cluster does not serve, if it can be asked.
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
