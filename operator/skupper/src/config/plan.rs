//! Configuration that the Site writes for its router. It follows from the earlier decisions and
//! from all requests in its namespace.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use lifecycle_runtime::Desired;
use lifecycle_runtime::selector::LabelSelector;
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::connector::{self, Connector, ConnectorSpec};
use lifecycle_specs_skupper::link::{self, Link};
use lifecycle_specs_skupper::listener::{self, Listener};
use lifecycle_specs_skupper::multi_key_listener::{self, MultiKeyListener};
use lifecycle_specs_skupper::router::ROUTER;
use lifecycle_specs_skupper::router_access::RouterAccess;
use serde_json::{Map, json};

use super::document::{
    self, DeclaredAccess, DeclaredConnector, DeclaredListener, DeclaredSpec, Profiled,
    SiteIdentity, document,
};
use super::existing;
use super::kept::RetainedConfig;
use super::links;
use super::ports::{ALLOCATION, Holder, PortAllocation, PortRequest, PriorDecision, decide};
use super::proxies::{self, Secrets};
use super::revisions::{PROFILES, Revisions};
use super::router_config::{self, CLAIMS, DOCUMENT, FULL, LOST};
use super::validity;
use crate::data_plane::DataPlane;
use crate::namespace::pods;
use crate::platform::Platform;
use crate::settings::named;

/// Upper bound on the size of a configuration: an object of the API server holds 1 MiB.
const ROOM: usize = 900 * 1024;

/// Upper bound of the size of one `listenerAddress` entry without its names, in bytes.
const ADDRESS: usize = 120;

/// The Pods of a Connector, with their uids.
pub type Selected = Vec<(SelectedPod, String)>;

/// Workload that serves a routing key, whichever object declared it.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name of its entries.
    pub name: String,
    /// Spec of the Connector.
    pub spec: ConnectorSpec,
    /// Empty where it names a host.
    pub pods: Selected,
}

/// The Pods that a Connector leads to; empty where it names a host, or its selector cannot be read.
pub fn selected(spec: &ConnectorSpec, pods: &[&Pod]) -> Selected {
    if named(spec.host.as_ref()).is_some() {
        return Vec::new();
    }
    let selector = named(spec.selector.as_ref()).map(LabelSelector::parse);
    let Some(Ok(selector)) = selector else {
        return Vec::new();
    };
    let chosen = pods.iter().filter(|pod| selector.matches(pod.labels()));
    let ready = spec.include_not_ready_pods == Some(true);
    pods::selected(chosen.copied(), ready)
}

/// Returns the reason why a Connector has no Pod of a namespace, for the user who can change that.
pub fn unselected(spec: &ConnectorSpec, namespace: &str) -> String {
    let selector = spec.selector.as_deref().unwrap_or_default();
    let (runs, or) = match spec.include_not_ready_pods {
        Some(true) => ("runs", ""),
        Some(false) | None => ("runs and is ready", ", set spec.includeNotReadyPods"),
    };
    format!(
        "no Pod of namespace `{namespace}` with `{selector}` {runs}: start one{or}, or change spec.selector"
    )
}

/// The workloads of the Connectors that can be served, by name.
pub fn workloads(connectors: &[&Connector], pods: &[&Pod]) -> Vec<Workload> {
    let going = |connector: &&&Connector| connector.metadata.deletion_timestamp.is_none();
    let fine = |connector: &&&Connector| {
        validity::connector(&connector.spec).value == connector::Validity::Fine
    };
    let all = connectors.iter().filter(going).filter(fine);
    all.map(|connector| Workload {
        name: connector.name_any(),
        spec: connector.spec.clone(),
        pods: selected(&connector.spec, pods),
    })
    .collect()
}

/// The Secrets that entries may need: of Listeners, workloads, Links and RouterAccesses, by name.
pub fn needed(
    (listeners, several): (&[&Listener], &[&MultiKeyListener]),
    (connectors, attached): (&[&Connector], &[&AttachedConnector]),
    (links, accesses): (&[&Link], &[&RouterAccess]),
) -> BTreeSet<String> {
    let proxies = links.iter().filter_map(|l| proxies::named_by(&l.spec));
    let listeners = listeners.iter().map(|l| l.spec.tls_credentials.as_ref());
    let several = several.iter().map(|l| l.spec.tls_credentials.as_ref());
    let connectors = connectors.iter().map(|c| c.spec.tls_credentials.as_ref());
    let attached = attached.iter().map(|a| a.spec.tls_credentials.as_ref());
    let links = links.iter().map(|l| l.spec.tls_credentials.as_ref());
    let accesses = accesses.iter().map(|a| Some(&a.spec.tls_credentials));
    let all = listeners
        .chain(several)
        .chain(connectors)
        .chain(attached)
        .chain(links)
        .chain(accesses);
    let all = all.filter_map(named).chain(proxies);
    all.map(str::to_owned).collect()
}

