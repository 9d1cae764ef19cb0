//! A user with exactly the printed rights of a command runs it against a simulated cluster that
//! enforces them. No request is refused, no right is superfluous, and each missing right is named.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ArgMatches;
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use lifecycle_generate::Purpose;
use lifecycle_generate::rights::{Account, Holder, Object, Rights, Verb};
use lifecycle_runtime::{Operator, crds};
use lifecycle_simulator::server::Recorded;

use super::described;
use crate::cluster::manifests::{self, Manifest};
use crate::cluster::{Cluster, Options};
use crate::lifecycle::{self, machine};
use crate::logic::Logic;
use crate::{Program, definitions, explain, plan};

const USER: &str = "support";

/// One object with a name in use, and one new object.
const OBJECTS: &str = "\
apiVersion: web.example.org/v1alpha1
kind: Website
metadata: {name: shop, namespace: default}
spec: {image: example.org/shop}
---
apiVersion: web.example.org/v1alpha1
kind: Website
metadata: {name: new, namespace: default}
spec: {image: example.org/shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: default}
spec:
  replicas: 0
  selector: {matchLabels: {of: others}}
  template:
    metadata: {labels: {of: others}}
    spec: {containers: [{name: main, image: example.org/other}]}
";

fn program() -> Program {
    Program::new("website-operator", "1")
        .definitions(lifecycle::definitions)
        .operator(|_| Operator::new("web.example.org").run(machine(Logic)))
}

async fn rights(purpose: Purpose) -> Rights {
    let described = described(program(), &ArgMatches::default()).await.unwrap();
    described.parts()[0].rights_for(purpose)
}

/// A cluster, and the requests that it received.
struct Watched {
    cluster: Cluster,
    heard: Arc<Mutex<Vec<Recorded>>>,
}

impl Watched {
    async fn open() -> Self {
        let heard: Arc<Mutex<Vec<Recorded>>> = Arc::default();
        let notes = Arc::clone(&heard);
        let recorder = move |one: &Recorded| {
            let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
            notes.push(one.clone());
        };
        let options = Options {
            recorder: Some(Arc::new(recorder)),
            ..Options::default()
        };
        let cluster = Cluster::open(options).await.unwrap();
        Self { cluster, heard }
    }

    async fn furnish(&self) {
        let kinds = definitions::kinds("website-operator", &[lifecycle::definitions]).unwrap();
        crds::prepare(&self.cluster.client(), &kinds[0], true).await;
        self.apply(OBJECTS).await;
    }

    async fn apply(&self, text: &str) {
        let all = Manifest::parse(Path::new("text"), text).unwrap();
        manifests::apply(&self.cluster.client(), &all)
            .await
            .unwrap();
    }

    /// Grants the user these rights, and removes all others.
    async fn give(&self, rights: &Rights) {
        let account = Account {
            name: "nobody".to_owned(),
            namespace: "default".to_owned(),
            role: "asks".to_owned(),
        };
        let holder = Holder::User(USER.to_owned());
        self.apply(&rights.manifests_of(&account, &holder)).await;
    }

    /// Returns a client of the user, through the port.
    async fn client(&self) -> Client {
        let file = Kubeconfig::read_from(self.cluster.kubeconfig()).unwrap();
        let usual = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(file, &usual).await;
        let mut config = config.unwrap();
        config.auth_info.impersonate = Some(USER.to_owned());
        lifecycle_runtime::kube::client(config).unwrap()
    }

    async fn explains(&self) -> Result<String, String> {
        let words = ["website-operator", "explain", "website", "shop"];
        let matches = program().command().get_matches_from(words);
        let told = matches.subcommand_matches("explain").unwrap();
        let client = self.client().await;
        let mut text = Vec::new();
        let live = (&client, "default");
        let explained = explain::explain_object((program(), told), live, &mut text).await;
        explained.map_err(|error| format!("{error:#}"))?;
        Ok(String::from_utf8(text).unwrap())
    }

    async fn plans(&self, more: &[&str]) -> Result<String, String> {
        let words = ["website-operator", "plan"].iter().chain(more);
        let matches = program().command().get_matches_from(words);
        let told = matches.subcommand_matches("plan").unwrap();
        let client = self.client().await;
        let mut text = Vec::new();
        let planned = plan::print_plan((program(), told), &client, &mut text).await;
        planned.map_err(|error| format!("{error:#}"))?;
        Ok(String::from_utf8(text).unwrap())
    }

    /// Returns the requests refused to that user for want of a right.
    fn refused(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = heard
            .iter()
            .filter(|one| one.user == USER && one.code == 403);
        refused
            .map(|one| format!("{} {}", one.verb, one.path))
            .collect()
    }

