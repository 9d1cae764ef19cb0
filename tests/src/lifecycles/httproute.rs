//! A route of the Gateway API: parents and backends in other namespaces, the grants that permit
//! references to them, and proxies that another controller configures.
//!
//! Not expressed: `status.parents`, a list in which several controllers keep an entry each, with
//! conditions of its own. The facts `attached` and `resolved` express everything that decides about
//! the whole route. The list needs a section for elements and a write of exactly the version that
//! was read (`docs/counts.md`). It is left to a program of its own.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, ResourceExt};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::provider::{Provider, ProviderState};

/// Desired state of an HttpRoute.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "gateways.tests",
    version = "v1",
    kind = "HttpRoute",
    namespaced,
    status = "HttpRouteStatus"
)]
pub struct HttpRouteSpec {
    /// The Gateways that are to take it.
    pub parents: Vec<Reference>,
    /// The names that clients ask for; all that a Gateway has if there are none.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Backends that receive the requests.
    pub backends: Vec<Reference>,
}

/// Reference to another object, in the same namespace by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Reference {
    /// Kind of the object, if there is a choice. A backend is a Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// Observed state of an HttpRoute as a whole.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HttpRouteStatus {
    /// Accepted, ResolvedRefs, Programmed, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Entry point of requests.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "gateways.tests", version = "v1", kind = "Gateway", namespaced)]
pub struct GatewaySpec {
    /// The name of its GatewayClass.
    pub class: String,
    /// The only name that it serves, if it serves not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// True if it accepts routes of other namespaces.
    #[serde(default)]
    pub shared: bool,
}

/// Controller that manages Gateways.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "gateways.tests", version = "v1", kind = "GatewayClass")]
pub struct GatewayClassSpec {
    /// Its name.
    pub controller: String,
}

/// Namespaces whose routes may refer to Services of this namespace.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "gateways.tests",
    version = "v1",
    kind = "ReferenceGrant",
    namespaced
)]
pub struct ReferenceGrantSpec {
    /// The namespaces of those who may.
    pub from: Vec<String>,
    /// The Services that they may lead to; all if there are none.
    #[serde(default)]
    pub to: Vec<String>,
}

/// Rules that the proxies apply to a route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded(pub Option<Rules>);

/// Mapping of Gateways and names to addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Gateways and names.
    pub at: BTreeSet<String>,
    /// Addresses of the ready endpoints.
    pub to: BTreeSet<String>,
}

/// Rules of all proxies, by the uid of the route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables(pub BTreeMap<String, Rules>);

/// The proxies, which another lifecycle configures.
pub type Proxies = Provider<Tables>;

include!("../../../macros/core/tests/lifecycles/httproute.txt");

/// The name of this controller in a GatewayClass.
const CONTROLLER: &str = "gateways.tests/controller";
/// On an EndpointSlice: the name of its Service.
const SERVICE: &str = "kubernetes.io/service-name";

impl ProviderState for Tables {
    /// Returns nothing, because the controller that configures the proxies cleans up.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["lose all", "lead nowhere"];

    fn perturb(&mut self, what: &str) {
        match what {
            "lose all" => self.0.clear(),
            _ => self.0.values_mut().for_each(|entry| entry.to.clear()),
        }
    }

    fn follow(&mut self, deleted: &Value) {
        if let Some(uid) = deleted["metadata"]["uid"].as_str() {
            self.0.remove(uid);
        }
    }
}

/// The logic of an HttpRoute: where the proxies are.
pub struct ThroughProxies(pub Proxies);

/// The namespace that a reference leads to.
fn namespace(this: This<'_, HttpRoute>, reference: &Reference) -> String {
    let own = || this.meta.namespace.clone().unwrap_or_default();
    reference.namespace.clone().unwrap_or_else(own)
}

fn is_at(object: &impl ResourceExt, namespace: &str, name: &str) -> bool {
    object.namespace().as_deref() == Some(namespace) && object.name_any() == name
}

fn references<K: kube::Resource<DynamicType = ()>>(
    this: This<'_, HttpRoute>,
    all: &[Reference],
) -> BTreeSet<ObjectRef> {
    let to = |r: &Reference| ObjectRef::new::<K>(Some(&namespace(this, r)), &r.name);
    all.iter().map(to).collect()
}

fn is_ours(gateway: &Gateway, classes: &[&GatewayClass]) -> bool {
    let class = classes.iter().find(|c| c.name_any() == gateway.spec.class);
    class.is_some_and(|class| class.spec.controller == CONTROLLER)
}