/// Returns the ConfigMap of the router, based on the earlier decisions and with the kept entries
/// unchanged. For the existing adaptor it omits entries whose Secret is not ready.
pub fn router_config(
    (site, revisions): (&SiteIdentity<'_>, &Revisions<'_>),
    (before, kept): (&PriorDecision, &RetainedConfig),
    (listeners, several): (&[&Listener], &[&MultiKeyListener]),
    (workloads, links, accesses): (&[Workload], &[&Link], &[&RouterAccess]),
) -> Desired<ConfigMap> {
    let platform = site.platform;
    let (listeners, several) = offered((listeners, several), platform);
    let connectors: Vec<DeclaredConnector<'_>> = workloads.iter().map(declared).collect();
    let accesses: Vec<DeclaredAccess<'_>> = accesses
        .iter()
        .filter(|access| access.metadata.deletion_timestamp.is_none())
        .filter(|access| !site.edge && validity::is_served(&access.spec, site.plane))
        .map(|access| DeclaredAccess {
            name: access.metadata.name.as_deref().unwrap_or_default(),
            spec: &access.spec,
        })
        .collect();
    let beside = |given: &[PortAllocation]| {
        let entries = kept.entries(given).into_iter();
        let named = entries.map(|entry| (entry.clone(), kept.profile(&entry)));
        let mut all = dialled(site, links, revisions.secrets());
        all.extend(named);
        // A proxy may belong both to a known Link and to one whose entry is kept.
        let mut seen = BTreeSet::new();
        all.retain(|(entry, _)| seen.insert(document::key(entry)));
        all
    };
    let taken = document(site, &[], &connectors, &accesses, beside(&[]))
        .to_string()
        .len();
    let asked = listeners.iter().flat_map(|l| requests(l, workloads, kept));
    let asked = asked.chain(several.iter().filter_map(|l| request(l)));
    let requests: Vec<PortRequest> = asked.chain(kept.requests.iter().cloned()).collect();
    let decided = decide(before, &requests, ROOM.saturating_sub(taken));
    let specs = specs(&listeners, &several);
    let allocations = decided.allocations.iter();
    let declared: Vec<DeclaredListener<'_>> = allocations
        .filter_map(|allocation| {
            let spec = specs.get(allocation.uid.as_str())?;
            Some(DeclaredListener {
                allocation,
                spec: *spec,
                platform,
            })
        })
        .collect();
    let mut data = Map::new();
    let mut document = document(
        site,
        &declared,
        &connectors,
        &accesses,
        beside(&decided.allocations),
    );
    if site.plane == DataPlane::SkupperRouter {
        let (adapted, profiles) = existing::adapted(&document, site, revisions);
        document = adapted;
        if !profiles.is_empty() {
            data.insert(PROFILES.to_owned(), json!(profiles).to_string().into());
        }
    }
    data.insert(DOCUMENT.to_owned(), document.to_string().into());
    data.insert(
        CLAIMS.to_owned(),
        json!(decided.allocations).to_string().into(),
    );
    if !decided.full.is_empty() {
        data.insert(FULL.to_owned(), json!(decided.full).to_string().into());
    }
    if !decided.lost.is_empty() {
        data.insert(LOST.to_owned(), json!(decided.lost).to_string().into());
    }
    Desired::from_json(json!({
        "metadata": { "name": ROUTER, "labels": { "internal.skupper.io/router-config": "" } },
        "data": data,
    }))
}

/// Listeners with one routing key, and those with several.
type Listeners<'a> = (Vec<&'a Listener>, Vec<&'a MultiKeyListener>);

/// Keeps the Listeners that are valid and not being deleted.
fn offered<'a>(
    (listeners, several): (&[&'a Listener], &[&'a MultiKeyListener]),
    platform: Platform,
) -> Listeners<'a> {
    let listeners = listeners.iter().filter(|l| {
        let is_fine = validity::listener(&l.spec, platform).value == listener::Validity::Fine;
        is_fine && l.metadata.deletion_timestamp.is_none()
    });
    let several = several.iter().filter(|l| {
        let validity = validity::multi_key_listener(&l.spec, platform).value;
        let is_fine = validity == multi_key_listener::Validity::Fine;
        is_fine && l.metadata.deletion_timestamp.is_none()
    });
    (listeners.copied().collect(), several.copied().collect())
}

