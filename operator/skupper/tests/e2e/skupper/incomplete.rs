//! Objects that the API server takes and that say nothing: without `spec`. Each names what it lacks, and nobody else is disturbed.
//! And one that was stored under another definition and cannot be read: it takes nothing from others, and loses nothing.

use std::sync::Arc;

use crate::place::{Place, SOON, TestEnv, says};
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

use super::support::{NEEDS, listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("objects_without_spec_say_what_they_lack", without),
        case("who_cannot_be_read_keeps_what_it_has", NEEDS, unreadable),
    ]
}

/// Objects of a kind, as they are: their Rust type cannot hold those without `spec`.
fn bare<K>(place: &Place) -> Api<DynamicObject>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let kind = ApiResource::erase::<K>(&());
    Api::namespaced_with(place.client.clone(), &place.namespace, &kind)
}

async fn post<K>(place: &Place, name: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let object = json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name } });
    let created = place.post::<K>(&object).await?;
    ensure!(created.get("spec").is_none(), "{created}");
    Ok(())
}

async fn until_says<K>(place: &Place, name: &str, status: &str, message: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api = bare::<K>(place);
    let what = format!("{} {name} says {status}: {message}", K::kind(&()));
    let said = eventually(&what, SOON, async || {
        let object = api.get(name).await?;
        Ok(says(&object, status, message).then_some(()))
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

async fn without(place: Place) -> Result<()> {
    post::<Listener>(&place, "empty").await?;
    let homeless = "No active site in namespace";
    until_says::<Listener>(&place, "empty", "Error", homeless).await?;
    // A Site need say nothing, and what says nothing does not hold it up.
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
    let place = Place::new(env, "unreadable").await?;
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
    loosen(&place).await?;
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
    // What it was counts still, and the Site goes on with it.
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

/// As if there had been another definition: any Listener is taken.
async fn loosen(place: &Place) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(place.client.clone());
    let mut definition = api.get("listeners.skupper.io").await?;
    let any = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    for version in &mut definition.spec.versions {
        version.schema = Some(serde_json::from_value(any.clone())?);
    }
    let params = PostParams::default();
    api.replace("listeners.skupper.io", &params, &definition)
        .await?;
    Ok(())
}
