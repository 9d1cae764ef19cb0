//! Facts and statuses of a MultiKeyListener, by the configuration of its Site and the report of its router.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_router::config;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{EndpointCounts, EntryState, RouterEntry};
use serde_json::{Value, json};

use super::*;

struct NoRouters;

impl Routers for NoRouters {
    async fn fetch_state(
        &self,
        _: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        Err(CallError::Failed("nobody".to_owned()))
    }
}

fn logic() -> MultiKeyListeners<NoRouters> {
    MultiKeyListeners::new(
        ControllerId::new("skupper", "controller"),
        Arc::new(NoRouters),
        Platform::Kubernetes,
    )
}

fn listener(strategy: Value) -> MultiKeyListener {
    let listener = json!({
        "metadata": { "name": "a", "namespace": "west", "uid": "u-a" },
        "spec": { "host": "db", "port": 80, "strategy": strategy },
    });
    serde_json::from_value(listener).expect("it is a MultiKeyListener")
}

fn site() -> Site {
    let site = json!({ "metadata": { "name": "west", "uid": "u-west" }, "spec": {} });
    serde_json::from_value(site).expect("it is a Site")
}

fn config_map() -> ConfigMap {
    let allocations = json!([
        { "holder": "MultiKeyListener", "uid": "u-a", "name": "a", "host": "db", "port": 80, "routerPort": 1024 },
    ]);
    let map = json!({ "metadata": { "name": "skupper-router" }, "data": { "claims": allocations.to_string() } });
    serde_json::from_value(map).expect("it is a ConfigMap")
}

/// The report of a router that has applied a MultiKeyListener and has Connectors of these keys.
fn report(listener: &MultiKeyListener, reachable: &[&str]) -> RouterState {
    let (site, configs) = (site(), RouterConfigs::default());
    let config = configs.read(&config_map());
    let declared = DeclaredListener {
        allocation: config.allocation("u-a").expect("it has one"),
        spec: DeclaredSpec::Several(&listener.spec),
        platform: Platform::Kubernetes,
    };
    let of = |entry: &document::ConfigEntry| {
        let address = entry.1.get("address").and_then(Value::as_str);
        let is_up = address.is_none_or(|key| reachable.contains(&key)) && !reachable.is_empty();
        let state = match is_up {
            true => EntryState::Up,
            false => EntryState::Idle,
        };
        let told = RouterEntry {
            hash: config::hash(&entry.1),
            state,
            remote: None,
        };
        (document::key(entry), told)
    };
    let entries = document::listener_entries(&SiteIdentity::from_site(&site), declared);
    let counts = EndpointCounts {
        connectors: 1,
        listeners: 1,
    };
    RouterState {
        entries: entries.iter().map(of).collect(),
        keys: reachable
            .iter()
            .map(|key| ((*key).to_owned(), counts))
            .collect(),
        ..RouterState::default()
    }
}

#[test]
fn one_key_that_is_reached_is_enough() {
    let listener = listener(json!({ "priority": { "routingKeys": ["first", "second"] } }));
    let check = |reachable: &[&str], health, destination, expected: Value| {
        let report = report(&listener, reachable);
        let (this, site, config_map) = (This::new(&listener), site(), config_map());
        let sync = logic().sync(this, &site, &config_map, &report);
        assert_eq!(sync.value, lifecycle::Sync::Current);
        let told = logic().health(this, &site, &config_map, &report);
        assert_eq!(told.value, health);
        assert_eq!(logic().has_destination(this, &report), destination);
        let told = logic().strategy(this, &report);
        assert_eq!(json!(told), expected);
    };
    let keys = |keys: Value| json!({ "priority": { "routingKeysReachable": keys } });
    check(&[], Health::Idle, None, keys(json!([])));
    check(&["second"], Health::Up, Some(true), keys(json!(["second"])));
    check(
        &["second", "first"],
        Health::Up,
        Some(true),
        keys(json!(["first", "second"])),
    );
}

#[test]
fn a_key_that_the_router_has_not_read_is_awaited() {
    let listener = listener(json!({ "weighted": { "routingKeys": { "a": 9, "b": 1, "c": 0 } } }));
    let mut report = report(&listener, &["a", "c"]);
    let sync = |report: &RouterState| {
        let sync = logic().sync(This::new(&listener), &site(), &config_map(), report);
        sync.value
    };
    assert_eq!(sync(&report), lifecycle::Sync::Current);
    let told = logic().strategy(This::new(&listener), &report);
    // A key of weight 0 gets no streams, so it is not reachable.
    let expected = json!({ "weighted": { "routingKeysReachable": { "a": 9 } } });
    assert_eq!(json!(told), expected);
    report.entries.remove("listenerAddress/a/b");
    assert_eq!(sync(&report), lifecycle::Sync::Behind);
    let nothing = self::report(&listener, &["c"]);
    assert!(logic().strategy(This::new(&listener), &nothing).is_none());
}

#[test]
fn entries_are_those_that_the_existing_controller_writes() {
    let entries = |strategy: Value| {
        let listener = listener(strategy);
        let keys: BTreeSet<String> = report(&listener, &["x"]).entries.into_keys().collect();
        keys.into_iter().collect::<Vec<_>>()
    };
    let expected = [
        "listenerAddress/a/k",
        "listenerAddress/a/l",
        "tcpListener/multiAddress/a",
    ];
    assert_eq!(
        entries(json!({ "priority": { "routingKeys": ["k", "l"] } })),
        expected
    );
    assert_eq!(
        entries(json!({ "weighted": { "routingKeys": { "k": 1, "l": 2 } } })),
        expected
    );
}
