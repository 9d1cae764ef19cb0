//! The entries of a router's configuration beside the records of its site: the entries that are
//! proved to be applied, and their states.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_router::config::hash;
use lifecycle_specs_skupper::router::{EndpointCounts, EntryState, RemoteSite, RouterEntry};
use serde_json::{Map, Value};

use super::records::{Faults, LinkRecord, Network, RouterRecord, SiteRecord, quoted};
use crate::config::document::{self, ConfigEntry};

/// Entities whose entries have names and are looked up in a state.
const ENTITIES: [&str; 7] = [
    "connector",
    "listener",
    "listenerAddress",
    "proxyProfile",
    "sslProfile",
    "tcpConnector",
    "tcpListener",
];

/// Roles of listeners and connectors for links.
const LINK_ROLES: [&str; 3] = ["edge", "inter-edge", "inter-router"];

/// A routing key, a host and a port.
type Endpoint<'a> = (&'a str, &'a str, &'a str);

/// Reads a configuration, and finds its entries among the records of its site.
pub(super) fn read(
    config: &str,
    own: &SiteRecord,
    network: &Network,
    keys: &BTreeMap<String, EndpointCounts>,
    faults: &mut Faults,
) -> BTreeMap<String, RouterEntry> {
    let entries = config_entries(config, faults);
    let configured = Configured::new(&entries);
    let listed = Listed::new(own);
    let judge = Judge {
        network,
        keys,
        configured: &configured,
        listed: &listed,
    };
    let reported = entries.iter().filter_map(|(key, entry)| {
        let (state, remote) = judge.entry(entry)?;
        let hash = hash(&entry.1);
        let entry = RouterEntry {
            hash,
            state,
            remote,
        };
        Some((key.clone(), entry))
    });
    reported.collect()
}

/// The entries of a configuration by their keys. Of two with one key the first is used, as a router does.
fn config_entries(config: &str, faults: &mut Faults) -> BTreeMap<String, ConfigEntry> {
    let mut entries = BTreeMap::new();
    let elements = match serde_json::from_str(config) {
        Ok(Value::Array(elements)) => elements,
        Ok(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_),
        ) => {
            faults.add(|| "it must be a list of [entity, attributes]".to_owned());
            return entries;
        }
        Err(error) => {
            faults.add(|| format!("it is no JSON: {error}"));
            return entries;
        }
    };
    for (at, element) in elements.into_iter().enumerate() {
        let (entity, attributes) =
            match serde_json::from_value::<(String, Map<String, Value>)>(element) {
                Ok(entry) => entry,
                Err(_) => {
                    faults.add(|| format!("element {at} must be [entity, attributes]"));
                    continue;
                }
            };
        let Some(entity) = ENTITIES.into_iter().find(|known| *known == entity) else {
            continue;
        };
        if text(&attributes, "name").is_none() {
            faults.add(|| format!("element {at}, a {entity}, must have a `name`"));
            continue;
        }
        let entry: ConfigEntry = (entity, attributes);
        let key = document::key(&entry);
        if entries.contains_key(&key) {
            faults.add(|| format!("{} is there twice, and the first is used", quoted(&key)));
            continue;
        }
        entries.insert(key, entry);
    }
    entries
}

/// An attribute as text that is not empty.
fn text<'a>(attributes: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let text = attributes.get(name)?.as_str()?;
    Some(text).filter(|text| !text.is_empty())
}

/// A number that may be written as text, as text.
fn number_text(attributes: &Map<String, Value>, name: &str) -> Option<String> {
    match attributes.get(name)? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_of_links(attributes: &Map<String, Value>) -> bool {
    text(attributes, "role").is_some_and(|role| LINK_ROLES.contains(&role))
}

/// Attributes that several entries of a configuration have in common.
#[derive(Default)]
struct Configured {
    /// The ports of tcpListeners by name.
    ports: BTreeMap<String, String>,
    /// The keys of tcpListeners that have several.
    addresses: BTreeMap<String, Vec<String>>,
    /// How many tcpConnectors lead from a key to a host and port.
    connectors: BTreeMap<(String, String, String), usize>,
    /// How many listeners there are for links.
    accesses: usize,
}

impl Configured {
    fn new(entries: &BTreeMap<String, ConfigEntry>) -> Self {
        let mut all = Self::default();
        for (entity, attributes) in entries.values() {
            let text = |name| text(attributes, name).map(str::to_owned);
            let port = number_text(attributes, "port");
            match *entity {
                "tcpListener" => all.ports.extend(text("name").zip(port)),
                "listenerAddress" => {
                    if let Some((listener, key)) = text("listener").zip(text("address")) {
                        all.addresses.entry(listener).or_default().push(key);
                    }
                }
                "tcpConnector" => {
                    if let (Some(key), Some(host), Some(port)) =
                        (text("address"), text("host"), port)
                    {
                        *all.connectors.entry((key, host, port)).or_default() += 1;
                    }
                }
                "listener" if is_of_links(attributes) => all.accesses += 1,
                _ => {}
            }
        }
        all
    }
}

/// The records of the routers of a site.
#[derive(Default)]
struct Listed<'a> {
    /// The keys of listeners by name and port.
    listeners: BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>,
    /// How many connectors of an endpoint one router has.
    connectors: BTreeMap<Endpoint<'a>, usize>,
    /// Links by name.
    links: BTreeMap<&'a str, Vec<&'a LinkRecord>>,
    /// Number of listeners for links of one router; `None` if no router reports it.
    accesses: Option<usize>,
}

