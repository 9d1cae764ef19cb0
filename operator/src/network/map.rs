//! The network as several statuses have it together: each site and each link once. Pure.

use std::collections::BTreeMap;

use kube::ResourceExt;
use lifecycle_router::plain::plain;
use lifecycle_specs_skupper::Status;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::site::{Endpoint, LinkRecord, Site, SiteRecord};

/// Sites and their connections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Map {
    /// By uid.
    pub(super) sites: BTreeMap<String, Node>,
    /// By the uid of the site that dials, and by name.
    pub(super) links: BTreeMap<(String, String), Edge>,
}

/// A site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// Its name, or its uid.
    pub(super) name: String,
    /// Namespace and platform, as far as they are known.
    pub(super) place: Vec<String>,
    /// Status of its Site, if that was read: `Ready`, or the reason why it is not.
    pub(super) status: Option<String>,
    /// Its connectors and listeners by routing key.
    pub(super) keys: BTreeMap<String, Ends>,
}

/// Connectors and listeners of a routing key at a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Hosts that connectors lead to.
    pub(super) connectors: Vec<String>,
    /// Names of listeners.
    pub(super) listeners: Vec<String>,
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edge {
    /// The uid of the site that it leads to, if that is known.
    pub(super) to: Option<String>,
    /// Name of that site, or the address that is dialled.
    pub(super) target: String,
    /// Cost of the link, if its Link was read.
    pub(super) cost: Option<i64>,
    /// True if it is up.
    pub(super) up: bool,
    /// Why not.
    pub(super) message: Option<String>,
}

impl Map {
    /// Builds the map from the Sites and Links that were read. The report of a Site about itself
    /// takes precedence over the reports of other Sites about it.
    pub(super) fn new(sites: &[Site], links: &[Link]) -> Self {
        let mut map = Self::default();
        let records = |own: bool| {
            sites.iter().flat_map(move |site| {
                let network = site.status.as_ref().and_then(|s| s.network.as_ref());
                let all = network.into_iter().flatten();
                all.filter(move |record| (record.id == site.metadata.uid) == own)
            })
        };
        for record in records(true).chain(records(false)) {
            map.add(record);
        }
        for site in sites {
            map.own(site);
        }
        for link in links {
            map.declared(sites, link);
        }
        map
    }

    /// True if a site has a connector of the key.
    pub(super) fn is_served(&self, key: &str) -> bool {
        let mut sites = self.sites.values();
        sites.any(|site| {
            site.keys
                .get(key)
                .is_some_and(|ends| !ends.connectors.is_empty())
        })
    }

    fn add(&mut self, record: &SiteRecord) {
        let Some(id) = record.id.clone().filter(|id| !self.sites.contains_key(id)) else {
            return;
        };
        let known = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let place = [&record.namespace, &record.platform];
        let keys = record.services.iter().flatten().map(|service| {
            // Listeners are reported by the names of their entries.
            let names = |names: &Option<Vec<String>>| {
                let names = names.iter().flatten().map(|name| {
                    let kinds = ["listener/", "multiAddress/"].iter();
                    let mut own = kinds.filter_map(|kind| name.strip_prefix(kind));
                    own.next().unwrap_or(name)
                });
                names.map(plain).collect()
            };
            let ends = Ends {
                connectors: names(&service.connectors),
                listeners: names(&service.listeners),
            };
            (
                plain(&service.routing_key.clone().unwrap_or_default()),
                ends,
            )
        });
        let node = Node {
            name: plain(&known(&record.name).unwrap_or_else(|| id.clone())),
            place: place
                .into_iter()
                .filter_map(known)
                .map(|text| plain(&text))
                .collect(),
            status: None,
            keys: keys.collect(),
        };
        for link in record.links.iter().flatten() {
            self.reported(&id, link);
        }
        self.sites.insert(id, node);
    }

    fn reported(&mut self, from: &str, link: &LinkRecord) {
        let to = link.remote_site_id.clone().filter(|id| !id.is_empty());
        let name = link.remote_site_name.clone();
        let name = name.filter(|name| !name.is_empty()).or_else(|| to.clone());
        let edge = Edge {
            target: plain(&name.unwrap_or_else(|| "an unknown site".to_owned())),
            to,
            cost: None,
            up: link.operational == Some(true),
            message: None,
        };
        let name = plain(&link.name.clone().unwrap_or_default());
        self.links.insert((from.to_owned(), name), edge);
    }

    /// A Site as its own status has it, also where its router has reported nothing yet.
    fn own(&mut self, site: &Site) {
        let id = site.uid().unwrap_or_default();
        let node = self.sites.entry(id).or_insert_with(|| Node {
            name: plain(&site.name_any()),
            place: site.namespace().iter().map(|text| plain(text)).collect(),
            ..Node::default()
        });
        node.status = Some(status(site.status.as_ref().map(|s| &s.common)));
    }

