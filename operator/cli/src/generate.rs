//! Output that follows from the lifecycles of the operator, and needs no cluster: `lifecycles`,
//! `diagram`, `docs` and `manifests`.

use std::io::stdout;
use std::sync::Arc;

use crate::process::cluster_domain::ClusterDomain;
use crate::process::until_done;
use anyhow::Context;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use kube::{Client, Config};
use lifecycle_generate::Part;
use lifecycle_generate::command::Generate;
use lifecycle_runtime::kube::client;

use crate::account::{self, Account};
use crate::{Program, Surroundings};

/// Address without a server: the operator is made only for inspection, and sends no request.
const NOWHERE: &str = "http://127.0.0.1:1";

/// These commands.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    let all = Generate::augment_subcommands(Command::new("all"));
    let all: Vec<Command> = all.get_subcommands().cloned().collect();
    all.into_iter()
}

/// Returns true if the name is one of these commands.
pub(crate) fn is_one(name: &str) -> bool {
    Generate::has_subcommand(name)
}

/// Generates the requested output and prints it.
///
/// # Errors
/// If the operator cannot be made, the name is unknown, or the output cannot be written.
pub(crate) fn run_command(program: Program, matches: &ArgMatches) -> anyhow::Result<()> {
    let generate = Generate::from_arg_matches(matches)?;
    let (_, told) = matches.subcommand().context("a command is missing")?;
    let described = until_done(described(program, told))??;
    Ok(generate.run(&described, &mut stdout().lock())?)
}

/// The program as texts are made of it: one part, which runs the operator. A client can only be made where futures run.
pub(crate) async fn described(
    program: Program,
    told: &ArgMatches,
) -> anyhow::Result<lifecycle_generate::Program> {
    // Without a manifest both are called as the program.
    let account = match program.rights {
        Some(rights) => account::parse_account(rights)?,
        None => Account {
            namespace: program.name.to_owned(),
            name: program.name.to_owned(),
        },
    };
    let definitions = program.definitions.iter().flat_map(|one| one()).collect();
    let part = Part::new("controller", &account.name, &account.namespace)
        .installs(definitions)
        .leads_by(program.name);
    let besides = program.besides.iter();
    let part = besides.fold(part, |part, (object, verbs, why)| {
        part.also(object.clone(), verbs, why)
    });
    let surroundings = Surroundings {
        client: nobody()?,
        cluster_domain: ClusterDomain::usual().to_string(),
        namespace: account.namespace,
    };
    let operator = program.build_operator(surroundings, told)?;
    let machines = operator.machines();
    let part = machines.fold(part, |part, machine| part.runs_shared(Arc::clone(machine)));
    Ok(lifecycle_generate::Program::new().part(part))
}

/// Returns a client without a cluster.
///
/// # Errors
/// None can be made here.
pub(crate) fn nobody() -> anyhow::Result<Client> {
    let nowhere = Config::new(NOWHERE.parse().context("an address")?);
    Ok(client(nowhere)?)
}

#[cfg(test)]
#[cfg(feature = "sandbox")]
mod asked;

#[cfg(test)]
mod tests {
    use lifecycle_runtime::Operator;

    use super::*;
    use crate::{Object, Verb};

    const ACCOUNT: &str = "kind: Namespace\nmetadata: {name: far}\n---\nkind: ServiceAccount\nmetadata: {name: somebody, namespace: far}\n";

    fn program() -> Program {
        let nodes = Object::all("", "nodes");
        Program::new("thing-operator", "1")
            .also(nodes, &[Verb::Get], "the region of a node")
            .operator(|_| Operator::new("things.example.org"))
    }

    async fn rights(program: Program) -> String {
        let described = described(program, &ArgMatches::default()).await.unwrap();
        let [part] = described.parts() else {
            panic!("a program is one part");
        };
        part.rights().manifests(&part.account)
    }

    #[tokio::test]
    async fn rights_are_those_of_the_account_of_the_manifest_or_of_one_called_as_the_program() {
        let own = rights(program()).await;
        assert!(own.contains("    namespace: thing-operator\n"), "{own}");
        let told = rights(program().rights(ACCOUNT)).await;
        assert!(
            told.contains("    name: somebody\n    namespace: far\n"),
            "{told}"
        );
        assert!(told.contains("resourceNames: [thing-operator]\n"), "{told}");
    }

    #[tokio::test]
    async fn what_the_author_asks_for_is_there_and_definitions_only_where_there_are_some() {
        let said = rights(program()).await;
        assert!(said.contains("  # get: the region of a node\n"), "{said}");
        assert!(!said.contains("customresourcedefinitions"), "{said}");
    }
}
