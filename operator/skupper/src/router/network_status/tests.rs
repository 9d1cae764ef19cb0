//! Compares the mapping with the results of upstream for the same network statuses, by tables, and
//! by random networks and random damage.

mod random;
mod upstream;

use std::collections::BTreeMap;

use lifecycle_router::config::hash;
use lifecycle_specs_skupper::router::{EntryState, RouterEntry};
use serde_json::{Value, json};

use super::*;
use crate::config::document::ConfigEntry;
use crate::router::view::RouterView;

/// Site whose state is queried.
const WEST: &str = "uid-of-west";

/// The configuration of a small site.
fn config() -> Value {
    json!([
        ["router", { "id": "west-${HOSTNAME}", "mode": "interior" }],
        ["sslProfile", { "name": "tls", "caCertFile": "ca.crt" }],
        ["listener", { "name": "@9090", "role": "normal", "port": 9090, "http": true }],
        ["listener", { "name": "access-inter-router", "role": "inter-router", "port": 55671 }],
        ["address", { "prefix": "mc", "distribution": "multicast" }],
        ["connector", { "name": "east", "role": "inter-router", "host": "h", "port": "55671", "cost": 2 }],
        ["tcpListener", { "name": "listener/web", "port": "1024", "address": "web" }],
        ["tcpListener", { "name": "multiAddress/db", "port": "1025", "multiAddressStrategy": "priority" }],
        ["listenerAddress", { "name": "db/near", "listener": "multiAddress/db", "address": "near", "value": 1 }],
        ["listenerAddress", { "name": "db/far", "listener": "multiAddress/db", "address": "far", "value": 0 }],
        ["tcpConnector", { "name": "connector/api@h", "host": "h", "port": "80", "address": "api" }],
    ])
}

/// Returns a network status in which all of that works.
fn status() -> Value {
    let listener = |name: &str, key: &str, port: &str| json!({ "name": name, "address": key, "destPort": port, "protocol": "tcp" });
    let served = |key: &str| json!({ "address": key, "destHost": "10.0.0.1", "destPort": "80" });
    json!({ "addresses": null, "siteStatus": [
        { "site": { "identity": WEST, "name": "west", "namespace": "w", "platform": "kubernetes", "siteVersion": "2" },
          "routerStatus": [{ "router": { "name": "west-1" },
            "links": [{ "name": "east", "status": "up", "role": "inter-router", "linkCost": 2, "peer": "door-of-east" }],
            "routerAccess": [{ "identity": "door-of-west" }],
            "listeners": [listener("listener/web", "web", "1024"), listener("multiAddress/db", "near", "1025"), listener("multiAddress/db", "far", "1025")],
            "connectors": [{ "address": "api", "destHost": "h", "destPort": "80" }] }] },
        { "site": { "identity": "uid-of-east", "name": "east" },
          "routerStatus": [{ "router": { "name": "east-1" }, "links": [], "routerAccess": [{ "identity": "door-of-east" }],
            "listeners": [], "connectors": [served("web"), served("far")] }] },
    ] })
}

const WEST_ROUTER: &str = "/siteStatus/0/routerStatus/0";

fn mapped(config: &Value, status: &Value) -> RouterState {
    state(WEST, &config.to_string(), Some(&status.to_string()))
}

/// The status with another value in a place; null takes a value away.
fn with_value(place: &str, value: Value) -> Value {
    let mut status = status();
    *status.pointer_mut(place).expect("there is such a place") = value;
    status
}

/// A short word for each entry.
fn state_names(state: &RouterState) -> BTreeMap<&str, &str> {
    let word = |entry: &RouterEntry| match entry.state {
        EntryState::Idle => "idle",
        EntryState::Up => "up",
        EntryState::Failed(_) => "failed",
    };
    let entries = state.entries.iter();
    entries
        .map(|(key, entry)| (key.as_str(), word(entry)))
        .collect()
}

