//! Edits of other users to the objects of the controller of Skupper sites, on a real API server.
//! Every field of the objects of a router, of the Services of Listeners, and of all statuses, is
//! restored within five seconds. Prints figures.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::router::{LOCAL_CA, LOCAL_SERVER, ROUTER};
use lifecycle_specs_skupper::site::{ServiceRecord, Site};
use lifecycle_tests::api_server::Options;
use lifecycle_tests::edits::{self, Object, Rules, Writer};
use lifecycle_tests::harness::{Case, Need};
use lifecycle_tests::named;
use serde_json::json;

use crate::place::{TestEnv, TestNamespace, has_report, report};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): every_place_of_a_site_is_ours_again_whatever_others_do_to_it]
}

/// The controller's promise (`docs/skupper.md`).
const BOUND: Duration = Duration::from_secs(5);
/// How many edits there are of each kind.
const CASES: [(&str, usize); 12] = [
    ("AttachedConnector status", 86),
    ("AttachedConnectorBinding status", 111),
    ("Certificate", 148),
    ("ConfigMap", 61),
    ("Connector status", 122),
    ("Deployment", 384),
    ("Listener status", 111),
    ("Role", 87),
    ("RoleBinding", 60),
    ("Service", 206),
    ("ServiceAccount", 38),
    ("Site status", 175),
];
/// A port with another number blocks the operator's port by its name.
const ROUTER_PORTS: &str = r#"spec.template.spec.containers[{"name":"router"}].ports"#;
/// How many sites are edited at once.
const GROUPS: usize = 6;

async fn every_place_of_a_site_is_ours_again_whatever_others_do_to_it() -> Result<()> {
    // No other controller writes these objects: no Pods come and go with each edit of the
    // Deployment.
    let env = Arc::new(TestEnv::start_with(Options::default()).await?);
    let began = Instant::now();
    let rules = Rules {
        groups: GROUPS,
        bound: BOUND,
        exclusive: &["spec.ports"],
        told: &["metadata.ownerReferences", ROUTER_PORTS],
    };
    let running = Mutex::new(Vec::new());
    let group = async |_: usize| {
        let (site, objects) = group(&env).await?;
        running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(site);
        anyhow::Ok(objects)
    };
    let counts = edits::all(&rules, group, &Controller(&env)).await?;
    eprintln!("all in {:?}", began.elapsed());
    let cases: Vec<_> = counts
        .iter()
        .map(|(kind, counts)| (kind.as_str(), counts.cases))
        .collect();
    ensure!(cases == CASES, "other places than before: {cases:?}");
    Ok(())
}

/// Creates a Site with one object of each kind. Its routers run until the place is dropped.
async fn group(env: &Arc<TestEnv>) -> Result<(TestNamespace, Vec<Object>)> {
    let mut site = TestNamespace::new(Arc::clone(env), "edits").await?;
    let other = TestNamespace::new(Arc::clone(env), "edits-other").await?;
    let template = json!({ "metadata": {
        "name": "labels", "annotations": { "example.org/by": "team" },
        "labels": { "skupper.io/label-template": "true", "team": "blue" },
    } });
    site.make::<ConfigMap>("labels", template).await?;
    site.make::<Site>("west", json!({ "spec": {} })).await?;
    let template = site.deployment().await?.spec.context("it has a spec")?;
    let template = serde_json::to_value(template.template)?;
    let pod = json!({
        "metadata": { "name": ROUTER, "labels": template["metadata"]["labels"] },
        "spec": template["spec"],
    });
    site.make::<Pod>(ROUTER, pod).await?;
    site.run_router().await?;
    let spec =
        json!({ "routingKey": "shop", "host": "shop", "port": 80, "exposePodsByName": true });
    site.make::<Listener>("shop", json!({ "spec": spec }))
        .await?;
    let spec = json!({ "routingKey": "shop", "selector": "app=shop", "port": 8080, "exposePodsByName": true });
    site.make::<Connector>("shop", json!({ "spec": spec }))
        .await?;
    site.workload("shop-0", "shop", Ipv4Addr::LOCALHOST.into())
        .await?;
    let spec = json!({ "siteNamespace": site.namespace, "selector": "app=shop", "port": 8080 });
    other
        .make::<AttachedConnector>("shop", json!({ "spec": spec }))
        .await?;
    other
        .workload("shop-1", "shop", Ipv4Addr::LOCALHOST.into())
        .await?;
    let spec = json!({ "connectorNamespace": other.namespace, "routingKey": "shop" });
    site.make::<AttachedConnectorBinding>("shop", json!({ "spec": spec }))
        .await?;
    let knows_all = |s: &Site| has_report(s, "Ready", "OK") && served(s) == 2;
    site.until("west", "the Site knows what is served", knows_all)
        .await?;
    site.until("shop", "the Listener is Ready", |l: &Listener| {
        has_report(l, "Ready", "OK")
    })
    .await?;
    site.until("shop", "the Connector is Ready", |c: &Connector| {
        has_report(c, "Ready", "OK")
    })
    .await?;
    site.until("shop", "it is accepted", |b: &AttachedConnectorBinding| {
        has_report(b, "Ready", "OK")
    })
    .await?;
    other
        .until("shop", "it is attached", |a: &AttachedConnector| {
            has_report(a, "Ready", "OK")
        })
        .await?;
    let pod_service = |_: &Service| true;
    site.until("shop-0", "its Pod has a Service", pod_service)
        .await?;
    let objects = objects(&site, &other);
    Ok((site, objects))
}

