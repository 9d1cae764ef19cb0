//! The suites of the lifecycles of a Skupper site, each with the actions of other controllers of
//! its namespace and of the router.

mod desk;
mod pods;

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceValidation;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_skupper::access_grant::Grants;
use lifecycle_skupper::access_token::{Redeems, Tokens, answers};
use lifecycle_skupper::attached::{self as binds, Attached, Bindings};
use lifecycle_skupper::certificate::Certificates;
use lifecycle_skupper::config::document::SiteIdentity;
use lifecycle_skupper::config::kept;
use lifecycle_skupper::config::plan;
use lifecycle_skupper::config::revisions::Revisions;
use lifecycle_skupper::config::router_config;
use lifecycle_skupper::connector::Connectors;
use lifecycle_skupper::data_plane::DataPlane;
use lifecycle_skupper::link::Links;
use lifecycle_skupper::listener::Listeners;
use lifecycle_skupper::multi_key_listener::MultiKeyListeners;
use lifecycle_skupper::namespace::active_site;
use lifecycle_skupper::namespace::controller_id::ControllerId;
use lifecycle_skupper::platform::Platform;
use lifecycle_skupper::router::plane::{Images, RouterOptions};
use lifecycle_skupper::router_access::RouterAccesses;
use lifecycle_skupper::secured_access::{AccessDefaults, SecuredAccesses};
use lifecycle_skupper::site::Sites;
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::access_grant;
use lifecycle_specs_skupper::access_token::{self, AccessTokenSpec, Given, GivenLink, Reply};
use lifecycle_specs_skupper::attached::{self, AttachedConnector};
use lifecycle_specs_skupper::attached_binding::{self, AttachedConnectorBinding};
use lifecycle_specs_skupper::certificate;
use lifecycle_specs_skupper::connector::{self, Connector};
use lifecycle_specs_skupper::crds;
use lifecycle_specs_skupper::link::{self, Link};
use lifecycle_specs_skupper::listener::{self, Listener};
use lifecycle_specs_skupper::multi_key_listener::{self, MultiKeyListener};
use lifecycle_specs_skupper::router_access::{self, RouterAccess};
use lifecycle_specs_skupper::secured_access;
use lifecycle_specs_skupper::site::{self, Controller, Endpoint, Site};
use lifecycle_suite::resources::{Site as Place, Suite};
use serde_json::json;

pub(crate) use desk::Router;
use desk::SingleRouter;
use pods::runs;

use lifecycle_tests::lifecycles::provider::{Provider, ProviderState};

fn controller_id() -> ControllerId {
    ControllerId::new("kube-public", "controller")
}

fn defined(suite: Suite) -> Suite {
    crds().iter().fold(suite, Suite::define)
}

/// With Listeners of any form, as if there had been another definition.
fn loosely_defined(suite: Suite) -> Suite {
    let any = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let any: CustomResourceValidation = serde_json::from_value(any).expect("it is a schema");
    let all = crds().into_iter().map(|mut definition| {
        let versions = definition.spec.versions.iter_mut();
        for version in versions.filter(|_| definition.spec.names.kind == "Listener") {
            version.schema = Some(any.clone());
        }
        definition
    });
    all.fold(suite, |suite, definition| suite.define(&definition))
}