/// Compares one entry, by its word or `absent`.
fn check(status: &Value, entry: &str, expected: &str) {
    let state = mapped(&config(), status);
    let word = state_names(&state).get(entry).copied().unwrap_or("absent");
    assert_eq!(word, expected, "{entry} in {status}");
}

#[test]
fn each_entry_has_the_hash_by_which_it_is_found() {
    let state = mapped(&config(), &status());
    assert_eq!(state.error, None);
    let all = [
        "connector/east",
        "listener/@9090",
        "listener/access-inter-router",
        "listenerAddress/db/far",
        "sslProfile/tls",
        "tcpConnector/connector/api@h",
        "tcpListener/listener/web",
        "tcpListener/multiAddress/db",
    ];
    let mut expected: BTreeMap<&str, &str> = all.map(|key| (key, "up")).into();
    expected.insert("listenerAddress/db/near", "idle");
    assert_eq!(state_names(&state), expected);
    let attributes = config()[6][1].as_object().expect("it is an object").clone();
    assert_eq!(
        state.entries["tcpListener/listener/web"].hash,
        hash(&attributes)
    );
    let view =
        |attributes| RouterView::from_report(&[("tcpListener", attributes) as ConfigEntry], &state);
    assert_eq!(view(attributes.clone()), RouterView::Up);
    let mut edited = attributes;
    edited.insert("address".to_owned(), json!("other"));
    assert_eq!(view(edited), RouterView::Behind);
}

#[test]
fn a_listener_is_up_only_with_a_record_and_a_connector() {
    let place = |rest: &str| format!("{WEST_ROUTER}/listeners{rest}");
    let web = "tcpListener/listener/web";
    check(&status(), web, "up");
    check(
        &with_value(
            "/siteStatus/1/routerStatus/0/connectors/0/address",
            json!("else"),
        ),
        web,
        "idle",
    );
    check(
        &with_value(
            "/siteStatus/1/routerStatus/0/connectors/0/destHost",
            json!(""),
        ),
        web,
        "idle",
    );
    check(
        &with_value("/siteStatus/1/routerStatus", json!(null)),
        web,
        "idle",
    );
    for (attribute, value) in [
        ("name", json!("listener/other")),
        ("name", json!("")),
        ("address", json!("old")),
        ("address", json!(null)),
        ("destPort", json!("1030")),
        ("destPort", json!(null)),
        ("destPort", json!([])),
    ] {
        check(
            &with_value(&place(&format!("/0/{attribute}")), value),
            web,
            "absent",
        );
    }
    check(&with_value(&place("/0/destPort"), json!(1024)), web, "up");
    check(&with_value(&place(""), json!(null)), web, "absent");
    let mut ended = status();
    ended["siteStatus"][0]["routerStatus"][0]["listeners"][0]["endTime"] =
        json!(1_696_200_453_171_254_u64);
    check(&ended, web, "absent");
    ended["siteStatus"][0]["routerStatus"][0]["listeners"][0]["endTime"] = json!(0);
    check(&ended, web, "up");
}

#[test]
fn a_listener_of_several_keys_is_there_once_one_of_them_is() {
    let (db, near) = ("tcpListener/multiAddress/db", "listenerAddress/db/near");
    let no_near = with_value(&format!("{WEST_ROUTER}/listeners/1"), json!({}));
    check(&no_near, db, "up");
    check(&no_near, near, "absent");
    let no_far = with_value(&format!("{WEST_ROUTER}/listeners/2"), json!({}));
    check(&no_far, db, "idle");
    check(&no_far, "listenerAddress/db/far", "absent");
    check(
        &with_value(&format!("{WEST_ROUTER}/listeners"), json!([])),
        db,
        "absent",
    );
}

