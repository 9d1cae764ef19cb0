//! Tests of the access that a Site offers to other sites: the objects it makes, its status, and the
//! clients it admits.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::place::{SOON, TestNamespace, has_report, report};
use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{Secret, Service};
use lifecycle_router::config::{ConfigEntry, Profile};
use lifecycle_router::link::security::dial;
use lifecycle_router::tls::{Files, Profiles};
use lifecycle_skupper::certificate::{AUTHORITY, CHAIN, KEY, text};
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::secured_access::SecuredAccess;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, Deadline};
use rustls::pki_types::ServerName;
use serde_json::json;
use tokio::net::TcpStream;

use super::support::shared;

/// The uid of another site.
const EAST: &str = "6f8f4a52-3c1e-4d7b-9a51-0f2f6f0c1b77";

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("other_sites_link_where_the_status_says", linked),
        shared("an_address_that_is_waited_for_is_told", balanced),
        shared("access_that_cannot_be_is_told", refused),
    ]
}

async fn ready<K>(place: &TestNamespace, name: &str) -> Result<K>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
{
    let what = format!("{} {name} is Ready", K::kind(&()));
    place
        .until(name, &what, |found: &K| has_report(found, "Ready", "OK"))
        .await
}

async fn linked(mut place: TestNamespace) -> Result<()> {
    place
        .make::<Site>("west", json!({ "spec": { "linkAccess": "local" } }))
        .await?;
    place.run_router().await?;
    let site: Site = ready(&place, "west").await?;
    let host = format!("skupper-router.{}", place.namespace);
    let endpoint = |name: &str, port: &str| json!({ "name": name, "host": host, "port": port, "group": "skupper-router" });
    let endpoints = json!([endpoint("inter-router", "55671"), endpoint("edge", "45671")]);
    let status = site.status.unwrap_or_default();
    ensure!(
        json!(status.endpoints) == endpoints,
        "{:?}",
        status.endpoints
    );
    ensure!(status.default_issuer.as_deref() == Some("skupper-site-ca"));
    let access: RouterAccess = ready(&place, "skupper-router").await?;
    ensure!(json!(access.status.unwrap_or_default().endpoints) == endpoints);
    ready::<SecuredAccess>(&place, "skupper-router").await?;
    let service = place.api::<Service>().get("skupper-router").await?;
    let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
    let ports: Vec<i32> = ports.iter().map(|port| port.port).collect();
    ensure!(ports == [55671, 45671]);
    // Who has a certificate of the site's authority gets in.
    let east = json!({ "ca": "skupper-site-ca", "subject": EAST, "client": true });
    place
        .make::<Certificate>("east", json!({ "spec": east }))
        .await?;
    ready::<Certificate>(&place, "east").await?;
    dialled(&place, "east", &host).await?;
    // From now on no site may link.
    let none = json!({ "spec": { "linkAccess": "none" } });
    place.patch::<Site>("west", none).await?;
    place.gone::<RouterAccess>("skupper-router").await?;
    place.gone::<SecuredAccess>("skupper-router").await?;
    place.gone::<Service>("skupper-router").await?;
    let site: Site = ready(&place, "west").await?;
    ensure!(site.status.unwrap_or_default().endpoints.is_none());
    closed(&place).await
}

