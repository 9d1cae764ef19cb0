//! Tests of the store of records: random networks whose records arrive in any order, and the
//! bounds.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::document::Detail;
use super::*;

/// A router of the model: its listeners and connectors by key, and the site that its link leads to.
#[derive(Clone, Debug)]
struct Router {
    listeners: Vec<String>,
    connectors: Vec<String>,
    link: Option<usize>,
}

fn a_router() -> impl Strategy<Value = Router> {
    let keys = || proptest::collection::vec("[a-c]", 0..3);
    let parts = (keys(), keys(), proptest::option::of(0..4_usize));
    parts.prop_map(|(listeners, connectors, link)| Router {
        listeners,
        connectors,
        link,
    })
}

/// The sites of a network, each with its routers.
fn a_network() -> impl Strategy<Value = Vec<Vec<Router>>> {
    proptest::collection::vec(proptest::collection::vec(a_router(), 0..3), 1..4)
}

fn site_record(site: usize) -> Record {
    Record::new(Kind::Site, &format!("site{site}"))
        .with_text(Text::Name, &format!("name{site}"))
        .with_text(Text::Namespace, "ns")
        .with_text(Text::Platform, "kubernetes")
        .with_text(Text::Version, "2.0.0")
}

/// All records of a router, with its source.
fn router_records(sites: usize, site: usize, at: usize, router: &Router) -> (String, Vec<Record>) {
    let id = format!("r{site}x{at}");
    let of = |kind, name: &str| {
        Record::new(kind, &format!("{id}:{name}")).with_text(Text::Parent, &format!("{id}:0"))
    };
    let mut records = vec![
        Record::new(Kind::Router, &format!("{id}:0"))
            .with_text(Text::Parent, &format!("site{site}"))
            .with_text(Text::Name, &id),
        of(Kind::Access, "a"),
    ];
    for (at, key) in router.listeners.iter().enumerate() {
        let record = of(Kind::Listener, &format!("l{at}"));
        records.push(
            record
                .with_text(Text::Name, &format!("l{at}"))
                .with_text(Text::Address, key),
        );
    }
    for (at, key) in router.connectors.iter().enumerate() {
        let record = of(Kind::Connector, &format!("c{at}"));
        records.push(
            record
                .with_text(Text::DestHost, "host")
                .with_text(Text::Address, key),
        );
    }
    if let Some(to) = router.link {
        let mut record = of(Kind::Link, "k")
            .with_text(Text::Name, "link")
            .with_text(Text::Status, "Up")
            .with_text(Text::Role, "inter-router")
            .with_text(Text::Peer, &format!("r{}x0:a", to % sites));
        record.cost = Some(3);
        records.push(record);
    }
    (id, records)
}

/// The document of a network.
fn expected(network: &[Vec<Router>]) -> Value {
    let count = |pick: fn(&Router) -> &Vec<String>, key: &str| {
        let all = network.iter().flatten().flat_map(pick);
        all.filter(|other| *other == key).count()
    };
    let sites = network.iter().enumerate().map(|(site, routers)| {
        let routers = routers.iter().enumerate().map(|(at, router)| {
            let listeners = router.listeners.iter().enumerate();
            let listeners = listeners.map(|(at, key)| json!({"name": format!("l{at}"), "address": key}));
            let connectors = router.connectors.iter();
            let connectors = connectors.map(|key| json!({"destHost": "host", "address": key}));
            let links = router.link.iter().map(|to| {
                let peer = format!("r{}x0:a", to % network.len());
                json!({"name": "link", "linkCost": 3, "status": "Up", "role": "inter-router", "peer": peer})
            });
            json!({
                "router": {"name": format!("r{site}x{at}")},
                "links": links.collect::<Vec<_>>(),
                "routerAccess": [{"identity": format!("r{site}x{at}:a")}],
                "listeners": listeners.collect::<Vec<_>>(),
                "connectors": connectors.collect::<Vec<_>>(),
            })
        });
        json!({
            "site": {"identity": format!("site{site}"), "name": format!("name{site}"), "namespace": "ns",
                     "platform": "kubernetes", "siteVersion": "2.0.0"},
            "routerStatus": routers.collect::<Vec<_>>(),
        })
    });
    let addresses = ["a", "b", "c"].into_iter().filter_map(|key| {
        let (listeners, connectors) = (
            count(|router| &router.listeners, key),
            count(|router| &router.connectors, key),
        );
        let address = json!({"name": key, "startTime": 0, "endTime": 0,
                             "listenerCount": listeners, "connectorCount": connectors});
        (listeners + connectors > 0).then_some(address)
    });
    json!({"addresses": addresses.collect::<Vec<_>>(), "siteStatus": sites.collect::<Vec<_>>()})
}

