//! Facts that a Listener reads from its Site's configuration and from the router.

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

fn logic() -> Listeners<NoRouters> {
    Listeners::new(
        ControllerId::new("skupper", "controller"),
        Arc::new(NoRouters),
        Platform::Kubernetes,
    )
}

fn listener(port: i32) -> Listener {
    let listener = json!({
        "metadata": { "name": "a", "namespace": "west", "uid": "u-a" },
        "spec": { "routingKey": "backend", "host": "db", "port": port },
    });
    serde_json::from_value(listener).expect("it is a Listener")
}

fn site() -> Site {
    let site = json!({ "metadata": { "name": "west", "uid": "u-west" }, "spec": {} });
    serde_json::from_value(site).expect("it is a Site")
}

fn config_map(allocations: Value) -> ConfigMap {
    let map = json!({ "metadata": { "name": "skupper-router" }, "data": { "claims": allocations.to_string() } });
    serde_json::from_value(map).expect("it is a ConfigMap")
}

fn allocations(uid: &str, name: &str) -> Value {
    json!([{ "uid": uid, "name": name, "host": "db", "port": 80, "routerPort": 1024 }])
}

#[test]
fn what_another_has_is_named() {
    let check = |port, config_map: &ConfigMap, expected, sentence: &str| {
        let listener = listener(port);
        let answer = logic().allocation(This::new(&listener), config_map);
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
    };
    check(
        80,
        &config_map(allocations("u-a", "a")),
        Allocation::Held,
        "",
    );
    let said = "Listener b with host db and port 80 already exists in namespace";
    check(
        80,
        &config_map(allocations("u-b", "b")),
        Allocation::Lost,
        said,
    );
    let said = "its Site has not given it a port of the router yet";
    check(
        81,
        &config_map(allocations("u-a", "a")),
        Allocation::None,
        said,
    );
    let mut full = config_map(json!([]));
    let text = json!(["u-a"]).to_string();
    full.data
        .get_or_insert_default()
        .insert("full".to_owned(), text);
    let said = "the configuration of the router has no room for it: delete Listeners, or Connectors of many Pods";
    check(80, &full, Allocation::Full, said);
}

/// Returns the state that a router reports once it has applied the Listener.
fn report(state: EntryState, connectors: usize) -> RouterState {
    let (listener, site) = (listener(80), site());
    let config = RouterConfig::from_config_map(&config_map(allocations("u-a", "a")));
    let declared = DeclaredListener {
        allocation: config.allocation("u-a").expect("it has one"),
        spec: DeclaredSpec::One(&listener.spec),
        platform: Platform::Kubernetes,
    };
    let mut entries = document::listener_entries(&SiteIdentity::from_site(&site), declared);
    let entry = entries.remove(0);
    let hash = config::hash(&entry.1);
    let counts = EndpointCounts {
        connectors,
        listeners: 1,
    };
    RouterState {
        entries: [(
            document::key(&entry),
            RouterEntry {
                hash,
                state,
                remote: None,
            },
        )]
        .into(),
        keys: [("backend".to_owned(), counts)].into(),
        ..RouterState::default()
    }
}

#[test]
fn the_router_is_believed_only_of_what_is_declared() {
    let (listener, site) = (listener(80), site());
    let config_map = config_map(allocations("u-a", "a"));
    let check = |report: &RouterState, sync, health, sentence: &str| {
        let this = This::new(&listener);
        let answer = logic().sync(this, &site, &config_map, report);
        assert_eq!(answer.value, sync);
        let answer = logic().health(this, &site, &config_map, report);
        assert_eq!((answer.value, answer.sentence.as_str()), (health, sentence));
    };
    check(
        &report(EntryState::Up, 1),
        lifecycle::Sync::Current,
        Health::Up,
        "",
    );
    check(
        &report(EntryState::Idle, 0),
        lifecycle::Sync::Current,
        Health::Idle,
        "",
    );
    // A contradictory report means that the router is in the middle of a change.
    check(
        &report(EntryState::Idle, 1),
        lifecycle::Sync::Behind,
        Health::Idle,
        "",
    );
    check(
        &report(EntryState::Up, 0),
        lifecycle::Sync::Behind,
        Health::Idle,
        "",
    );
    let taken =
        EntryState::Failed("cannot listen on 10.0.0.1:1024: Address already in use".to_owned());
    let said = "cannot listen on 10.0.0.1:1024: Address already in use";
    check(
        &report(taken, 1),
        lifecycle::Sync::Current,
        Health::Failed,
        said,
    );
    let mut other = report(EntryState::Up, 1);
    for entry in other.entries.values_mut() {
        entry.hash = "of something else".to_owned();
    }
    check(&other, lifecycle::Sync::Behind, Health::Idle, "");
    check(
        &RouterState::default(),
        lifecycle::Sync::Behind,
        Health::Idle,
        "",
    );
}

#[test]
fn a_match_is_a_flag_that_is_there_or_not() {
    let listener = listener(80);
    let flag = |report: &RouterState| logic().has_matching_connector(This::new(&listener), report);
    assert_eq!(flag(&report(EntryState::Up, 2)), Some(true));
    assert_eq!(flag(&report(EntryState::Idle, 0)), None);
}

/// The message uses the same words as for hosts of whole Listeners.
#[test]
fn names_of_pods_that_others_have_are_told() {
    let service = |name: &str, owner: &str| -> Service {
        let owner = json!({ "apiVersion": "v1", "kind": "Site", "name": "o", "uid": owner, "controller": true });
        let service = json!({ "metadata": { "name": name, "ownerReferences": [owner] } });
        serde_json::from_value(service).expect("it is a Service")
    };
    let config = |lost: Value| {
        let other =
            json!({ "uid": "u-b", "name": "b", "host": "p-3", "port": 80, "routerPort": 1024 });
        let mut map = config_map(json!([other]));
        let data = map.data.get_or_insert_default();
        data.insert("lost".to_owned(), lost.to_string());
        map
    };
    let check = |services: &[Service], lost: Value, expected: &str| {
        let (listener, site) = (listener(80), site());
        let services: Vec<&Service> = services.iter().collect();
        let this = This::new(&listener);
        let answer = logic().pod_names(this, &site, &config(lost), &services);
        let is_free = answer.value == PodNames::Free;
        assert_eq!(
            (is_free, answer.sentence.as_str()),
            (expected.is_empty(), expected)
        );
    };
    let foreign = "Service p-0 already exists in namespace";
    let taken = "Listener b with host p-3 and port 80 already exists in namespace";
    let ours = || service("p-2", "u-west");
    let theirs = || service("p-0", "somebody");
    check(&[ours()], json!({}), "");
    check(&[ours(), theirs()], json!({}), foreign);
    let lost = |count: usize| json!({ "u-a": { "first": "p-3", "count": count } });
    check(&[], lost(1), taken);
    let all = format!("{foreign}\n{taken}\nPods that are not reached by their names: 4");
    check(&[theirs(), service("p-1", "somebody")], lost(2), &all);
}