/// A handshake with the router, as another one would begin a link.
async fn dialled(place: &TestNamespace, secret: &str, host: &str) -> Result<()> {
    let secret = place.api::<Secret>().get(secret).await?;
    let files = [AUTHORITY, CHAIN, KEY].map(|key| {
        let bytes = text(&secret, key).unwrap_or_default().as_bytes().to_vec();
        (format!("p/{key}"), Ok(bytes))
    });
    let profile = Profile {
        ca: Some(format!("p/{AUTHORITY}")),
        pair: Some((format!("p/{CHAIN}"), format!("p/{KEY}"))),
    };
    let entry = ConfigEntry {
        hash: String::new(),
        wanted: Ok(profile),
    };
    let mut profiles = Profiles::default();
    profiles.update(
        &BTreeMap::from([("p".to_owned(), entry)]),
        &Files::from(files),
    );
    let slot = profiles.get("p").context("it is there")?.slot.clone();
    let mut deadline = Deadline::new(SOON);
    loop {
        let stream = TcpStream::connect((place.address, 55671)).await;
        let failed = match stream {
            Ok(stream) => {
                let name = ServerName::try_from(host.to_owned())?;
                match dial(stream, name, &slot, true).await {
                    Ok(_) => return Ok(()),
                    Err(error) => anyhow::Error::new(error),
                }
            }
            Err(error) => error.into(),
        };
        if deadline.is_over() {
            return Err(failed).context("nobody gets in");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn closed(place: &TestNamespace) -> Result<()> {
    let mut deadline = Deadline::new(SOON);
    while TcpStream::connect((place.address, 55671)).await.is_ok() {
        if deadline.is_over() {
            bail!("the port is still open");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn balanced(mut place: TestNamespace) -> Result<()> {
    let spec = json!({ "spec": { "linkAccess": "loadbalancer" } });
    place.make::<Site>("west", spec).await?;
    place.run_router().await?;
    place
        .make::<AccessGrant>("east", json!({ "spec": {} }))
        .await?;
    let why = "Service skupper-router has no address yet: a load balancer must give it one; where the cluster has none, install one, or choose local or nodeport";
    let of_site = format!("RouterAccess skupper-router: {why}");
    let of_grant = format!("No valid endpoints found for site: Site west waits: {of_site}");
    waits::<SecuredAccess>(&place, "skupper-router", why).await?;
    waits::<RouterAccess>(&place, "skupper-router", why).await?;
    waits::<Site>(&place, "west", &of_site).await?;
    waits::<AccessGrant>(&place, "east", &of_grant).await?;
    let status = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.9" }] } } });
    let params = kube::api::PatchParams::default();
    let patch = kube::api::Patch::Merge(status);
    let services = place.api::<Service>();
    place
        .until("skupper-router", "the Service is there", |_: &Service| true)
        .await?;
    services
        .patch_status("skupper-router", &params, &patch)
        .await?;
    let site: Site = ready(&place, "west").await?;
    let told = site
        .status
        .unwrap_or_default()
        .endpoints
        .unwrap_or_default();
    ensure!(told.iter().all(|e| e.host.as_deref() == Some("192.0.2.9")) && told.len() == 2);
    let follows = |secret: &Secret| {
        let wanted = "192.0.2.9"
            .parse::<std::net::Ipv4Addr>()
            .map(|ip| ip.octets());
        let own = lifecycle_skupper::certificate::certificate(secret);
        own.zip(wanted.ok())
            .is_some_and(|(own, ip)| own.der().windows(ip.len()).any(|part| part == ip))
    };
    let what = "the certificate is for the address";
    place.until("skupper-site-server", what, follows).await?;
    ready::<RouterAccess>(&place, "skupper-router").await?;
    let grant: AccessGrant = ready(&place, "east").await?;
    let url = grant.status.and_then(|status| status.url);
    let url = url.context("it says where it is redeemed")?;
    let server = "https://skupper-grant-server.skupper:8443/";
    ensure!(url.starts_with(server), "{url}");
    Ok(())
}

/// Waits until an object is Pending, and its condition `Resolved` has this message.
async fn waits<K>(place: &TestNamespace, name: &str, why: &str) -> Result<()>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
{
    let what = format!("{} {name} is Pending: {why}", K::kind(&()));
    let line = format!("Resolved=False Pending {why}");
    let told = |found: &K| has_report(found, "Pending", why) && report(found).2.contains(&line);
    place.until(name, &what, told).await.map(drop)
}

async fn refused(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let spec = json!({ "roles": [{ "name": "inter-router" }], "tlsCredentials": "mine", "accessType": "route" });
    place
        .make::<RouterAccess>("door", json!({ "spec": spec }))
        .await?;
    let said = "access type \"route\" is not supported: use local, loadbalancer or nodeport";
    let told = |access: &SecuredAccess| has_report(access, "Error", said);
    place.until("door", said, told).await?;
    let said = "TLS credentials secret \"mine\" not found";
    let told = |access: &RouterAccess| has_report(access, "Error", said);
    place.until("door", said, told).await?;
    place
        .patch::<Site>("west", json!({ "spec": { "edge": true } }))
        .await?;
    let said = "Edge sites cannot accept incoming links from remote sites";
    let told = |access: &RouterAccess| has_report(access, "Error", said);
    place.until("door", said, told).await.map(drop)
}
