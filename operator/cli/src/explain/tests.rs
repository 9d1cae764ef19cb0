//! The operator of the template explains objects of a simulated cluster for a user with the verbs
//! get and list only.

use std::path::Path;

use lifecycle_runtime::Operator;
use lifecycle_simulator::User;

use super::*;
use crate::cluster::manifests::{self, Manifest};
use crate::cluster::{Cluster, Options};
use crate::lifecycle::{self, machine};
use crate::logic::Logic;

/// A Website with an existing Deployment that another user owns.
const OBJECTS: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: support}
rules:
  - {apiGroups: [web.example.org], resources: [websites], verbs: [get]}
  - {apiGroups: [apps], resources: [deployments], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: support}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: support}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: support}]
---
apiVersion: web.example.org/v1alpha1
kind: Website
metadata: {name: shop, namespace: default}
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

/// Returns the output of `explain` for a user who may only look.
async fn explain_output(cluster: &Cluster, words: &[&str]) -> Result<String, String> {
    let all = ["website-operator", "explain"].iter().chain(words);
    let matches = program().command().get_matches_from(all);
    let told = matches.subcommand_matches("explain").unwrap();
    let live = cluster.server().client(&User::new("support", &[]));
    let mut text = Vec::new();
    let explained = explain_object((program(), told), (&live, "default"), &mut text).await;
    explained.map_err(|error| format!("{error:#}"))?;
    Ok(String::from_utf8(text).unwrap())
}

async fn cluster(objects: &str) -> Cluster {
    let cluster = Cluster::open(Options::default()).await.unwrap();
    let kinds = definitions::kinds("website-operator", &[lifecycle::definitions]).unwrap();
    crds::prepare(&cluster.client(), &kinds[0], true).await;
    let objects = Manifest::parse(Path::new("objects"), objects).unwrap();
    manifests::apply(&cluster.client(), &objects).await.unwrap();
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_look_is_told_who_must_act_where_a_name_is_taken() {
    let cluster = cluster(OBJECTS).await;
    let text = explain_output(&cluster, &["website", "shop"])
        .await
        .unwrap();
    assert!(
        text.starts_with("Website `default/shop` is Taken: a person must act\n"),
        "{text}"
    );
    // The text of the condition, word for word.
    let advice = "Deployment `default/shop` exists and is not controlled by this Website: rename the Website or remove that Deployment";
    let acts = format!("\nWho must act\n  a person: {advice}\n");
    let why = format!("\nWhy\n  deployment is Foreign: {advice}\n");
    assert!(text.contains(&acts) && text.contains(&why), "{text}");
    let words = ["websites.web.example.org/shop", "-o", "json"];
    let json = explain_output(&cluster, &words).await.unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["states"][0]["name"], "Taken");
    assert_eq!(json["who"][0]["who"], "person");
    assert_eq!(json["unread"], serde_json::json!([]));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_of_nobody_and_an_object_that_is_not_there_are_told_in_words() {
    let cluster = cluster(OBJECTS).await;
    let unknown = explain_output(&cluster, &["pod", "shop"])
        .await
        .unwrap_err();
    assert_eq!(
        unknown,
        "no lifecycle is about `pod`: there are websites.web.example.org"
    );
    let absent = explain_output(&cluster, &["website", "web/shop"])
        .await
        .unwrap_err();
    assert!(
        absent.starts_with("websites.web.example.org `shop` not found in namespace `web`"),
        "{absent}"
    );
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_kinds_are_not_installed_the_command_that_installs_them_is_told() {
    let (rights, _) = OBJECTS.split_once("---\napiVersion: web").unwrap();
    let cluster = Cluster::open(Options::default()).await.unwrap();
    let rights = Manifest::parse(Path::new("rights"), rights).unwrap();
    manifests::apply(&cluster.client(), &rights).await.unwrap();
    let said = explain_output(&cluster, &["website", "shop"])
        .await
        .unwrap_err();
    assert!(
        said.starts_with("the kinds of web.example.org/v1alpha1 are not installed: `website-operator crds --install` installs them: Website `default/shop` cannot be read"),
        "{said}"
    );
    cluster.stop().await;
}
