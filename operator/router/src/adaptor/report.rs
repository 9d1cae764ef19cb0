//! The state of the adaptor, in the form in which a router of this project reports its own state.
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Document, Item, Key, Loaded};
use super::network::Overview;
use super::observed::{AddressCounts, Observed};
use super::plan::Current;
use super::schema::plain_text;
use super::{Attributes, Entity};
use crate::router::own_site;
use crate::state::{EntryReport, KeyCounts, LinkReport, State, Status, Surroundings};

/// Beginnings of addresses that routers use among themselves.
const INTERNAL: [&str; 7] = ["$", "_", "mc/", "qdhello", "qdrouter", "sfe.", "vfcr."];

/// All that a report is made from.
pub(super) struct Reading<'a> {
    pub(super) document: &'a Document,
    /// Entries that are not sent to the router, or whose change the router refused, with the
    /// reasons.
    pub(super) failed: &'a BTreeMap<Key, String>,
    pub(super) current: &'a Current,
    pub(super) observed: &'a Observed,
    pub(super) loaded: &'a Loaded,
    /// The records of the network, summed up.
    pub(super) network: &'a Overview,
    /// In seconds since 1970.
    pub(super) now: i64,
}

/// Returns the entry of a profile: either its files are valid, or the entry has the reason.
/// Handshakes may use files that were valid before.
pub(super) fn profile(item: &Item, loaded: &Loaded, now: i64) -> EntryReport {
    let material = loaded.profiles.get(&item.name);
    EntryReport {
        material: material.and_then(|loaded| loaded.material.clone()),
        status: loaded
            .trouble(&item.name, now)
            .map_or(Status::Up, Status::Failed),
        ..base(item)
    }
}

/// An entry before anything of its state is known.
fn base(item: &Item) -> EntryReport {
    let text = |name: &str| text(&item.attributes, name);
    let (key, host, listener) = match item.entity {
        Entity::TcpListener => (text("address"), None, None),
        Entity::TcpConnector => {
            let host = text("host").unwrap_or_else(|| "127.0.0.1".to_owned());
            (text("address"), Some(host), None)
        }
        Entity::ListenerAddress => (text("address"), None, text("listener")),
        Entity::SslProfile | Entity::ProxyProfile | Entity::Connector | Entity::Listener => {
            (None, None, None)
        }
    };
    EntryReport {
        entity: item.entity.name().into(),
        name: item.name.clone(),
        key,
        host,
        listener,
        hash: item.hash.clone(),
        ..EntryReport::default()
    }
}

