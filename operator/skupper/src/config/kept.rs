//! Parts of the configuration that stay as written before. They belong to objects that cannot be
//! read, so that their spec is unknown. Only their names and their earlier entries are known. They
//! keep exactly these entries, and nothing of other objects.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::{Because, ObjectRef, Readable};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_specs_skupper::router_access::RouterAccess;
use serde_json::{Map, Value};

use super::document::{self, ConfigEntry};
use super::ports::{ALLOCATION, PortAllocation, PortRequest};
use super::proxies;
use super::router_config;

/// More are counted and not named.
const NAMED: usize = 5;

/// Why each object that cannot be read is not.
pub fn flaws<K: Resource<DynamicType = ()>>(objects: &[&Readable<K>]) -> Vec<String> {
    let said = |object: &&Readable<K>| {
        let (of, why) = (ObjectRef::to(*object), object.flaw()?);
        Some(format!(
            "{of} cannot be read: {why}; correct it, or delete it"
        ))
    };
    objects.iter().filter_map(said).collect()
}

/// Returns true if there are such objects.
pub fn has_flaws(mut flaws: Vec<String>) -> Because<bool> {
    if flaws.is_empty() {
        return Because::plain(false);
    }
    let more = flaws.len().saturating_sub(NAMED);
    flaws.truncate(NAMED);
    if more > 0 {
        flaws.push(format!("and {more} more"));
    }
    Because::new(true, flaws.join("\n"))
}

/// Returns the known content of objects that stay: as they are, or as they were when they were last
/// readable.
pub fn known<'a, K: Resource>(objects: &[&'a Readable<K>]) -> Vec<&'a K> {
    let staying = objects.iter().filter(|o| is_live(o));
    staying.filter_map(|object| object.known()).collect()
}

fn is_live<K: Resource>(object: &Readable<K>) -> bool {
    object.meta().deletion_timestamp.is_none()
}

/// Returns objects with an unreadable spec.
fn unknown<'a, K: Resource>(objects: &[&'a Readable<K>]) -> impl Iterator<Item = &'a Readable<K>> {
    let all = objects.iter().copied();
    all.filter(|object| is_live(object) && object.known().is_none())
}

/// The uid of an object, and the time of its creation.
fn uid_and_creation<K: Resource>(object: &Readable<K>) -> Option<(String, Timestamp)> {
    let at = object.creation_timestamp().map(|at| at.0);
    Some((object.uid()?, at.unwrap_or(Timestamp::MAX)))
}

/// Objects with kept entries.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// Listeners of both kinds by uid, with the time of their creation.
    listeners: BTreeMap<String, Timestamp>,
    /// Names of workloads, as in the names of entries. A suffix that begins with `/` follows the
    /// name.
    workloads: BTreeSet<String>,
    /// Names of Links.
    links: BTreeSet<String>,
    /// Names of RouterAccesses.
    accesses: BTreeSet<String>,
}

