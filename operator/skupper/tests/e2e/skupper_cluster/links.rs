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

use super::env::TestNamespace;
use crate::place::has_report;

const GRANTS: &str = "skupper-grant-server";

/// A Listener of this namespace reaches the Pod of another one while their sites are linked.
pub(crate) async fn joined(east: TestNamespace) -> Result<()> {
    east.site().await?;
    east.listen("backend", json!({})).await?;
    let hub = TestNamespace::new(east.env.clone(), "s35-hub").await?;
    hub.echo("far").await?;
    hub.connect(json!({})).await?;
    let spec = json!({ "spec": { "linkAccess": "loadbalancer" } });
    hub.apply::<Site>("hub", spec).await?;
    // A load balancer controller would set this address as well.
    let way = hub.service_address("skupper-router", 55671).await?;
    let (address, _) = way.rsplit_once(':').context("an address and a port")?;
    let at = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": address }] } } });
    let (services, params) = (hub.api::<Service>(), PatchParams::default());
    services
        .patch_status("skupper-router", &params, &Patch::Merge(at))
        .await?;
    let ready = |site: &Site| has_report(site, "Ready", "OK");
    hub.until("hub", "others can link", ready).await?;

    let way = hub.home().service_address(GRANTS, 8443).await?;
    let told = json!({ "metadata": { "annotations": { "skupper.io/grant-server-address": way } } });
    let services: Api<Service> = hub.home().api();
    services.patch(GRANTS, &params, &Patch::Merge(told)).await?;
    hub.apply::<AccessGrant>("east", json!({ "spec": { "expirationWindow": "1h" } }))
        .await?;
    let url = format!("https://{way}/");
    let open = |grant: &AccessGrant| {
        let status = grant.status.as_ref().and_then(|status| status.url.as_ref());
        has_report(grant, "Ready", "OK") && status.is_some_and(|told| told.starts_with(&url))
    };
    let grant = hub.until("east", "it can be redeemed", open).await?;
    let told = grant.status.context("it has a status")?;
    let token = json!({ "spec": { "url": told.url, "code": told.code, "ca": told.ca } });
    east.apply::<AccessToken>("hub", token).await?;
    let linked = |link: &Link| has_report(link, "Ready", "OK");
    east.until("hub", "the sites are linked", linked).await?;
    east.ready("backend").await?;
    let way = east.service_address("backend", 8080).await?;
    east.wait_for_answer(&way, "far").await?;

    east.delete::<Link>("hub").await?;
    let alone = |l: &Listener| has_report(l, "Pending", "No matching connectors");
    east.until("backend", "nothing serves it", alone).await?;
    east.refused(&way).await
}
