//! Two sites in two namespaces, joined by a token: real Pods, real Services, and the grant server that the manifest installs.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Service;
use kube::Api;
use kube::api::{Patch, PatchParams};
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_specs_skupper::access_token::AccessToken;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use serde_json::json;

use super::env::Place;
use crate::place::says;

const GRANTS: &str = "skupper-grant-server";

/// A Listener of this namespace reaches the Pod of another one while their sites are linked.
pub(crate) async fn joined(east: Place) -> Result<()> {
    east.site().await?;
    east.listen("backend", json!({})).await?;
    let hub = Place::new(east.env.clone(), "s35-hub").await?;
    hub.echo("far").await?;
    hub.connect(json!({})).await?;
    let spec = json!({ "spec": { "linkAccess": "loadbalancer" } });
    hub.apply::<Site>("hub", spec).await?;
    // Whoever gives out load balancers would lead there as well.
    let way = hub.way("skupper-router", 55671).await?;
    let (address, _) = way.rsplit_once(':').context("an address and a port")?;
    let at = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": address }] } } });
    let (services, params) = (hub.of::<Service>(), PatchParams::default());
    services
        .patch_status("skupper-router", &params, &Patch::Merge(at))
        .await?;
    let ready = |site: &Site| says(site, "Ready", "OK");
    hub.until("hub", "others can link", ready).await?;

    let way = hub.home().way(GRANTS, 8443).await?;
    let told = json!({ "metadata": { "annotations": { "skupper.io/grant-server-address": way } } });
    let services: Api<Service> = hub.home().of();
    services.patch(GRANTS, &params, &Patch::Merge(told)).await?;
    hub.apply::<AccessGrant>("east", json!({ "spec": { "expirationWindow": "1h" } }))
        .await?;
    let url = format!("https://{way}/");
    let open = |grant: &AccessGrant| {
        let status = grant.status.as_ref().and_then(|status| status.url.as_ref());
        says(grant, "Ready", "OK") && status.is_some_and(|told| told.starts_with(&url))
    };
    let grant = hub.until("east", "it can be redeemed", open).await?;
    let told = grant.status.context("it has a status")?;
    let token = json!({ "spec": { "url": told.url, "code": told.code, "ca": told.ca } });
    east.apply::<AccessToken>("hub", token).await?;
    let linked = |link: &Link| says(link, "Ready", "OK");
    east.until("hub", "the sites are linked", linked).await?;
    east.ready("backend").await?;
    let way = east.way("backend", 8080).await?;
    east.answered(&way, "far").await?;

    east.delete::<Link>("hub").await?;
    let alone = |l: &Listener| says(l, "Pending", "No matching connectors");
    east.until("backend", "nothing serves it", alone).await?;
    east.refused(&way).await
}
