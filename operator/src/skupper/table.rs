//! What the Site keeps in its ConfigMap: the router's configuration, and who has been given which host and port.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use lifecycle_runtime::Desired;

use super::claims::{Before, Claim, Decided};
use super::{document, service};

/// Key of the router's configuration.
pub const DOCUMENT: &str = "skrouterd.json";
/// Key of the claims.
pub const CLAIMS: &str = "claims";
/// Key of the Listeners for which there is no room; absent while there is room for all.
pub const FULL: &str = "full";

/// A table as it is read.
#[derive(Debug, Default)]
pub struct Table {
    /// Claims of whole Listeners, by uid.
    whole: BTreeMap<String, Claim>,
    hosts: BTreeMap<String, Host>,
    full: BTreeSet<String>,
}

/// All that is reached under one host.
#[derive(Debug, Default)]
struct Host {
    /// By port of the router.
    claims: Vec<Claim>,
    /// Built once: every Listener of the host asks for it whenever it looks.
    service: OnceLock<Desired<Service>>,
}

impl Table {
    /// Of a ConfigMap; what cannot be read in it counts as not there, for the Site writes it anew.
    pub fn of(map: &ConfigMap) -> Self {
        let decided = decided(map).unwrap_or_default();
        let mut table = Self {
            full: decided.full,
            ..Self::default()
        };
        for claim in decided.claims {
            if claim.pod.is_none() {
                table.whole.insert(claim.uid.clone(), claim.clone());
            }
            let host = table.hosts.entry(claim.host.clone()).or_default();
            host.claims.push(claim);
        }
        table
    }

    /// What a Listener has been given.
    pub fn claim(&self, uid: &str) -> Option<&Claim> {
        self.whole.get(uid)
    }

    /// Whether there is no room for a Listener.
    pub fn is_full_for(&self, uid: &str) -> bool {
        self.full.contains(uid)
    }

    /// All that is reached under a host, by port of the router.
    pub fn of_host(&self, host: &str) -> &[Claim] {
        self.hosts.get(host).map_or(&[], |host| &host.claims)
    }

    /// The Service of a host.
    pub fn service(&self, name: &str) -> Desired<Service> {
        match self.hosts.get(name) {
            Some(host) => {
                let build = || service::of_host(name, &host.claims);
                host.service.get_or_init(build).clone()
            }
            None => service::of_host(name, &[]),
        }
    }

    /// All hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }

    /// What is reached of the Pods of a Listener, by name of the Pod's Service.
    pub fn pods_of(&self, uid: &str) -> impl Iterator<Item = &Claim> {
        let all = self.hosts.values().flat_map(|host| &host.claims);
        all.filter(move |claim| claim.uid == uid && claim.pod.is_some())
    }
}

fn decided(map: &ConfigMap) -> Option<Decided> {
    let data = map.data.as_ref()?;
    let full = data
        .get(FULL)
        .and_then(|text| serde_json::from_str(text).ok());
    Some(Decided {
        claims: serde_json::from_str(data.get(CLAIMS)?).ok()?,
        full: full.unwrap_or_default(),
    })
}

/// What was decided before. Where no claims can be read, the ports of the router's configuration are kept, and else those that Services lead to.
pub fn before(map: Option<&ConfigMap>, services: &[&Service]) -> Before {
    if let Some(decided) = map.and_then(decided) {
        return Before {
            claims: decided.claims,
            ..Before::default()
        };
    }
    let text = map.and_then(|map| map.data.as_ref()?.get(DOCUMENT));
    let recovered = text.and_then(|text| document::recovered(text).ok());
    Before {
        offered: service::offered(services),
        ..recovered.unwrap_or_default()
    }
}

/// So many namespaces are remembered at most; those that are gone are forgotten with all others.
const MOST: usize = 1000;

/// Tables that were read last, one a namespace: every Listener of it asks for the same one.
#[derive(Debug, Default)]
pub struct Tables(Mutex<BTreeMap<String, (String, Arc<Table>)>>);

