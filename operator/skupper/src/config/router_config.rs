//! Content that the Site keeps in its ConfigMap: the router's configuration, and the allocated
//! hosts and ports with their holders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_runtime::{Because, Desired, ObjectRef};
use lifecycle_specs_skupper::router::ROUTER;
use serde_json::{Map, Value};

use super::ports::{Decided, Holder, LostPods, PortAllocation, PriorDecision};
use super::{document, service};

/// Key of the router's configuration.
pub const DOCUMENT: &str = "skrouterd.json";
/// Key of the allocations. Clusters hold it, so it stays as it was called first.
pub const CLAIMS: &str = "claims";
/// Key of the Listeners that do not fit; absent while all fit.
pub const FULL: &str = "full";
/// Key of the Pods whose names are owned by another Listener; absent while there are none.
pub const LOST: &str = "lost";

/// A reference to the ConfigMap of the namespace of an object.
pub fn reference(meta: &ObjectMeta) -> ObjectRef {
    ObjectRef::new::<ConfigMap>(meta.namespace.as_deref(), ROUTER)
}

/// The ConfigMap as it is read.
#[derive(Debug, Default)]
pub struct RouterConfig {
    /// Allocations of whole Listeners, by uid.
    whole: BTreeMap<String, PortAllocation>,
    hosts: BTreeMap<String, Host>,
    full: BTreeSet<String>,
    lost: BTreeMap<String, LostPods>,
}

/// The decision of the Site about the host and port of a Listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// The Site has not decided yet.
    Nothing,
    /// Another Listener has the host.
    Lost,
    /// The configuration of the router is full.
    Full,
    /// The Listener has both.
    Held,
}

/// All that is reached under one host.
#[derive(Debug, Default)]
struct Host {
    /// By port of the router.
    allocations: Vec<PortAllocation>,
    /// Service of the host, built once: every Listener of the host needs it in every
    /// reconciliation.
    service: OnceLock<Desired<Service>>,
}

impl RouterConfig {
    /// Parses a ConfigMap. Unreadable parts count as absent, because the Site rewrites them.
    pub fn from_config_map(map: &ConfigMap) -> Self {
        let decided = decided(map).unwrap_or_default();
        let mut config = Self {
            full: decided.full,
            lost: decided.lost,
            ..Self::default()
        };
        for allocation in decided.allocations {
            if allocation.pod.is_none() {
                let uid = allocation.uid.clone();
                config.whole.insert(uid, allocation.clone());
            }
            let host = config.hosts.entry(allocation.host.clone()).or_default();
            host.allocations.push(allocation);
        }
        config
    }

    /// Returns the allocation of a Listener.
    pub fn allocation(&self, uid: &str) -> Option<&PortAllocation> {
        self.whole.get(uid)
    }

    /// Returns the decision about a Listener that requests this host and port, with the reason if
    /// it has none.
    pub fn given(
        &self,
        (holder, uid): (Holder, &str),
        (host, port): (&str, i64),
    ) -> Because<Given> {
        let is_wanted = |held: &PortAllocation| held.host == host && i64::from(held.port) == port;
        if self.full.contains(uid) {
            let sentence = "the configuration of the router has no room for it: delete Listeners, or Connectors of many Pods";
            return Because::new(Given::Full, sentence);
        }
        if self.allocation(uid).is_some_and(is_wanted) {
            return Because::plain(Given::Held);
        }
        let others = || self.of_host(host).iter().filter(|held| held.uid != uid);
        if let Some(other) = others().find(|held| is_wanted(held)) {
            return Because::new(Given::Lost, held_by(other));
        }
        if let Some(other) = others().find(|held| held.holder != holder) {
            let (name, kind) = (&other.name, other.holder.kind());
            let sentence = format!(
                "{kind} {name} has host {host}, and a host is of {kind}s or of {}s: take another host",
                holder.kind()
            );
            return Because::new(Given::Lost, sentence);
        }
        let sentence = "its Site has not given it a port of the router yet";
        Because::new(Given::Nothing, sentence)
    }

