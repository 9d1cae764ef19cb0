//! Objects that the API server takes and that say nothing: without `spec`. Each names what it lacks, and nobody else is disturbed.

use anyhow::{Result, bail, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Service;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Api, Resource};
use lifecycle_specs::skupper::attached::AttachedConnector;
use lifecycle_specs::skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs::skupper::connector::Connector;
use lifecycle_specs::skupper::listener::Listener;
use lifecycle_specs::skupper::site::Site;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::skupper::{Place, SOON, says};
use serde_json::{Value, json};

use super::support::{listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![shared("objects_without_spec_say_what_they_lack", without)]
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