/// Returns the number of routing keys that a Site reports as both offered and served: that of the
/// Listener, and that of its Pod.
fn served(site: &Site) -> usize {
    let sites = site.status.iter().flat_map(|s| s.network.iter().flatten());
    let services = sites.flat_map(|s| s.services.iter().flatten());
    let is_both = |s: &&ServiceRecord| s.connectors.is_some() && s.listeners.is_some();
    services.filter(is_both).count()
}

/// Returns the objects to edit. Statuses come first, because repeated writes are reported in them.
fn objects(site: &TestNamespace, other: &TestNamespace) -> Vec<Object> {
    let (client, namespace) = (&site.client, site.namespace.as_str());
    let of_router = |name: &str, of: fn(&TestNamespace, &str) -> Object| {
        of(site, name).written_for::<Site>("west")
    };
    vec![
        Object::new::<Site>(client, namespace, "west").status(),
        Object::new::<Listener>(client, namespace, "shop").status(),
        Object::new::<Connector>(client, namespace, "shop").status(),
        Object::new::<AttachedConnectorBinding>(client, namespace, "shop").status(),
        Object::new::<AttachedConnector>(client, &other.namespace, "shop").status(),
        of_router(ROUTER, object::<ConfigMap>),
        of_router(LOCAL_CA, object::<Certificate>),
        of_router(LOCAL_SERVER, object::<Certificate>),
        of_router(ROUTER, object::<ServiceAccount>),
        of_router(ROUTER, object::<Role>),
        of_router(ROUTER, object::<RoleBinding>),
        of_router(ROUTER, object::<Deployment>),
        object::<Service>(site, "shop").written_for::<Listener>("shop"),
        object::<Service>(site, "shop-0").written_for::<Listener>("shop"),
    ]
}

fn object<K>(place: &TestNamespace, name: &str) -> Object
where
    K: kube::Resource<DynamicType = ()>,
{
    Object::new::<K>(&place.client, &place.namespace, name)
}

struct Controller<'a>(&'a TestEnv);

impl Writer for Controller<'_> {
    /// Returns true if the Site or the Listener reports it.
    async fn reports_foreign(&self, object: &Object) -> Result<bool> {
        let client = self.0.client().await?;
        let of = object.namespace();
        let site: Site = kube::Api::namespaced(client.clone(), of)
            .get("west")
            .await?;
        let listener: Listener = kube::Api::namespaced(client, of).get("shop").await?;
        let told = [report(&site), report(&listener)];
        Ok(told.iter().any(|(status, message, _)| {
            let names = [object.kind(), object.name().to_owned()];
            status == "Error" && names.iter().all(|name| message.contains(name.as_str()))
        }))
    }
}