#[test]
fn a_link_is_up_only_as_what_it_is_and_to_a_known_site() {
    let (east, link) = ("connector/east", format!("{WEST_ROUTER}/links/0"));
    for (attribute, value, expected) in [
        ("status", json!("UP"), "up"),
        ("status", json!("down"), "idle"),
        ("status", json!(null), "idle"),
        ("status", json!(1), "idle"),
        ("peer", json!("door-of-west"), "up"),
        ("peer", json!("door-of-nobody"), "idle"),
        ("peer", json!(null), "idle"),
        ("role", json!("edge"), "absent"),
        ("role", json!(null), "idle"),
        ("linkCost", json!(1), "absent"),
        ("linkCost", json!(null), "idle"),
        ("linkCost", json!(-1), "idle"),
        ("name", json!("other"), "idle"),
    ] {
        check(
            &with_value(&format!("{link}/{attribute}"), value),
            east,
            expected,
        );
    }
    let down = mapped(
        &config(),
        &with_value(&format!("{link}/status"), json!("down")),
    );
    let remote = down.entries[east]
        .remote
        .as_ref()
        .expect("its peer is known");
    assert_eq!(
        (remote.id.as_str(), remote.name.as_deref()),
        ("uid-of-east", Some("east"))
    );
    assert!(!down.sites[1].links[0].operational);
    // In documents of version 1 the peer is a router.
    let mut old = with_value(&format!("{link}/peer"), json!("router-of-east"));
    old["siteStatus"][1]["routerStatus"][0]["router"]["identity"] = json!("router-of-east");
    check(&old, east, "up");
    let claimed = with_value(
        &format!("{WEST_ROUTER}/routerAccess/0/identity"),
        json!("door-of-east"),
    );
    check(&claimed, east, "idle");
}

fn connectors(state: &RouterState) -> usize {
    let is_connector = |key: &&String| key.starts_with("tcpConnector");
    state.entries.keys().filter(is_connector).count()
}

#[test]
fn of_entries_that_look_alike_none_is_there_until_all_are() {
    let access = "listener/access-inter-router";
    check(
        &with_value(&format!("{WEST_ROUTER}/routerAccess"), json!([])),
        access,
        "absent",
    );
    check(
        &with_value(&format!("{WEST_ROUTER}/routerAccess"), json!([])),
        "listener/@9090",
        "up",
    );
    check(
        &with_value(&format!("{WEST_ROUTER}/routerAccess"), json!(null)),
        access,
        "up",
    );
    let mut config = config();
    let twin = json!(["tcpConnector", { "name": "connector/twin@h", "host": "h", "port": 80, "address": "api" }]);
    config.as_array_mut().expect("it is a list").push(twin);
    let one = mapped(&config, &status());
    assert_eq!(connectors(&one), 0, "{one:?}");
    let connector = json!({ "address": "api", "destHost": "h", "destPort": "80" });
    let two = mapped(
        &config,
        &with_value(
            &format!("{WEST_ROUTER}/connectors"),
            json!([connector, connector]),
        ),
    );
    assert_eq!(connectors(&two), 2);
    assert_eq!(two.keys["api"].connectors, 2);
    // One each in two routers is one of them twice.
    let mut apart = status();
    let router = apart.pointer(WEST_ROUTER).expect("it is there").clone();
    let routers = apart.pointer_mut("/siteStatus/0/routerStatus");
    routers
        .and_then(Value::as_array_mut)
        .expect("it is a list")
        .push(router);
    assert_eq!(connectors(&mapped(&config, &apart)), 0);
}

#[test]
fn routers_of_one_site_and_its_twins_are_merged() {
    let mut all = status();
    let router = all.pointer(WEST_ROUTER).expect("it is there").clone();
    let routers = all["siteStatus"][0]["routerStatus"]
        .as_array_mut()
        .expect("it is a list");
    routers.push(router);
    routers[1]["links"][0]["status"] = json!("down");
    let two = mapped(&config(), &all);
    assert_eq!(two.error, None);
    assert_eq!(
        (
            two.sites.len(),
            two.sites[0].links.len(),
            two.sites[1].links.len()
        ),
        (2, 0, 1)
    );
    assert!(two.sites[1].links[0].operational);
    assert_eq!(two.keys["api"].connectors, 2);
    assert_eq!(two.services, mapped(&config(), &status()).services);
    let own = all["siteStatus"][0].clone();
    all["siteStatus"]
        .as_array_mut()
        .expect("it is a list")
        .push(own);
    let twice = mapped(&config(), &all);
    assert_eq!(twice.sites, two.sites);
    assert!(
        twice
            .error
            .expect("it is told")
            .contains("`siteStatus[2]` repeats site `uid-of-west`")
    );
}

