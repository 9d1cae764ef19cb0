//! Objects without `spec`, which the API server accepts. Each reports the missing part, and no
//! other object is affected. Also an object that was stored under another definition and is
//! unreadable: it takes nothing from others, and loses nothing.

use std::sync::Arc;

use crate::place::{SOON, TestEnv, TestNamespace, has_report};
use anyhow::{Result, bail, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::support::{Echo, NEEDS, connect, greeted, listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("objects_without_spec_say_what_they_lack", without),
        case("who_cannot_be_read_keeps_what_it_has", NEEDS, unreadable),
        case("after_a_restart_as_well", NEEDS, restarted),
    ]
}

/// Objects of a kind, as they are: their Rust type cannot hold those without `spec`.
fn bare<K>(place: &TestNamespace) -> Api<DynamicObject>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let kind = ApiResource::erase::<K>(&());
    Api::namespaced_with(place.client.clone(), &place.namespace, &kind)
}

async fn post<K>(place: &TestNamespace, name: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let object = json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name } });
    let created = place.post::<K>(&object).await?;
    ensure!(created.get("spec").is_none(), "{created}");
    Ok(())
}

async fn until_says<K>(place: &TestNamespace, name: &str, status: &str, message: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api = bare::<K>(place);
    let what = format!("{} {name} says {status}: {message}", K::kind(&()));
    let said = eventually(&what, SOON, async || {
        let object = api.get(name).await?;
        Ok(has_report(&object, status, message).then_some(()))
    });
    match said.await {
        Ok(()) => Ok(()),
        Err(error) => bail!("{error:#}; it is {:?}", api.get(name).await?.data),
    }
}

fn required(names: &[&str]) -> String {
    let lines = names.iter().map(|name| format!("spec.{name} is required"));
    lines.collect::<Vec<_>>().join("\n")
}

async fn without(place: TestNamespace) -> Result<()> {
    post::<Listener>(&place, "empty").await?;
    let homeless = "No active site in namespace";
    until_says::<Listener>(&place, "empty", "Error", homeless).await?;
    // A Site may be empty, and empty objects do not hold it up.
    post::<Connector>(&place, "empty").await?;
    post::<AttachedConnector>(&place, "empty").await?;
    post::<AttachedConnectorBinding>(&place, "empty").await?;
    post::<Site>(&place, "west").await?;
    place.deployment().await?;
    listen(&place, "good", json!({})).await?;
    let served = |service: &Service| service.spec.is_some();
    place.until("good", "a Service", served).await?;
    let lacks = required(&["routingKey", "host", "port"]);
    until_says::<Listener>(&place, "empty", "Error", &lacks).await?;
    let lacks = required(&["routingKey", "port"]);
    until_says::<Connector>(&place, "empty", "Error", &lacks).await?;
    let lacks = required(&["siteNamespace", "selector", "port"]);
    until_says::<AttachedConnector>(&place, "empty", "Error", &lacks).await?;
    let lacks = required(&["connectorNamespace", "routingKey"]);
    until_says::<AttachedConnectorBinding>(&place, "empty", "Error", &lacks).await?;
    let pending = "No router pod is ready";
    until_says::<Site>(&place, "west", "Pending", pending).await?;
    let spec: Value = json!({ "routingKey": "backend", "host": "late", "port": 8080 });
    let said = Patch::Merge(json!({ "spec": spec }));
    let api = bare::<Listener>(&place);
    api.patch("empty", &PatchParams::default(), &said).await?;
    place.until("late", "a Service", served).await.map(drop)
}

/// The Site names it and decides nothing until it is corrected: so its host and port do not go to another.
async fn unreadable() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let place = TestNamespace::new(env, "unreadable").await?;
    place.make::<Site>("west", json!({ "spec": {} })).await?;
    listen(&place, "held", json!({})).await?;
    let is_held = |service: &Service| {
        let ports = service
            .spec
            .iter()
            .flat_map(|spec| spec.ports.iter().flatten());
        let names = ports.map(|port| port.name.as_deref().unwrap_or_default());
        names.eq(["held"])
    };
    place.until("held", "a Service", is_held).await?;
    loosen(&place, "listeners").await?;
    let (api, params) = (bare::<Listener>(&place), PatchParams::default());
    let odd = Patch::Merge(json!({ "spec": { "port": "many" } }));
    eventually("any port is taken", SOON, async || {
        Ok(api.patch("held", &params, &odd).await.ok())
    })
    .await?;
    let events: Api<Event> = Api::namespaced(place.client.clone(), &place.namespace);
    eventually("an event that names it", SOON, async || {
        let all = events.list(&ListParams::default()).await?.items;
        let about = |event: &Event| {
            let regarding = event.regarding.as_ref();
            let of = regarding.and_then(|regarding| regarding.name.as_deref());
            of == Some("held") && event.reason.as_deref() == Some("Undecodable")
        };
        Ok(all.into_iter().find(about))
    })
    .await?;
    // The earlier object still counts, and the Site continues with it.
    listen(&place, "thief", json!({ "host": "held" })).await?;
    let taken = "Listener held with host held and port 8080 already exists in namespace";
    until_says::<Listener>(&place, "thief", "Error", taken).await?;
    let right = Patch::Merge(json!({ "spec": { "port": 8080 } }));
    api.patch("held", &params, &right).await?;
    until_says::<Site>(&place, "west", "Pending", "No router pod is ready").await?;
    until_says::<Listener>(&place, "thief", "Error", taken).await?;
    place
        .until("held", "a Service as before", is_held)
        .await
        .map(drop)
}