/// Every record as messages: whole or in two parts, and some of them twice.
fn messages(network: &[Vec<Router>]) -> Vec<(String, Record)> {
    let mut messages = Vec::new();
    for (site, routers) in network.iter().enumerate() {
        let source = format!("site{site}");
        messages.push((source, vec![site_record(site)]));
        for (at, router) in routers.iter().enumerate() {
            messages.push(router_records(network.len(), site, at, router));
        }
    }
    let all = messages.into_iter().flat_map(|(source, records)| {
        records.into_iter().flat_map(move |record| {
            let mut half = record.clone();
            let rest = half.texts.split_off(&Text::Namespace);
            let mut other = Record::new(record.kind, &record.id);
            other.texts = rest;
            let parts = [half, other, record];
            parts.map(|record| (source.clone(), record))
        })
    });
    all.collect()
}

proptest! {
    #[test]
    fn the_document_is_the_network_in_whatever_order_records_come(
        (network, order) in a_network().prop_flat_map(|network| {
            let order = Just(messages(&network)).prop_shuffle();
            (Just(network), order)
        }),
        old in a_router(),
        ended in a_router(),
    ) {
        let mut now = Instant::now();
        let mut store = Network::new(Some(site_record(0)), Limits::default());
        // A router that has restarted since is another source, and its records go with it.
        let (_, records) = router_records(network.len(), 0, 8, &old);
        store.discover("old", now);
        store.take("old", records, now);
        // Records that ended, and come again late.
        let (source, records) = router_records(network.len(), 0, 9, &ended);
        store.discover(&source, now);
        let mut ends = records.clone();
        ends.iter_mut().for_each(|record| record.end = Some(5_000_000));
        for records in [records.clone(), ends, records] {
            store.take(&source, records, now);
        }
        now += SILENCE - Duration::from_secs(1);
        for (source, record) in order {
            store.discover(&source, now);
            store.take(&source, vec![record], now);
        }
        now += Duration::from_secs(1);
        let gone = store.expire(now);
        prop_assert_eq!(gone, vec!["old".to_owned(), source]);
        prop_assert_eq!(store.status(Detail::Full), expected(&network));
        let overview = store.overview();
        prop_assert_eq!(overview.others.len(), network.len() - 1);
        let led = network[0].iter().filter_map(|router| router.link).any(|to| {
            network.get(to % network.len()).is_some_and(|routers| !routers.is_empty())
        });
        prop_assert_eq!(!overview.links.is_empty(), led);
        // Keys that can be used are the same with less detail.
        prop_assert_eq!(matches(&store.status(Detail::OneOfKey)), matches(&expected(&network)));
    }

    #[test]
    fn the_store_is_bounded(sources in proptest::collection::vec((0..9_u8, 0..9_u8, any::<bool>()), 0..60)) {
        let limits = Limits { sources: 3, records: 5, bytes: 4000, ended: 2 };
        let mut store = Network::new(None, limits);
        let now = Instant::now();
        for (source, record, is_end) in sources {
            let source = source.to_string();
            store.discover(&source, now);
            let mut record = Record::new(Kind::Router, &record.to_string());
            record.end = is_end.then_some(2_000_000);
            store.take(&source, vec![record], now);
            prop_assert!(store.sources.len() <= 3);
            let records: usize = store.sources.values().map(|source| source.records.len()).sum();
            prop_assert!(records <= 5);
            prop_assert!(store.sources.values().all(|source| source.ended.len() <= 2));
        }
    }
}