/// Why a Gateway does not take the route, if it does not.
fn refusal(this: This<'_, HttpRoute>, gateway: &Gateway) -> Option<String> {
    let (name, hosts) = (gateway.name_any(), &this.spec.hosts);
    if !gateway.spec.shared && gateway.metadata.namespace != this.meta.namespace {
        return Some(format!(
            "Gateway {name} takes no routes of other namespaces"
        ));
    }
    match &gateway.spec.host {
        Some(host) if !hosts.is_empty() && !hosts.contains(host) => {
            Some(format!("Gateway {name} serves {host} alone"))
        }
        Some(_) | None => None,
    }
}

/// Returns the desired rules of the proxies.
pub fn desired_rules(
    this: This<'_, HttpRoute>,
    gateways: &[&Gateway],
    classes: &[&GatewayClass],
    backends: (&[&Service], &[&EndpointSlice], &[&ReferenceGrant]),
) -> Rules {
    let (services, slices, grants) = backends;
    let takes = |g: &&&Gateway| is_ours(g, classes) && refusal(this, g).is_none();
    let mut entry = Rules::default();
    for gateway in gateways.iter().filter(takes) {
        let names = match &gateway.spec.host {
            Some(host) => vec![host.clone()],
            None => this.spec.hosts.clone(),
        };
        let name = gateway.name_any();
        entry.at.insert(format!("{name} {}", names.join(" ")));
    }
    for backend in &this.spec.backends {
        if unresolved(this, backend, services, grants).is_some() {
            continue;
        }
        let namespace = namespace(this, backend);
        let belongs = |slice: &&&EndpointSlice| {
            slice.namespace().as_deref() == Some(&*namespace)
                && slice.labels().get(SERVICE) == Some(&backend.name)
        };
        let endpoints = slices.iter().filter(belongs).flat_map(|s| &s.endpoints);
        let ready = endpoints.filter(|e| {
            let conditions = e.conditions.as_ref();
            conditions.and_then(|c| c.ready) != Some(false)
        });
        entry.to.extend(ready.flat_map(|e| e.addresses.clone()));
    }
    entry
}

/// Why nothing can be led to a backend.
fn unresolved(
    this: This<'_, HttpRoute>,
    backend: &Reference,
    services: &[&Service],
    grants: &[&ReferenceGrant],
) -> Option<(Resolved, String)> {
    let (name, to) = (&backend.name, namespace(this, backend));
    if let Some(kind) = backend.kind.as_deref().filter(|kind| *kind != "Service") {
        let said = format!("{kind} {name} is no Service: nothing else is served");
        return Some((Resolved::BadKind, said));
    }
    let from = this.meta.namespace.as_deref().unwrap_or_default();
    let allows = |grant: &&ReferenceGrant| {
        let (froms, tos) = (&grant.spec.from, &grant.spec.to);
        grant.namespace().as_deref() == Some(&*to)
            && froms.iter().any(|f| f == from)
            && (tos.is_empty() || tos.contains(name))
    };
    if to != from && !grants.iter().any(allows) {
        let said = format!("no ReferenceGrant of namespace {to} lets {from} lead to {name}");
        return Some((Resolved::NoGrant, said));
    }
    if !services.iter().any(|service| is_at(*service, &to, name)) {
        let said = format!("there is no Service {to}/{name}");
        return Some((Resolved::NoBackend, said));
    }
    None
}

impl HttpRouteLogic for ThroughProxies {
    fn gateways(&self, this: This<'_, HttpRoute>) -> BTreeSet<ObjectRef> {
        references::<Gateway>(this, &this.spec.parents)
    }

    fn classes(&self, _: This<'_, HttpRoute>, gateways: &[&Gateway]) -> BTreeSet<String> {
        gateways.iter().map(|g| g.spec.class.clone()).collect()
    }

    fn backends(&self, this: This<'_, HttpRoute>) -> BTreeSet<ObjectRef> {
        references::<Service>(this, &this.spec.backends)
    }

    fn slices(&self, _: This<'_, HttpRoute>, backends: &[&Service]) -> BTreeSet<ObjectRef> {
        let of = |service: &&Service| {
            ObjectRef::labelled::<EndpointSlice>(service.namespace().as_deref(), SERVICE)
        };
        backends.iter().map(of).collect()
    }