/// A Listener alone.
fn bare_listener() -> Suite {
    let machine = |router: Router, line| {
        listener::machine(Listeners::new(
            controller_id(),
            Arc::new(SingleRouter(router.on(line))),
            Platform::Kubernetes,
        ))
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a Listener.
pub(crate) fn listener() -> Suite {
    defined(bare_listener())
        .fixtures(include_str!("suites/listener.yaml"))
        .promise("arises", arises)
        .promise("allocated", plans)
        .promise("follows", reads)
}

/// A MultiKeyListener alone.
fn bare_multi_key_listener() -> Suite {
    let machine = |router: Router, line| {
        multi_key_listener::machine(MultiKeyListeners::new(
            controller_id(),
            Arc::new(SingleRouter(router.on(line))),
            Platform::Kubernetes,
        ))
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a MultiKeyListener.
pub(crate) fn multi_key_listener() -> Suite {
    defined(bare_multi_key_listener())
        .fixtures(include_str!("suites/multi_key_listener.yaml"))
        .promise("arises", arises)
        .promise("allocated", plans)
        .promise("follows", reads)
}

/// A Connector alone.
fn bare_connector() -> Suite {
    let machine = |router: Router, line| {
        connector::machine(Connectors::new(
            controller_id(),
            Arc::new(SingleRouter(router.on(line))),
        ))
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a Connector.
pub(crate) fn connector() -> Suite {
    defined(bare_connector())
        .fixtures(include_str!("suites/connector.yaml"))
        .promise("arises", arises)
        .promise("decides", plans)
        .promise("follows", follows)
}

/// An AttachedConnector alone.
fn bare_attached() -> Suite {
    let machine = || {
        attached::machine(Attached {
            controller_id: controller_id(),
        })
    };
    Suite::for_machine(machine)
}

/// The suite of an AttachedConnector.
pub(crate) fn attached() -> Suite {
    defined(bare_attached()).fixtures(include_str!("suites/attached.yaml"))
}

/// A Certificate alone.
fn bare_certificate() -> Suite {
    let machine = || {
        certificate::machine(Certificates {
            controller_id: controller_id(),
        })
    };
    Suite::for_machine(machine)
}

/// The suite of a Certificate.
pub(crate) fn certificate() -> Suite {
    defined(bare_certificate()).fixtures(include_str!("suites/certificate.yaml"))
}

/// A SecuredAccess alone.
fn bare_secured_access() -> Suite {
    let machine = || {
        secured_access::machine(SecuredAccesses {
            controller_id: controller_id(),
            defaults: AccessDefaults::default(),
        })
    };
    Suite::for_machine(machine)
}

/// The suite of a SecuredAccess.
pub(crate) fn secured_access() -> Suite {
    defined(bare_secured_access()).fixtures(include_str!("suites/secured_access.yaml"))
}

/// A RouterAccess alone.
fn bare_router_access() -> Suite {
    let machine = |router: Router, line| {
        router_access::machine(RouterAccesses {
            controller_id: controller_id(),
            routers: Arc::new(SingleRouter(router.on(line))),
        })
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a RouterAccess.
pub(crate) fn router_access() -> Suite {
    defined(bare_router_access())
        .fixtures(include_str!("suites/router_access.yaml"))
        .promise("arises", arises)
        .promise("decides", plans)
        .promise("follows", follows)
}

/// An AttachedConnectorBinding alone.
fn bare_binding() -> Suite {
    let machine = |router: Router, line| {
        let routers = Arc::new(SingleRouter(router.on(line)));
        attached_binding::machine(Bindings::new(controller_id(), routers))
    };
    Suite::outside(Router::default, machine)
}

/// The suite of an AttachedConnectorBinding.
pub(crate) fn binding() -> Suite {
    defined(bare_binding())
        .fixtures(include_str!("suites/binding.yaml"))
        .promise("arises", arises)
        .promise("decides", plans)
        .promise("follows", follows)
}

/// A Link alone.
fn bare_link() -> Suite {
    let machine = |router: Router, line| {
        link::machine(Links::new(
            controller_id(),
            Arc::new(SingleRouter(router.on(line))),
        ))
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a Link.
pub(crate) fn link() -> Suite {
    defined(bare_link())
        .fixtures(include_str!("suites/link.yaml"))
        .promise("arises", arises)
        .promise("decides", plans)
        .promise("follows", follows)
}

/// The suite of an AccessGrant.
pub(crate) fn access_grant() -> Suite {
    let machine = || {
        access_grant::machine(Grants {
            controller_id: controller_id(),
            platform: Platform::Kubernetes,
        })
    };
    defined(Suite::for_machine(machine)).fixtures(include_str!("suites/access_grant.yaml"))
}

/// Grant server of another site, independent of the API server.
type Grantor = Provider<Answers>;

/// State of the grant server: true if it grants requests. Initially it refuses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Answers {
    is_giving: bool,
}

impl ProviderState for Answers {
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["give", "refuse"];

    fn perturb(&mut self, what: &str) {
        self.is_giving = what == "give";
    }
}

/// Client of the one grant server.
struct Redeeming(Grantor);

impl Redeems for Redeeming {
    async fn redeem(&self, _: &AccessTokenSpec, name: &str, _: &str) -> Reply {
        let link = GivenLink {
            name: name.to_owned(),
            endpoints: vec![Endpoint::default()],
            cost: None,
        };
        let files = ["ca.crt", "tls.crt", "tls.key"].map(|file| (file.to_owned(), file.to_owned()));
        let given = Given {
            files: files.into(),
            links: vec![link],
        };
        let asked = self.0.query("redeem the token", move |answers| {
            Ok(match answers.is_giving {
                false => Reply::Denied("it answered 404: No such claim".to_owned()),
                true => Reply::Given(given),
            })
        });
        asked
            .await
            .unwrap_or_else(|error| Reply::Denied(error.to_string()))
    }
}

/// The suite of an AccessToken.
pub(crate) fn access_token() -> Suite {
    let machine = |grantor: Grantor, line| {
        access_token::machine(Tokens {
            controller_id: controller_id(),
            redeems: Redeeming(grantor.on(line)),
            answers: answers::Answers::default(),
        })
    };
    defined(Suite::outside(Grantor::default, machine))
        .fixtures(include_str!("suites/access_token.yaml"))
}

/// Returns a Site alone, on the embedded router unless it sets another one. The images of the
/// existing router are known if that is the default.
fn bare_site(data_plane: DataPlane) -> Suite {
    let machine = move |router: Router, line| {
        let existing = (data_plane == DataPlane::SkupperRouter).then(|| "existing:1".to_owned());
        site::machine(Sites {
            controller_id: controller_id(),
            controller: Controller::default(),
            platform: Platform::Kubernetes,
            router_options: RouterOptions {
                data_plane,
                images: Images {
                    embedded: "router:1".to_owned(),
                    skupper_router: existing.clone(),
                    kube_adaptor: existing,
                },
                ..RouterOptions::default()
            },
            routers: Arc::new(SingleRouter(router.on(line))),
        })
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a Site.
pub(crate) fn site(data_plane: DataPlane) -> Suite {
    loosely_defined(bare_site(data_plane))
        .fixtures(include_str!("suites/site.yaml"))
        .promise("starts", starts)
}

/// The Site with Listeners of both kinds, a Connector and a Link of its namespace. It also has an
/// AttachedConnector of another namespace, with the binding that accepts it here. These lifecycles
/// keep their promises to each other themselves. Certificates are left out, because no promise
/// depends on them: they last for years, and time passes by the hour here. Functions play only the
/// parts of Kubernetes and the router: a Pod runs, and the router reads the configuration that the
/// Site has written.
pub(crate) fn together(data_plane: DataPlane) -> Suite {
    defined(bare_site(data_plane))
        .fixtures(include_str!("suites/together.yaml"))
        .promise("starts", starts)
        .together_with(bare_listener().promise("follows", reads))
        .together_with(bare_multi_key_listener().promise("follows", reads))
        .together_with(bare_connector().promise("follows", reads))
        .together_with(bare_link().promise("follows", reads))
        .together_with(bare_binding().promise("follows", reads))
        .together_with(bare_attached())
        .together_with(bare_router_access().promise("follows", reads))
        .together_with(bare_secured_access())
}

/// Returns the Site with a Listener and without a simulated router.
pub(crate) fn alone_with_a_listener() -> Suite {
    let suite =
        defined(bare_site(DataPlane::Embedded)).fixtures(include_str!("suites/together.yaml"));
    suite
        .promise("starts", starts)
        .together_with(bare_listener())
}

/// Lists the objects of a kind in the namespace. Objects that the Rust type cannot hold, such as
/// objects without `spec`, are skipped.
async fn all<K>(place: &Place) -> kube::Result<Vec<K>>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: serde::de::DeserializeOwned,
{
    let namespace = place.object["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default();
    let kind = ApiResource::erase::<K>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(place.client().clone(), namespace, &kind);
    let objects = api.list(&ListParams::default()).await?.items.into_iter();
    let values = objects.filter_map(|object| serde_json::to_value(object).ok());
    Ok(values
        .filter_map(|v| serde_json::from_value(v).ok())
        .collect())
}

/// A Connector that exposes its Pod by name, where the lifecycle under test does not see Connectors.
fn exposed() -> plan::Workload {
    let spec = json!({ "routingKey": "backend", "port": 8080, "selector": "app=web", "exposePodsByName": true });
    let pod = SelectedPod {
        name: "web-0".to_owned(),
        ip: "10.0.0.9".to_owned(),
    };
    plan::Workload {
        name: "c".to_owned(),
        spec: serde_json::from_value(spec).expect("it is a spec"),
        pods: vec![(pod, String::new())],
    }
}

/// The ConfigMap of the router.
async fn written(place: &Place) -> kube::Result<Option<ConfigMap>> {
    let mut tables = all::<ConfigMap>(place).await?.into_iter();
    Ok(tables.find(|table| table.name_any() == "skupper-router"))
}

/// The Site decides.
async fn plans(place: Place) -> kube::Result<bool> {
    let (sites, listeners) = (all::<Site>(&place).await?, all::<Listener>(&place).await?);
    let before = written(&place).await?;
    let Some(site) = active_site::find(&sites.iter().collect::<Vec<_>>(), before.as_ref()) else {
        return Ok(false);
    };
    let (connectors, pods) = (all::<Connector>(&place).await?, all::<Pod>(&place).await?);
    let (all_connectors, all_pods): (Vec<_>, Vec<_>) =
        (connectors.iter().collect(), pods.iter().collect());
    let mut served = plan::workloads(&all_connectors, &all_pods);
    if connectors.is_empty() {
        served.push(exposed());
    }
    let everywhere = Api::<AttachedConnector>::all(place.client().clone());
    let attached = everywhere.list(&ListParams::default()).await?.items;
    for binding in all::<AttachedConnectorBinding>(&place).await? {
        served.extend(attached.iter().filter_map(|a| binds::workload(&binding, a)));
    }
    let namespace = place.object["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default();
    let tables: Api<ConfigMap> = Api::namespaced(place.client().clone(), namespace);
    let listeners: Vec<&Listener> = listeners.iter().collect();
    let several = all::<MultiKeyListener>(&place).await?;
    let several: Vec<&MultiKeyListener> = several.iter().collect();
    let links = all::<Link>(&place).await?;
    let links: Vec<&Link> = links.iter().collect();
    let accesses = all::<RouterAccess>(&place).await?;
    let accesses: Vec<&RouterAccess> = accesses.iter().collect();
    let wanted = plan::router_config(
        (&SiteIdentity::from_site(site), &Revisions::default()),
        (
            &router_config::before(before.as_ref(), &[]),
            &kept::RetainedConfig::default(),
        ),
        (&listeners, &several),
        (&served, &links, &accesses),
    );
    let data = &wanted.as_json()["data"];
    match before {
        Some(before) if json!(before.data) == *data => Ok(false),
        Some(_) => {
            let patch = Patch::Merge(
                json!({ "data": data, "metadata": { "labels": wanted.as_json()["metadata"]["labels"] } }),
            );
            // Data that is no longer reported is removed.
            let without = Patch::Merge(json!({ "data": null }));
            tables
                .patch("skupper-router", &PatchParams::default(), &without)
                .await?;
            tables
                .patch("skupper-router", &PatchParams::default(), &patch)
                .await?;
            Ok(true)
        }
        None => {
            let table: ConfigMap = serde_json::from_value(wanted.as_json().clone())
                .map_err(kube::Error::SerdeError)?;
            tables.create(&PostParams::default(), &table).await?;
            Ok(true)
        }
    }
}

/// Lets the router read the configuration that the Site has written.
async fn reads(place: Place) -> kube::Result<bool> {
    let table = written(&place).await?;
    let Some(router) = place.outside::<Router>() else {
        return Ok(false);
    };
    Ok(router.with_state(|desk| {
        let before = desk.clone();
        desk.read(&table.unwrap_or_default());
        *desk != before
    }))
}

/// The Site decides, and the router reads it.
async fn follows(place: Place) -> kube::Result<bool> {
    let decided = plans(place.clone()).await?;
    Ok(reads(place).await? || decided)
}

/// The Deployment of the router is reconciled.
async fn starts(place: Place) -> kube::Result<bool> {
    let uid = place.object["metadata"]["uid"].as_str().unwrap_or_default();
    runs(&place, uid).await
}

/// The Site has a router, which answers.
async fn arises(place: Place) -> kube::Result<bool> {
    let sites = all::<Site>(&place).await?;
    let table = written(&place).await?;
    match active_site::find(&sites.iter().collect::<Vec<_>>(), table.as_ref()) {
        Some(site) => runs(&place, site.uid().unwrap_or_default().as_str()).await,
        None => Ok(false),
    }
}