impl Unknown {
    /// Of all that a namespace declares.
    pub fn new(
        (listeners, several): (&[&Readable<Listener>], &[&Readable<MultiKeyListener>]),
        (connectors, links): (&[&Readable<Connector>], &[&Readable<Link>]),
        (bindings, attached): (
            &[&Readable<AttachedConnectorBinding>],
            &[&Readable<AttachedConnector>],
        ),
        accesses: &[&Readable<RouterAccess>],
    ) -> Self {
        let mut of_listeners = BTreeMap::new();
        of_listeners.extend(unknown(listeners).filter_map(uid_and_creation));
        of_listeners.extend(unknown(several).filter_map(uid_and_creation));
        let connectors = unknown(connectors).map(ResourceExt::name_any);
        // Of a binding only the end of the name is known; no Connector has such a name.
        let bindings = unknown(bindings).map(|binding| format!("/{}", binding.name_any()));
        let attached = unknown(attached).map(|attached| {
            let namespace = attached.namespace().unwrap_or_default();
            format!("{namespace}/{}", attached.name_any())
        });
        Self {
            listeners: of_listeners,
            workloads: connectors.chain(bindings).chain(attached).collect(),
            links: unknown(links).map(ResourceExt::name_any).collect(),
            accesses: unknown(accesses).map(ResourceExt::name_any).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        let has_none = self.links.is_empty() && self.accesses.is_empty();
        has_none && self.listeners.is_empty() && self.workloads.is_empty()
    }

    /// Returns true if an entry belongs to one of the RouterAccesses.
    fn means_access(&self, entry: &str) -> bool {
        let roles = ["inter-router", "edge"];
        let mut names = self.accesses.iter();
        names.any(|name| {
            roles
                .iter()
                .any(|role| document::access_name(name, role) == entry)
        })
    }

    fn means(&self, workload: &str) -> bool {
        let end = workload.rfind('/').and_then(|at| workload.get(at..));
        let ends = end.is_some_and(|end| self.workloads.contains(end));
        ends || self.workloads.contains(workload)
    }
}

/// Kept part of a configuration.
#[derive(Clone, Debug, Default)]
pub struct RetainedConfig {
    /// Requests for the hosts and ports that Listeners had.
    pub requests: Vec<PortRequest>,
    listeners: BTreeMap<String, Map<String, Value>>,
    /// Of Listeners with several keys, by the names of their entries.
    addresses: BTreeMap<String, Vec<Map<String, Value>>>,
    connectors: Vec<Map<String, Value>>,
    links: Vec<Map<String, Value>>,
    /// Proxies of links.
    proxies: Vec<Map<String, Value>>,
    accesses: Vec<Map<String, Value>>,
    profiles: BTreeMap<String, Value>,
}

impl RetainedConfig {
    /// Returns the kept entries of the previous configuration.
    pub fn from_config_map(written: Option<&ConfigMap>, unknown: &Unknown) -> Self {
        let mut kept = Self::default();
        let Some(written) = written.filter(|_| !unknown.is_empty()) else {
            return kept;
        };
        let text = |attributes: &Map<String, Value>, name: &str| {
            let text = attributes.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        for (entity, attributes) in router_config::entries(written) {
            let name = text(&attributes, "name");
            match entity.as_str() {
                "tcpListener" => drop(kept.listeners.insert(name, attributes)),
                "listenerAddress" => {
                    let listener = text(&attributes, "listener");
                    kept.addresses.entry(listener).or_default().push(attributes);
                }
                "listener" if unknown.means_access(&name) => kept.accesses.push(attributes),
                "sslProfile" => drop(kept.profiles.insert(name, attributes.into())),
                "tcpConnector" => {
                    let name = name.strip_prefix("connector/").unwrap_or_default();
                    let workload = name.split_once('@').map_or(name, |(workload, _)| workload);
                    if unknown.means(workload) {
                        kept.connectors.push(attributes);
                    }
                }
                "connector" if unknown.links.contains(&name) => kept.links.push(attributes),
                proxies::ENTITY => kept.proxies.push(attributes),
                _ => {}
            }
        }
        let through: BTreeSet<String> = kept
            .links
            .iter()
            .map(|l| text(l, proxies::ENTITY))
            .collect();
        kept.proxies
            .retain(|proxy| through.contains(&text(proxy, "name")));
        let allocations = router_config::before(Some(written), &[]).allocations;
        let had = allocations.into_iter().filter_map(|allocation| {
            let created = *unknown.listeners.get(&allocation.uid)?;
            let name = document::listener_name(&allocation);
            let addresses = kept.addresses.get(&name).into_iter().flatten();
            let entries = std::iter::once(kept.listeners.get(&name)?).chain(addresses);
            let size = entries
                .map(|e| Value::from(e.clone()).to_string().len())
                .sum();
            Some(requested(allocation, created, size))
        });
        kept.requests = had.collect();
        kept
    }

    /// Returns the entries of Connectors and Links, and of Listeners that got their earlier
    /// allocation again.
    pub fn entries(&self, given: &[PortAllocation]) -> Vec<ConfigEntry> {
        let is_kept = |allocation: &&PortAllocation| {
            let mut requests = self.requests.iter();
            requests.any(|r| r.uid == allocation.uid && r.pod == allocation.pod)
        };
        let names = given.iter().filter(is_kept).map(document::listener_name);
        let listeners = names.flat_map(|name| {
            let listener = self.listeners.get(&name).cloned();
            let addresses = self.addresses.get(&name).into_iter().flatten().cloned();
            let listener = listener
                .into_iter()
                .map(|attributes| ("tcpListener", attributes));
            listener.chain(addresses.map(|attributes| ("listenerAddress", attributes)))
        });
        let connectors = self.connectors.iter().cloned();
        let links = self.links.iter().cloned();
        let proxies = self.proxies.iter().cloned();
        let accesses = self.accesses.iter().cloned();
        listeners
            .chain(connectors.map(|attributes| ("tcpConnector", attributes)))
            .chain(links.map(|attributes| ("connector", attributes)))
            .chain(proxies.map(|attributes| (proxies::ENTITY, attributes)))
            .chain(accesses.map(|attributes| ("listener", attributes)))
            .collect()
    }

    /// The profile that an entry names, by its name.
    pub fn profile(&self, (_, attributes): &ConfigEntry) -> Option<(String, Value)> {
        let name = attributes.get("sslProfile")?.as_str()?;
        let profile = self.profiles.get(name)?;
        Some((
            name.to_owned(),
            Value::from(vec!["sslProfile".into(), profile.clone()]),
        ))
    }

    /// The Pods of workloads that offer each of theirs under this routing key.
    pub fn exposed<'a>(&'a self, routing_key: &'a str) -> impl Iterator<Item = String> + 'a {
        self.connectors.iter().filter_map(move |attributes| {
            let (_, pod) = attributes.get("name")?.as_str()?.split_once('@')?;
            let address = attributes.get("address")?.as_str()?;
            (address == document::of_pod(routing_key, pod)).then(|| pod.to_owned())
        })
    }
}

fn requested(allocation: PortAllocation, created: Timestamp, size: usize) -> PortRequest {
    PortRequest {
        holder: allocation.holder,
        uid: allocation.uid,
        name: allocation.name,
        pod: allocation.pod,
        created,
        host: allocation.host,
        port: allocation.port,
        size: size + ALLOCATION,
    }
}
