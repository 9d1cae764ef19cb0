//! The suites of the lifecycles of a Skupper site: each with what the others of its namespace and the router do.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceValidation;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::{Api, ResourceExt};
use lifecycle_router::config;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_skupper::attached::{self as binds, Attached, Bindings};
use lifecycle_skupper::config::document::SiteIdentity;
use lifecycle_skupper::config::kept;
use lifecycle_skupper::config::plan;
use lifecycle_skupper::config::router_config::{self, DOCUMENT};
use lifecycle_skupper::connector::Connectors;
use lifecycle_skupper::listener::Listeners;
use lifecycle_skupper::namespace::active_site;
use lifecycle_skupper::namespace::controller_id::ControllerId;
use lifecycle_skupper::platform::Platform;
use lifecycle_skupper::router::credentials::Root;
use lifecycle_skupper::router::state::Routers;
use lifecycle_skupper::site::Sites;
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::attached::{self, AttachedConnector};
use lifecycle_specs_skupper::attached_binding::{self, AttachedConnectorBinding};
use lifecycle_specs_skupper::connector::{self, Connector};
use lifecycle_specs_skupper::crds;
use lifecycle_specs_skupper::listener::{self, Listener};
use lifecycle_specs_skupper::router::{
    EndpointCounts, EntryState, RouterEntry, RouterService, RouterState, SITE,
};
use lifecycle_specs_skupper::site::{self, Controller, Site};
use lifecycle_suite::resources::{Site as Place, Suite};
use serde_json::{Map, Value, json};

use lifecycle_tests::lifecycles::provider::{Kept, Provider};

/// The one router of a run, outside the API server.
pub(crate) type Router = Provider<Desk>;

/// What a router has read, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Desk {
    entries: Vec<(String, Map<String, Value>)>,
    /// Something elsewhere in the network serves and offers every key.
    is_matched: bool,
    /// Every socket and every server is refused.
    is_failing: bool,
}

impl Desk {
    fn read(&mut self, table: &ConfigMap) {
        let text = table.data.as_ref().and_then(|data| data.get(DOCUMENT));
        let all: Option<Vec<(String, Map<String, Value>)>> =
            text.and_then(|text| serde_json::from_str(text).ok());
        let carried = ["tcpListener", "tcpConnector"];
        let all = all.unwrap_or_default().into_iter();
        self.entries = all
            .filter(|(entity, _)| carried.contains(&entity.as_str()))
            .collect();
    }