    fn grants(&self, this: This<'_, HttpRoute>) -> BTreeSet<ObjectRef> {
        let own = this.meta.namespace.as_deref();
        let namespaces = this.spec.backends.iter().map(|b| namespace(this, b));
        let others = namespaces.filter(|n| Some(&**n) != own);
        others
            .map(|n| ObjectRef::all_in::<ReferenceGrant>(Some(&n)))
            .collect()
    }

    async fn poll_proxy(&self, this: This<'_, HttpRoute>) -> Result<Loaded, CallError> {
        let uid = this.meta.uid.clone().unwrap_or_default();
        let look = |all: &mut Tables| Ok(Loaded(all.0.get(&uid).cloned()));
        self.0.query(&format!("look at route {uid}"), look).await
    }

    fn keeper(
        &self,
        _: This<'_, HttpRoute>,
        gateways: &[&Gateway],
        classes: &[&GatewayClass],
    ) -> Because<Keeper> {
        match gateways.iter().any(|gateway| is_ours(gateway, classes)) {
            true => Because::plain(Keeper::Ours),
            false => Because::new(Keeper::Other, "none of its Gateways is ours"),
        }
    }

    fn attached(
        &self,
        this: This<'_, HttpRoute>,
        gateways: &[&Gateway],
        classes: &[&GatewayClass],
    ) -> Because<Attached> {
        let ours = gateways.iter().filter(|gateway| is_ours(gateway, classes));
        let said: Vec<Option<String>> = ours.map(|gateway| refusal(this, gateway)).collect();
        let why: Vec<String> = said.iter().flatten().cloned().collect();
        match why.len() {
            0 => Because::plain(Attached::All),
            n if n == said.len() => Because::new(Attached::None, why.join("; ")),
            _ => Because::new(Attached::Some, why.join("; ")),
        }
    }

    fn resolved(
        &self,
        this: This<'_, HttpRoute>,
        backends: &[&Service],
        grants: &[&ReferenceGrant],
    ) -> Because<Resolved> {
        let all = this.spec.backends.iter();
        let mut wrong = all.filter_map(|b| unresolved(this, b, backends, grants));
        match wrong.next() {
            Some((answer, why)) => Because::new(answer, why),
            None => Because::plain(Resolved::Yes),
        }
    }

    fn wanted(
        &self,
        this: This<'_, HttpRoute>,
        gateways: &[&Gateway],
        classes: &[&GatewayClass],
        backends: &[&Service],
        slices: &[&EndpointSlice],
        grants: &[&ReferenceGrant],
    ) -> Rules {
        desired_rules(this, gateways, classes, (backends, slices, grants))
    }

    fn entry(&self, _: This<'_, HttpRoute>, wanted: &Rules, proxy: &Loaded) -> Because<Entry> {
        match proxy.0.as_ref() == Some(wanted) {
            true => Because::plain(Entry::Current),
            false => Because::new(Entry::Behind, "the proxies do not follow it yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(backend: Reference, grants: &[&ReferenceGrant], expected: Option<Resolved>) {
        let spec = HttpRouteSpec {
            backends: vec![backend.clone()],
            ..HttpRouteSpec::default()
        };
        let mut route = HttpRoute::new("r", spec);
        route.metadata.namespace = Some("here".to_owned());
        let mut service = Service::default();
        service.metadata.name = Some("web".to_owned());
        service.metadata.namespace = Some("there".to_owned());
        let found = unresolved(This::new(&route), &backend, &[&service], grants);
        assert_eq!(found.map(|(answer, _)| answer), expected);
    }

    #[test]
    fn what_is_elsewhere_is_led_to_by_its_leave() {
        let there = |name: &str| Reference {
            kind: None,
            namespace: Some("there".to_owned()),
            name: name.to_owned(),
        };
        let mut grant = ReferenceGrant::new(
            "g",
            ReferenceGrantSpec {
                from: vec!["here".to_owned()],
                to: vec!["web".to_owned()],
            },
        );
        grant.metadata.namespace = Some("there".to_owned());
        check(there("web"), &[&grant], None);
        check(there("web"), &[], Some(Resolved::NoGrant));
        check(there("db"), &[&grant], Some(Resolved::NoGrant));
        grant.spec.to.clear();
        check(there("db"), &[&grant], Some(Resolved::NoBackend));
        let mut bucket = there("web");
        bucket.kind = Some("Bucket".to_owned());
        check(bucket, &[&grant], Some(Resolved::BadKind));
    }
}
