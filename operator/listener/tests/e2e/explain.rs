//! Tests of the output of `explain` for a Listener in each of its states, word for word. Also runs
//! on a real API server with read rights alone.

use std::path::Path;

use anyhow::{Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_inspect::explain::{Explained, explain, text};
use lifecycle_listener::controller::lifecycles;
use lifecycle_listener::volume;
use lifecycle_runtime::operator::Naming;
use lifecycle_simulator::server::{Server, User};
use lifecycle_specs_listener::crds;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::explained::holds_texts;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::named;
use serde_json::json;

use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};
use crate::suites;

/// User who may get, list and watch, and nothing else.
const READER: &str = "reader";

pub(crate) fn cases() -> Vec<Case> {
    let mut all = named![calculation(): each_state_of_a_listener_has_a_text_to_act_on];
    let name = "on_a_real_api_server_read_rights_are_enough_and_nothing_is_written";
    all.push(case(name, &[Need::Binaries], read_rights_are_enough));
    let name = "a_listener_that_cannot_be_read_is_not_taken_for_one_without_a_class";
    all.push(case(name, &[], unreadable));
    let name = "a_bound_claim_by_class_is_explained_by_the_listener_that_is_made_for_it";
    all.push(case(name, &[], of_a_claim));
    all
}

fn each_state_of_a_listener_has_a_text_to_act_on() {
    let suite = suites::listener();
    let all = lifecycles(&ClusterDomain::usual()).into_iter();
    let all = all.map(|(machine, _)| {
        let naming = Naming::new("suite.lifecycle", machine.ir().name);
        Explained::new(machine, naming)
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/explain");
    holds_texts(suite, &all.collect::<Vec<_>>(), &folder, &[]);
}

async fn unreadable() -> Result<()> {
    let client = Server::new(1).client(&User::admin());
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let port = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ports/items/properties/port";
    for definition in crds() {
        let mut definition = serde_json::to_value(definition)?;
        if let Some(number) = definition.pointer_mut(port) {
            *number = json!({ "x-kubernetes-preserve-unknown-fields": true });
        }
        let definition = serde_json::from_value(definition)?;
        definitions
            .create(&PostParams::default(), &definition)
            .await?;
    }
    let spec = json!({ "className": "exposed", "ports": [{ "name": "http", "port": "eighty" }] });
    let odd = serde_json::from_value(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "odd", "namespace": "default" }, "spec": spec,
    }))?;
    let resource = ApiResource::erase::<Listener>(&());
    let listeners: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    eventually("the kind is served", SOON, async || {
        Ok(listeners.create(&PostParams::default(), &odd).await.ok())
    })
    .await?;
    let all = lifecycles(&ClusterDomain::usual()).into_iter();
    let all: Vec<Explained> = all
        .map(|(machine, naming)| Explained::new(machine, naming))
        .collect();
    let object = (Some("default"), "odd");
    let told = explain(&client, &all, &all[0], object, Timestamp::now()).await?;
    let told = told.expect("the Listener is there");
    let said = text(&told);
    ensure!(
        told.states.len() == 1 && told.states[0].name == "Unclear",
        "{said}"
    );
    for words in [
        "a person: it cannot be read: ",
        "eighty",
        "correct it, or delete it",
        "Listener `default/odd`, when it is corrected",
    ] {
        ensure!(said.contains(words), "{said}");
    }
    ensure!(!said.contains("className"), "{said}");
    Ok(())
}

