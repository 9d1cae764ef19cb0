//! Labels and annotations that templates put onto generated objects. No router runs.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Instant;

use crate::place::TestNamespace;
use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::{Resource, ResourceExt};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::audit::Entry;
use lifecycle_tests::harness::Case;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::support::{listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("templates_label_what_is_generated", everything),
        shared(
            "a_template_changes_what_it_is_for_and_nothing_else",
            template_change,
        ),
        shared("templates_of_the_controller_go_first", controllers),
        shared("a_template_that_cannot_be_read_is_told", broken),
    ]
}

const SERVICE: &str = "backend";

/// A Site and a Listener.
async fn begin(place: &TestNamespace) -> Result<()> {
    place.make::<Site>("west", json!({ "spec": {} })).await?;
    listen(place, SERVICE, json!({})).await?;
    until::<Service>(place, SERVICE, "there", |_, _| true).await?;
    place.deployment().await.map(drop)
}

async fn template(place: &TestNamespace, name: &str, meta: Value, data: Value) -> Result<()> {
    let mut metadata = meta;
    metadata["name"] = name.into();
    metadata["labels"]["skupper.io/label-template"] = "".into();
    let map = json!({ "metadata": metadata, "data": data });
    place.make::<ConfigMap>(name, map).await.map(drop)
}

/// Waits until labels and annotations of an object are as they should be.
async fn until<K>(
    place: &TestNamespace,
    name: &str,
    what: &str,
    are: impl Fn(&BTreeMap<String, String>, &BTreeMap<String, String>) -> bool,
) -> Result<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    let what = format!("{} {name} is {what}", K::kind(&()));
    place
        .until(name, &what, |object: &K| {
            are(object.labels(), object.annotations())
        })
        .await
}

fn is(own: &BTreeMap<String, String>, key: &str, value: &str) -> bool {
    own.get(key).is_some_and(|own| own == value)
}

/// Tests that existing objects get the labels of a new template, that later objects are created
/// with them, and that all lose them when the template is removed.
async fn everything(place: TestNamespace) -> Result<()> {
    begin(&place).await?;
    let mine = json!({ "metadata": { "labels": { "mine": "yes" } } });
    place.patch::<Service>(SERVICE, mine).await?;
    let meta = json!({
        "labels": { "team": "a", "left": "out", "internal.skupper.io/listener": "stolen" },
        "annotations": { "note": "n", "skupper.io/left-out": "too" },
    });
    let data = json!({ "exclude": "left, skupper.io/left-out" });
    let began = Instant::now();
    template(&place, "all", meta, data).await?;
    let given = |labels: &BTreeMap<String, String>, notes: &BTreeMap<String, String>| {
        is(labels, "team", "a")
            && is(notes, "note", "n")
            && !labels.contains_key("left")
            && !labels.contains_key("skupper.io/label-template")
            && !notes.contains_key("skupper.io/left-out")
    };
    let service = until::<Service>(&place, SERVICE, "labelled", given).await?;
    ensure!(is(
        service.labels(),
        "internal.skupper.io/listener",
        SERVICE
    ));
    ensure!(is(service.labels(), "mine", "yes"));
    ensure!(is(
        service.annotations(),
        "internal.skupper.io/controlled",
        "true"
    ));
    let router = "skupper-router";
    until::<ConfigMap>(&place, router, "labelled", given).await?;
    until::<ServiceAccount>(&place, router, "labelled", given).await?;
    until::<Role>(&place, router, "labelled", given).await?;
    until::<RoleBinding>(&place, router, "labelled", given).await?;
    until::<Secret>(&place, "skupper-local-server", "labelled", given).await?;
    let deployment = until::<Deployment>(&place, router, "labelled", given).await?;
    eprintln!("seven objects are labelled after {:.1?}", began.elapsed());
    ensure!(!is(&of_pods(&deployment)?, "team", "a"), "Pods stay");
    exposed(&place).await?;
    until::<Service>(&place, "web-0", "labelled", given).await?;
    place.delete::<ConfigMap>("all").await?;
    let gone = |labels: &BTreeMap<String, String>, notes: &BTreeMap<String, String>| {
        !labels.contains_key("team") && !notes.contains_key("note")
    };
    until::<Service>(&place, "web-0", "as it was", gone).await?;
    until::<Deployment>(&place, router, "as it was", gone).await?;
    until::<Secret>(&place, "skupper-local-server", "as it was", gone).await?;
    let service = until::<Service>(&place, SERVICE, "as it was", gone).await?;
    ensure!(is(service.labels(), "mine", "yes"));
    Ok(())
}

/// A Pod that is reached by its name.
async fn exposed(place: &TestNamespace) -> Result<()> {
    place.workload("web-0", "web", place.address).await?;
    let spec = json!({ "routingKey": "backend", "port": 1, "selector": "app=web", "exposePodsByName": true });
    place
        .make::<Connector>("web", json!({ "spec": spec }))
        .await?;
    listen(place, "pods", json!({ "exposePodsByName": true }))
        .await
        .map(drop)
}

fn of_pods(deployment: &Deployment) -> Result<BTreeMap<String, String>> {
    let spec = deployment.spec.as_ref().context("it has a spec")?;
    let meta = spec.template.metadata.clone().unwrap_or_default();
    Ok(meta.labels.unwrap_or_default())
}