    /// Returns the rights that no request used.
    fn unused(&self, rights: &Rights) -> BTreeSet<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let heard: Vec<&Recorded> = heard.iter().filter(|one| one.user == USER).collect();
        // An apply that makes something is one request, and needs two rights.
        let uses = |one: &Recorded, object: &Object, verb: Verb| {
            let is_verb = one.verb == verb.as_str() || one.verb == "patch" && verb == Verb::Create;
            is_verb && is_about(&one.path, object)
        };
        let all = rights.of_requests();
        let unused = all.filter(|(object, verb)| !heard.iter().any(|one| uses(one, object, *verb)));
        unused
            .map(|(object, verb)| format!("{} {object}", verb.as_str()))
            .collect()
    }
}

fn is_about(path: &str, object: &Object) -> bool {
    let root = match object.group.as_str() {
        "" => "/api/v1/".to_owned(),
        group => format!("/apis/{group}/"),
    };
    let path = path.split('?').next().unwrap_or_default();
    let mut parts = path
        .strip_prefix(&root)
        .into_iter()
        .flat_map(|rest| rest.split('/'));
    object
        .resource
        .split('/')
        .all(|wanted| parts.any(|part| part == wanted))
}

/// All but one.
fn without(rights: &Rights, left_out: (&Object, Verb)) -> Rights {
    let rest = rights.each().filter(|one| *one != left_out);
    rest.fold(Rights::default(), |rest, (object, verb)| {
        rest.and(object.clone(), &[verb], "it is tried")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_needs_the_rights_that_are_printed_for_it_and_names_one_that_is_missing() {
    let watched = Watched::open().await;
    watched.furnish().await;
    let rights = rights(Purpose::Explain).await;
    watched.give(&rights).await;
    let told = watched.explains().await.unwrap();
    assert!(
        told.starts_with("Website `default/shop` is Taken"),
        "{told}"
    );
    assert_eq!(watched.refused(), [""; 0]);
    assert_eq!(watched.unused(&rights), BTreeSet::new());
    for (object, verb) in rights.each() {
        watched.give(&without(&rights, (object, verb))).await;
        let told = watched.explains().await;
        let told = told.unwrap_or_else(|error| error);
        let missing = format!("{} {object}", verb.as_str());
        assert!(
            told.contains(&missing),
            "without the right to {missing}: {told}"
        );
    }
    watched.cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_needs_the_rights_that_are_printed_for_it_and_names_one_that_is_missing() {
    let watched = Watched::open().await;
    let rights = rights(Purpose::Plan).await;
    watched.give(&rights).await;
    let told = watched.plans(&[]).await.unwrap();
    assert!(told.contains("websites.web.example.org"), "{told}");
    watched.furnish().await;
    let told = watched.plans(&[]).await.unwrap();
    assert!(told.contains("+ Deployment.apps default/new"), "{told}");
    assert_eq!(watched.refused(), [""; 0]);
    assert_eq!(watched.unused(&rights), BTreeSet::new());
    for (object, verb) in rights.each() {
        watched.give(&without(&rights, (object, verb))).await;
        let (told, missing) = (
            watched.plans(&[]).await,
            format!("{} {object}", verb.as_str()),
        );
        match (object.resource.as_str(), told) {
            // Each that is named is taken to be there.
            ("namespaces", told) => assert!(told.unwrap().contains("default/new")),
            (_, Ok(told)) => panic!("without the right to {missing}: {told}"),
            (_, Err(told)) => assert!(
                told.contains(&format!("{missing}: the right to do so is missing")),
                "{told}"
            ),
        }
    }
    watched.cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_opinion_of_the_server_needs_the_rights_that_are_printed_for_it() {
    let watched = Watched::open().await;
    let rights = rights(Purpose::DryRun).await;
    watched.give(&rights).await;
    let asking = ["--dry-run", "server"];
    let told = watched.plans(&asking).await.unwrap();
    assert!(!told.contains("would refuse"), "{told}");
    watched.furnish().await;
    let told = watched.plans(&asking).await.unwrap();
    assert!(told.contains("+ Deployment.apps default/new"), "{told}");
    assert!(!told.contains("would refuse"), "{told}");
    assert_eq!(watched.refused(), [""; 0]);
    // An existing object that differs from the wanted one is read once more.
    let spared = [
        "get customresourcedefinitions.apiextensions.k8s.io `websites.web.example.org`",
        "get deployments.apps",
    ];
    let spared: BTreeSet<String> = spared.map(str::to_owned).into();
    assert_eq!(watched.unused(&rights), spared);
    // A user who may only read gets a line for each write that the API server would refuse.
    watched.give(&self::rights(Purpose::Plan).await).await;
    let told = watched.plans(&asking).await.unwrap();
    assert!(
        told.contains("  ! the API server would refuse it: ") && told.contains("forbidden"),
        "{told}"
    );
    watched.cluster.stop().await;
}
