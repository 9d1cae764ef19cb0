//! The state of a Site that runs on the skupper-router, from two documents: the configuration that
//! the router received, and the network status that the program beside it writes. Pure; the caller
//! decides when and from which source the documents are read.

mod entries;
mod records;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Resource, ResourceExt};
use lifecycle_specs_skupper::router::{
    EndpointCounts, NETWORK_STATUS, ROUTER, RouterLink, RouterService, RouterSite, RouterState,
};
use lifecycle_specs_skupper::site::Site;

use crate::config::router_config::DOCUMENT;

use records::{Faults, Network, SiteRecord};

/// Key of the network status.
const KEY: &str = "NetworkStatus";

/// The network status in messages.
const STATUS: &str =
    "the network status (key `NetworkStatus` of ConfigMap `skupper-network-status`)";

/// Note on sockets, which the network status does not contain.
const SOCKETS: &str = "the existing router does not report whether its port could be opened; if nothing listens there, check the log of its container `router`";

/// The configuration in messages.
const CONFIG: &str =
    "the configuration of the router (key `skrouterd.json` of ConfigMap `skupper-router`)";

/// Returns the state of the router that is configured by one of these ConfigMaps and reported in
/// the other.
///
/// # Errors
/// Returns a sentence that names the missing one.
pub fn of_documents(documents: &[&ConfigMap]) -> Result<RouterState, String> {
    let named = |name: &str| documents.iter().find(|map| map.name_any() == name);
    let part = |name: &str, key: &str| named(name)?.data.as_ref()?.get(key).map(String::as_str);
    let site = named(ROUTER).and_then(|map| {
        let mut owners = map.owner_references().iter();
        owners.find(|owner| owner.kind == Site::kind(&()))
    });
    let (Some(site), Some(config)) = (site, part(ROUTER, DOCUMENT)) else {
        return Err(format!("{CONFIG} is not there, or no Site owns it"));
    };
    Ok(state(&site.uid, config, part(NETWORK_STATUS, KEY)))
}

/// Maps the configuration of a router (`skrouterd.json` of ConfigMap `skupper-router`) and the network status (`NetworkStatus` of ConfigMap
/// `skupper-network-status`) to the state that lifecycles read.
///
/// # Guarantees
/// No text makes it panic, and its work is linear in the texts up to a logarithmic factor. Readable
/// content is read record by record; `error` names the parts that are left out. Without a status,
/// and with one that has no router of this site, `entries` is empty: nothing of the site is Ready.
///
/// An entry is reported only as far as the status proves it. A router writes the record of a
/// `tcpListener`, `listenerAddress` or `tcpConnector` when it accepts the entry, before any socket
/// is opened. The record never shows a failed bind:
///
/// * One that is listed with its name, routing key and port (a connector: routing key, host and port; no name is written) is applied. A
///   listener is then `Up` if its key has a connector, since the router opens its socket by itself, and else `Idle`. `Failed` cannot be known.
/// * One that is not listed is absent, so its object is "Configuring", never Ready: the router has not read it yet, or has refused it. The two
///   look the same in the document. It cannot be `Idle`, for that would be a false "Configured" where the router refused the entry.
/// * Other attributes, such as `sslProfile`, are in no record. An edit of only those is taken as applied.
/// * A link is `Up` if a record of its name is `up`, leads to a known site and has the role and the cost of the entry. If all records of that
///   name have another role or cost, the router still runs the entry of before, and it is absent. Else it is `Idle`.
/// * An `sslProfile`, a `proxyProfile`, and a `listener` or `connector` that is not for links are in no record and count as applied.
/// * A `listener` for links is a record without a name. If there are fewer of those than entries, none
///   of them is reported, because the missing ones cannot be identified. The same holds for
///   tcpConnectors of one key, host and port.
///
/// Of several routers of the site one is enough: the records of a router that is gone stay for up to a minute.
pub fn state(site_uid: &str, config: &str, status: Option<&str>) -> RouterState {
    let read = match status {
        None => Err(format!(
            "{STATUS} does not exist yet; if it stays so, check the log of the router's container `kube-adaptor`, which writes it"
        )),
        Some(status) => records::read(status).map_err(|error| {
            format!("{STATUS} {error}; restart the router, which writes it anew, and let nothing else write it")
        }),
    };
    let network = match read {
        Ok(network) => network,
        Err(error) => {
            return RouterState {
                error: Some(error),
                ..RouterState::default()
            };
        }
    };
    let keys = keys(&network);
    let mut errors = Vec::new();
    let own = network.sites.get(site_uid);
    let entries = match own.filter(|site| !site.routers.is_empty()) {
        Some(own) => {
            let mut wrong = Faults::default();
            let entries = entries::read(config, own, &network, &keys, &mut wrong);
            errors.extend(wrong.line().map(|wrong| {
                format!("{CONFIG} is wrong: {wrong}; let nothing but the operator write it")
            }));
            entries
        }
        None => {
            errors.push(format!(
                "{STATUS} has no router of site `{}` yet; if it stays so, check the logs of the router and of its container `kube-adaptor`",
                records::quoted(site_uid)
            ));
            BTreeMap::new()
        }
    };
    errors.extend(network.faults.line().map(|faults| {
        format!(
            "{STATUS} has records that cannot be read, which are left out: {faults}; \
             run all routers of the network on one version, and let nothing else write it"
        )
    }));
    RouterState {
        error: (!errors.is_empty()).then(|| errors.join("\n")),
        entries,
        services: own.map(services).unwrap_or_default(),
        sites: sites(&network),
        sockets_unknown: Some(SOCKETS),
        keys,
    }
}

