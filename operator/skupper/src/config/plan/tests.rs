//! Plans for small namespaces.

use std::collections::BTreeMap;

use lifecycle_runtime::Readable;
use serde_json::{Map, Value, json};

use super::*;
use crate::config::kept::Unknown;
use crate::config::ports::Holder;
use crate::config::router_config::{self, Given, RouterConfig};

pub(super) const SITE: SiteIdentity<'static> = SiteIdentity {
    name: "west",
    uid: "uid-west",
    namespace: "west",
    edge: false,
    platform: Platform::Kubernetes,
    version: "0.1.0",
    plane: crate::data_plane::DataPlane::Embedded,
    adaptor: crate::data_plane::Adaptor::KubeAdaptor,
    prior: None,
    connections: None,
    logging: None,
};

fn listener(name: &str, spec: Value) -> Listener {
    let mut whole = json!({ "routingKey": "backend", "host": name, "port": 8080 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let listener = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": whole,
    });
    serde_json::from_value(listener).expect("it is a Listener")
}

fn connector(name: &str, spec: Value) -> Connector {
    let mut whole = json!({ "routingKey": "backend", "port": 8080 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let connector = json!({ "metadata": { "name": name }, "spec": whole });
    serde_json::from_value(connector).expect("it is a Connector")
}

fn pod(name: &str, app: &str) -> Pod {
    let pod = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "labels": { "app": app } },
        "status": { "phase": "Running", "podIP": "10.0.0.1", "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    serde_json::from_value(pod).expect("it is a Pod")
}

fn planned(
    before: Option<&ConfigMap>,
    listeners: &[Listener],
    connectors: &[Connector],
    pods: &[Pod],
) -> ConfigMap {
    let connectors: Vec<_> = connectors.iter().collect();
    let workloads = workloads(&connectors, &pods.iter().collect::<Vec<_>>());
    let listeners: Vec<_> = listeners.iter().collect();
    let before = router_config::before(before, &[]);
    let planned = super::router_config(
        (&SITE, &Revisions::default()),
        (&before, &RetainedConfig::default()),
        (&listeners, &[]),
        (&workloads, &[], &[]),
    );
    serde_json::from_value(planned.as_json().clone()).expect("it is a ConfigMap")
}

fn hosts(map: &ConfigMap) -> Vec<String> {
    RouterConfig::from_config_map(map)
        .hosts()
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_cannot_be_offered_or_goes_away_gets_nothing() {
    let mut going = listener("going", json!({}));
    going.metadata.deletion_timestamp = going.metadata.creation_timestamp.clone();
    let bad = listener("bad", json!({ "host": "{bad}" }));
    let udp = listener("udp", json!({ "type": "udp" }));
    let open = listener("open", json!({ "requireClientCert": true }));
    let map = planned(
        None,
        &[going, bad, udp, open, listener("fine", json!({}))],
        &[],
        &[],
    );
    assert_eq!(hosts(&map), ["fine"]);
}

#[test]
fn planning_again_changes_nothing() {
    let listeners = [
        listener(
            "a",
            json!({ "exposePodsByName": true, "tlsCredentials": "tls" }),
        ),
        listener("b", json!({ "host": "a" })),
    ];
    let connectors = [connector(
        "c",
        json!({ "selector": "app=x", "exposePodsByName": true }),
    )];
    let pods = [pod("x-0", "x"), pod("x-1", "x"), pod("y", "y")];
    let first = planned(None, &listeners, &connectors, &pods);
    assert_eq!(hosts(&first), ["a", "x-0", "x-1"]);
    assert_eq!(planned(Some(&first), &listeners, &connectors, &pods), first);
    let secrets: Vec<_> = secrets(&first).into_iter().collect();
    assert_eq!(secrets, ["skupper-local-server", "tls"]);
}

/// Row 63 of the acceptance table: only the very key counts, and both sides must ask for it.
#[test]
fn s63_a_longer_key_exposes_no_pods() {
    let exposed = json!({ "exposePodsByName": true });
    let selecting = |key: &str, app: &str, expose: bool| {
        let spec = json!({ "routingKey": key, "selector": format!("app={app}"), "exposePodsByName": expose });
        connector(&format!("c-{app}"), spec)
    };
    let connectors = [
        selecting("backend", "one", true),
        selecting("backend.v2", "two", true),
        selecting("backendother", "three", true),
        selecting("backend", "four", false),
    ];
    let pods = [
        pod("one", "one"),
        pod("two", "two"),
        pod("three", "three"),
        pod("four", "four"),
    ];
    let map = planned(None, &[listener("backend", exposed)], &connectors, &pods);
    assert_eq!(hosts(&map), ["backend", "one"]);
    let map = planned(None, &[listener("backend", json!({}))], &connectors, &pods);
    assert_eq!(hosts(&map), ["backend"], "row 62");
}

/// Its port of the router would be of no use: the Service of that name leads elsewhere.
#[test]
fn a_pod_named_like_an_existing_host_is_told_to_its_listener() {
    let listeners = [
        listener("web", json!({ "exposePodsByName": true })),
        listener("db", json!({ "routingKey": "other" })),
    ];
    let selecting = json!({ "selector": "app=x", "exposePodsByName": true });
    let connectors = [connector("c", selecting)];
    let pods = [pod("db", "x"), pod("x-1", "x")];
    let map = planned(None, &listeners, &connectors, &pods);
    let config = RouterConfig::from_config_map(&map);
    assert_eq!(config.of_host("db")[0].name, "db");
    let lost = config.lost_of("uid-web").expect("it is told");
    assert_eq!((lost.first.as_str(), lost.count), ("db", 1));
    assert_eq!(planned(Some(&map), &listeners, &connectors, &pods), map);
    let free = planned(Some(&map), &listeners[..1], &connectors, &pods);
    assert!(
        RouterConfig::from_config_map(&free)
            .lost_of("uid-web")
            .is_none()
    );
    assert_eq!(hosts(&free), ["db", "web", "x-1"]);
}

#[test]
fn an_edited_text_is_written_anew_and_ports_stay() {
    let listeners = [listener("a", json!({})), listener("b", json!({}))];
    let first = planned(None, &listeners, &[], &[]);
    let mut edited = first.clone();
    let data = edited.data.get_or_insert_default();
    data.insert(DOCUMENT.to_owned(), "[]".to_owned());
    assert_eq!(planned(Some(&edited), &listeners, &[], &[]), first);
    // Without the allocations, the ports of the document are kept: those of `b` alone are left in it.
    let alone = planned(Some(&first), &listeners[1..], &[], &[]);
    let mut without = alone.clone();
    without.data.get_or_insert_default().remove(CLAIMS);
    let again = planned(Some(&without), &listeners, &[], &[]);
    let ports: BTreeMap<_, _> = ["uid-a", "uid-b"]
        .iter()
        .map(|uid| {
            (
                *uid,
                RouterConfig::from_config_map(&again)
                    .allocation(uid)
                    .expect("it has one")
                    .router_port,
            )
        })
        .collect();
    assert_eq!(ports, [("uid-a", 1024), ("uid-b", 1025)].into());
}

/// A thousand on one host fit, each behind its own port.
#[test]
fn a_thousand_listeners_of_one_host_fit() {
    let listeners: Vec<_> = (1..=1000)
        .map(|n| listener(&format!("l{n}"), json!({ "host": "db", "port": n })))
        .collect();
    let map = planned(None, &listeners, &[], &[]);
    assert_eq!(
        RouterConfig::from_config_map(&map).of_host("db").len(),
        1000
    );
    let size: usize = map.data.iter().flatten().map(|(_, text)| text.len()).sum();
    assert!(size < ROOM, "{size}");
}

#[test]
fn who_does_not_fit_is_told_and_others_stay() {
    let key = "k".repeat(2000);
    let listeners: Vec<_> = (0..300)
        .map(|n| {
            listener(
                &format!("l{n:03}"),
                json!({ "routingKey": key, "host": format!("h{n}") }),
            )
        })
        .collect();
    let map = planned(None, &listeners, &[], &[]);
    let config = RouterConfig::from_config_map(&map);
    let full = listeners.iter().filter(|l| {
        let given = config.given(
            (Holder::Listener, &l.uid().unwrap_or_default()),
            (&l.spec.host, l.spec.port),
        );
        given.value == Given::Full
    });
    let full = full.count();
    assert!(
        (1..300).contains(&full) && config.hosts().count() == 300 - full,
        "{full}"
    );
    assert_eq!(planned(Some(&map), &listeners, &[], &[]), map);
    let size: usize = map.data.iter().flatten().map(|(_, text)| text.len()).sum();
    assert!(size < ROOM, "{size}");
}

/// The named entries of a configuration.
fn entries(map: &ConfigMap) -> BTreeMap<String, Value> {
    let name = |(entity, entry): &(String, Map<String, Value>)| {
        format!("{entity}/{}", entry["name"].as_str().unwrap_or_default())
    };
    let all = router_config::entries(map).into_iter();
    let named = all.filter(|(_, entry)| entry.contains_key("name"));
    named.map(|entry| (name(&entry), entry.1.into())).collect()
}

/// Tests the situation after a restart: the requests of these objects are unknown, and everything
/// else changes.
#[test]
fn what_cannot_be_read_keeps_what_it_had_and_nothing_of_others() {
    let offered = json!({ "exposePodsByName": true, "tlsCredentials": "tls" });
    let served =
        json!({ "selector": "app=web", "exposePodsByName": true, "tlsCredentials": "other" });
    let web = [pod("web-0", "web")];
    let listeners = [
        listener("a", offered.clone()),
        listener("b", json!({ "host": "shared" })),
        listener("gone", json!({})),
    ];
    let connectors = [
        connector("c", served),
        connector("d", json!({ "host": "192.0.2.1" })),
    ];
    let before = planned(None, &listeners, &connectors, &web);
    let flawed = |meta: Value| serde_json::from_value(meta).expect("it is metadata");
    let of = |name: &str| {
        flawed(json!({ "name": name, "namespace": "west", "uid": format!("uid-{name}") }))
    };
    let lost = [Readable::flawed(of("a"), "odd".to_owned(), None)];
    let going =
        json!({ "name": "gone", "uid": "uid-gone", "deletionTimestamp": "2026-01-01T00:00:00Z" });
    let going = Readable::flawed(flawed(going), "odd".to_owned(), None);
    let dark = [Readable::flawed(of("c"), "odd".to_owned(), None)];
    let unknown = Unknown::new(
        (&[&lost[0], &going], &[]),
        (&[&dark[0]], &[]),
        (&[], &[]),
        &[],
    );
    let kept = RetainedConfig::from_config_map(Some(&before), &unknown);
    // Of the readable ones, one is gone, one is new, and one requests an allocation that is kept
    // for another.
    let listeners = [
        listener("b", json!({ "host": "shared", "exposePodsByName": true })),
        listener("new", json!({})),
        listener("thief", json!({ "host": "a" })),
    ];
    let listeners: Vec<&Listener> = listeners.iter().collect();
    let decided = router_config::before(Some(&before), &[]);
    let site = (&SITE, &Revisions::default());
    let after = super::router_config(site, (&decided, &kept), (&listeners, &[]), (&[], &[], &[]));
    let after: ConfigMap =
        serde_json::from_value(after.as_json().clone()).expect("it is a ConfigMap");
    let (was, is) = (entries(&before), entries(&after));
    for name in [
        "tcpListener/listener/a",
        "tcpListener/listener/a@web-0",
        "tcpListener/listener/b",
        "tcpConnector/connector/c@10.0.0.1",
        "tcpConnector/connector/c@web-0",
        "sslProfile/tls",
        "sslProfile/other-profile",
    ] {
        assert!(was[name].is_object());
        assert_eq!(was[name], is[name], "{name}");
    }
    for name in [
        "tcpListener/listener/gone",
        "tcpListener/listener/thief",
        "tcpConnector/connector/d@192.0.2.1",
    ] {
        assert!(!is.contains_key(name), "{name}");
    }
    assert!(is.contains_key("tcpListener/listener/new"));
    let held = RouterConfig::from_config_map(&after);
    assert_eq!(
        held.allocation("uid-a"),
        RouterConfig::from_config_map(&before).allocation("uid-a")
    );
    assert!(held.allocation("uid-thief").is_none());
    // The Pods of kept entries are available to others as well, but their names are taken.
    assert_eq!(held.lost_of("uid-b").map(|lost| lost.count), Some(1));
    // Deciding again changes nothing.
    let again = RetainedConfig::from_config_map(Some(&after), &unknown);
    let decided = router_config::before(Some(&after), &[]);
    let again = super::router_config(site, (&decided, &again), (&listeners, &[]), (&[], &[], &[]));
    assert_eq!(again.as_json()["data"], json!(after.data));
}

#[test]
fn a_binding_that_cannot_be_read_keeps_the_workload_that_it_accepted() {
    let entry = |name: &str| json!(["tcpConnector", { "name": name, "address": "k" }]);
    let all = json!([
        entry("connector/shop/web@10.0.0.1"),
        entry("connector/web@10.0.0.2"),
        entry("connector/shop/db@10.0.0.3")
    ]);
    let map = json!({ "data": { "skrouterd.json": all.to_string(), "claims": "[]" } });
    let map = serde_json::from_value(map).expect("it is a ConfigMap");
    let meta = |namespace: &str, name: &str| {
        let meta = json!({ "namespace": namespace, "name": name, "uid": "u" });
        serde_json::from_value(meta).expect("it is metadata")
    };
    let names = |unknown: &Unknown| -> Vec<String> {
        let kept = RetainedConfig::from_config_map(Some(&map), unknown).entries(&[]);
        let names = kept
            .iter()
            .map(|(_, entry)| entry["name"].as_str().unwrap_or_default().to_owned());
        names.collect()
    };
    let binding = Readable::flawed(meta("west", "web"), "odd".to_owned(), None);
    let bound = Unknown::new((&[], &[]), (&[], &[]), (&[&binding], &[]), &[]);
    assert_eq!(names(&bound), ["connector/shop/web@10.0.0.1"]);
    let attached = Readable::flawed(meta("shop", "db"), "odd".to_owned(), None);
    let offered = Unknown::new((&[], &[]), (&[], &[]), (&[], &[&attached]), &[]);
    assert_eq!(names(&offered), ["connector/shop/db@10.0.0.3"]);
}

pub(super) fn link(name: &str, credentials: &str) -> Link {
    let endpoint = json!({ "name": "inter-router", "host": "east.example.com", "port": "55671" });
    let link = json!({
        "metadata": { "name": name, "namespace": "west", "uid": format!("uid-{name}") },
        "spec": { "endpoints": [endpoint], "tlsCredentials": credentials },
    });
    serde_json::from_value(link).expect("it is a Link")
}

#[test]
fn a_link_has_the_whole_of_the_secret_of_which_a_connector_has_the_authority() {
    let connectors = [connector(
        "c",
        json!({ "host": "192.0.2.1", "tlsCredentials": "east" }),
    )];
    let connectors: Vec<&Connector> = connectors.iter().collect();
    let workloads = workloads(&connectors, &[]);
    let link = link("to-east", "east");
    let planned = |links: &[&Link]| {
        let site = (&SITE, &Revisions::default());
        let nothing = (&PriorDecision::default(), &RetainedConfig::default());
        let planned = super::router_config(site, nothing, (&[], &[]), (&workloads, links, &[]));
        serde_json::from_value::<ConfigMap>(planned.as_json().clone()).expect("it is a ConfigMap")
    };
    let profile = |map: &ConfigMap| {
        let all = router_config::entries(map).into_iter();
        let mut named = all.filter(|(_, entry)| entry.get("name") == Some(&json!("east-profile")));
        named.next().expect("it is there").1
    };
    let (without, with) = (planned(&[]), planned(&[&link]));
    assert!(!profile(&without).contains_key("certFile"));
    assert!(profile(&with).contains_key("certFile"));
    let east: BTreeSet<String> = ["east", "skupper-local-server"].map(str::to_owned).into();
    for map in [&without, &with] {
        assert_eq!(secrets(map), east);
    }
}

#[test]
fn a_link_that_cannot_be_read_stays_as_it_was() {
    let site = (&SITE, &Revisions::default());
    let (old, other) = (link("old", "east"), link("other", "north"));
    let nothing = (&PriorDecision::default(), &RetainedConfig::default());
    let before = super::router_config(site, nothing, (&[], &[]), (&[], &[&old, &other], &[]));
    let before: ConfigMap =
        serde_json::from_value(before.as_json().clone()).expect("it is a ConfigMap");
    let flawed = Readable::flawed(old.metadata.clone(), "odd".to_owned(), None);
    let unknown = Unknown::new((&[], &[]), (&[], &[&flawed]), (&[], &[]), &[]);
    let kept = RetainedConfig::from_config_map(Some(&before), &unknown);
    let decided = router_config::before(Some(&before), &[]);
    let after = super::router_config(site, (&decided, &kept), (&[], &[]), (&[], &[], &[]));
    let after: ConfigMap =
        serde_json::from_value(after.as_json().clone()).expect("it is a ConfigMap");
    let names = |map: &ConfigMap| -> Vec<Value> {
        let all = router_config::entries(map).into_iter();
        all.filter(|(entity, _)| ["connector", "sslProfile"].contains(&entity.as_str()))
            .map(|(_, entry)| entry["name"].clone())
            .collect()
    };
    assert_eq!(
        names(&before),
        [
            "east-profile",
            "north-profile",
            "skupper-local-server",
            "old",
            "other"
        ]
    );
    assert_eq!(
        names(&after),
        ["east-profile", "skupper-local-server", "old"]
    );
}

#[test]
fn a_link_that_cannot_be_dialled_or_goes_spoils_nothing_else() {
    let good = link("good", "east");
    let mut going = link("going", "east");
    going.metadata.deletion_timestamp =
        serde_json::from_value(json!("2026-01-01T00:00:00Z")).expect("it is a time");
    let (mut port, mut empty) = (link("port", "east"), link("empty", "east"));
    port.spec.endpoints[0].port = Some("many".to_owned());
    empty.spec.endpoints.clear();
    let all = dialled(&SITE, &[&empty, &going, &good, &port], &BTreeMap::new());
    let names: Vec<_> = all.iter().map(|((_, a), _)| a["name"].clone()).collect();
    assert_eq!(names, ["good"]);
}

/// Checks that the entries for links of other sites stay while their RouterAccess cannot be read,
/// and that an edge site has none.
#[test]
fn listeners_of_links_are_those_of_the_accesses_that_can_be_served() {
    let access = |name: &str, spec: Value| -> RouterAccess {
        let access = json!({ "metadata": { "name": name }, "spec": spec });
        serde_json::from_value(access).expect("it is a RouterAccess")
    };
    let fine = json!({ "roles": [{ "name": "edge" }], "tlsCredentials": "server" });
    let door = access("door", fine);
    let odd = access("odd", json!({ "roles": [], "tlsCredentials": "other" }));
    let planned =
        |site: &SiteIdentity<'_>, kept: &RetainedConfig, accesses: &[&RouterAccess]| -> ConfigMap {
            let site = (site, &Revisions::default());
            let planned = super::router_config(
                site,
                (&PriorDecision::default(), kept),
                (&[], &[]),
                (&[], &[], accesses),
            );
            serde_json::from_value(planned.as_json().clone()).expect("it is a ConfigMap")
        };
    let named = |map: &ConfigMap| -> Vec<String> {
        let all = router_config::entries(map).into_iter();
        let all = all.filter(|(entity, _)| entity == "listener" || entity == "sslProfile");
        all.filter_map(|(_, entry)| Some(entry.get("name")?.as_str()?.to_owned()))
            .filter(|name| !name.starts_with('@') && name != "skupper-local-server")
            .collect()
    };
    let map = planned(&SITE, &RetainedConfig::default(), &[&door, &odd]);
    assert_eq!(named(&map), ["server", "door-edge"]);
    assert_eq!(secrets(&map).len(), 2);
    let edge = SiteIdentity { edge: true, ..SITE };
    assert!(named(&planned(&edge, &RetainedConfig::default(), &[&door])).is_empty());
    let flawed = serde_json::from_value(json!({ "name": "door" })).expect("it is metadata");
    let flawed = Readable::flawed(flawed, "odd".to_owned(), None);
    let unknown = Unknown::new((&[], &[]), (&[], &[]), (&[], &[]), &[&flawed]);
    let kept = RetainedConfig::from_config_map(Some(&map), &unknown);
    assert_eq!(named(&planned(&SITE, &kept, &[])), ["server", "door-edge"]);
}

/// A MultiKeyListener as the API server has it.
fn several(name: &str, strategy: Value) -> MultiKeyListener {
    let listener = json!({
        "metadata": { "name": name, "namespace": "west", "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": { "host": name, "port": 80, "strategy": strategy },
    });
    serde_json::from_value(listener).expect("it is a MultiKeyListener")
}

/// Plans a configuration of these objects, based on the earlier decisions.
fn planned_several(
    before: Option<&ConfigMap>,
    listeners: (&[&Listener], &[&MultiKeyListener]),
    unknown: &Unknown,
) -> ConfigMap {
    let kept = RetainedConfig::from_config_map(before, unknown);
    let before = router_config::before(before, &[]);
    let site = (&SITE, &Revisions::default());
    let map = super::router_config(site, (&before, &kept), listeners, (&[], &[], &[]));
    serde_json::from_value(map.as_json().clone()).expect("it is a ConfigMap")
}

#[test]
fn a_host_is_of_one_kind_and_what_is_unreadable_keeps_its_keys() {
    let one = listener("one", json!({ "host": "db", "port": 80 }));
    let near = listener("near", json!({ "host": "db", "port": 81 }));
    let mut db = several(
        "db",
        json!({ "weighted": { "routingKeys": { "a": 9, "b": 1 } } }),
    );
    let second = several(
        "second",
        json!({ "priority": { "routingKeys": ["x", "y", "z"] } }),
    );
    let nobody = Unknown::default();
    let map = planned_several(None, (&[&one, &near], &[&db, &second]), &nobody);
    // Who came first, by name where both came at once, has the host.
    let given = |map: &ConfigMap, (holder, uid), port| {
        let given = RouterConfig::from_config_map(map).given((holder, uid), ("db", port));
        (given.value, given.sentence)
    };
    let own = (Holder::MultiKeyListener, "uid-db");
    assert_eq!(given(&map, own, 80).0, Given::Held);
    let said = "MultiKeyListener db with host db and port 80 already exists in namespace";
    let first = (Holder::Listener, "uid-one");
    assert_eq!(given(&map, first, 80), (Given::Lost, said.to_owned()));
    let said = "MultiKeyListener db has host db, and a host is of MultiKeyListeners or of Listeners: take another host";
    let other = (Holder::Listener, "uid-near");
    assert_eq!(given(&map, other, 81), (Given::Lost, said.to_owned()));
    let all = entries(&map);
    let value = |name: &str| all[&format!("listenerAddress/{name}")]["value"].clone();
    let values = ["second/x", "second/y", "second/z", "db/a", "db/b"].map(value);
    assert_eq!(values, [2, 1, 0, 9, 1].map(Value::from));
    let strategy = &all["tcpListener/multiAddress/db"]["multiAddressStrategy"];
    assert_eq!(strategy, "weighted");
    let listener = &all["listenerAddress/db/a"]["listener"];
    assert_eq!(listener, "multiAddress/db");
    // Another host for it, and those that waited have the place.
    db.spec.host = "away".to_owned();
    let moved = planned_several(Some(&map), (&[&one, &near], &[&db, &second]), &nobody);
    assert_eq!(given(&moved, first, 80).0, Given::Held);
    assert_eq!(given(&moved, other, 81).0, Given::Held);
    // Of one that cannot be read any more all stays as it was.
    let meta = serde_json::from_value(json!({ "name": "second", "uid": "uid-second" }));
    let meta = meta.expect("it is metadata");
    let flawed = Readable::<MultiKeyListener>::flawed(meta, "odd".to_owned(), None);
    let unknown = Unknown::new((&[], &[&flawed]), (&[], &[]), (&[], &[]), &[]);
    let readable: (&[_], &[_]) = (&[&one, &near], &[&db]);
    let after = entries(&planned_several(Some(&moved), readable, &unknown));
    assert_eq!(after, entries(&moved));
    let gone = entries(&planned_several(Some(&moved), readable, &nobody));
    assert!(gone.keys().all(|name| !name.contains("second")), "{gone:?}");
}
