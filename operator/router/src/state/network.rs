//! The network in the state: the known sites, and the contribution of the own site. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{EntryReport, KeyCounts, State, Status};

/// Upper bound on the names of services reported for all sites together, in bytes.
const MOST: usize = 4 << 20;
/// The most keys of other sites that are counted.
const MOST_KEYS: usize = 16_384;

/// One site of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport {
    /// Its id.
    pub id: String,
    /// Name of the site; empty if the site does not report it.
    #[serde(default)]
    pub name: String,
    /// Namespace of the site; empty if the site does not report it.
    #[serde(default)]
    pub namespace: String,
    /// Platform of the site; empty if the site does not report it.
    #[serde(default)]
    pub platform: String,
    /// Version of the site's controller; empty if the site does not report it.
    #[serde(default)]
    pub version: String,
    /// The links that it dials.
    #[serde(default)]
    pub links: Vec<LinkReport>,
    /// Services of the site.
    #[serde(default)]
    pub services: Vec<ServiceReport>,
}

/// A link that a site dials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkReport {
    /// The name of its entry.
    pub name: String,
    /// The site that it leads to; empty before that was known.
    pub remote_site_id: String,
    /// Name of that site.
    #[serde(default)]
    pub remote_site_name: String,
    /// Cost of the link.
    pub cost: u32,
    /// True if the link is in use.
    pub operational: bool,
}

/// Entries that a site has for a routing key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceReport {
    /// The routing key.
    pub routing_key: String,
    /// The hosts that its connectors lead to.
    #[serde(default)]
    pub connectors: Vec<String>,
    /// The names of its listeners.
    #[serde(default)]
    pub listeners: Vec<String>,
}

impl ServiceReport {
    fn size(&self) -> usize {
        let names = self.connectors.iter().chain(&self.listeners);
        self.routing_key.len() + names.map(|name| name.len() + 4).sum::<usize>() + 64
    }
}

/// Entries that the own site has for a routing key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnService {
    /// Connectors that can be used, as many as there are.
    pub(crate) connectors: usize,
    /// The hosts of those that have not failed.
    pub(crate) hosts: BTreeSet<String>,
    /// The listeners that have not failed.
    pub(crate) listeners: BTreeSet<String>,
}

/// Knowledge besides the entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// The own site without its services; absent if it has no id.
    pub(crate) own: Option<SiteReport>,
    /// The other sites that can be reached.
    pub(crate) others: Vec<SiteReport>,
    /// Entries that the other sites have for each key.
    pub(crate) keys: BTreeMap<String, KeyCounts>,
    /// How many connectors of the own site can be used, of each key that it names.
    pub(crate) connectors: BTreeMap<String, usize>,
    /// Services of the own site.
    pub(crate) services: BTreeMap<String, OwnService>,
}

impl Surroundings {
    /// Recounts everything that follows from the entries: a failed entry accepts no clients.
    pub(super) fn settle(&mut self, state: &mut State) {
        self.count(&state.entries);
        let mut keys: BTreeMap<String, KeyCounts> = BTreeMap::new();
        for (key, service) in &self.services {
            let counts = KeyCounts {
                connectors: service.connectors,
                listeners: service.listeners.len(),
            };
            keys.insert(key.clone(), counts);
        }
        let mut room = MOST_KEYS;
        for (key, more) in &self.keys {
            if let Some(counts) = keys.get_mut(key) {
                counts.connectors += more.connectors;
                counts.listeners += more.listeners;
            } else if room > 0 {
                room -= 1;
                keys.insert(key.clone(), *more);
            }
        }
        state.keys = keys;
        let own = self.own.clone().map(|own| SiteReport {
            services: self.reported(),
            ..own
        });
        state.sites = bounded(own.into_iter().chain(self.others.iter().cloned()));
    }

    fn count(&mut self, entries: &[EntryReport]) {
        let named = self.connectors.iter().map(|(key, connectors)| {
            let service = OwnService {
                connectors: *connectors,
                ..OwnService::default()
            };
            (key.clone(), service)
        });
        self.services = named.collect();
        let failed = |entry: &EntryReport| matches!(entry.status, Status::Failed(_));
        let listeners = entries.iter().filter(|entry| entry.entity == "tcpListener");
        let closed = listeners
            .filter(|entry| failed(entry))
            .map(|entry| &entry.name);
        let closed: BTreeSet<&String> = closed.collect();
        for entry in entries {
            let listener = entry.listener.as_ref().unwrap_or(&entry.name);
            let is_closed = entry.host.is_none() && closed.contains(listener);
            let serves = !is_closed && !failed(entry);
            let service = entry
                .key
                .as_ref()
                .filter(|_| serves)
                .and_then(|key| self.services.get_mut(key));
            match (service, &entry.host) {
                (None, _) => {}
                (Some(service), Some(host)) => {
                    service.hosts.insert(host.clone());
                }
                (Some(service), None) => {
                    service.listeners.insert(listener.clone());
                }
            }
        }
    }

    /// Omits keys without connectors and listeners from the report.
    fn reported(&self) -> Vec<ServiceReport> {
        let services = self.services.iter();
        let there =
            services.filter(|(_, service)| service.connectors + service.listeners.len() > 0);
        let told = there.map(|(key, service)| ServiceReport {
            routing_key: key.clone(),
            connectors: service.hosts.iter().cloned().collect(),
            listeners: service.listeners.iter().cloned().collect(),
        });
        told.collect()
    }
}

/// Returns the sites by id, with as many services as the bound allows. The own site is reported
/// first.
fn bounded(sites: impl Iterator<Item = SiteReport>) -> Vec<SiteReport> {
    let mut room = MOST;
    let mut told: Vec<SiteReport> = sites
        .map(|mut site| {
            site.services.retain(|service| {
                let size = service.size();
                let fits = size <= room;
                room -= if fits { size } else { 0 };
                fits
            });
            site
        })
        .collect();
    told.sort_by(|a, b| a.id.cmp(&b.id));
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(id: &str, services: usize) -> SiteReport {
        let service = |number: usize| ServiceReport {
            routing_key: format!("{number:0>200}"),
            ..ServiceReport::default()
        };
        SiteReport {
            id: id.to_owned(),
            services: (0..services).map(service).collect(),
            ..SiteReport::default()
        }
    }

    #[test]
    fn all_sites_are_told_and_their_services_as_far_as_there_is_room() {
        let all = (0..100).map(|number| site(&format!("{number:0>3}"), 400));
        let told = bounded(std::iter::once(site("west", 5)).chain(all));
        assert_eq!(told.len(), 101);
        let services = |at: usize| told[at].services.len();
        assert_eq!((services(0), services(99), services(100)), (400, 0, 5));
        let size = serde_json::to_vec(&told).unwrap().len();
        assert!(size < 2 * MOST, "{size}");
    }
}