/// Counts the endpoints of all sites. The list `addresses` of the document is not used: it also counts records that serve nothing.
fn keys(network: &Network) -> BTreeMap<String, EndpointCounts> {
    let mut keys: BTreeMap<String, EndpointCounts> = BTreeMap::new();
    for router in network.sites.values().flat_map(|site| &site.routers) {
        for connector in &router.connectors {
            keys.entry(connector.key.clone()).or_default().connectors += 1;
        }
        for listener in &router.listeners {
            keys.entry(listener.key.clone()).or_default().listeners += 1;
        }
    }
    keys
}

/// The connectors of each key of a site by their hosts, and its listeners by their names.
fn services(site: &SiteRecord) -> BTreeMap<String, RouterService> {
    let mut services: BTreeMap<String, RouterService> = BTreeMap::new();
    for router in &site.routers {
        for connector in &router.connectors {
            let service = services.entry(connector.key.clone()).or_default();
            service.connectors.insert(connector.host.clone());
        }
        for listener in &router.listeners {
            let service = services.entry(listener.key.clone()).or_default();
            service.listeners.insert(listener.name.clone());
        }
    }
    services
}

/// All sites, sorted by their ids.
fn sites(network: &Network) -> Vec<RouterSite> {
    let site = |(id, site): (&String, &SiteRecord)| RouterSite {
        id: id.clone(),
        name: site.name.clone(),
        namespace: site.namespace.clone(),
        platform: site.platform.clone(),
        version: site.version.clone(),
        links: links(site, network),
        services: services(site),
    };
    network.sites.iter().map(site).collect()
}

/// Returns the links of a site whose other end is known. Two routers of a site may have one link:
/// it is up if one of them reports it as up.
fn links(site: &SiteRecord, network: &Network) -> Vec<RouterLink> {
    let mut links: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for link in site.routers.iter().flat_map(|router| &router.links) {
        if let Some(peer) = network.peer(link) {
            *links.entry((&link.name, peer)).or_default() |= link.is_up;
        }
    }
    let link = |((name, peer), operational): ((&str, &str), bool)| RouterLink {
        name: name.to_owned(),
        remote_site_id: Some(peer.to_owned()),
        remote_site_name: network.name(peer),
        operational,
    };
    links.into_iter().map(link).collect()
}

#[cfg(test)]
mod tests;