    /// Returns the Pods of a Listener whose host and port are owned by another one.
    pub fn lost_of(&self, uid: &str) -> Option<&LostPods> {
        self.lost.get(uid)
    }

    /// All that is reached under a host, by port of the router.
    pub fn of_host(&self, host: &str) -> &[PortAllocation] {
        self.hosts.get(host).map_or(&[], |host| &host.allocations)
    }

    /// The Service of a host.
    pub fn service(&self, name: &str) -> Desired<Service> {
        match self.hosts.get(name) {
            Some(host) => {
                let build = || service::of_host(name, &host.allocations);
                host.service.get_or_init(build).clone()
            }
            None => service::of_host(name, &[]),
        }
    }

    /// All hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }

    /// Returns the allocations for the Pods of a Listener, by name of the Pod's Service.
    pub fn pods_of(&self, uid: &str) -> impl Iterator<Item = &PortAllocation> {
        let all = self.hosts.values().flat_map(|host| &host.allocations);
        all.filter(move |a| a.uid == uid && a.pod.is_some())
    }
}

/// Names the holder of a host and port.
pub fn held_by(other: &PortAllocation) -> String {
    let kind = other.holder.kind();
    let PortAllocation {
        name, host, port, ..
    } = other;
    format!("{kind} {name} with host {host} and port {port} already exists in namespace")
}

/// The entries of the router's configuration as they were written; none where they cannot be read.
pub fn entries(map: &ConfigMap) -> Vec<(String, Map<String, Value>)> {
    let text = map.data.as_ref().and_then(|data| data.get(DOCUMENT));
    let all = text.and_then(|text| serde_json::from_str(text).ok());
    all.unwrap_or_default()
}

fn decided(map: &ConfigMap) -> Option<Decided> {
    let data = map.data.as_ref()?;
    let full = data
        .get(FULL)
        .and_then(|text| serde_json::from_str(text).ok());
    let lost = data
        .get(LOST)
        .and_then(|text| serde_json::from_str(text).ok());
    Some(Decided {
        allocations: serde_json::from_str(data.get(CLAIMS)?).ok()?,
        full: full.unwrap_or_default(),
        lost: lost.unwrap_or_default(),
    })
}

/// Returns the earlier decisions. If no allocations can be read, the ports of the router's
/// configuration are kept, or else those that Services lead to.
pub fn before(map: Option<&ConfigMap>, services: &[&Service]) -> PriorDecision {
    if let Some(decided) = map.and_then(decided) {
        return PriorDecision {
            allocations: decided.allocations,
            ..PriorDecision::default()
        };
    }
    let text = map.and_then(|map| map.data.as_ref()?.get(DOCUMENT));
    let recovered = text.and_then(|text| document::recovered(text).ok());
    PriorDecision {
        offered: service::offered(services),
        ..recovered.unwrap_or_default()
    }
}

/// Upper bound of cached namespaces; those that are gone are dropped with all others.
const MOST: usize = 1000;

/// Cache of the ConfigMaps that were read last, one per namespace: every Listener of a namespace
/// needs the same one.
#[derive(Debug, Default)]
pub struct RouterConfigs(Mutex<BTreeMap<String, (String, Arc<RouterConfig>)>>);