impl Tables {
    /// The table of a ConfigMap.
    pub fn read(&self, map: &ConfigMap) -> Arc<Table> {
        let meta = &map.metadata;
        let (Some(uid), Some(version)) = (&meta.uid, &meta.resource_version) else {
            return Arc::new(Table::of(map));
        };
        let namespace = meta.namespace.clone().unwrap_or_default();
        let version = format!("{uid}/{version}");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, table)) = all.get(&namespace)
            && *read == version
        {
            return Arc::clone(table);
        }
        let table = Arc::new(Table::of(map));
        if all.len() >= MOST && !all.contains_key(&namespace) {
            all.clear();
        }
        all.insert(namespace, (version, Arc::clone(&table)));
        table
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(version: &str, claims: &str) -> ConfigMap {
        let map = json!({
            "metadata": { "name": "skupper-router", "namespace": "west", "uid": "u", "resourceVersion": version },
            "data": { "claims": claims, "skrouterd.json": r#"[["tcpListener",{"name":"listener/a","port":"1030"}]]"# },
        });
        serde_json::from_value(map).expect("it is a ConfigMap")
    }

    const CLAIMS: &str = r#"[{"uid":"u-a","name":"a","host":"db","port":80,"routerPort":1024},
        {"uid":"u-a","name":"a","pod":"a-0","host":"a-0","port":80,"routerPort":1025},
        {"uid":"u-b","name":"b","host":"db","port":81,"routerPort":1026}]"#;

    #[test]
    fn a_table_is_read_by_listener_host_and_pod() {
        let table = Table::of(&map("1", CLAIMS));
        assert_eq!(table.claim("u-b").map(|c| c.router_port), Some(1026));
        let ports: Vec<_> = table.of_host("db").iter().map(|c| c.port).collect();
        assert_eq!(ports, [80, 81]);
        assert_eq!(table.hosts().collect::<Vec<_>>(), ["a-0", "db"]);
        let ports = |host: &str| {
            let service = table.service(host);
            service.as_json()["spec"]["ports"].as_array().map(Vec::len)
        };
        let built = ["db", "db", "a-0", "unheard-of"].map(ports);
        assert_eq!(built, [Some(2), Some(2), Some(1), Some(0)]);
        let pods: Vec<_> = table.pods_of("u-a").map(|c| c.router_port).collect();
        assert_eq!((pods, table.pods_of("u-b").count()), (vec![1025], 0));
    }

    #[test]
    fn where_no_claims_can_be_read_the_ports_of_the_router_are_kept() {
        let service = service::of_host("db", Table::of(&map("1", CLAIMS)).of_host("db"));
        let service = serde_json::from_value(service.as_json().clone()).expect("it is a Service");
        let before = |map: Option<&ConfigMap>| before(map, &[&service]);
        let known = before(Some(&map("1", CLAIMS)));
        assert_eq!((known.claims.len(), known.offered.len()), (3, 0));
        let broken = before(Some(&map("1", "{")));
        assert_eq!(
            (broken.claims.len(), broken.recovered.get("a")),
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
    fn a_table_is_read_once_a_version() {
        let tables = Tables::default();
        let first = tables.read(&map("1", CLAIMS));
        assert!(Arc::ptr_eq(&first, &tables.read(&map("1", "unread"))));
        assert_eq!(tables.read(&map("2", "[]")).hosts().count(), 0);
    }

    #[test]
    fn no_more_tables_are_remembered_than_there_is_room_for() {
        let tables = Tables::default();
        for n in 0..3 * MOST {
            let mut map = map("1", CLAIMS);
            map.metadata.namespace = Some(format!("n{n}"));
            let table = tables.read(&map);
            assert!(Arc::ptr_eq(&table, &tables.read(&map)));
        }
        let known = tables.0.lock().expect("nobody panicked").len();
        assert_eq!(known, MOST);
    }
}
