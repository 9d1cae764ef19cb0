//! The definitions of a program: their group, and the command `crds`.

use std::io::{Write, stdout};
use std::time::Duration;

use crate::process::{definitions, logging, until_done};
use anyhow::{Context, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
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

/// Leaks a text. A program queries its kinds once, and they stay the same until it ends.
fn for_ever(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// `crds`: prints them, or installs them.
///
/// # Errors
/// There are none, they cannot be written to standard output, or no API server is configured.
pub(crate) fn run_command(kinds: &[Kinds], options: &args::Crds) -> anyhow::Result<()> {
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
        let written = written.map_err(|error| {
            let advice = advice(&error);
            anyhow::Error::new(error).context(advice)
        })?;
        let served = timeout(limit, crds::prepare(client, one, true)).await;
        served.with_context(|| {
            format!(
                "the kinds of {group} are installed, but not served within {limit:?}: see their conditions in `kubectl describe crd`"
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
            definitions::print_line(out, &format!("{name} {said}, and served"))?;
        }
    }
    Ok(())
}

/// Returns the advice for definitions that could not be written: rights, if the API server refused
/// them, and otherwise a reachable API server.
const fn advice(error: &kube::Error) -> &'static str {
    if matches!(error, kube::Error::Api(_)) {
        "CustomResourceDefinitions cannot be installed or updated: use a kubeconfig of a user who may list, create and patch them"
    } else {
        "the API server cannot be queried, so the installed definitions are unknown: check that it runs and that the kubeconfig has its address, then try again"
    }
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
                "the kinds of a.example.org/v2 are installed, but not served within 1s"
            ),
            "{said}"
        );
    }

    /// A kind with bounds, which Rust writes as `1.0` and an API server as `1`.
    #[cfg(feature = "sandbox")]
    fn of_bounds() -> Vec<CustomResourceDefinition> {
        let mut bounded = serde_json::to_value(definition("a.example.org", "Thing")).unwrap();
        bounded["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] =
            json!({ "size": { "type": "integer", "minimum": 1, "nullable": false } });
        vec![serde_json::from_value(bounded).unwrap()]
    }

    #[cfg(feature = "sandbox")]
    #[tokio::test]
    async fn a_definition_that_a_server_has_completed_is_as_wanted() {
        use kube::api::{Api, ApiResource, DynamicObject, PostParams};
        use lifecycle_simulator::{Server, User};

        let client = Server::new(0).client(&User::admin());
        let schema = json!({
            "type": "object", "properties": { "size": { "type": "integer", "minimum": 1 } },
        });
        let stored = json!({
            "metadata": { "name": "things.a.example.org" },
            "spec": {
                "group": "a.example.org", "scope": "Namespaced", "conversion": { "strategy": "None" },
                "names": { "kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing" },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
            },
        });
        let stored: DynamicObject = serde_json::from_value(stored).unwrap();
        let definitions = ApiResource::erase::<CustomResourceDefinition>(&());
        let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &definitions);
        let made = definitions.create(&PostParams::default(), &stored).await;
        let kinds = kinds("thing-operator", &[of_bounds]).unwrap();
        let mut out = Vec::new();
        install(&client, &kinds, PATIENCE, &mut out).await.unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "things.a.example.org as wanted, and served\n"
        );
        let now = definitions.get("things.a.example.org").await.unwrap();
        assert_eq!(now.metadata.generation, made.unwrap().metadata.generation);
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
        let none = run_command(&[], &args::Crds { install: false });
        assert!(
            none.unwrap_err()
                .to_string()
                .contains("Program::definitions")
        );
        assert!(said(&[Vec::new]).contains("is empty"));
    }

    #[tokio::test]
    async fn where_no_server_answers_nobody_is_told_of_rights() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let client =
            lifecycle_runtime::kube::client(kube::Config::new(nobody.parse().unwrap())).unwrap();
        let kinds = kinds("thing-operator", &[of_one]).unwrap();
        let failed = install(&client, &kinds, PATIENCE, &mut Vec::new()).await;
        let said = format!("{:#}", failed.unwrap_err());
        assert!(
            said.starts_with("the API server cannot be queried"),
            "{said}"
        );
        assert!(!said.contains("may list"), "{said}");
    }
}