/// Stores an object while no controller runs. A controller that starts later has never read it.
async fn store_odd<K>(place: &TestNamespace, name: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let (api, params) = (bare::<K>(place), PatchParams::default());
    let odd = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name },
        "spec": { "port": "many", "edge": "perhaps" },
    });
    let odd = Patch::Merge(odd);
    let stored = eventually("anything is taken", SOON, async || {
        Ok(api.patch(name, &params, &odd).await.ok())
    });
    stored.await.map(drop)
}

/// Tests objects whose requests are unknown after a restart: they keep their allocations, other
/// objects of the Site are served, and the Site names them.
async fn restarted() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let mut place = TestNamespace::new(Arc::clone(&env), "restarted").await?;
    place.site().await?;
    let echo = Echo::start("one").await?;
    listen(&place, "held", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    until_says::<Listener>(&place, "held", "Ready", "OK").await?;
    let port = place.router_port("held", 8080).await?;
    greeted(&place, port, "one").await?;
    let second = json!({ "apiVersion": "skupper.io/v2alpha1", "kind": "Site", "metadata": { "name": "second" } });
    place.post::<Site>(&second).await?;
    for kind in ["listeners", "connectors", "sites"] {
        loosen(&place, kind).await?;
    }
    env.kill_controller()?;
    store_odd::<Listener>(&place, "held").await?;
    store_odd::<Connector>(&place, "c").await?;
    store_odd::<Site>(&place, "second").await?;
    env.run_controller()?;
    // Another one of the same key is led to the Connector that cannot be read, and one that is led elsewhere too.
    listen(&place, "late", json!({})).await?;
    let other = Echo::start("two").await?;
    connect(&place, "d", other.at, json!({ "routingKey": "other" })).await?;
    listen(&place, "elsewhere", json!({ "routingKey": "other" })).await?;
    for (name, server) in [("late", "one"), ("elsewhere", "two")] {
        until_says::<Listener>(&place, name, "Ready", "OK").await?;
        let port = place.router_port(name, 8080).await?;
        greeted(&place, port, server).await?;
    }
    listen(&place, "thief", json!({ "host": "held" })).await?;
    let taken = "Listener held with host held and port 8080 already exists in namespace";
    until_says::<Listener>(&place, "thief", "Error", taken).await?;
    ensure!(place.router_port("held", 8080).await? == port);
    greeted(&place, port, "one").await?;
    let named = |site: &Site| {
        let said = unread_objects(site);
        let all = ["Listener", "Connector", "Site"].map(|kind| format!("{kind} `"));
        all.iter()
            .all(|kind| said.iter().any(|line| line.starts_with(kind)))
            && has_report(site, "Ready", "OK")
    };
    place.until("west", "names of them all", named).await?;
    let right =
        json!({ "spec": { "port": 8080, "routingKey": "backend", "host": "held", "edge": null } });
    bare::<Listener>(&place)
        .patch("held", &PatchParams::default(), &Patch::Merge(right))
        .await?;
    until_says::<Listener>(&place, "held", "Ready", "OK").await?;
    let not_held = |site: &Site| unread_objects(site).len() == 2;
    place.until("west", "names of the others", not_held).await?;
    ensure!(place.router_port("held", 8080).await? == port);
    greeted(&place, port, "one").await.map(drop)
}

/// Returns the messages in which a Site reports objects that cannot be read.
fn unread_objects(site: &Site) -> Vec<String> {
    let rows = site.status.iter();
    let mut rows = rows.flat_map(|status| status.common.conditions.iter().flatten());
    let told = rows.find(|row| row.type_ == "ObjectsRead");
    let lines = told.map(|row| row.message.lines().map(str::to_owned));
    lines.map_or(Vec::new(), Iterator::collect)
}

/// As if there had been another definition: any object of the kind is taken.
async fn loosen(place: &TestNamespace, kind: &str) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(place.client.clone());
    let mut definition = api.get(&format!("{kind}.skupper.io")).await?;
    let any = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    for version in &mut definition.spec.versions {
        version.schema = Some(serde_json::from_value(any.clone())?);
    }
    let params = PostParams::default();
    let name = format!("{kind}.skupper.io");
    api.replace(&name, &params, &definition).await?;
    Ok(())
}
