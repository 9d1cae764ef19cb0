//! The network as the state of the adaptor shows it: the other sites, and the sites behind the own links.

use std::collections::{BTreeMap, BTreeSet};

use super::{Network, Records};
use crate::adaptor::vanflow::{Kind, Record, Text};
use crate::state::{LinkReport, ServiceReport, SiteReport};

/// All that the state takes from the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::adaptor) struct Overview {
    /// The other sites, sorted by id.
    pub(in crate::adaptor) others: Vec<SiteReport>,
    /// Of each link of the own site by name: the id and the name of the site that it leads to.
    pub(in crate::adaptor) links: BTreeMap<String, (String, String)>,
    /// How many listeners other sites have of each routing key.
    pub(in crate::adaptor) listeners: BTreeMap<String, usize>,
}

impl Network {
    /// The network for the state.
    pub(in crate::adaptor) fn overview(&self) -> Overview {
        let records = self.records();
        let mut overview = Overview::default();
        for site in records.sites() {
            if Some(site.id.as_str()) == self.own() {
                let links = links(&records, site).into_iter();
                let known = links.filter(|link| !link.remote_site_id.is_empty());
                overview.links = known
                    .map(|link| (link.name, (link.remote_site_id, link.remote_site_name)))
                    .collect();
                continue;
            }
            for record in entries(&records, site, Kind::Listener) {
                if let Some(key) = record.text(Text::Address)
                    && record.text(Text::Name).is_some()
                {
                    *overview.listeners.entry(key.to_owned()).or_default() += 1;
                }
            }
            overview.others.push(report(&records, site));
        }
        overview
    }
}

fn report(records: &Records<'_>, site: &Record) -> SiteReport {
    let text = |name| site.text(name).unwrap_or_default().to_owned();
    SiteReport {
        id: site.id.clone(),
        name: text(Text::Name),
        namespace: text(Text::Namespace),
        platform: text(Text::Platform),
        version: text(Text::Version),
        links: links(records, site),
        services: services(records, site),
    }
}

/// The records of one kind of all routers of a site.
fn entries<'a>(
    records: &Records<'a>,
    site: &Record,
    kind: Kind,
) -> impl Iterator<Item = &'a Record> {
    let routers = records.children(Kind::Router, &site.id).iter();
    routers.flat_map(move |router| records.children(kind, &router.id).to_vec())
}

/// Returns the links of a site whose other end is known. If two routers have one link, it is enough
/// that one of them reports it as up.
fn links(records: &Records<'_>, site: &Record) -> Vec<LinkReport> {
    let mut links: BTreeMap<(&str, &str), LinkReport> = BTreeMap::new();
    for record in entries(records, site, Kind::Link) {
        let (Some(name), Some(peer)) = (record.text(Text::Name), records.peer(record)) else {
            continue;
        };
        let link = links.entry((name, &peer.id)).or_default();
        let status = record.text(Text::Status);
        link.operational |= status.is_some_and(|status| status.eq_ignore_ascii_case("up"));
        name.clone_into(&mut link.name);
        link.remote_site_id.clone_from(&peer.id);
        peer.text(Text::Name)
            .unwrap_or_default()
            .clone_into(&mut link.remote_site_name);
        link.cost = record
            .cost
            .map_or(1, |cost| u32::try_from(cost).unwrap_or(u32::MAX));
    }
    links.into_values().collect()
}

/// The listeners and connectors of a site that can serve: a connector needs a host, a listener a name.
fn services(records: &Records<'_>, site: &Record) -> Vec<ServiceReport> {
    let mut services: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    let sides = [
        (Kind::Connector, Text::DestHost),
        (Kind::Listener, Text::Name),
    ];
    for (side, (kind, name)) in sides.into_iter().enumerate() {
        for record in entries(records, site, kind) {
            if let Some((key, name)) = record.text(Text::Address).zip(record.text(name)) {
                services.entry(key).or_default()[side].insert(name);
            }
        }
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    let services = services
        .into_iter()
        .map(|(key, [connectors, listeners])| ServiceReport {
            routing_key: key.to_owned(),
            connectors: owned(connectors),
            listeners: owned(listeners),
        });
    services.collect()
}
