//! The network as the state shows it: other sites, their services, and the costs of the paths to
//! their keys. Pure.

use std::collections::BTreeMap;

use crate::config::{Desired, SiteIdentity};
use crate::link::announcement::{Announcement, Key, SiteId};
use crate::link::node::{Peer, View};
use crate::routing::Offers;
use crate::state::{KeyCounts, LinkReport, ServiceReport, SiteReport};

/// Returns the sites that have keys of these listeners, with the cost of the path to each.
pub(super) fn offers(view: &View, desired: &Desired) -> Offers {
    let mut offers = Offers::new();
    let listeners = desired.listeners.values().flat_map(|entry| &entry.wanted);
    for name in listeners.flat_map(|listener| listener.keys.all()) {
        if offers.contains_key(&**name) {
            continue;
        }
        let Some(key) = Key::new(name) else {
            continue;
        };
        let Some(sites) = view.ways.keys.get(&key) else {
            continue;
        };
        let sites = sites.iter().filter_map(|site| {
            let way = view.ways.sites.get(site);
            let way = way.filter(|_| view.allows(site, &key))?;
            Some((site.clone(), way.cost))
        });
        offers.insert(name.to_string(), sites.collect());
    }
    offers
}

/// Returns the name of a site, as far as it is known.
pub(super) fn name_of<'v>(view: &'v View, site: &SiteId) -> Option<&'v str> {
    let sites = &view.sites;
    let at = sites.binary_search_by(|known| known.origin.cmp(site));
    let name = sites[at.ok()?].about.name.as_str();
    (!name.is_empty()).then_some(name)
}

/// Returns the entries that other sites have for each key.
pub(super) fn keys(view: &View) -> BTreeMap<String, KeyCounts> {
    let mut keys: BTreeMap<String, KeyCounts> = BTreeMap::new();
    for site in &view.sites {
        let allowed = |key: &&Key| view.allows(&site.origin, key);
        let services = site.about.services.iter();
        for (key, service) in services.filter(|(key, _)| allowed(key)) {
            let counts = keys.entry(key.as_str().to_owned()).or_default();
            counts.listeners += usize::from(service.listeners.count);
            // A site may report the number of connectors, and that none of them is available to
            // this site.
            if site.keys.contains(key) {
                counts.connectors += usize::from(service.connectors.count.max(1));
            }
        }
        // These are keys for which the site had no room to announce details.
        let others = site.keys.iter().filter(allowed);
        for key in others.filter(|key| !site.about.services.contains_key(*key)) {
            keys.entry(key.as_str().to_owned()).or_default().connectors += 1;
        }
    }
    keys
}

/// Returns the own site without its services.
pub(crate) fn own(identity: &SiteIdentity, links: Vec<LinkReport>) -> Option<SiteReport> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(SiteReport {
        id: identity.id.clone()?,
        name: text(&identity.name),
        namespace: text(&identity.namespace),
        platform: text(&identity.platform),
        version: text(&identity.version),
        links,
        services: Vec::new(),
    })
}

/// The other sites.
pub(super) fn others(view: &View) -> Vec<SiteReport> {
    let all = view.sites.iter().map(|site| {
        let about = &site.about;
        let services = about.services.iter().map(|(key, service)| ServiceReport {
            routing_key: key.as_str().to_owned(),
            connectors: service.connectors.names.iter().cloned().collect(),
            listeners: service.listeners.names.iter().cloned().collect(),
        });
        SiteReport {
            id: site.origin.as_str().to_owned(),
            name: about.name.clone(),
            namespace: about.namespace.clone(),
            platform: about.platform.clone(),
            version: about.version.clone(),
            links: links(view, site),
            services: services.collect(),
        }
    });
    all.collect()
}

/// Returns the links that another site dials. A link is in use if both ends announce it.
fn links(view: &View, site: &Announcement) -> Vec<LinkReport> {
    let dials = site.about.dials.iter().map(|(remote, name)| {
        let other = announcement(view, remote);
        let there = site.links.get(remote);
        let back = other.and_then(|other| other.links.get(&site.origin));
        LinkReport {
            name: name.clone(),
            remote_site_id: remote.as_str().to_owned(),
            remote_site_name: other.map_or_else(String::new, |other| other.about.name.clone()),
            cost: there.max(back).copied().unwrap_or(1),
            operational: there.is_some() && back.is_some(),
        }
    });
    dials.collect()
}

fn announcement<'v>(view: &'v View, site: &SiteId) -> Option<&'v Announcement> {
    if view.own.origin == *site {
        return Some(&view.own);
    }
    let at = view.sites.binary_search_by(|known| known.origin.cmp(site));
    view.sites.get(at.ok()?).map(|site| &**site)
}

/// Returns the cost of the link to a site, for both ends.
pub(super) fn cost(peers: &[Peer], site: &SiteId) -> Option<u32> {
    let peer = peers.iter().find(|peer| peer.site == *site);
    peer.map(|peer| peer.cost)
}