/// The specs of Listeners of both kinds, by uid.
fn specs<'a>(
    listeners: &[&'a Listener],
    several: &[&'a MultiKeyListener],
) -> BTreeMap<&'a str, DeclaredSpec<'a>> {
    let one = listeners.iter().filter_map(|l| {
        let uid = l.metadata.uid.as_deref()?;
        Some((uid, DeclaredSpec::One(&l.spec)))
    });
    let several = several.iter().filter_map(|l| {
        let uid = l.metadata.uid.as_deref()?;
        Some((uid, DeclaredSpec::Several(&l.spec)))
    });
    one.chain(several).collect()
}

/// The entries of the Links that can be dialled, each with its profile, and those of their proxies.
fn dialled(site: &SiteIdentity<'_>, links: &[&Link], secrets: &Secrets<'_>) -> Vec<Profiled> {
    let going = |link: &&&Link| link.metadata.deletion_timestamp.is_none();
    let validity = |link: &Link| {
        let proxy = proxies::named_by(&link.spec).and_then(|name| secrets.get(name).copied());
        validity::link(&link.spec, site.edge, site.plane, proxy).value
    };
    let fine = |link: &&&Link| validity(link) == link::Validity::Fine;
    let all: Vec<&Link> = links.iter().filter(going).filter(fine).copied().collect();
    let connectors = all
        .iter()
        .filter_map(|link| links::entry(site, link.metadata.name.as_deref()?, &link.spec));
    let proxies = proxies::entries(&all, secrets).into_iter();
    connectors
        .chain(proxies.map(|entry| (entry, None)))
        .collect()
}

/// As the document takes it.
pub fn declared(workload: &Workload) -> DeclaredConnector<'_> {
    DeclaredConnector {
        name: &workload.name,
        spec: &workload.spec,
        pods: &workload.pods,
    }
}

/// Returns the requests of a Listener: its host, and a Service for each Pod if both sides expose
/// them.
fn requests(
    listener: &Listener,
    workloads: &[Workload],
    kept: &RetainedConfig,
) -> Vec<PortRequest> {
    let spec = &listener.spec;
    let size = ALLOCATION + spec.routing_key.len() * 2 + listener.name_any().len() * 4;
    let place = (spec.host.as_str(), spec.port);
    let Some(whole) = listener_request(Holder::Listener, &listener.metadata, place, size) else {
        return Vec::new();
    };
    let pods = exposed(listener, workloads, kept)
        .into_iter()
        .map(|pod| PortRequest {
            size: size + pod.len() * 4,
            host: pod.clone(),
            pod: Some(pod),
            ..whole.clone()
        });
    let pods: Vec<PortRequest> = pods.collect();
    [whole].into_iter().chain(pods).collect()
}

/// The port request of a MultiKeyListener.
fn request(listener: &MultiKeyListener) -> Option<PortRequest> {
    let (name, spec) = (listener.name_any(), &listener.spec);
    let strategy = &spec.strategy;
    let ordered = strategy.priority.iter().flat_map(|p| &p.routing_keys);
    let weighted = strategy.weighted.iter();
    let all = ordered.chain(weighted.flat_map(|w| w.routing_keys.keys()));
    let keys: usize = all
        .map(|key| ADDRESS + key.len() * 2 + name.len() * 2)
        .sum();
    let size = ALLOCATION + name.len() * 4 + keys;
    let place = (spec.host.as_str(), spec.port);
    listener_request(Holder::MultiKeyListener, &listener.metadata, place, size)
}

/// The request of a whole Listener for its host and port.
fn listener_request(
    holder: Holder,
    meta: &ObjectMeta,
    (host, port): (&str, i64),
    size: usize,
) -> Option<PortRequest> {
    let created = meta.creation_timestamp.as_ref();
    Some(PortRequest {
        holder,
        uid: meta.uid.clone()?,
        name: meta.name.clone().unwrap_or_default(),
        pod: None,
        created: created.map_or(Timestamp::MIN, |at| at.0),
        host: host.to_owned(),
        port: u16::try_from(port).ok()?,
        size,
    })
}

/// The Pods that are reached by name: of Connectors with exactly this routing key.
fn exposed(listener: &Listener, workloads: &[Workload], kept: &RetainedConfig) -> BTreeSet<String> {
    let spec = &listener.spec;
    if spec.expose_pods_by_name != Some(true) {
        return BTreeSet::new();
    }
    let all = workloads.iter().filter(|w| {
        w.spec.routing_key == spec.routing_key && w.spec.expose_pods_by_name == Some(true)
    });
    all.flat_map(|workload| workload.pods.iter().map(|(pod, _)| pod.name.clone()))
        .chain(kept.exposed(&spec.routing_key))
        .collect()
}

/// The Secrets of the profiles and the proxies of a configuration, sorted.
pub fn secrets(router_config: &ConfigMap) -> BTreeSet<String> {
    let entries = router_config::entries(router_config);
    let proxies = entries
        .iter()
        .filter(|(entity, _)| entity == proxies::ENTITY);
    let proxies = proxies.filter_map(|(_, attributes)| attributes.get("name")?.as_str());
    let profiles = document::secrets_of(&entries).into_values();
    profiles.chain(proxies.map(str::to_owned)).collect()
}

#[cfg(test)]
mod proxied;
#[cfg(test)]
mod tests;
