//! The network section of a Site's status: its endpoints, the known sites, and the services of
//! those sites. A status must fit into its object and be cheap to read, however many sites there
//! are. Pure.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_runtime::Readable;
use lifecycle_specs_skupper::router::{RouterService, RouterSite, RouterState};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::site::{Endpoint, LinkRecord, ServiceRecord, SiteRecord};

use crate::config::kept;

/// As many connectors and listeners of a routing key are named.
const MOST_NAMES: usize = 16;
/// Upper bound on the reported links of a site.
const MOST_LINKS: usize = 64;
/// As many bytes are taken for the services of the own site, and for all other sites, roughly.
const ROOM: usize = 64 * 1024;
/// Estimated size of a record without its names, in bytes.
const RECORD: usize = 64;

/// Returns the endpoints at which other sites reach this one, sorted by the names of its
/// RouterAccesses.
pub(super) fn endpoints(accesses: &[&Readable<RouterAccess>]) -> Vec<Endpoint> {
    let mut known = kept::known(accesses);
    known.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let statuses = known
        .into_iter()
        .filter_map(|access| access.status.as_ref());
    // If the router cannot listen, no site links.
    let statuses = statuses.filter(|status| status.common.status.as_deref() != Some("Error"));
    let all = statuses.flat_map(|status| status.endpoints.iter().flatten());
    all.cloned().collect()
}

/// Returns the sites of the network, the own one first. If not all fit, returns the first ones.
pub(super) fn sites(own: SiteRecord, report: &RouterState) -> Vec<SiteRecord> {
    let is_own = |site: &&RouterSite| Some(&site.id) == own.id.as_ref();
    let links = report.sites.iter().find(is_own);
    let links = links.and_then(self::links);
    let others = report.sites.iter().filter(|site| !is_own(site));
    let mut others: Vec<&RouterSite> = others.collect();
    others.sort_by(|a, b| a.id.cmp(&b.id));
    let mut room = ROOM;
    let others = others.into_iter().map_while(|site| {
        let mut record = SiteRecord {
            id: Some(site.id.clone()),
            name: site.name.clone(),
            namespace: site.namespace.clone(),
            platform: site.platform.clone(),
            version: site.version.clone(),
            links: self::links(site),
            services: None,
        };
        room = room.checked_sub(size_of_site(&record))?;
        record.services = of_keys(&site.services, &mut room);
        Some(record)
    });
    let others: Vec<SiteRecord> = others.collect();
    let own = SiteRecord { links, ..own };
    [own].into_iter().chain(others).collect()
}

fn links(site: &RouterSite) -> Option<Vec<LinkRecord>> {
    let links = site.links.iter().take(MOST_LINKS).map(|link| LinkRecord {
        name: Some(link.name.clone()),
        remote_site_id: link.remote_site_id.clone(),
        remote_site_name: link.remote_site_name.clone(),
        operational: Some(link.operational),
    });
    let links: Vec<LinkRecord> = links.collect();
    (!links.is_empty()).then_some(links)
}

fn size_of_site(site: &SiteRecord) -> usize {
    let own = [
        &site.id,
        &site.name,
        &site.namespace,
        &site.platform,
        &site.version,
    ];
    let own = own
        .into_iter()
        .flatten()
        .map(|text| text.len() + RECORD / 4);
    let links = site.links.iter().flatten().map(|link| {
        let texts = [&link.name, &link.remote_site_id, &link.remote_site_name];
        let texts = texts
            .into_iter()
            .flatten()
            .map(|text| text.len() + RECORD / 2);
        RECORD + texts.sum::<usize>()
    });
    RECORD + own.sum::<usize>() + links.sum::<usize>()
}

/// Returns the routing keys that the own router serves or offers, by name. If not all fit, returns
/// the first ones.
pub(super) fn services(report: &RouterState) -> Option<Vec<ServiceRecord>> {
    let mut room = ROOM;
    of_keys(&report.services, &mut room)
}

fn of_keys(
    services: &BTreeMap<String, RouterService>,
    room: &mut usize,
) -> Option<Vec<ServiceRecord>> {
    let records = services.iter().map(|(key, service)| ServiceRecord {
        routing_key: Some(key.clone()),
        connectors: first(&service.connectors),
        listeners: first(&service.listeners),
    });
    let records = records.take_while(|record| match room.checked_sub(size(record)) {
        Some(left) => {
            *room = left;
            true
        }
        None => false,
    });
    let records: Vec<ServiceRecord> = records.collect();
    (!records.is_empty()).then_some(records)
}