/// The keys that have a connector with a host, and those that have a listener with a name, by the rules of the readers.
fn matches(document: &Value) -> [BTreeSet<String>; 2] {
    let mut keys = [BTreeSet::new(), BTreeSet::new()];
    for site in document["siteStatus"].as_array().unwrap() {
        for router in site["routerStatus"].as_array().unwrap() {
            for (side, (list, name)) in [("connectors", "destHost"), ("listeners", "name")]
                .iter()
                .enumerate()
            {
                for entry in router[list].as_array().unwrap() {
                    if let (Some(key), Some(_)) = (entry["address"].as_str(), entry[name].as_str())
                    {
                        keys[side].insert(key.to_owned());
                    }
                }
            }
        }
    }
    keys
}

#[test]
fn a_source_goes_when_it_is_silent_and_a_new_one_has_longer() {
    let mut store = Network::new(None, Limits::default());
    let start = Instant::now();
    store.discover("silent", start);
    store.discover("heard", start);
    store.take("heard", vec![site_record(1)], start);
    let most = SILENCE - Duration::from_millis(1);
    assert_eq!(store.expire(start + most), Vec::<String>::new());
    assert_eq!(store.expire(start + SILENCE), ["heard"]);
    assert_eq!(store.expire(start + SILENCE + most), Vec::<String>::new());
    assert_eq!(store.expire(start + SILENCE + GRACE), ["silent"]);
    assert_eq!(
        store.status(Detail::Full),
        json!({"addresses": [], "siteStatus": []})
    );
}

#[test]
fn an_own_site_is_there_without_a_source() {
    let store = Network::new(Some(site_record(0)), Limits::default());
    assert_eq!(store.status(Detail::Full), expected(&[Vec::new()]));
}

#[test]
fn a_document_that_is_too_large_loses_what_the_own_site_does_not_need() {
    let router = |listeners: &[&str], connectors: &[&str]| Router {
        listeners: listeners.iter().map(|key| (*key).to_owned()).collect(),
        connectors: connectors.iter().map(|key| (*key).to_owned()).collect(),
        link: None,
    };
    let network = [
        vec![router(&["a"], &["b"])],
        vec![router(&["b", "b", "c"], &["a", "a", "c"])],
    ];
    let now = Instant::now();
    let mut store = Network::new(Some(site_record(0)), Limits::default());
    for (source, record) in messages(&network) {
        store.discover(&source, now);
        store.take(&source, vec![record], now);
    }
    let counts = |detail| {
        let status = store.status(detail);
        let router = &status["siteStatus"][1]["routerStatus"][0];
        let own = &status["siteStatus"][0]["routerStatus"][0];
        assert_eq!(own["listeners"].as_array().unwrap().len(), 1);
        let count = |list: &str| router[list].as_array().unwrap().len();
        (count("listeners"), count("connectors"))
    };
    assert_eq!(counts(Detail::Full), (3, 3));
    assert_eq!(counts(Detail::OneOfKey), (2, 2));
    assert_eq!(counts(Detail::OwnKeys), (1, 1));
    assert_eq!(counts(Detail::OwnSite), (0, 0));
    let full = store.status(Detail::Full).to_string();
    assert_eq!(store.text(full.len()), Some((full.clone(), Detail::Full)));
    let less = store.text(full.len() - 1).map(|(_, detail)| detail);
    assert_eq!(less, Some(Detail::OneOfKey));
    assert_eq!(store.text(10), None);
}

#[test]
fn a_connector_has_the_process_of_its_host() {
    let now = Instant::now();
    let mut store = Network::new(Some(site_record(0)), Limits::default());
    store.discover("r", now);
    let records = vec![
        Record::new(Kind::Router, "r").with_text(Text::Parent, "site0"),
        Record::new(Kind::Process, "p")
            .with_text(Text::Parent, "site0")
            .with_text(Text::SourceHost, "10.0.0.1")
            .with_text(Text::Name, "pod"),
        Record::new(Kind::Connector, "c")
            .with_text(Text::Parent, "r")
            .with_text(Text::DestHost, "10.0.0.1"),
    ];
    store.take("r", records, now);
    let status = store.status(Detail::Full);
    let connector = &status["siteStatus"][0]["routerStatus"][0]["connectors"][0];
    assert_eq!(
        *connector,
        json!({"destHost": "10.0.0.1", "process": "p", "target": "pod"})
    );
}
