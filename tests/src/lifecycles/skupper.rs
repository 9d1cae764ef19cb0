//! A listener of a network of routers: Services that several listeners share, two polls, and a held
//! entry in the router.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Secret, Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// A place of the network: its namespace has a router.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "network.tests", version = "v1", kind = "Site", namespaced)]
pub struct SiteSpec {}

/// Desired state of a Listener.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "network.tests",
    version = "v1",
    kind = "Listener",
    namespaced,
    status = "ListenerStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ListenerSpec {
    /// The Service under which it is reached; several Listeners may share it.
    pub host: String,
    /// The port of the Service.
    pub port: u16,
    /// Name of the listener in the network.
    pub routing_key: String,
    /// The Secret with its certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,
    /// Protocol. The default is `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Observed state of a Listener.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// Pending, Ready or Error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if a connector in the network offers its routing key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_connector: Option<bool>,
    /// Configured, Matched, Bound, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// State of one listener in a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterEntry {
    /// Configuration that the router received.
    pub wanted: DesiredListener,
    /// Listening state of the router.
    pub bound: Listens,
}

/// Desired configuration of one listener in a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredListener {
    /// Port on which to listen.
    pub port: u16,
    /// Routing key that the port serves.
    pub routing_key: String,
}

/// Listening state of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// Not yet.
    Waiting,
    /// It does.
    Up,
    /// The port is taken.
    Failed,
}

/// State that a router reports: its entries by the uid of their listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterTable(pub BTreeMap<String, RouterEntry>);

/// Pods that the network offers, by routing key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach(pub BTreeMap<String, BTreeSet<String>>);

/// Routers of all sites, and the offers of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routers {
    /// By the uid of the site.
    pub tables: BTreeMap<String, RouterTable>,
    /// Pods that connectors elsewhere offer.
    pub offered: Reach,
    /// Ports on which no router can listen.
    pub taken: BTreeSet<u16>,
}

/// A network of routers outside the API server.
pub type Network = Provider<Routers>;

include!("../../../macros/core/tests/lifecycles/skupper.txt");

impl Routers {
    /// Keeps the promise `binds`: routers listen for the offers of the network, and report the
    /// result.
    pub fn bind(&mut self) {
        let (offered, taken) = (&self.offered, &self.taken);
        let entries = self.tables.values_mut().flat_map(|t| t.0.values_mut());
        for entry in entries.filter(|e| e.bound == Listens::Waiting) {
            if offered.0.contains_key(&entry.wanted.routing_key) {
                let fails = taken.contains(&entry.wanted.port);
                entry.bound = if fails { Listens::Failed } else { Listens::Up };
            }
        }
    }
}

impl ProviderState for Routers {
    fn leftovers(&self) -> Vec<String> {
        let entries = self.tables.values().flat_map(|t| t.0.keys());
        entries.map(|uid| format!("the entry of {uid}")).collect()
    }

    const MEDDLINGS: &[&str] = &["offer", "offer two", "withdraw", "forget", "unbind"];

    fn perturb(&mut self, what: &str) {
        let pods = |pods: &[&str]| pods.iter().map(|&pod| pod.to_owned()).collect();
        let key = "offered".to_owned();
        match what {
            "offer" => drop(self.offered.0.insert(key, pods(&["one"]))),
            "offer two" => drop(self.offered.0.insert(key, pods(&["one", "two"]))),
            "withdraw" => self.offered.0.clear(),
            "forget" => self.tables.clear(),
            _ => {
                let entries = self.tables.values_mut().flat_map(|t| t.0.values_mut());
                entries.for_each(|entry| entry.bound = Listens::Waiting);
            }
        }
    }

    /// The router and its table go with the Site.
    fn follow(&mut self, deleted: &serde_json::Value) {
        if let Some(uid) = deleted["metadata"]["uid"].as_str() {
            self.tables.remove(uid);
        }
    }
}

/// The logic of a Listener: where its network is.
pub struct InNetwork(pub Network);

/// The router of the first site: the others wait.
fn router(sites: &[&Site]) -> Option<String> {
    let first = sites.iter().min_by_key(|s| &s.metadata.name)?;
    first.metadata.uid.clone()
}

