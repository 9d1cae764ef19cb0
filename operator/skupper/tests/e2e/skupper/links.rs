//! Rows 27, 30 and 67: a Listener of one site and a Connector of another, over a Link that comes, is lost and returns. And a site that others link to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::{Endpoint, Site};
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};

use super::support::{Echo, connect, listen, refused, shared, soon_greeted};
use crate::place::{TestEnv, TestNamespace, has_report, report};

/// Core time within which a Link is configured, and a key of linked sites is matched.
const JOINED: Duration = Duration::from_secs(5);
/// A site that is lost is reported within this core time.
const LOST: Duration = Duration::from_secs(10);

pub(crate) fn cases() -> Vec<Case> {
    vec![shared("s27_s30_s67_a_listener_follows_its_link", followed)]
}

/// A site that others link to, at the address of its router.
pub(crate) struct Hub {
    pub(crate) place: TestNamespace,
    pub(crate) endpoints: Vec<Endpoint>,
}

impl Hub {
    pub(crate) async fn start(env: Arc<TestEnv>) -> Result<Self> {
        Self::start_in(TestNamespace::new(env, "hub").await?).await
    }

    /// In a namespace that has no Site yet.
    pub(crate) async fn start_in(mut place: TestNamespace) -> Result<Self> {
        let spec = json!({ "spec": { "linkAccess": "loadbalancer" } });
        place.make::<Site>("hub", spec).await?;
        place.run_router().await?;
        let what = "the Service of the router is there";
        place
            .until("skupper-router", what, |_: &Service| true)
            .await?;
        // As a load balancer would.
        let at = json!([{ "ip": place.address.to_string() }]);
        let status = json!({ "status": { "loadBalancer": { "ingress": at } } });
        let (services, params) = (place.api::<Service>(), PatchParams::default());
        services
            .patch_status("skupper-router", &params, &Patch::Merge(status))
            .await?;
        let ready = |site: &Site| has_report(site, "Ready", "OK");
        let site: Site = place.until("hub", "others can link", ready).await?;
        let endpoints = site.status.and_then(|status| status.endpoints);
        Ok(Self {
            place,
            endpoints: endpoints.context("it says where it is reached")?,
        })
    }

    /// Creates a Secret that identifies a site with this uid here.
    pub(crate) async fn secret(&self, uid: &str) -> Result<Value> {
        let spec = json!({ "ca": "skupper-site-ca", "subject": uid, "client": true, "server": true, "hosts": ["backend"] });
        let name = format!("of-{uid}");
        self.place
            .make::<Certificate>(&name, json!({ "spec": spec }))
            .await?;
        let full = |secret: &Secret| secret.data.as_ref().is_some_and(|data| data.len() == 3);
        let secret: Secret = self
            .place
            .until(&name, "the certificate is made", full)
            .await?;
        Ok(json!({ "type": "kubernetes.io/tls", "data": secret.data }))
    }

    /// A Link to this site, by the Secret of a name.
    pub(crate) fn link(&self, secret: &str, cost: i64) -> Value {
        json!({ "spec": { "endpoints": self.endpoints, "tlsCredentials": secret, "cost": cost } })
    }

    /// Lets the Site of another namespace link to this one by a Link `hub`.
    pub(crate) async fn join(&self, place: &TestNamespace) -> Result<Link> {
        let uid = place.api::<Site>().get("west").await?.uid();
        let secret = self.secret(&uid.context("it has a uid")?).await?;
        place.make::<Secret>("to-hub", secret).await?;
        place.make("hub", self.link("to-hub", 3)).await
    }

    /// Its uid.
    pub(crate) async fn uid(&self) -> Result<String> {
        let site = self.place.api::<Site>().get("hub").await?;
        site.uid().context("it has a uid")
    }
}

/// Tests that an edit of `allowed-keys` takes effect at once. A removed key has no match, and has
/// one again when it may pass. The router links anew for it.
async fn only_allowed_keys_pass(east: &TestNamespace, hub: &Hub) -> Result<()> {
    let allow = |keys: Value| json!({ "spec": { "settings": { "allowed-keys": keys } } });
    let (links, params) = (east.api::<Link>(), PatchParams::default());
    let patch = Patch::Merge(allow(json!("other")));
    links.patch("hub", &params, &patch).await?;
    let told = |l: &Listener| has_report(l, "Pending", "No matching connectors") && !has_match(l);
    east.until::<Listener>("backend", "its key may not pass", told)
        .await?;
    let patch = Patch::Merge(allow(json!("other, backend")));
    links.patch("hub", &params, &patch).await?;
    linked(east, hub).await
}