/// Each change of a template is one write of each object that it concerns.
async fn template_change(place: TestNamespace) -> Result<()> {
    begin(&place).await?;
    listen(&place, "other", json!({})).await?;
    until::<Service>(&place, "other", "there", |_, _| true).await?;
    let mut count = place.wait_until_idle().await?.len();
    let meta = json!({ "labels": { "team": "a" } });
    let data =
        json!({ "kind": "Service", "labelSelector": "internal.skupper.io/listener=backend" });
    template(&place, "narrow", meta, data).await?;
    let team = |value: &'static str| {
        move |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
            is(labels, "team", value)
        }
    };
    until::<Service>(&place, SERVICE, "labelled", team("a")).await?;
    count = written(&place, count, &["services/backend"]).await?;
    let meta = json!({ "metadata": { "labels": { "team": "b" } } });
    place.patch::<ConfigMap>("narrow", meta).await?;
    until::<Service>(&place, SERVICE, "labelled anew", team("b")).await?;
    count = written(&place, count, &["services/backend"]).await?;
    // It is for another object now, and for the Pods of that.
    let data = json!({ "kind": "Deployment", "labelSelector": null, "includePods": "true" });
    place
        .patch::<ConfigMap>("narrow", json!({ "data": data }))
        .await?;
    let without = |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
        !labels.contains_key("team")
    };
    until::<Service>(&place, SERVICE, "as it was", without).await?;
    let deployment = until::<Deployment>(&place, "skupper-router", "labelled", team("b")).await?;
    let pods = of_pods(&deployment)?;
    ensure!(
        is(&pods, "team", "b") && is(&pods, "application", "skupper-router"),
        "{pods:?}"
    );
    let both = ["deployments/skupper-router", "services/backend"];
    written(&place, count, &both).await.map(drop)
}

/// Checks that since `before` exactly these objects were written, once each, apart from status
/// updates. Returns the number of all writes so far.
async fn written(place: &TestNamespace, before: usize, objects: &[&str]) -> Result<usize> {
    let all = place.wait_until_idle().await?;
    let new = all[before..].iter().filter(|e| e.subresource.is_empty());
    let mut lines: Vec<String> = new.map(|e| format!("{}/{}", e.resource, e.name)).collect();
    lines.sort();
    ensure!(
        lines == objects,
        "{:?}",
        all[before..].iter().map(Entry::line).collect::<Vec<_>>()
    );
    Ok(all.len())
}

/// All other namespaces have objects of the same names: the name of the host is this test's alone.
async fn controllers(place: TestNamespace) -> Result<()> {
    place.make::<Site>("west", json!({ "spec": {} })).await?;
    let host = place.namespace.clone();
    listen(&place, &host, json!({})).await?;
    until::<Service>(&place, &host, "there", |_, _| true).await?;
    let everywhere = place.controller();
    let value = |value: &str| json!({ "labels": { "team": value } });
    let team = |value: &'static str| {
        move |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
            is(labels, "team", value)
        }
    };
    let name = json!({ "name": host });
    template(&everywhere, &host, value("controller"), name.clone()).await?;
    until::<Service>(&place, &host, "labelled", team("controller")).await?;
    let meta = json!({ "labels": { "team": "own", "own": "yes" } });
    template(&place, "own", meta, name).await?;
    let both = |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
        is(labels, "team", "controller") && is(labels, "own", "yes")
    };
    until::<Service>(&place, &host, "labelled by both", both).await?;
    // Without its label it is a ConfigMap as any other.
    let plain = json!({ "metadata": { "labels": { "skupper.io/label-template": null } } });
    everywhere.patch::<ConfigMap>(&host, plain).await?;
    until::<Service>(&place, &host, "labelled by its own", team("own")).await?;
    everywhere.delete::<ConfigMap>(&host).await
}

async fn broken(place: TestNamespace) -> Result<()> {
    begin(&place).await?;
    let meta = |key: &str| json!({ "labels": { key: "yes" } });
    let data = json!({ "labelSelector": "a b" });
    template(&place, "broken", meta("broken"), data).await?;
    template(&place, "fine", meta("fine"), json!({})).await?;
    let fine = |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
        is(labels, "fine", "yes") && !labels.contains_key("broken")
    };
    until::<Service>(&place, SERVICE, "labelled by one", fine).await?;
    let told = format!(
        "ConfigMap `{}/broken` is no label template",
        place.namespace
    );
    let says = |site: &Site, word: &str| {
        let status = serde_json::to_value(&site.status).unwrap_or_default();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let of = |kind: &str| conditions.iter().find(|one| one["type"] == kind).cloned();
        let message = of("SettingsApplied").filter(|one| one["status"] == "False");
        let message = message.map(|one| one["message"].as_str().unwrap_or_default().to_owned());
        message.is_some_and(|message| message.contains(word))
    };
    let tells = |site: &Site| says(site, &told);
    place.until("west", "the Site tells of it", tells).await?;
    let mended = json!({ "data": { "labelSelector": "!a" } });
    place.patch::<ConfigMap>("broken", mended).await?;
    let both = |labels: &BTreeMap<String, String>, _: &BTreeMap<String, String>| {
        is(labels, "fine", "yes") && is(labels, "broken", "yes")
    };
    until::<Service>(&place, SERVICE, "labelled by both", both).await?;
    let silent = |site: &Site| !says(site, "");
    let site = place.until("west", "nothing is told any more", silent);
    site.await.map(drop)
}
