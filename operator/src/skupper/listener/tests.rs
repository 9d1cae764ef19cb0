//! What a Listener reads off its Site's table and off the router.

use lifecycle_router::config;
use lifecycle_specs::skupper::router::{Does, RouterEntry, Sides};
use serde_json::{Value, json};

use super::*;

struct Nobody;

impl Routers for Nobody {
    async fn ask(&self, _: Vec<&Pod>) -> Result<RouterState, CallError> {
        Err(CallError::Failed("nobody".to_owned()))
    }
}

fn logic() -> Listeners<Nobody> {
    Listeners::new(
        Keeper::new("skupper", "controller"),
        Arc::new(Nobody),
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

fn table(claims: Value) -> ConfigMap {
    let map = json!({ "metadata": { "name": "skupper-router" }, "data": { "claims": claims.to_string() } });
    serde_json::from_value(map).expect("it is a ConfigMap")
}

fn claims(uid: &str, name: &str) -> Value {
    json!([{ "uid": uid, "name": name, "host": "db", "port": 80, "routerPort": 1024 }])
}

#[test]
fn what_another_has_is_named() {
    let check = |port, table: &ConfigMap, expected, sentence: &str| {
        let listener = listener(port);
        let answer = logic().claim(This::of(&listener), table);
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
    };
    check(80, &table(claims("u-a", "a")), Claim::Held, "");
    let said = "Listener b with host db and port 80 already exists in namespace";
    check(80, &table(claims("u-b", "b")), Claim::Lost, said);
    let said = "its Site has not given it a port of the router yet";
    check(81, &table(claims("u-a", "a")), Claim::None, said);
    let mut full = table(json!([]));
    let text = json!(["u-a"]).to_string();
    full.data
        .get_or_insert_default()
        .insert("full".to_owned(), text);
    let said = "the configuration of the router has no room for it: delete Listeners, or Connectors of many Pods";
    check(80, &full, Claim::Full, said);
}

/// What a router tells that carries the Listener out.
fn report(does: Does, connectors: usize) -> RouterState {
    let (listener, site) = (listener(80), site());
    let map = Table::of(&table(claims("u-a", "a")));
    let offer = Offer {
        claim: map.claim("u-a").expect("it has one"),
        spec: &listener.spec,
        platform: Platform::Kubernetes,
    };
    let entry = document::listener(&home::identity(&site), offer);
    let hash = config::hash(&entry.1);
    let sides = Sides {
        connectors,
        listeners: 1,
    };
    RouterState {
        error: None,
        entries: [(document::key(&entry), RouterEntry { hash, does })].into(),
        keys: [("backend".to_owned(), sides)].into(),
    }
}

#[test]
fn the_router_is_believed_only_of_what_is_declared() {
    let (listener, site, table) = (listener(80), site(), table(claims("u-a", "a")));
    let check = |report: &RouterState, entry, reach, sentence: &str| {
        let this = This::of(&listener);
        let answer = logic().entry(this, &site, &table, report);
        assert_eq!(answer.value, entry);
        let answer = logic().reach(this, &site, &table, report);
        assert_eq!((answer.value, answer.sentence.as_str()), (reach, sentence));
    };
    check(&report(Does::Up, 1), Entry::Current, Reach::Up, "");
    check(&report(Does::Idle, 0), Entry::Current, Reach::Idle, "");
    // What contradicts itself is in the middle of a change.
    check(&report(Does::Idle, 1), Entry::Behind, Reach::Idle, "");
    check(&report(Does::Up, 0), Entry::Behind, Reach::Idle, "");
    let taken = Does::Failed("cannot listen on 10.0.0.1:1024: Address already in use".to_owned());
    let said = "cannot listen on 10.0.0.1:1024: Address already in use";
    check(&report(taken, 1), Entry::Current, Reach::Failed, said);
    let mut other = report(Does::Up, 1);
    for entry in other.entries.values_mut() {
        entry.hash = "of something else".to_owned();
    }
    check(&other, Entry::Behind, Reach::Idle, "");
    check(&RouterState::default(), Entry::Behind, Reach::Idle, "");
}

#[test]
fn a_match_is_a_flag_that_is_there_or_not() {
    let listener = listener(80);
    let flag = |report: &RouterState| logic().has_matching_connector(This::of(&listener), report);
    assert_eq!(flag(&report(Does::Up, 2)), Some(true));
    assert_eq!(flag(&report(Does::Idle, 0)), None);
}