fn first(names: &BTreeSet<String>) -> Option<Vec<String>> {
    let names: Vec<String> = names.iter().take(MOST_NAMES).cloned().collect();
    (!names.is_empty()).then_some(names)
}

fn size(record: &ServiceRecord) -> usize {
    let names = record.connectors.iter().chain(&record.listeners).flatten();
    let texts = names.chain(&record.routing_key);
    RECORD + texts.map(|text| text.len() + 3).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use lifecycle_specs_skupper::router::RouterLink;
    use serde_json::json;

    use super::*;

    fn report(keys: usize, names: usize) -> RouterState {
        let service = |key: usize| {
            let names = |prefix: &str| (0..names).map(|n| format!("{prefix}{n:04}")).collect();
            let service = RouterService {
                connectors: names("10.0.0."),
                listeners: names("listener/"),
            };
            (format!("key{key:06}"), service)
        };
        RouterState {
            services: (0..keys).map(service).collect(),
            ..RouterState::default()
        }
    }

    #[test]
    fn services_are_told_by_routing_key() {
        assert_eq!(services(&report(0, 0)), None);
        let told = services(&report(1, 1));
        let expected = json!([{ "routingKey": "key000000", "connectors": ["10.0.0.0000"], "listeners": ["listener/0000"] }]);
        assert_eq!(json!(told), expected);
        let alone = services(&report(1, 0));
        assert_eq!(json!(alone), json!([{ "routingKey": "key000000" }]));
    }

    fn site(id: &str, keys: usize) -> RouterSite {
        RouterSite {
            id: id.to_owned(),
            name: Some(format!("name of {id}")),
            links: vec![RouterLink {
                name: "to-west".to_owned(),
                remote_site_id: Some("west".to_owned()),
                remote_site_name: None,
                operational: true,
            }],
            services: report(keys, 2).services,
            ..RouterSite::default()
        }
    }

    fn own() -> SiteRecord {
        SiteRecord {
            id: Some("west".to_owned()),
            ..SiteRecord::default()
        }
    }

    #[test]
    fn the_own_site_comes_first_with_what_its_router_says_of_links() {
        let alone = sites(own(), &RouterState::default());
        assert_eq!(json!(alone), json!([{ "id": "west" }]));
        let report = RouterState {
            sites: vec![site("south", 0), site("west", 5), site("east", 1)],
            ..RouterState::default()
        };
        let links = json!([{ "name": "to-west", "remoteSiteId": "west", "operational": true }]);
        let services = json!([{
            "routingKey": "key000000", "connectors": ["10.0.0.0000", "10.0.0.0001"],
            "listeners": ["listener/0000", "listener/0001"],
        }]);
        let expected = json!([
            { "id": "west", "links": links },
            { "id": "east", "name": "name of east", "links": links, "services": services },
            { "id": "south", "name": "name of south", "links": links },
        ]);
        assert_eq!(json!(sites(own(), &report)), expected);
    }

    #[test]
    fn however_many_sites_there_are_a_status_stays_small() {
        for (count, keys) in [(10_000, 0), (200, 2_000), (10_000, 1)] {
            let report = RouterState {
                sites: (0..count)
                    .map(|n| site(&format!("{n:036}"), keys))
                    .collect(),
                ..RouterState::default()
            };
            let told = sites(own(), &report);
            let size = json!(told).to_string().len();
            assert!((ROOM / 2..=ROOM * 5 / 4).contains(&size), "{size}");
            assert_eq!(told[0].id.as_deref(), Some("west"));
        }
    }

    #[test]
    fn however_many_there_are_a_status_stays_small() {
        let told = services(&report(1, 1000)).unwrap_or_default();
        assert_eq!(told[0].listeners.as_ref().map(Vec::len), Some(MOST_NAMES));
        let told = services(&report(100_000, 50)).unwrap_or_default();
        let size = json!(told).to_string().len();
        assert!((ROOM / 2..=ROOM).contains(&size), "{size}");
        // Always the same ones.
        assert_eq!(told[0].routing_key.as_deref(), Some("key000000"));
    }
}
