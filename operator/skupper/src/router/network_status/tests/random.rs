//! Random networks are mapped to exactly themselves, and random damage to a document makes nothing work that did not.

use std::collections::BTreeSet;

use lifecycle_specs_skupper::router::RemoteSite;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// A site of a random network, and how its record is written.
#[derive(Clone, Debug)]
struct Site {
    name: Option<u8>,
    routers: Vec<Router>,
    is_terse: bool,
}

#[derive(Clone, Debug)]
struct Router {
    links: Vec<Link>,
    accesses: u8,
    listeners: Vec<Listener>,
    connectors: Vec<Connector>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    name: u8,
    status: &'static str,
    role: &'static str,
    cost: u64,
    /// A site, a router of it, and a listener for links of that; none, or one that is not there, is unknown.
    peer: Option<(usize, usize, u8)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Listener {
    name: u8,
    key: Option<u8>,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Connector {
    key: u8,
    host: Option<u8>,
    port: u16,
}

/// The configuration of the first site: its tcpListeners by name, its tcpConnectors, links by name, and how many listeners for links.
#[derive(Clone, Debug)]
struct Config {
    listeners: BTreeMap<u8, (u8, u16)>,
    connectors: Vec<(u8, u8, u16)>,
    links: BTreeMap<u8, (&'static str, u64)>,
    accesses: usize,
}

fn role() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("inter-router"), 1 => Just("edge")]
}

fn a_router() -> impl Strategy<Value = Router> {
    let status = prop_oneof![3 => Just("up"), 1 => Just("Up"), 1 => Just("down"), 1 => Just("")];
    let peer = proptest::option::weighted(0.8, (0_usize..4, 0_usize..2, 0_u8..3));
    let link =
        (0_u8..3, status, role(), 1_u64..3, peer).prop_map(|(name, status, role, cost, peer)| {
            Link {
                name,
                status,
                role,
                cost,
                peer,
            }
        });
    let listener = (0_u8..4, proptest::option::weighted(0.9, 0_u8..3), 1_u16..3)
        .prop_map(|(name, key, port)| Listener { name, key, port });
    let connector = (0_u8..3, proptest::option::weighted(0.9, 0_u8..2), 1_u16..3)
        .prop_map(|(key, host, port)| Connector { key, host, port });
    (
        vec(link, 0..4),
        0_u8..3,
        vec(listener, 0..5),
        vec(connector, 0..5),
    )
        .prop_map(|(links, accesses, listeners, connectors)| Router {
            links,
            accesses,
            listeners,
            connectors,
        })
}

fn network() -> impl Strategy<Value = Vec<Site>> {
    let site = (
        proptest::option::of(0_u8..3),
        vec(a_router(), 1..3),
        any::<bool>(),
    );
    vec(
        site.prop_map(|(name, routers, is_terse)| Site {
            name,
            routers,
            is_terse,
        }),
        1..5,
    )
}

fn a_config() -> impl Strategy<Value = Config> {
    let listeners = proptest::collection::btree_map(0_u8..4, (0_u8..3, 1_u16..3), 0..4);
    let links = proptest::collection::btree_map(0_u8..3, (role(), 1_u64..3), 0..3);
    (
        listeners,
        vec((0_u8..3, 0_u8..2, 1_u16..3), 0..4),
        links,
        0_usize..3,
    )
        .prop_map(|(listeners, connectors, links, accesses)| Config {
            listeners,
            connectors,
            links,
            accesses,
        })
}

fn id(site: usize) -> String {
    format!("site-{site}")
}

fn door(site: usize, router: usize, access: u8) -> String {
    format!("door-{site}-{router}-{access}")
}

fn key(key: u8) -> String {
    format!("key-{key}")
}

fn host(host: u8) -> String {
    format!("host-{host}")
}

/// The document of a network.
fn written(network: &[Site]) -> Value {
    let sites = network.iter().enumerate().map(|(at, site)| {
        let list = |list: Vec<Value>| match site.is_terse && list.is_empty() {
            true => Value::Null,
            false => json!(list),
        };
        let routers = site.routers.iter().enumerate().map(|(number, router)| {
            let links = router.links.iter().map(|link| json!({
                "name": format!("link-{}", link.name), "status": link.status, "role": link.role, "linkCost": link.cost,
                "peer": link.peer.map(|(site, router, access)| door(site, router, access)),
            }));
            let accesses = (0..router.accesses).map(|access| json!({ "identity": door(at, number, access) }));
            let listeners = router.listeners.iter().map(|listener| json!({
                "name": format!("listener/{}", listener.name), "address": listener.key.map(key), "destPort": listener.port.to_string(),
            }));
            let connectors = router.connectors.iter().map(|connector| json!({
                "address": key(connector.key), "destHost": connector.host.map(host), "destPort": connector.port.to_string(),
            }));
            json!({
                "router": { "name": "r" }, "links": list(links.collect()), "routerAccess": Vec::from_iter(accesses),
                "listeners": list(listeners.collect()), "connectors": list(connectors.collect()), "newer": [{}],
            })
        });
        let name = site.name.map(|name| format!("name-{name}"));
        let mut head = json!({ "identity": id(at), "name": name, "siteVersion": "2" });
        if site.is_terse {
            head = json!({ "identity": id(at), "name": name.unwrap_or_default(), "siteVersion": "2", "policy": 7 });
        }
        json!({ "site": head, "routerStatus": Vec::from_iter(routers) })
    });
    json!({ "addresses": "not read", "siteStatus": Vec::from_iter(sites) })
}

/// The document of a configuration.
fn configured(config: &Config) -> Value {
    let listeners = config.listeners.iter().map(|(name, (of, port))| {
        json!(["tcpListener", { "name": format!("listener/{name}"), "port": port.to_string(), "address": key(*of) }])
    });
    let connectors = config.connectors.iter().enumerate().map(|(at, (of, to, port))| {
        json!(["tcpConnector", { "name": format!("connector/{at}"), "host": host(*to), "port": port, "address": key(*of) }])
    });
    let links = config.links.iter().map(|(name, (role, cost))| json!(["connector", { "name": format!("link-{name}"), "role": role, "cost": cost }]));
    let accesses = (0..config.accesses)
        .map(|at| json!(["listener", { "name": format!("access-{at}"), "role": "edge" }]));
    json!(Vec::from_iter(
        listeners.chain(connectors).chain(links).chain(accesses)
    ))
}

/// The site that a link leads to.
fn peer(network: &[Site], link: &Link) -> Option<usize> {
    let (site, router, access) = link.peer?;
    let there = network.get(site)?.routers.get(router)?;
    (access < there.accesses).then_some(site)
}

fn is_up(link: &Link) -> bool {
    link.status == "up" || link.status == "Up"
}

fn name(network: &[Site], site: usize) -> Option<String> {
    network[site].name.map(|name| format!("name-{name}"))
}

fn count(network: &[Site], of: u8) -> EndpointCounts {
    let routers = || network.iter().flat_map(|site| &site.routers);
    let connectors = routers().flat_map(|router| &router.connectors);
    let listeners = routers().flat_map(|router| &router.listeners);
    EndpointCounts {
        connectors: connectors
            .filter(|connector| connector.key == of && connector.host.is_some())
            .count(),
        listeners: listeners
            .filter(|listener| listener.key == Some(of))
            .count(),
    }
}

fn services_of(site: &Site) -> BTreeMap<String, RouterService> {
    let of = |of: u8| {
        let connectors = site.routers.iter().flat_map(|router| &router.connectors);
        let listeners = site.routers.iter().flat_map(|router| &router.listeners);
        let service = RouterService {
            connectors: connectors
                .filter(|c| c.key == of)
                .filter_map(|c| c.host.map(host))
                .collect(),
            listeners: listeners
                .filter(|l| l.key == Some(of))
                .map(|l| format!("listener/{}", l.name))
                .collect(),
        };
        (key(of), service)
    };
    let is_used = |(_, service): &(String, RouterService)| *service != RouterService::default();
    (0..3).map(of).filter(is_used).collect()
}

fn links_of(network: &[Site], site: &Site) -> Vec<RouterLink> {
    let all: Vec<&Link> = site
        .routers
        .iter()
        .flat_map(|router| &router.links)
        .collect();
    let ends = all
        .iter()
        .filter_map(|link| Some((link.name, peer(network, link)?)));
    let ends: BTreeSet<(u8, usize)> = ends.collect();
    let link = |(of, to)| RouterLink {
        name: format!("link-{of}"),
        remote_site_id: Some(id(to)),
        remote_site_name: name(network, to),
        operational: all
            .iter()
            .any(|link| link.name == of && peer(network, link) == Some(to) && is_up(link)),
    };
    ends.into_iter().map(link).collect()
}

/// Returns the report of a configured link; `None` if its entry must be absent.
fn link_of(
    network: &[Site],
    of: u8,
    (role, cost): (&str, u64),
) -> Option<(EntryState, Option<RemoteSite>)> {
    let records = network[0].routers.iter().flat_map(|router| &router.links);
    let records: Vec<&Link> = records.filter(|link| link.name == of).collect();
    let current: Vec<&&Link> = records
        .iter()
        .filter(|link| link.role == role && link.cost == cost)
        .collect();
    if current.is_empty() && !records.is_empty() {
        return None;
    }
    let known: Vec<(usize, bool)> = current
        .iter()
        .filter_map(|link| Some((peer(network, link)?, is_up(link))))
        .collect();
    let up = known.iter().find(|(_, is_up)| *is_up);
    let remote = up.or(known.first()).map(|(site, _)| RemoteSite {
        id: id(*site),
        name: name(network, *site),
    });
    let state = up.map_or(EntryState::Idle, |_| EntryState::Up);
    Some((state, remote))
}

/// Returns the states of listeners and of the other applied entries.
fn entries(
    network: &[Site],
    config: &Config,
) -> BTreeMap<String, (EntryState, Option<RemoteSite>)> {
    let mut all = BTreeMap::new();
    let routers = &network[0].routers;
    for (name, (of, port)) in &config.listeners {
        let record = Listener {
            name: *name,
            key: Some(*of),
            port: *port,
        };
        if routers
            .iter()
            .any(|router| router.listeners.contains(&record))
        {
            let state = match count(network, *of).connectors {
                0 => EntryState::Idle,
                _ => EntryState::Up,
            };
            all.insert(format!("tcpListener/listener/{name}"), (state, None));
        }
    }
    for (at, entry) in config.connectors.iter().enumerate() {
        let record = Connector {
            key: entry.0,
            host: Some(entry.1),
            port: entry.2,
        };
        let needed = config
            .connectors
            .iter()
            .filter(|other| *other == entry)
            .count();
        let there = |router: &Router| {
            router
                .connectors
                .iter()
                .filter(|other| **other == record)
                .count()
        };
        if routers.iter().any(|router| there(router) >= needed) {
            all.insert(
                format!("tcpConnector/connector/{at}"),
                (EntryState::Up, None),
            );
        }
    }
    for (name, entry) in &config.links {
        let judged = link_of(network, *name, *entry);
        all.extend(judged.map(|judged| (format!("connector/link-{name}"), judged)));
    }
    if routers
        .iter()
        .any(|router| usize::from(router.accesses) >= config.accesses)
    {
        all.extend(
            (0..config.accesses)
                .map(|at| (format!("listener/access-{at}"), (EntryState::Up, None))),
        );
    }
    all
}

/// All places of a document but its root.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let mut below = |name: &str, value| {
        let place = format!("{at}/{name}");
        all.push(place.clone());
        places(value, &place, all);
    };
    match value {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at, value)| below(&at.to_string(), value)),
        Value::Object(map) => map.iter().for_each(|(name, value)| below(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes a value away, puts another in its place, doubles it, or adds one beside it. Nothing that is put there means anything.
fn damage(document: &mut Value, (which, how): (usize, usize)) {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let Some(place) = all.get(which % all.len().max(1)) else {
        return;
    };
    let (above, last) = place.rsplit_once('/').expect("it begins with a slash");
    let value = document.pointer(place).expect("it is there").clone();
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(7),
        json!(u64::MAX),
        json!("garbage"),
        json!(""),
        json!("\u{0}\n`"),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!([null, 1, "x"]),
        json!({ "identity": {} }),
    ];
    match (how % (others.len() + 3), document.pointer_mut(above)) {
        (0, Some(Value::Array(list))) => drop(list.remove(last.parse().expect("it is a position"))),
        (0, Some(Value::Object(map))) => drop(map.remove(last)),
        (1, Some(Value::Array(list))) => list.push(value),
        (1, Some(Value::Object(map))) => drop(map.insert("more".to_owned(), value)),
        (2, Some(Value::Array(list))) => list.insert(0, json!({ "endTime": [] })),
        (2, Some(Value::Object(map))) => drop(map.insert("endTime".to_owned(), json!("garbage"))),
        (other, _) => {
            *document.pointer_mut(place).expect("it is there") = others[other - 3].clone()
        }
    }
}

/// The listeners and links that are up.
fn up(state: &RouterState) -> BTreeSet<&String> {
    let of_kind = |key: &String| key.starts_with("tcpListener/") || key.starts_with("connector/");
    let up = state
        .entries
        .iter()
        .filter(|(key, entry)| of_kind(key) && entry.state == EntryState::Up);
    up.map(|(key, _)| key).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(36), ..ProptestConfig::default() })]

    #[test]
    fn a_random_network_is_mapped_to_itself(network in network(), config in a_config()) {
        let document = configured(&config);
        let state = state(&id(0), &document.to_string(), Some(&written(&network).to_string()));
        prop_assert_eq!(&state.error, &None);
        let counts = (0..3).map(|of| (key(of), count(&network, of)));
        let counts = counts.filter(|(_, counts)| *counts != EndpointCounts::default());
        prop_assert_eq!(&state.keys, &counts.collect::<BTreeMap<_, _>>());
        prop_assert_eq!(&state.services, &services_of(&network[0]));
        let sites = network.iter().enumerate().map(|(at, site)| RouterSite {
            id: id(at), name: name(&network, at), version: Some("2".to_owned()),
            links: links_of(&network, site), services: services_of(site), ..RouterSite::default()
        });
        prop_assert_eq!(&state.sites, &sites.collect::<Vec<_>>());
        let reported = state.entries.iter().map(|(key, entry)| (key.clone(), (entry.state.clone(), entry.remote.clone())));
        prop_assert_eq!(reported.collect::<BTreeMap<_, _>>(), entries(&network, &config));
        for element in document.as_array().expect("it is a list") {
            let attributes = element[1].as_object().expect("it is an object");
            let key = format!("{}/{}", element[0].as_str().expect("it is a text"), attributes["name"].as_str().expect("it is a text"));
            prop_assert!(state.entries.get(&key).is_none_or(|entry| entry.hash == hash(attributes)));
        }
    }

    #[test]
    fn damage_makes_nothing_work(
        network in network(), config in a_config(), blows in vec(any::<(usize, usize)>(), 1..8), cut in proptest::option::weighted(0.1, any::<usize>()),
    ) {
        let mut network = network;
        for router in network.iter_mut().flat_map(|site| &mut site.routers) {
            // Any text would be a host, and then a connector counts that did not.
            router.connectors.retain(|connector| connector.host.is_some());
        }
        let (mut config, mut status) = (configured(&config), written(&network));
        let before = state(&id(0), &config.to_string(), Some(&status.to_string()));
        blows.iter().for_each(|blow| damage(&mut status, *blow));
        let mut text = status.to_string();
        if let Some(cut) = cut {
            text = text.chars().take(cut % text.len()).collect();
        }
        let after = state(&id(0), &config.to_string(), Some(&text));
        prop_assert!(up(&after).is_subset(&up(&before)), "{:?} was {:?}", up(&after), up(&before));
        prop_assert!(!after.keys.contains_key("") && after.sites.iter().all(|site| !site.id.is_empty()), "{text}");
        let is_told = after.error.is_some() || after.sites.iter().any(|site| site.id == id(0));
        prop_assert!(is_told, "{text}");
        blows.iter().for_each(|blow| damage(&mut config, *blow));
        state(&id(0), &config.to_string(), Some(&text));
    }

    #[test]
    fn no_text_is_too_odd(config in "\\PC{0,60}", status in "[\\[\\]{}\",:a-z0-9]{0,60}", site in "\\PC{0,6}") {
        let state = state(&site, &config, Some(&status));
        prop_assert!(state.error.is_some() && state.entries.is_empty());
    }
}