impl RouterConfigs {
    /// Returns the content of a ConfigMap.
    pub fn read(&self, map: &ConfigMap) -> Arc<RouterConfig> {
        let meta = &map.metadata;
        let (Some(uid), Some(version)) = (&meta.uid, &meta.resource_version) else {
            return Arc::new(RouterConfig::from_config_map(map));
        };
        let namespace = meta.namespace.clone().unwrap_or_default();
        let version = format!("{uid}/{version}");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, config)) = all.get(&namespace)
            && *read == version
        {
            return Arc::clone(config);
        }
        let config = Arc::new(RouterConfig::from_config_map(map));
        if all.len() >= MOST && !all.contains_key(&namespace) {
            all.clear();
        }
        all.insert(namespace, (version, Arc::clone(&config)));
        config
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(version: &str, allocations: &str) -> ConfigMap {
        let map = json!({
            "metadata": { "name": "skupper-router", "namespace": "west", "uid": "u", "resourceVersion": version },
            "data": { "claims": allocations, "skrouterd.json": r#"[["tcpListener",{"name":"listener/a","port":"1030"}]]"# },
        });
        serde_json::from_value(map).expect("it is a ConfigMap")
    }

    const ALLOCATIONS: &str = r#"[{"uid":"u-a","name":"a","host":"db","port":80,"routerPort":1024},
        {"uid":"u-a","name":"a","pod":"a-0","host":"a-0","port":80,"routerPort":1025},
        {"uid":"u-b","name":"b","host":"db","port":81,"routerPort":1026}]"#;

    #[test]
    fn a_configuration_is_read_by_listener_host_and_pod() {
        let config = RouterConfig::from_config_map(&map("1", ALLOCATIONS));
        assert_eq!(config.allocation("u-b").map(|c| c.router_port), Some(1026));
        let ports: Vec<_> = config.of_host("db").iter().map(|c| c.port).collect();
        assert_eq!(ports, [80, 81]);
        assert_eq!(config.hosts().collect::<Vec<_>>(), ["a-0", "db"]);
        let ports = |host: &str| {
            let service = config.service(host);
            service.as_json()["spec"]["ports"].as_array().map(Vec::len)
        };
        let built = ["db", "db", "a-0", "unheard-of"].map(ports);
        assert_eq!(built, [Some(2), Some(2), Some(1), Some(0)]);
        let pods: Vec<_> = config.pods_of("u-a").map(|c| c.router_port).collect();
        assert_eq!((pods, config.pods_of("u-b").count()), (vec![1025], 0));
    }

    #[test]
    fn where_no_allocations_can_be_read_the_ports_of_the_router_are_kept() {
        let service = service::of_host(
            "db",
            RouterConfig::from_config_map(&map("1", ALLOCATIONS)).of_host("db"),
        );
        let service = serde_json::from_value(service.as_json().clone()).expect("it is a Service");
        let before = |map: Option<&ConfigMap>| before(map, &[&service]);
        let known = before(Some(&map("1", ALLOCATIONS)));
        assert_eq!((known.allocations.len(), known.offered.len()), (3, 0));
        let broken = before(Some(&map("1", "{")));
        assert_eq!(
            (broken.allocations.len(), broken.recovered.get("listener/a")),
            (0, Some(&1030))
        );
        let offered = [(("db".to_owned(), 80), 1024), (("db".to_owned(), 81), 1026)];
        let gone = before(None);
        assert!(gone.recovered.is_empty());
        assert_eq!(
            (broken.offered, gone.offered),
            (offered.clone().into(), offered.into())
        );
    }

    #[test]
    fn a_configuration_is_read_once_a_version() {
        let configs = RouterConfigs::default();
        let first = configs.read(&map("1", ALLOCATIONS));
        assert!(Arc::ptr_eq(&first, &configs.read(&map("1", "unread"))));
        assert_eq!(configs.read(&map("2", "[]")).hosts().count(), 0);
    }

    #[test]
    fn no_more_configurations_are_cached_than_there_is_room_for() {
        let configs = RouterConfigs::default();
        for n in 0..3 * MOST {
            let mut map = map("1", ALLOCATIONS);
            map.metadata.namespace = Some(format!("n{n}"));
            let config = configs.read(&map);
            assert!(Arc::ptr_eq(&config, &configs.read(&map)));
        }
        let known = configs.0.lock().expect("nobody panicked").len();
        assert_eq!(known, MOST);
    }
}