async fn followed(mut east: TestNamespace) -> Result<()> {
    let mut hub = Hub::start(Arc::clone(&east.env)).await?;
    let echo = Echo::start("far").await?;
    connect(&hub.place, "far", echo.at, json!({})).await?;
    east.site().await?;
    listen(&east, "backend", json!({})).await?;
    let alone = |l: &Listener| has_report(l, "Pending", "No matching connectors");
    east.until::<Listener>("backend", "it has no match yet", alone)
        .await?;
    hub.join(&east).await?;
    let began = Instant::now();
    let configured = |link: &Link| {
        let (_, _, conditions) = report(link);
        let mut conditions = conditions.iter();
        conditions.any(|condition| condition == "Configured=True Ready OK")
    };
    let configured: Link = east
        .until_within(JOINED, "hub", "the Link is Configured", configured)
        .await?;
    eprintln!(
        "{} was Configured after {:.1?}",
        configured.name_any(),
        began.elapsed()
    );
    linked(&east, &hub).await?;
    eprintln!("all were Ready after {:.1?}", began.elapsed());
    let port = east.router_port("backend", 8080).await?;
    let mut open = soon_greeted(&east, port, "far").await?;
    super::support::echoes(&mut open, 100_000).await?;

    only_allowed_keys_pass(&east, &hub).await?;

    // The other site is lost, and returns.
    let began = Instant::now();
    hub.place.kill_router()?;
    let is_lost = |link: &Link| {
        let (status, message, _) = report(link);
        status == "Error" && message.starts_with("Not operational")
    };
    let told = |l: &Listener| alone(l) && !has_match(l);
    let (lost, _) = tokio::try_join!(
        east.until_within(LOST, "hub", "the Link is lost", is_lost),
        east.until_within(LOST, "backend", "its match is gone", told),
    )?;
    eprintln!("{} was lost after {:.1?}", lost.name_any(), began.elapsed());
    refused(&east, port).await?;
    hub.place.run_router().await?;
    linked(&east, &hub).await?;
    soon_greeted(&east, port, "far").await?;

    // The Link goes, and the match with it.
    east.delete::<Link>("hub").await?;
    let told = |l: &Listener| alone(l) && !has_match(l);
    east.until::<Listener>("backend", "nobody leads there", told)
        .await?;
    refused(&east, port).await
}

fn has_match(listener: &Listener) -> bool {
    let status = listener.status.as_ref();
    status.is_some_and(|status| status.has_matching_connector == Some(true))
}

/// True if a Link is Ready, and the name of the other site has come as well.
pub(crate) fn is_linked(link: &Link) -> bool {
    let status = link.status.as_ref();
    let name = status.and_then(|status| status.remote_site_name.as_deref());
    has_report(link, "Ready", "OK") && name == Some("hub")
}

/// Waits until both sites report the link.
async fn linked(east: &TestNamespace, hub: &Hub) -> Result<()> {
    let link: Link = east.until("hub", "the Link is Ready", is_linked).await?;
    let (_, _, conditions) = report(&link);
    let wanted = [
        "Configured=True Ready OK",
        "Operational=True Ready OK",
        "Ready=True Ready OK",
    ];
    ensure!(conditions == wanted, "{conditions:?}");
    let status = link.status.unwrap_or_default();
    ensure!(
        status.remote_site_id == Some(hub.uid().await?),
        "{status:?}"
    );
    let matched = |l: &Listener| has_report(l, "Ready", "OK") && has_match(l);
    let (began, what) = (Instant::now(), "the Listener is Ready");
    let listener: Listener = east.until_within(JOINED, "backend", what, matched).await?;
    eprintln!(
        "the Listener was Ready {:.1?} after the Link",
        began.elapsed()
    );
    let (_, _, conditions) = report(&listener);
    let wanted = [
        "Configured=True Ready OK",
        "Matched=True Ready OK",
        "Ready=True Ready OK",
    ];
    ensure!(conditions == wanted, "{conditions:?}");
    let offered = |c: &Connector| has_report(c, "Ready", "OK");
    hub.place
        .until::<Connector>("far", "the Connector has a match", offered)
        .await?;
    let both = |site: &Site| {
        let status = site.status.as_ref();
        status.is_some_and(|status| status.sites_in_network == Some(2))
    };
    east.until::<Site>("west", "it knows both sites", both)
        .await?;
    Ok(())
}