fn uid(meta: &ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

fn desired_listener(spec: &ListenerSpec) -> DesiredListener {
    DesiredListener {
        port: spec.port,
        routing_key: spec.routing_key.clone(),
    }
}

/// Nothing but lower case letters, digits and hyphens.
fn is_label(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() < 64 && text.chars().all(fits) && !text.starts_with('-')
}

/// Returns the flaw that makes a Listener invalid by itself.
fn flaw(spec: &ListenerSpec) -> Option<(Validity, &'static str)> {
    let kind = spec.kind.as_deref().unwrap_or("tcp");
    if spec.port == 0 {
        Some((Validity::BadPort, "`spec.port` must be between 1 and 65535"))
    } else if !is_label(&spec.host) {
        let said = "`spec.host` must be the name of a Service";
        Some((Validity::BadHost, said))
    } else if kind != "tcp" {
        Some((Validity::BadType, "`spec.type` must be tcp"))
    } else {
        None
    }
}

/// Of those that want one port of a host the oldest has it; by name among equals.
fn has_port(meta: &ObjectMeta, spec: &ListenerSpec, peers: &[&Listener]) -> bool {
    let age = |meta: &ObjectMeta| {
        let time = meta.creation_timestamp.as_ref().map(|t| t.0);
        (time, meta.name.clone())
    };
    let mut rivals = peers.iter().filter(|p| {
        p.spec.port == spec.port && flaw(&p.spec).is_none() && p.metadata.uid != meta.uid
    });
    !rivals.any(|p| age(&p.metadata) < age(meta))
}

impl ListenerLogic for InNetwork {
    async fn poll_router(
        &self,
        _: This<'_, Listener>,
        sites: Vec<&Site>,
    ) -> Result<RouterTable, CallError> {
        let of = router(&sites).unwrap_or_default();
        let table = |all: &mut Routers| Ok(all.tables.get(&of).cloned().unwrap_or_default());
        self.0.query("look at the router", table).await
    }

    async fn poll_network(&self, _: This<'_, Listener>, _: Vec<&Site>) -> Result<Reach, CallError> {
        let offered = |all: &mut Routers| Ok(all.offered.clone());
        self.0.query("look at the network", offered).await
    }

    fn site(&self, _: This<'_, Listener>, sites: &[&Site]) -> Because<bool> {
        match sites {
            [] => Because::new(false, "the namespace has no Site: create one"),
            [_, ..] => Because::plain(true),
        }
    }

    fn validity(&self, this: This<'_, Listener>, peers: &[&Listener]) -> Because<Validity> {
        if let Some((validity, said)) = flaw(this.spec) {
            return Because::new(validity, said);
        }
        if has_port(this.meta, this.spec, peers) {
            return Because::plain(Validity::Fine);
        }
        let said = "another Listener has this port of the host: choose another port";
        Because::new(Validity::Taken, said)
    }

    fn matched(&self, this: This<'_, Listener>, network: &Reach) -> Because<bool> {
        let key = &this.spec.routing_key;
        match network.0.contains_key(key) {
            true => Because::plain(true),
            false => Because::new(false, format!("nobody in the network offers `{key}`")),
        }
    }

    fn entry(
        &self,
        this: This<'_, Listener>,
        sites: &[&Site],
        table: Option<&RouterTable>,
        _: Option<&Reach>,
    ) -> Because<Entry> {
        if sites.is_empty() {
            return Because::plain(Entry::No);
        }
        let Some(table) = table else {
            return Because::new(Entry::Unknown, "the router does not answer");
        };
        match table.0.get(&uid(this.meta)) {
            None => Because::new(Entry::No, "the router has no entry yet"),
            Some(entry) if entry.wanted == desired_listener(this.spec) => {
                Because::plain(Entry::Current)
            }
            Some(_) => Because::new(Entry::Stale, "the router has an older entry"),
        }
    }

    fn bound(&self, this: This<'_, Listener>, table: Option<&RouterTable>) -> Because<Bound> {
        let entry = table.and_then(|t| t.0.get(&uid(this.meta)));
        match entry.map(|e| e.bound) {
            Some(Listens::Up) => Because::plain(Bound::Up),
            Some(Listens::Failed) => {
                let said = "the router cannot listen on this port: choose another one";
                Because::new(Bound::Failed, said)
            }
            Some(Listens::Waiting) | None => {
                Because::new(Bound::Waiting, "the router does not listen yet")
            }
        }
    }

    async fn ensure_entry(
        &self,
        at: EnsureEntry<'_>,
        once: Once<'_>,
    ) -> Outcome<EnsureEntryResult> {
        let (key, wanted) = (once.key().to_owned(), desired_listener(at.this.spec));
        let of = router(&at.sites).unwrap_or_default();
        let operation = move |all: &mut Routers| {
            let table = all.tables.entry(of).or_default();
            let is_new = table.0.get(&key).is_none_or(|e| e.wanted != wanted);
            if is_new {
                let bound = Listens::Waiting;
                table.0.insert(key, RouterEntry { wanted, bound });
            }
            Ok(EnsureEntryResult::Current)
        };
        let what = format!("ensure the entry of {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn remove_entry(&self, _: RemoveEntry<'_>, once: Once<'_>) -> Outcome<RemoveEntryResult> {
        let key = once.key().to_owned();
        let operation = move |all: &mut Routers| {
            all.tables.values_mut().for_each(|t| drop(t.0.remove(&key)));
            Ok(RemoveEntryResult::No)
        };
        let what = format!("remove the entry of {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    /// Every Listener of a host makes the same Services: one for the host, one for each Pod that the network offers behind it.
    fn apply_services(&self, at: ApplyServices<'_>) -> Vec<Desired<Service>> {
        let fine =
            |p: &&&Listener| flaw(&p.spec).is_none() && has_port(&p.metadata, &p.spec, &at.peers);
        let peers: Vec<&Listener> = at.peers.iter().filter(fine).copied().collect();
        if !peers.iter().any(|p| p.metadata.uid == at.this.meta.uid) {
            return Vec::new();
        }
        let ports: BTreeSet<u16> = peers.iter().map(|p| p.spec.port).collect();
        let offered = peers
            .iter()
            .filter_map(|p| at.network.0.get(&p.spec.routing_key));
        let pods: BTreeSet<&String> = offered.flatten().collect();
        let host = at.this.spec.host.clone();
        let mut all = vec![service(host.clone(), &ports)];
        all.extend(
            pods.into_iter()
                .map(|pod| service(format!("{host}-{pod}"), &ports)),
        );
        all
    }

    fn has_matching_connector(&self, _: This<'_, Listener>, matched: bool) -> bool {
        matched
    }
}

fn service(name: String, ports: &BTreeSet<u16>) -> Desired<Service> {
    let port = |port: &u16| ServicePort {
        name: Some(format!("port-{port}")),
        port: i32::from(*port),
        protocol: Some("TCP".to_owned()),
        ..ServicePort::default()
    };
    Desired::from_object(&Service {
        metadata: ObjectMeta {
            name: Some(name),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            ports: Some(ports.iter().map(port).collect()),
            selector: Some([("app".to_owned(), "router".to_owned())].into()),
            ..ServiceSpec::default()
        }),
        status: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(name: &str, port: u16) -> Listener {
        let mut listener = Listener::new(
            name,
            ListenerSpec {
                host: "backend".to_owned(),
                port,
                routing_key: "key".to_owned(),
                ..ListenerSpec::default()
            },
        );
        listener.metadata.uid = Some(format!("uid-{name}"));
        listener
    }

    fn validity(listener: &Listener, peers: &[&Listener]) -> Validity {
        let logic = InNetwork(Network::default());
        logic.validity(This::new(listener), peers).value
    }

    #[test]
    fn one_port_of_a_host_has_one_listener() {
        let (a, b, c) = (listener("a", 80), listener("b", 80), listener("c", 81));
        let peers = [&a, &b, &c];
        assert_eq!(validity(&a, &peers), Validity::Fine);
        assert_eq!(validity(&b, &peers), Validity::Taken);
        assert_eq!(validity(&c, &peers), Validity::Fine);
    }

    #[test]
    fn what_is_invalid_says_what_to_change() {
        let check = |change: fn(&mut ListenerSpec), expected: Validity| {
            let mut bad = listener("a", 80);
            change(&mut bad.spec);
            assert_eq!(validity(&bad, &[&bad]), expected);
        };
        check(|s| s.port = 0, Validity::BadPort);
        check(|s| s.host = "Not a host".to_owned(), Validity::BadHost);
        check(|s| s.kind = Some("http2".to_owned()), Validity::BadType);
    }

    #[test]
    fn routers_listen_for_what_the_network_offers() {
        let mut routers = Routers::default();
        let entry = |port| RouterEntry {
            wanted: desired_listener(&listener("a", port).spec),
            bound: Listens::Waiting,
        };
        let table = [("a".to_owned(), entry(80)), ("b".to_owned(), entry(81))];
        routers
            .tables
            .insert("s".to_owned(), RouterTable(table.into()));
        routers.taken.insert(81);
        let bound = |routers: &Routers| {
            routers.tables["s"]
                .0
                .values()
                .map(|e| e.bound)
                .collect::<Vec<_>>()
        };
        routers.bind();
        assert_eq!(bound(&routers), [Listens::Waiting, Listens::Waiting]);
        routers
            .offered
            .0
            .insert("key".to_owned(), ["p".to_owned()].into());
        routers.bind();
        assert_eq!(bound(&routers), [Listens::Up, Listens::Failed]);
    }
}