/// Each time a Listener with other owners has the name of the claim, or none has.
async fn of_a_claim() -> Result<()> {
    let of = |name: &str| json!([{ "apiVersion": "v1", "kind": "PersistentVolume", "name": name, "uid": name }]);
    let says = |who, words| Some((who, words));
    for (owners, expected) in [
        (None, None),
        (
            Some(of("pv")),
            says(
                "person",
                "Listener `default/web`: create ListenerClass `absent`",
            ),
        ),
        (
            Some(of("older")),
            says("cluster", "the earlier PersistentVolume `older`"),
        ),
        (
            Some(json!([])),
            says("person", "exists and is not of this claim"),
        ),
    ] {
        let client = Server::new(1).client(&User::admin());
        bound(&client).await?;
        if let Some(owners) = owners {
            let listener = serde_json::from_value(json!({
                "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
                "metadata": { "name": "web", "ownerReferences": owners },
                "spec": { "className": "absent", "ports": [{ "name": "http", "port": 80 }] },
            }))?;
            let listeners: Api<Listener> = Api::namespaced(client.clone(), "default");
            eventually("the kind is served", SOON, async || {
                Ok(listeners
                    .create(&PostParams::default(), &listener)
                    .await
                    .ok())
            })
            .await?;
        }
        let all = lifecycles(&ClusterDomain::usual()).into_iter();
        let all = all.map(|(machine, naming)| Explained::new(machine, naming));
        let (machine, naming, driver) = volume::provisioned();
        let claims = Explained::of_claims(machine, naming, driver);
        let claims = claims.made_for_claims::<Listener>(volume::made_for);
        let all: Vec<Explained> = all.chain([claims.clone()]).collect();
        let object = (Some("default"), "web");
        let told = explain(&client, &all, &claims, object, Timestamp::now()).await?;
        let told = told.expect("the claim is there");
        let who = json!(told.who);
        let (actor, words) = expected.unwrap_or(("nobody", "it is bound to PersistentVolume `pv`"));
        ensure!(who[0]["who"] == actor, "{who}");
        ensure!(
            who[0]["what"]
                .as_str()
                .is_some_and(|what| what.contains(words)),
            "{who}"
        );
        ensure!(json!(told.who).as_array().map(Vec::len) == Some(1), "{who}");
        ensure!(
            (told.states[0].phase == "Ready") == expected.is_none(),
            "{}",
            text(&told)
        );
    }
    Ok(())
}

/// A claim by class that is bound; its class is gone since.
async fn bound(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in crds() {
        definitions
            .create(&PostParams::default(), &definition)
            .await?;
    }
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), "default");
    let claim = serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "web", "annotations": { "listeners.stackable.tech/listener-class": "absent" } },
        "spec": {
            "accessModes": ["ReadWriteMany"], "resources": { "requests": { "storage": "1" } },
            "storageClassName": "listeners.stackable.tech", "volumeName": "pv",
        },
    }))?;
    claims.create(&PostParams::default(), &claim).await?;
    let status = json!({ "status": { "phase": "Bound" } });
    claims
        .patch_status("web", &PatchParams::default(), &Patch::Merge(status))
        .await?;
    Ok(())
}

async fn read_rights_are_enough() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let groups = ["", "listeners.stackable.tech", "discovery.k8s.io"];
    let rules =
        json!([{ "apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "watch"] }]);
    let role = json!({ "metadata": { "name": READER }, "rules": rules });
    cluster.make(cluster.all::<ClusterRole>(), role).await?;
    let to =
        json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER });
    let who = json!([{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READER }]);
    let binding = json!({ "metadata": { "name": READER }, "roleRef": to, "subjects": who });
    cluster
        .make(cluster.all::<ClusterRoleBinding>(), binding)
        .await?;
    let listeners: Api<Listener> = Api::namespaced(cluster.client.clone(), "default");
    for (name, class) in [("lost", "nowhere"), ("idle", "cluster-internal")] {
        let spec = json!({ "className": class, "ports": [{ "name": "http", "port": 80 }] });
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
            "metadata": { "name": name, "namespace": "default" }, "spec": spec,
        });
        cluster.make(listeners.clone(), listener).await?;
        eventually("a report", SOON, async || {
            let status = listeners.get(name).await?.status;
            Ok(status.and_then(|status| status.phase).map(drop))
        })
        .await?;
    }
    let reader = cluster.server.client_for(READER, &[]).await?;
    let all = lifecycles(&ClusterDomain::usual()).into_iter();
    let all = all.map(|(machine, naming)| Explained::new(machine, naming));
    let all: Vec<Explained> = all.collect();
    for (name, state) in [("lost", "NoClass"), ("idle", "Ready")] {
        let object = (Some("default"), name);
        let told = explain(&reader, &all, &all[0], object, Timestamp::now()).await?;
        let told = told.expect("the Listener is there");
        let said = text(&told);
        ensure!(
            told.states.len() == 1 && told.states[0].name == state,
            "{said}"
        );
        ensure!(told.unread.is_empty(), "{said}");
        ensure!(told.status.agrees, "{said}");
    }
    let asked = cluster.server.audit().await?.of_user(READER);
    ensure!(asked.len() >= 6, "{}", asked.lines());
    let others =
        asked.only(|entry| entry.cost() != Cost::Read || entry.code != 200 && entry.code != 404);
    ensure!(others.is_empty(), "{}", others.lines());
    Ok(())
}
