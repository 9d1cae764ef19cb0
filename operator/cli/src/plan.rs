//! `plan`: runs the operator, with the options of `run`, in a copy of the cluster until it has
//! nothing left to do. Objects are copied on demand. Nothing outside Kubernetes is queried.

use std::collections::BTreeSet;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use crate::process::args::Cluster;
use crate::process::cluster_domain::ClusterDomain;
use crate::process::{compared, logging, until_done};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use kube::Client;
use lifecycle_inspect::plan::{Plan, Still, Verdict};
use lifecycle_runtime::cause;

use crate::run::prepare;
use crate::{Program, Surroundings, definitions};

/// The cluster to plan for, and the settings of the operator.
#[derive(Debug, Args)]
struct Planning {
    #[command(flatten)]
    plan: Plan,

    #[command(flatten)]
    cluster: Cluster,
}

/// The command.
pub(crate) fn command() -> Command {
    Planning::augment_args(Command::new("plan"))
        .about("Show what this version would write into a cluster, before it runs there. Changes nothing")
        .long_about(
            "Show what this version would write into a cluster, before it runs there. Changes nothing.\n\nRuns the operator with its options in a copy of the objects that it reads, until it has nothing left to do. Shows its writes by object and field, the Pods that they restart, and what it would then wait for. Reads with the caller's rights to get and list.\n\nExits 0 if it would write nothing, 1 if it would write something, 2 if that cannot be determined.",
        )
}

/// Prints the plan, and returns the exit code of the process.
///
/// # Errors
/// The system starts no threads.
pub(crate) fn run_command(program: Program, told: &ArgMatches) -> anyhow::Result<ExitCode> {
    let planned = until_done(planned(program, told))?;
    Ok(compared(planned.map(|verdict| verdict as u8)))
}

async fn planned(program: Program, told: &ArgMatches) -> anyhow::Result<Verdict> {
    logging::begin_quietly()?;
    let options = Planning::from_arg_matches(told)?;
    let (live, _) = options.plan.connection.connect().await?;
    print_plan((program, told), &live, &mut stdout().lock()).await
}

/// Prints the writes that the program would make in a cluster.
pub(crate) async fn print_plan(
    (program, told): (Program, &ArgMatches),
    live: &Client,
    into: &mut impl Write,
) -> anyhow::Result<Verdict> {
    let Planning { plan, cluster } = Planning::from_arg_matches(told)?;
    let kinds = definitions::kinds(program.name, &program.definitions)?;
    let namespace = cluster.operator_namespace.as_deref();
    let namespace = namespace.unwrap_or(live.default_namespace()).to_owned();
    let noted = Arc::new(Mutex::new(BTreeSet::new()));
    let unasked = || {
        let noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.iter().cloned().collect()
    };
    let start = |inside: lifecycle_inspect::plan::Operator| async {
        let maintain = !cluster.disable_crd_maintenance;
        let install = format!("{} crds --install", program.name);
        inside.own_kinds(&kinds, (&install, maintain));
        prepare(&inside.client, &kinds, maintain, &inside.health).await;
        // The one that the operator finds in its Pod cannot be found from here.
        let domain = cluster.kubernetes_cluster_domain.clone();
        let domain = domain.unwrap_or_else(ClusterDomain::usual);
        let surroundings = Surroundings {
            client: inside.client.clone(),
            cluster_domain: domain.to_string(),
            namespace,
        };
        let made = program.build_operator(surroundings, told);
        let operator = made.map_err(|error| cause::in_one_line(error.as_ref()))?;
        let operator = operator
            .instead(|machine| Arc::new(Still::new(machine, Arc::clone(&noted))))
            .health(inside.health)
            .trace(inside.trace);
        let ended = operator.start(inside.client, inside.shutdown).await;
        ended.map_err(|error| cause::in_one_line(&error))
    };
    Ok(lifecycle_inspect::plan::run(live, &plan, (unasked, start), into).await?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::Api;
    use lifecycle_runtime::crds;

    use super::*;
    use crate::cluster::manifests::{self, Manifest};
    use crate::cluster::{Cluster, Options};
    use crate::run::mirror;
    use crate::run::tests::{definitions, program};

    async fn plan_text(cluster: &Cluster, words: &[&str]) -> (Verdict, String) {
        let all = ["mirror-operator", "plan"].iter().chain(words);
        let matches = program().command().get_matches_from(all);
        let told = matches.subcommand_matches("plan").unwrap();
        let mut text = Vec::new();
        let live = cluster.client();
        let verdict = print_plan((program(), told), &live, &mut text)
            .await
            .unwrap();
        (verdict, String::from_utf8(text).unwrap())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_program_says_what_it_would_write_and_writes_none_of_it() {
        let cluster = Cluster::open(Options::default()).await.unwrap();
        let (verdict, text) = plan_text(&cluster, &[]).await;
        assert_eq!(verdict, Verdict::Something);
        let defined = "+ CustomResourceDefinition.apiextensions.k8s.io mirrors.examples.test  (by mirror-operator): it is not installed; `mirror-operator crds --install` installs it, too\n";
        assert!(text.starts_with(defined), "{text}");
        assert!(text.lines().count() < 6, "{text}");
        let (verdict, text) = plan_text(&cluster, &["--full"]).await;
        assert_eq!(verdict, Verdict::Something);
        let field = r#"    + spec.names.kind: "Mirror""#;
        assert!(text.starts_with(defined) && text.contains(field), "{text}");

        let kinds = crate::definitions::kinds("mirror-operator", &[definitions]).unwrap();
        crds::prepare(&cluster.client(), &kinds[0], true).await;
        let objects = Manifest::parse(Path::new("objects"), mirror::OBJECTS).unwrap();
        manifests::apply(&cluster.client(), &objects).await.unwrap();
        let (verdict, text) = plan_text(&cluster, &[]).await;
        assert_eq!(verdict, Verdict::Something);
        assert!(text.contains("+ ConfigMap default/copy"), "{text}");
        assert!(!text.contains("CustomResourceDefinition"), "{text}");
        let copies: Api<ConfigMap> = Api::default_namespaced(cluster.client());
        assert_eq!(copies.get_opt("copy").await.unwrap(), None);
        cluster.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn where_its_kinds_are_installed_by_others_the_plan_goes_on_as_if_they_were() {
        let cluster = Cluster::open(Options::default()).await.unwrap();
        let (verdict, text) = plan_text(&cluster, &["--disable-crd-maintenance"]).await;
        assert_eq!(verdict, Verdict::Unknown);
        assert_eq!(
            text,
            "! mirrors.examples.test is not installed, and the operator would wait for it: `mirror-operator crds --install` installs it. What follows is as if it were\n\n\
             Nothing would be written: the operator manages 0 objects.\n"
        );
        cluster.stop().await;
    }
}