impl<'a> Listed<'a> {
    fn new(site: &'a SiteRecord) -> Self {
        let mut all = Self::default();
        for router in &site.routers {
            all.add(router);
        }
        all
    }

    fn add(&mut self, router: &'a RouterRecord) {
        for listener in &router.listeners {
            if let Some(port) = &listener.port {
                let keys = self.listeners.entry((&listener.name, port)).or_default();
                keys.insert(&listener.key);
            }
        }
        let mut connectors: BTreeMap<Endpoint<'a>, usize> = BTreeMap::new();
        for connector in &router.connectors {
            if let Some(port) = &connector.port {
                *connectors
                    .entry((&connector.key, &connector.host, port))
                    .or_default() += 1;
            }
        }
        for (endpoint, count) in connectors {
            let most = self.connectors.entry(endpoint).or_default();
            *most = count.max(*most);
        }
        for link in &router.links {
            self.links.entry(&link.name).or_default().push(link);
        }
        self.accesses = self.accesses.max(router.accesses);
    }

    fn has_listener(&self, name: &str, port: &str, key: &str) -> bool {
        let keys = self.listeners.get(&(name, port));
        keys.is_some_and(|keys| keys.contains(key))
    }
}

/// An entry's state, and the site at its other end.
type Judgement = (EntryState, Option<RemoteSite>);

/// Judges entries by the records of their site.
struct Judge<'a> {
    network: &'a Network,
    keys: &'a BTreeMap<String, EndpointCounts>,
    configured: &'a Configured,
    listed: &'a Listed<'a>,
}

impl Judge<'_> {
    /// None if nothing proves that the entry is applied.
    fn entry(&self, (entity, attributes): &ConfigEntry) -> Option<Judgement> {
        let is_applied = match *entity {
            "tcpListener" => return Some((self.listener(attributes)?, None)),
            "listenerAddress" => return Some((self.address(attributes)?, None)),
            "connector" if is_of_links(attributes) => return self.link(attributes),
            "tcpConnector" => self.has_connector(attributes).unwrap_or(false),
            "listener" if is_of_links(attributes) => {
                let listed = self.listed.accesses;
                listed.is_none_or(|listed| listed >= self.configured.accesses)
            }
            _ => true,
        };
        is_applied.then_some((EntryState::Up, None))
    }

    /// A listener of any of these keys.
    fn of_keys<'k>(&self, mut keys: impl Iterator<Item = &'k str>) -> EntryState {
        let is_served = |key: &str| {
            self.keys
                .get(key)
                .is_some_and(|counts| counts.connectors > 0)
        };
        match keys.any(is_served) {
            true => EntryState::Up,
            false => EntryState::Idle,
        }
    }

    /// One with several keys has no record of its own, but one for each of them.
    fn listener(&self, attributes: &Map<String, Value>) -> Option<EntryState> {
        let (name, port) = (text(attributes, "name")?, number_text(attributes, "port")?);
        let is_listed = |key: &&str| self.listed.has_listener(name, &port, key);
        if let Some(key) = text(attributes, "address") {
            return is_listed(&key).then(|| self.of_keys([key].into_iter()));
        }
        let keys = self.configured.addresses.get(name)?;
        let keys: Vec<&str> = keys.iter().map(String::as_str).filter(is_listed).collect();
        (!keys.is_empty()).then(|| self.of_keys(keys.into_iter()))
    }

    fn address(&self, attributes: &Map<String, Value>) -> Option<EntryState> {
        let (listener, key) = (text(attributes, "listener")?, text(attributes, "address")?);
        let port = self.configured.ports.get(listener)?;
        let is_listed = self.listed.has_listener(listener, port, key);
        is_listed.then(|| self.of_keys([key].into_iter()))
    }

    fn has_connector(&self, attributes: &Map<String, Value>) -> Option<bool> {
        let (key, host) = (text(attributes, "address")?, text(attributes, "host")?);
        let port = number_text(attributes, "port")?;
        let listed = self.listed.connectors.get(&(key, host, port.as_str()))?;
        let endpoint = (key.to_owned(), host.to_owned(), port.clone());
        Some(self.configured.connectors.get(&endpoint) <= Some(listed))
    }

    fn link(&self, attributes: &Map<String, Value>) -> Option<Judgement> {
        let records = text(attributes, "name").and_then(|name| self.listed.links.get(name));
        let Some(records) = records else {
            return Some((EntryState::Idle, None));
        };
        let role = text(attributes, "role");
        let cost = number_text(attributes, "cost").map_or(Some(1), |cost| cost.parse().ok());
        let is_other = |link: &LinkRecord| {
            let is_other_role = link.role.is_some() && link.role.as_deref() != role;
            is_other_role || link.cost.is_some() && link.cost != cost
        };
        let current = records.iter().filter(|link| !is_other(link));
        let current: Vec<&&LinkRecord> = current.collect();
        if current.is_empty() {
            return None;
        }
        let known = |link: &&&LinkRecord| self.network.peer(link).is_some();
        let is_up = |link: &&&LinkRecord| {
            let is_proved = link.role.is_some() && link.cost.is_some();
            link.is_up && is_proved && known(link)
        };
        let up = current.iter().copied().find(is_up);
        let best = up.or_else(|| current.iter().copied().find(known));
        let remote = best
            .and_then(|link| self.network.peer(link))
            .map(|id| RemoteSite {
                id: id.to_owned(),
                name: self.network.name(id),
            });
        let state = match up {
            Some(_) => EntryState::Up,
            None => EntryState::Idle,
        };
        Some((state, remote))
    }
}