/// Compares the error, and that nothing is Ready.
fn check_error(config: &str, status: Option<&str>, expected: &str) {
    let state = state(WEST, config, status);
    let error = state.error.expect("it is told");
    assert!(error.contains(expected), "{error}");
    assert!(error.is_ascii() && !error.ends_with('.'), "{error}");
    assert_eq!(state.entries, BTreeMap::new());
}

#[test]
fn nothing_is_ready_without_a_status_of_the_site() {
    let config = config().to_string();
    check_error(&config, None, "does not exist yet");
    for no_json in ["", "{", "\u{0}", &"[".repeat(100_000)] {
        check_error(&config, Some(no_json), "is no JSON: ");
    }
    for other in ["[]", "null", "7", "\"up\""] {
        check_error(
            &config,
            Some(other),
            "is no JSON object with a list `siteStatus`",
        );
    }
    for empty in [
        "{}",
        r#"{"addresses":null,"siteStatus":null}"#,
        r#"{"siteStatus":[]}"#,
    ] {
        check_error(
            &config,
            Some(empty),
            "has no router of site `uid-of-west` yet",
        );
    }
    check_error(
        &config,
        Some(r#"{"siteStatus":{}}"#),
        "`siteStatus` must be a list",
    );
    let no_router = with_value("/siteStatus/0/routerStatus", json!([])).to_string();
    check_error(&config, Some(&no_router), "has no router of site");
    let status = status().to_string();
    check_error(
        "",
        Some(&status),
        "`skupper-router`) is wrong: it is no JSON",
    );
    check_error(
        "{}",
        Some(&status),
        "it must be a list of [entity, attributes]",
    );
    let wrong = r#"[1, ["tcpListener"], ["sslProfile", {}], ["unknown", { "name": "x" }], ["tcpListener", 2]]"#;
    let expected = "element 0 must be [entity, attributes], element 1 must be [entity, attributes], element 2, a sslProfile, must have a `name`, and 1 more";
    check_error(wrong, Some(&status), expected);
}

#[test]
fn a_broken_record_is_named_and_spoils_no_other() {
    for (place, value, expected) in [
        (
            "/siteStatus/1",
            json!(1),
            "`siteStatus[1]` must be an object",
        ),
        (
            "/siteStatus/1/site",
            json!([]),
            "`siteStatus[1].site` must be an object",
        ),
        (
            "/siteStatus/1/site/identity",
            json!(5),
            "`siteStatus[1].site.identity` must be a text",
        ),
        (
            "/siteStatus/1/site/identity",
            json!(""),
            "`siteStatus[1].site.identity` must be a text that is not empty",
        ),
        (
            "/siteStatus/1/site/name",
            json!({}),
            "`siteStatus[1].site.name` must be a text",
        ),
        (
            "/siteStatus/1/routerStatus",
            json!("x"),
            "`siteStatus[1].routerStatus` must be a list",
        ),
        (
            "/siteStatus/1/routerStatus/0/router",
            json!(0),
            "`siteStatus[1].routerStatus[0].router` must be an object",
        ),
        (
            "/siteStatus/1/routerStatus/0/connectors/1",
            json!(null),
            "`siteStatus[1].routerStatus[0].connectors[1]` must be an object",
        ),
        (
            "/siteStatus/1/routerStatus/0/connectors/1/address",
            json!(0),
            "`siteStatus[1].routerStatus[0].connectors[1].address` must be a text",
        ),
        (
            "/siteStatus/1/routerStatus/0/routerAccess/0",
            json!({}),
            "`siteStatus[1].routerStatus[0].routerAccess[0].identity` must be a text",
        ),
    ] {
        let state = mapped(&config(), &with_value(place, value));
        let error = state.error.as_deref().expect("it is told");
        assert!(error.contains(expected), "{error}");
        assert!(
            error.contains("run all routers of the network on one version"),
            "{error}"
        );
        assert!(!state.keys.contains_key(""), "{place}");
        let words = state_names(&state);
        assert_eq!(words["tcpConnector/connector/api@h"], "up", "{place}");
        assert!(words.contains_key("tcpListener/listener/web"), "{place}");
        assert_eq!(state.sites.last().expect("there is one").id, WEST);
    }
    let many = with_value("/siteStatus/1/routerStatus", json!(vec![0; 1000]));
    let error = mapped(&config(), &many).error.expect("it is told");
    assert!(
        error.contains(", and 997 more;") && error.len() < 1000,
        "{error}"
    );
}

#[test]
fn a_document_of_version_1_is_read_as_far_as_it_goes() {
    let old = json!({
        "addresses": [{ "recType": "ADDRESS", "identity": "a", "startTime": 1, "endTime": 0, "name": "web", "listenerCount": 1, "connectorCount": 1 }],
        "siteStatus": [{
            "site": { "recType": "SITE", "identity": WEST, "endTime": 0, "nameSpace": "w", "name": "west", "policy": "disabled" },
            "routerStatus": [{
                "router": { "recType": "ROUTER", "identity": "r:0", "parent": WEST, "name": "0/west" },
                "links": [{ "identity": "r:1", "name": "east-1", "linkCost": 1, "direction": "outgoing" }],
                "listeners": [{ "identity": "r:2", "name": "listener/web", "destHost": "0.0.0.0", "destPort": "1024", "address": "web" }],
                "connectors": null,
            }],
        }],
    });
    let state = mapped(&config(), &old);
    assert_eq!(state.error, None);
    assert_eq!(state.sites[0].namespace.as_deref(), Some("w"));
    assert_eq!(state.sites[0].links, []);
    assert!(state.has_listener("web") && !state.has_connector("web"));
    assert_eq!(state_names(&state)["tcpListener/listener/web"], "idle");
}

#[test]
fn a_large_network_is_read() {
    let (sites, services) = (76, 1300);
    let site = |at: usize| {
        let of_site = (0..services).filter(|service| service % sites == at);
        let connectors = of_site.map(|service| json!({ "address": format!("key-{service}"), "destHost": "10.0.0.1", "destPort": "80" }));
        let listeners = (0..services).map(|service| json!({ "address": format!("key-{service}"), "name": format!("listener/{service}"), "destPort": "1" }));
        let links = (at + 1..sites).map(|to| json!({ "name": format!("to-{to}"), "status": "up", "peer": format!("door-{to}") }));
        json!({ "site": { "identity": format!("site-{at:02}"), "name": format!("name-{at}") }, "routerStatus": [{
            "links": Vec::from_iter(links), "routerAccess": [{ "identity": format!("door-{at}") }],
            "listeners": Vec::from_iter(listeners), "connectors": Vec::from_iter(connectors),
        }] })
    };
    let status = json!({ "siteStatus": Vec::from_iter((0..sites).map(site)) }).to_string();
    let listener = |service: usize| json!(["tcpListener", { "name": format!("listener/{service}"), "port": 1, "address": format!("key-{service}") }]);
    let config = json!(Vec::from_iter((0..services).map(listener))).to_string();
    let state = state("site-00", &config, Some(&status));
    assert_eq!(state.error, None);
    assert_eq!(
        (state.sites.len(), state.keys.len(), state.entries.len()),
        (sites, services, services)
    );
    assert!(
        state
            .keys
            .values()
            .all(|counts| counts.connectors == 1 && counts.listeners == sites)
    );
    assert!(state_names(&state).values().all(|word| *word == "up"));
    assert_eq!(
        state
            .sites
            .iter()
            .map(|site| site.links.len())
            .sum::<usize>(),
        sites * (sites - 1) / 2
    );
}