impl Reading<'_> {
    /// Writes the report into a state.
    pub(super) fn write(&self, state: &mut State, surroundings: &mut Surroundings) {
        let entries: Vec<EntryReport> = self
            .document
            .items
            .iter()
            .map(|item| self.entry(item))
            .collect();
        surroundings.connectors = self.connectors(&entries);
        surroundings.keys = self.others(&surroundings.connectors);
        for (key, listeners) in &self.network.listeners {
            let counts = surroundings.keys.entry(key.clone()).or_default();
            counts.listeners += listeners;
        }
        surroundings.others.clone_from(&self.network.others);
        surroundings.own = own_site(&self.document.site, self.links(&entries));
        state.router.clone_from(&self.document.router);
        state.configuration = Some(self.document.hash.clone());
        state.faults = self.faults();
        state.entries = entries;
    }

    /// The problems of the document, and those of entities that are in no document.
    fn faults(&self) -> Vec<String> {
        let known: BTreeSet<Key> = self.document.items.iter().map(Item::key).collect();
        let others = self.failed.iter().filter(|(key, _)| !known.contains(key));
        let faults = self.document.faults.iter().cloned();
        faults.chain(others.map(|(_, why)| why.clone())).collect()
    }

    fn entry(&self, item: &Item) -> EntryReport {
        let mut entry = match item.entity {
            Entity::SslProfile => profile(item, self.loaded, self.now),
            Entity::ProxyProfile => {
                let trouble = self.loaded.passwords.trouble(&item.name);
                let trouble = trouble.map(|why| Status::Failed(why.to_owned()));
                EntryReport {
                    status: trouble.unwrap_or_else(|| self.status(item)),
                    ..base(item)
                }
            }
            Entity::Connector
            | Entity::Listener
            | Entity::TcpListener
            | Entity::TcpConnector
            | Entity::ListenerAddress => EntryReport {
                status: self.status(item),
                ..base(item)
            },
        };
        match (self.failed.get(&item.key()), &entry.status) {
            // A problem of its files comes first.
            (None, _) | (Some(_), Status::Failed(_)) => {}
            (Some(why), Status::Idle | Status::Up) => entry.status = Status::Failed(why.clone()),
        }
        if item.entity == Entity::Connector {
            let observed = self.observed.entry(item.entity, &item.name);
            entry.container = observed.and_then(|observed| observed.remote_container.clone());
            if let Some((id, name)) = self.network.links.get(&item.name) {
                entry.remote_site_id = Some(id.clone());
                entry.remote_site_name = Some(name.clone()).filter(|name| !name.is_empty());
            }
        }
        entry
    }

    fn status(&self, item: &Item) -> Status {
        if let Some(why) = self.failed.get(&item.key()) {
            return Status::Failed(why.clone());
        }
        match item.entity {
            Entity::TcpListener | Entity::TcpConnector | Entity::Connector => {
                let observed = self.observed.entry(item.entity, &item.name);
                observed.map_or(Status::Idle, |observed| observed.status.clone())
            }
            Entity::ListenerAddress => match text(&item.attributes, "address") {
                Some(key) if self.is_there(item) && self.counts(&key).is_reachable() => Status::Up,
                Some(_) | None => Status::Idle,
            },
            Entity::SslProfile | Entity::ProxyProfile | Entity::Listener => {
                if self.is_there(item) {
                    Status::Up
                } else {
                    Status::Idle
                }
            }
        }
    }

    fn is_there(&self, item: &Item) -> bool {
        let mut rows = self.current.rows(item.entity).iter();
        rows.any(|row| text(row, "name").as_ref() == Some(&item.name))
    }

    fn counts(&self, key: &str) -> AddressCounts {
        self.observed
            .addresses
            .get(key)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the number of connectors that the router knows for each key that the document names.
    /// A listener that is up proves one connector: the router of an edge site does not count
    /// connectors behind its link.
    fn connectors(&self, entries: &[EntryReport]) -> BTreeMap<String, usize> {
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for entry in entries {
            let Some(key) = &entry.key else {
                continue;
            };
            let least = usize::from(entry.entity == "tcpListener" && entry.status == Status::Up);
            let count = sum(self.counts(key)).max(least);
            let kept = keys.entry(key.clone()).or_default();
            *kept = (*kept).max(count);
        }
        keys
    }

    /// The keys that the document does not name.
    fn others(&self, named: &BTreeMap<String, usize>) -> BTreeMap<String, KeyCounts> {
        let addresses = self.observed.addresses.iter();
        let others = addresses.filter(|(key, counts)| {
            let is_internal = INTERNAL.iter().any(|internal| key.starts_with(internal));
            counts.is_reachable() && !is_internal && !named.contains_key(*key)
        });
        let others = others.map(|(key, counts)| {
            let counts = KeyCounts {
                connectors: sum(*counts),
                listeners: 0,
            };
            (key.clone(), counts)
        });
        others.collect()
    }

    /// The links that the site dials.
    fn links(&self, entries: &[EntryReport]) -> Vec<LinkReport> {
        let items = self.document.items.iter().zip(entries);
        let links = items.filter(|(item, _)| {
            let role = text(&item.attributes, "role");
            let is_link = matches!(role.as_deref(), Some("inter-router" | "edge"));
            item.entity == Entity::Connector && is_link
        });
        let reports = links.map(|(item, entry)| {
            let cost = text(&item.attributes, "cost").and_then(|cost| cost.parse().ok());
            LinkReport {
                name: item.name.clone(),
                cost: cost.unwrap_or(1),
                operational: entry.status == Status::Up,
                remote_site_id: entry.remote_site_id.clone().unwrap_or_default(),
                remote_site_name: entry.remote_site_name.clone().unwrap_or_default(),
            }
        });
        reports.collect()
    }
}

fn sum(counts: AddressCounts) -> usize {
    let sum = counts
        .in_process
        .saturating_add(counts.subscribers)
        .saturating_add(counts.remotes);
    usize::try_from(sum).unwrap_or(usize::MAX)
}

fn text(attributes: &Attributes, name: &str) -> Option<String> {
    plain_text(attributes.get(name)?)
}
