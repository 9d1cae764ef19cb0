//! The definitions of a program: which group they are of, and what `crds` does with them.

use std::io::{Write, stdout};
use std::time::Duration;

use anyhow::{Context, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use lifecycle_process::{definitions, logging, until_done};
use lifecycle_runtime::crds::{self, Kinds};
use lifecycle_runtime::kube::connect;
use tokio::time::timeout;

use crate::args;

/// How long an API server may take for the kinds of a group: to answer, and then to serve them. It needs a second.
const PATIENCE: Duration = Duration::from_secs(60);

type Definitions = fn() -> Vec<CustomResourceDefinition>;

/// The kinds of each group.
///
/// # Errors
/// A list of them is empty, or not of one group and version.
pub(crate) fn kinds(program: &str, all: &[Definitions]) -> anyhow::Result<Vec<Kinds>> {
    all.iter().map(|one| kinds_of(program, *one)).collect()
}

fn kinds_of(program: &str, definitions: Definitions) -> anyhow::Result<Kinds> {
    let mut group = None;
    for definition in definitions() {
        let spec = definition.spec;
        let stored = spec.versions.iter().find(|version| version.storage);
        let stored = stored
            .with_context(|| format!("the definition of {} stores no version", spec.names.kind))?;
        let of = format!("{}/{}", spec.group, stored.name);
        let first = group.get_or_insert_with(|| of.clone());
        if *first != of {
            bail!(
                "the definitions of {first} and of {of} are in one list: give each group its own, with one `Program::definitions` each"
            );
        }
    }
    let group = group.with_context(|| format!("a list of definitions of `{program}` is empty"))?;
    Ok(Kinds {
        group_version: for_ever(group),
        manager: for_ever(program.to_owned()),
        printed_by: for_ever(format!("{program} crds")),
        definitions,
    })
}

/// A program asks for its kinds once, and they stay what they are until it ends.
fn for_ever(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// `crds`: prints them, or installs them.
///
/// # Errors
/// There are none, they cannot be written to standard output, or no API server is configured.
pub(crate) fn asked(kinds: &[Kinds], options: &args::Crds) -> anyhow::Result<()> {
    if kinds.is_empty() {
        bail!("the program has no kinds: give it its definitions with `Program::definitions`");
    }
    if !options.install {
        let all = kinds.iter().flat_map(|one| (one.definitions)()).collect();
        return definitions::print(all, &mut stdout().lock());
    }
    logging::begin_quietly()?;
    until_done(async { install(&connect().await?, kinds, PATIENCE, &mut stdout()).await })?
}

async fn install(
    client: &Client,
    kinds: &[Kinds],
    limit: Duration,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for one in kinds {
        let group = one.group_version;
        let written = timeout(limit, crds::maintain(client, one)).await;
        let written = written.with_context(|| {
            format!(
                "the API server has not answered within {limit:?}, and what is installed of {group} is not known: see that it can be reached, and try again"
            )
        })?;
        let written = written.context(
            "CustomResourceDefinitions cannot be installed or updated: use a kubeconfig of somebody who may list, create and patch them",
        )?;
        let served = timeout(limit, crds::prepare(client, one, true)).await;
        served.with_context(|| {
            format!(
                "the kinds of {group} are installed, and not served within {limit:?}: `kubectl describe crd` says in their conditions why"
            )
        })?;
        for name in (one.definitions)()
            .iter()
            .filter_map(|one| one.metadata.name.clone())
        {
            let said = if written.contains(&name) {
                "written"
            } else {
                "as wanted"
            };
            definitions::say(out, &format!("{name} {said}, and served"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(group: &str, kind: &str) -> CustomResourceDefinition {
        let plural = format!("{}s", kind.to_lowercase());
        let schema = json!({ "openAPIV3Schema": { "type": "object" } });
        let definition = json!({
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group, "scope": "Namespaced", "names": { "kind": kind, "plural": plural },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
            },
        });
        serde_json::from_value(definition).unwrap()
    }

    fn of_one() -> Vec<CustomResourceDefinition> {
        vec![
            definition("a.example.org", "Thing"),
            definition("a.example.org", "Other"),
        ]
    }

    fn of_two() -> Vec<CustomResourceDefinition> {
        vec![
            definition("a.example.org", "Thing"),
            definition("b.example.org", "Other"),
        ]
    }

    /// Kinds that are installed under another version than they are waited for.
    #[cfg(feature = "sandbox")]
    fn of_another_version() -> Kinds {
        Kinds {
            group_version: "a.example.org/v2",
            manager: "thing-operator",
            printed_by: "thing-operator crds",
            definitions: of_one,
        }
    }

    #[cfg(feature = "sandbox")]
    #[tokio::test]
    async fn kinds_that_are_installed_are_told_and_those_never_served_not_waited_for_long() {
        use lifecycle_simulator::{Server, User};

        let client = Server::new(0).client(&User::admin());
        let kinds = kinds("thing-operator", &[of_one]).unwrap();
        let mut out = Vec::new();
        install(&client, &kinds, PATIENCE, &mut out).await.unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "things.a.example.org written, and served\nothers.a.example.org written, and served\n"
        );
        let (limit, another) = (Duration::from_secs(1), [of_another_version()]);
        let late = install(&client, &another, limit, &mut Vec::new()).await;
        let said = late.unwrap_err().to_string();
        assert!(
            said.starts_with(
                "the kinds of a.example.org/v2 are installed, and not served within 1s"
            ),
            "{said}"
        );
    }

    #[tokio::test]
    async fn an_api_server_that_never_answers_is_not_waited_for_long() {
        let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", deaf.local_addr().unwrap());
        let config = kube::Config::new(address.parse().unwrap());
        let client = lifecycle_runtime::kube::client(config).unwrap();
        let kinds = kinds("thing-operator", &[of_one]).unwrap();
        let limit = Duration::from_millis(10);
        let late = install(&client, &kinds, limit, &mut Vec::new()).await;
        let said = late.unwrap_err().to_string();
        assert!(
            said.starts_with("the API server has not answered within 10ms"),
            "{said}"
        );
    }

    #[test]
    fn the_group_and_the_command_are_read_off_the_definitions() {
        let found = kinds("thing-operator", &[of_one]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].group_version, "a.example.org/v1");
        assert_eq!(found[0].printed_by, "thing-operator crds");
    }

    #[test]
    fn lists_that_cannot_be_served_are_refused_with_what_to_do() {
        let said = |all: &[Definitions]| kinds("p", all).unwrap_err().to_string();
        assert!(said(&[of_two]).contains("a.example.org/v1 and of b.example.org/v1"));
        let none = asked(&[], &args::Crds { install: false });
        assert!(
            none.unwrap_err()
                .to_string()
                .contains("Program::definitions")
        );
        assert!(said(&[Vec::new]).contains("is empty"));
    }
}
