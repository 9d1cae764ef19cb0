//! `sandbox`: a simulated cluster in this process, the operator at work in it, and a door for `kubectl`.

mod subjects;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::process::cluster_domain::ClusterDomain;
use crate::process::{logging, until_done};
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use kube::Client;
use kube::discovery::Discovery;
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{Operator, cause};

use crate::account::{self, RIGHTS};
use crate::cluster::manifests::{self, Manifest};
use crate::cluster::{self, Cluster, UNUSABLE, complain, print_line};
use crate::follow::Follow;
use crate::updates::Verdict;
use crate::{Program, Surroundings, definitions, passes, run};
use subjects::Managed;

/// The operator needs a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of the simulated cluster.
#[derive(Debug, Args)]
struct Sandbox {
    /// YAML or JSON files, as for `kubectl apply -f`. Several documents in a file are fine.
    #[arg(value_name = "FILE")]
    manifests: Vec<PathBuf>,

    /// Stop once every managed object of the manifests is Ready, or the time is over.
    #[arg(long, requires = "manifests")]
    once: bool,

    /// Time limit in seconds until they are Ready. Without --once the sandbox prints the missing
    /// ones and continues.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    /// Port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// File to write the kubeconfig to. Without it, a file in a temporary folder. It is removed at
    /// the end.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Seed of uids, generated names and the like.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

/// The command.
pub(crate) fn command() -> Command {
    Sandbox::augment_args(Command::new("sandbox"))
        .about("Try the operator out in a simulated cluster on this machine. Needs no cluster, no Docker and no root")
        .long_about(
            "Try the operator out in a simulated cluster on this machine. Needs no cluster, no Docker and no root.\n\nStarts the cluster, runs the operator in it with the rights of its manifest, and applies the manifests. Prints each state change of every object that the operator manages until it is Ready. Then keeps serving `kubectl` until Ctrl-C or SIGTERM.\n\nExits 0 when it is stopped or, with --once, when all objects are Ready. Exits 1 if, with --once, one was not Ready in time. Exits 2 if a manifest, a port or the kubeconfig cannot be used, or the operator cannot run.",
        )
}

/// Runs the sandbox and returns the exit code of the process.
///
/// # Errors
/// The system starts no threads.
pub(crate) fn run_command(program: Program, told: &ArgMatches) -> anyhow::Result<ExitCode> {
    let options = Sandbox::from_arg_matches(told)?;
    let ended = until_done(open(program, &options, told))?;
    Ok(match ended {
        Ok(Verdict::Ready | Verdict::Stopped) => ExitCode::SUCCESS,
        Ok(Verdict::Unready) => ExitCode::FAILURE,
        Err(error) => {
            complain(&cause::in_one_line(error.as_ref()));
            ExitCode::from(UNUSABLE)
        }
    })
}

async fn open(program: Program, options: &Sandbox, told: &ArgMatches) -> anyhow::Result<Verdict> {
    logging::begin_quietly()?;
    let manifests = Manifest::read_all(&options.manifests)?;
    let kinds = definitions::kinds(program.name, &program.definitions)?;
    let mut shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let cluster = Cluster::open(cluster::Options {
        seed: options.seed,
        port: options.port,
        kubeconfig: options.kubeconfig.clone(),
        ..cluster::Options::default()
    });
    let cluster = cluster.await?;
    cluster.introduce();
    let inside = async {
        let (client, namespace) = account(&cluster, program.rights).await?;
        let nobody_asks = Health::default();
        let prepared = run::prepare(&client, &kinds, true, &nobody_asks);
        if tokio::time::timeout(PATIENCE, prepared).await.is_err() {
            bail!(
                "the kinds of the operator are not served after {} s: see the lines above for the reason",
                PATIENCE.as_secs()
            );
        }
        let surroundings = Surroundings {
            client: client.clone(),
            cluster_domain: ClusterDomain::usual().to_string(),
            namespace,
        };
        let operator = program.build_operator(surroundings, told)?;
        observed(&cluster, (operator, client), (options, &manifests), &kinds).await
    };
    let verdict = tokio::select! {
        biased;
        () = shutdown.wait() => Ok(Verdict::Stopped),
        verdict = inside => verdict,
    };
    cluster.stop().await;
    verdict
}

/// Returns a client with the account of the operator, and its namespace. The cluster receives the
/// manifest of its rights.
async fn account(cluster: &Cluster, rights: Option<&str>) -> anyhow::Result<(Client, String)> {
    let Some(rights) = rights else {
        print_line(
            "the operator works as an administrator: give the program its rights, so that they are tried out, too",
        );
        return Ok((cluster.client(), "default".to_owned()));
    };
    let account = account::parse_account(rights)?;
    manifests::install(&cluster.client(), RIGHTS, rights).await?;
    let client = cluster.account(&account.namespace, &account.name);
    Ok((client, account.namespace))
}

/// Runs the operator, and prints its progress.
async fn observed(
    cluster: &Cluster,
    (operator, client): (Operator, Client),
    (options, manifests): (&Sandbox, &[Manifest]),
    kinds: &[Kinds],
) -> anyhow::Result<Verdict> {
    let machines = operator.machines();
    let subjects = machines.filter_map(|one| Some((one.ir().path, one.subject()?)));
    let subjects = subjects.collect();
    let (heard, decided) = tokio::sync::mpsc::unbounded_channel();
    let running = operator
        .trace(passes::observer(heard))
        .start(client, cluster.shutdown());
    let follow = Follow::new(Managed(subjects), decided);
    tokio::select! {
        biased;
        done = running => {
            done.context("the operator ended")?;
            bail!("the operator ended by itself")
        }
        verdict = followed(cluster, follow, (options, manifests), kinds) => verdict,
    }
}

/// Applies the manifests, and prints their progress until all are Ready, or for ever.
async fn followed(
    cluster: &Cluster,
    mut follow: Follow<Managed>,
    (options, manifests): (&Sandbox, &[Manifest]),
    kinds: &[Kinds],
) -> anyhow::Result<Verdict> {
    let client = cluster.client();
    manifests::apply(&client, manifests).await?;
    let wanted = follow.subjects().expected_objects(manifests);
    if options.once && wanted.is_empty() {
        bail!(
            "the manifests contain no {}, so there is nothing to wait for: leave out --once",
            names(&follow, " and no ")
        );
    }
    let limit = Duration::from_secs(options.timeout);
    let verdict = follow.until_ready(&client, &wanted, limit).await?;
    if options.once {
        return Ok(verdict);
    }
    print_line(&how_to_look(cluster, &follow, kinds).await?);
    match follow.forever(&client).await {}
}

fn names(follow: &Follow<Managed>, between: &str) -> String {
    let names: Vec<&str> = follow
        .subjects()
        .kinds()
        .map(|kind| kind.kind.as_str())
        .collect();
    names.join(between)
}

async fn how_to_look(
    cluster: &Cluster,
    follow: &Follow<Managed>,
    kinds: &[Kinds],
) -> anyhow::Result<String> {
    let served = served(&cluster.client()).await?;
    let subjects = follow.subjects().kinds().map(resource_of);
    let subjects: Vec<String> = subjects.map(|one| resource_name(&one, &served)).collect();
    let defined = kinds.iter().flat_map(|one| (one.definitions)());
    let defined = defined.map(|one| (one.spec.names.plural, one.spec.group));
    let mut all: Vec<String> = defined.map(|one| resource_name(&one, &served)).collect();
    all.extend(subjects.iter().cloned());
    all.sort();
    all.dedup();
    let first = subjects.first().map_or("pods", String::as_str);
    Ok(format!(
        "\nLook around in another terminal (the API server is https://{}):\n\n  export KUBECONFIG={}\n  kubectl get {}\n  \
         kubectl describe {first}\n  kubectl explain {first}.spec\n\nCtrl-C ends it.",
        cluster.address(),
        cluster.kubeconfig().display(),
        all.join(",")
    ))
}

/// The plural of a resource, and its group.
type Resource = (String, String);

fn resource_of(kind: &Kind) -> Resource {
    (kind.plural.clone(), kind.group.clone())
}

/// Returns the resources that a cluster serves.
async fn served(client: &Client) -> anyhow::Result<Vec<Resource>> {
    let all = Discovery::new(client.clone()).run().await;
    let all = all.context("the kinds of the simulated cluster cannot be listed")?;
    let resources = all.groups().flat_map(|group| group.recommended_resources());
    Ok(resources.map(|(one, _)| (one.plural, one.group)).collect())
}

/// A resource as `kubectl` takes it: with its group where another group serves one of that name.
fn resource_name((plural, group): &Resource, served: &[Resource]) -> String {
    let is_other = |(other, of): &Resource| other == plural && of != group;
    match !group.is_empty() && served.iter().any(is_other) {
        true => format!("{plural}.{group}"),
        false => plural.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Options;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_resource_is_told_with_its_group_where_another_group_serves_its_plural() {
        let cluster = Cluster::open(Options::default()).await.unwrap();
        let served = served(&cluster.client()).await.unwrap();
        let check = |plural: &str, group: &str, expected: &str| {
            let resource = (plural.to_owned(), group.to_owned());
            assert_eq!(resource_name(&resource, &served), expected);
        };
        check("services", "web.example.org", "services.web.example.org");
        check("services", "", "services");
        check("gadgets", "gadgets.example.org", "gadgets");
        check("deployments", "apps", "deployments");
        cluster.stop().await;
    }
}