    fn state(&self) -> RouterState {
        let mut keys: BTreeMap<String, EndpointCounts> = BTreeMap::new();
        let text = |attributes: &Map<String, Value>, name: &str| {
            let text = attributes.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let named = self
            .entries
            .iter()
            .map(|(_, attributes)| text(attributes, "address"));
        // Of those of the fixtures it hears from the network, whatever it has read itself.
        for key in named.chain(["backend", "other"].map(str::to_owned)) {
            let sides = keys.entry(key).or_default();
            (sides.connectors, sides.listeners) = (self.is_matched.into(), self.is_matched.into());
        }
        let entries = self.entries.iter().map(|(entity, attributes)| {
            let is_idle =
                entity == "tcpListener" && keys[&text(attributes, "address")].connectors == 0;
            let state = match (self.is_failing, is_idle) {
                (true, _) => EntryState::Failed("the router cannot do it".to_owned()),
                (false, true) => EntryState::Idle,
                (false, false) => EntryState::Up,
            };
            let hash = config::hash(attributes);
            (
                format!("{entity}/{}", text(attributes, "name")),
                RouterEntry { hash, state },
            )
        });
        let entries = entries.collect();
        let services = keys
            .keys()
            .map(|key| (key.clone(), RouterService::default()));
        RouterState {
            error: None,
            entries,
            services: services.collect(),
            keys: keys.clone(),
        }
    }
}

impl Kept for Desk {
    /// What it does, it does by the table, which is not ours.
    fn held(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["match", "part", "fail", "recover", "start anew"];

    fn perturb(&mut self, what: &str) {
        match what {
            "match" => self.is_matched = true,
            "part" => self.is_matched = false,
            "fail" => self.is_failing = true,
            "recover" => self.is_failing = false,
            _ => *self = Self::default(),
        }
    }
}

/// Asks the one router, whatever Pods there are.
struct Asking(Router);

impl Routers for Asking {
    async fn ask(&self, _: Vec<&Pod>) -> Result<RouterState, CallError> {
        self.0
            .ask("look at the router", |desk| Ok(desk.state()))
            .await
    }
}

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
            Arc::new(Asking(router.on(line))),
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

/// A Connector alone.
fn bare_connector() -> Suite {
    let machine = |router: Router, line| {
        connector::machine(Connectors::new(
            controller_id(),
            Arc::new(Asking(router.on(line))),
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
    Suite::of(machine)
}

/// The suite of an AttachedConnector.
pub(crate) fn attached() -> Suite {
    defined(bare_attached()).fixtures(include_str!("suites/attached.yaml"))
}

/// An AttachedConnectorBinding alone.
fn bare_binding() -> Suite {
    let machine = |router: Router, line| {
        let routers = Arc::new(Asking(router.on(line)));
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

/// A Site alone.
fn bare_site() -> Suite {
    let machine = |router: Router, line| {
        site::machine(Sites {
            controller_id: controller_id(),
            controller: Controller::default(),
            platform: Platform::Kubernetes,
            image: "router:1".to_owned(),
            root: Root::new(&[1; 32]),
            routers: Arc::new(Asking(router.on(line))),
        })
    };
    Suite::outside(Router::default, machine)
}

/// The suite of a Site.
pub(crate) fn site() -> Suite {
    loosely_defined(bare_site())
        .fixtures(include_str!("suites/site.yaml"))
        .promise("starts", starts)
}

/// The Site with a Listener and a Connector of its namespace, and an AttachedConnector of another with what accepts it here, which keep their promises to
/// each other themselves. What is left to functions is what Kubernetes and the router do: a Pod runs, and what the Site has written is read.
pub(crate) fn together() -> Suite {
    defined(bare_site())
        .fixtures(include_str!("suites/together.yaml"))
        .promise("starts", starts)
        .together_with(bare_listener().promise("follows", reads))
        .together_with(bare_connector().promise("follows", reads))
        .together_with(bare_binding().promise("follows", reads))
        .together_with(bare_attached())
}

/// The Site with a Listener, whose router nobody plays.
pub(crate) fn alone_with_a_listener() -> Suite {
    let suite = defined(bare_site()).fixtures(include_str!("suites/together.yaml"));
    suite
        .promise("starts", starts)
        .together_with(bare_listener())
}

/// What the namespace has of a kind; what its Rust type cannot hold, such as objects without `spec`, counts for nothing.
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
    let wanted = plan::router_config(
        (&SiteIdentity::of(site), Platform::Kubernetes),
        (
            &router_config::before(before.as_ref(), &[]),
            &kept::Kept::default(),
        ),
        &listeners,
        &served,
    );
    let data = &wanted.as_json()["data"];
    match before {
        Some(before) if json!(before.data) == *data => Ok(false),
        Some(_) => {
            let patch = Patch::Merge(
                json!({ "data": data, "metadata": { "labels": wanted.as_json()["metadata"]["labels"] } }),
            );
            // What is no longer said goes.
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

/// The router reads what the Site has decided.
async fn reads(place: Place) -> kube::Result<bool> {
    let table = written(&place).await?;
    let Some(router) = place.outside::<Router>() else {
        return Ok(false);
    };
    Ok(router.with(|desk| {
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

/// A Pod of the router of a Site runs.
async fn runs(place: &Place, site: &str) -> kube::Result<bool> {
    let namespace = place.object["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(place.client().clone(), namespace);
    let name = "skupper-router-1";
    let labels = json!({ "application": "skupper-router", SITE: site });
    let there = pods.get_opt(name).await?;
    let is_right = |pod: &Pod| json!(pod.labels()) == labels;
    if there.as_ref().is_some_and(|pod| !is_right(pod)) {
        pods.delete(name, &DeleteParams::default()).await?;
    }
    if !there.is_some_and(|pod| is_right(&pod)) {
        let pod = json!({
            "metadata": { "name": name, "labels": labels },
            "spec": { "containers": [{ "name": "router", "image": "router:1" }] },
        });
        let pod: Pod = serde_json::from_value(pod).map_err(kube::Error::SerdeError)?;
        pods.create(&PostParams::default(), &pod).await?;
    }
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    place
        .edit(&path, |pod| {
            pod["status"] = json!({
                "phase": "Running", "podIP": "10.0.0.1",
                "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }],
            });
        })
        .await
}