    /// Adds a Link, with its cost and its failure.
    fn declared(&mut self, sites: &[Site], link: &Link) {
        let mut of = sites
            .iter()
            .filter(|site| site.namespace() == link.namespace());
        // Of several Sites the one that serves has a network.
        let serves = |site: &&Site| site.status.as_ref().is_some_and(|s| s.network.is_some());
        let first = of.clone().next();
        let Some(from) = of.find(serves).or(first).and_then(|site| site.uid()) else {
            return;
        };
        let common = link.status.as_ref().map(|status| &status.common);
        let message = status(common);
        let key = (from, plain(&link.name_any()));
        let edge = self.links.entry(key).or_insert_with(|| Edge {
            target: link
                .spec
                .endpoints
                .iter()
                .find_map(host_port)
                .map_or_else(|| "nowhere".to_owned(), |place| plain(&place)),
            ..Edge::default()
        });
        edge.cost = Some(link.spec.cost.unwrap_or(1).max(1));
        edge.message = Some(message).filter(|message| message != READY);
    }
}

fn host_port(endpoint: &Endpoint) -> Option<String> {
    let host = endpoint.host.as_deref()?;
    Some(format!(
        "{host}:{}",
        endpoint.port.as_deref().unwrap_or("?")
    ))
}

/// The word of an object that has all that it needs.
pub(super) const READY: &str = "Ready";

fn status(common: Option<&Status>) -> String {
    let Some(common) = common else {
        return "Pending: it has no status yet".to_owned();
    };
    let word = common.status.as_deref().unwrap_or("Pending");
    let message = common.message.as_deref().unwrap_or_default();
    match (word, message) {
        (READY, _) | (_, "") => plain(word),
        (word, message) => plain(&format!("{word}: {}", message.replace('\n', "; "))),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Returns two linked sites, and a Link of the first that leads to no site.
    pub(in super::super) fn example() -> Map {
        let west = json!({ "id": "w", "name": "west", "namespace": "west", "platform": "kubernetes",
            "services": [{ "routingKey": "shop", "connectors": ["10.0.0.1"] }] });
        let east = json!({ "id": "e", "name": "east", "namespace": "default", "platform": "linux",
            "links": [{ "name": "to-west", "remoteSiteId": "w", "remoteSiteName": "west", "operational": true }],
            "services": [{ "routingKey": "shop", "listeners": ["listener/shop"] }] });
        let site = json!({
            "metadata": { "name": "east", "namespace": "default", "uid": "e" }, "spec": {},
            "status": { "status": "Ready", "message": "OK", "network": [east, west] },
        });
        let link = |name: &str, cost: i64, status: serde_json::Value| {
            json!({
                "metadata": { "name": name, "namespace": "default" },
                "spec": { "cost": cost, "endpoints": [{ "name": "inter-router", "host": "10.9.9.9", "port": "55671" }] },
                "status": status,
            })
        };
        let ready = json!({ "status": "Ready", "message": "OK" });
        let down = json!({ "status": "Error", "message": "Not operational: no answer" });
        let sites: Vec<Site> = vec![serde_json::from_value(site).unwrap()];
        let links = [link("to-west", 7, ready), link("to-nobody", 0, down)];
        let links = links.map(|link| serde_json::from_value(link).unwrap());
        Map::new(&sites, &links)
    }

    #[test]
    fn each_site_and_each_link_is_there_once() {
        let map = example();
        let names: Vec<_> = map.sites.values().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["east", "west"]);
        assert_eq!(map.sites["e"].status.as_deref(), Some("Ready"));
        assert_eq!(map.sites["w"].status, None);
        let link = |name: &str| map.links[&("e".to_owned(), name.to_owned())].clone();
        let joined = Edge {
            to: Some("w".to_owned()),
            target: "west".to_owned(),
            cost: Some(7),
            up: true,
            message: None,
        };
        assert_eq!(link("to-west"), joined);
        let nobody = link("to-nobody");
        assert_eq!((nobody.cost, nobody.up), (Some(1), false));
        assert_eq!(nobody.target, "10.9.9.9:55671");
        assert!(nobody.message.unwrap().contains("no answer"));
    }

    #[test]
    fn a_site_reports_of_itself_before_others_do() {
        let site = |uid: &str, network: serde_json::Value| {
            let site = json!({ "metadata": { "name": uid, "namespace": uid, "uid": uid }, "spec": {}, "status": { "network": network } });
            serde_json::from_value::<Site>(site).unwrap()
        };
        let old = json!({ "id": "b", "name": "old" });
        let new = json!({ "id": "b", "name": "new\u{1b}[2J" });
        let sites = [
            site("a", json!([{ "id": "a" }, old])),
            site("b", json!([new])),
        ];
        let map = Map::new(&sites, &[]);
        assert_eq!(map.sites["b"].name, "new\\u{1b}[2J");
        assert_eq!(map.sites["a"].name, "a");
        // Without a router nothing is known but the Site.
        let alone = Map::new(&[site("c", json!(null))], &[]);
        let status = alone.sites["c"].status.as_deref();
        assert_eq!(
            (alone.sites["c"].name.as_str(), status),
            ("c", Some("Pending"))
        );
    }
}
