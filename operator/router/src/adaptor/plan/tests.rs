//! Tests of entries that must not be touched, of renewed profiles, and of the router's own entities
//! that remain.

use std::path::Path;

use serde_json::json;

use super::super::document::Loaded;
use super::*;
use crate::snapshot::Snapshot;
use crate::tls::MissingFile;

fn document(elements: &Value) -> Document {
    let file = |_: &str, _: &crate::config::Profile, _: &str| {
        Err(MissingFile::Gone(
            "TLS credentials secret \"web\" not found".to_owned(),
        ))
    };
    let snapshot = Snapshot::read(elements.to_string().as_bytes(), file).unwrap();
    let mut loaded = Loaded::default();
    loaded.update(&snapshot);
    let mut document = Document::new(
        &snapshot,
        &loaded,
        (Path::new("/certs"), Path::new("/proxies")),
    );
    for item in &mut document.items {
        // As if its files were good.
        if item.name == "good" {
            item.wanted = Ok(item.attributes.clone());
        }
    }
    document
}

fn profile(name: &str) -> Value {
    json!(["sslProfile", {"name": name, "certFile": format!("{name}/tls.crt"), "privateKeyFile": format!("{name}/tls.key")}])
}

fn elements() -> Value {
    json!([
        profile("web"),
        profile("good"),
        ["tcpListener", {"name": "l", "port": "1", "address": "a", "sslProfile": "good"}],
        ["tcpListener", {"name": "m", "port": "2", "address": "a", "sslProfile": "web"}],
        ["listenerAddress", {"name": "m/a", "listener": "m", "address": "a", "value": 1}],
        ["tcpListener", {"name": "p", "port": "0", "address": "a"}],
    ])
}

fn current(elements: &Value) -> Current {
    let mut current = Current::default();
    for element in elements.as_array().unwrap() {
        let entity = Entity::from_name(element[0].as_str().unwrap()).unwrap();
        let row = element[1].as_object().unwrap().clone();
        current.rows.entry(entity).or_default().push(row);
    }
    current
}

fn texts(plan: &Plan) -> Vec<String> {
    plan.operations.iter().map(Operation::to_string).collect()
}

fn blocked(entity: Entity, name: &str) -> BTreeMap<Key, String> {
    BTreeMap::from([((entity, name.to_owned()), "no".to_owned())])
}

#[test]
fn a_missing_secret_fails_what_names_it_and_what_names_that() {
    let none = (BTreeMap::new(), BTreeSet::new());
    let plan = Plan::new(
        &document(&elements()),
        &Current::default(),
        &none.0,
        &none.1,
    );
    assert_eq!(
        texts(&plan),
        ["create sslProfile `good`", "create tcpListener `l`"]
    );
    let gone = "TLS credentials secret \"web\" not found";
    let failed = |entity, name: &str| plan.failed[&(entity, name.to_owned())].clone();
    assert_eq!(failed(Entity::SslProfile, "web"), gone);
    assert_eq!(failed(Entity::TcpListener, "m"), gone);
    assert_eq!(failed(Entity::ListenerAddress, "m/a"), gone);
    assert_eq!(
        failed(Entity::TcpListener, "p"),
        "port `0` is not from 1 to 65535"
    );
    assert_eq!(plan.failed.len(), 4);
}

#[test]
fn a_refused_profile_that_the_router_has_stays_and_one_that_it_lacks_fails_its_listener() {
    let document = document(&json!([elements()[1], elements()[2]]));
    let blocked = blocked(Entity::SslProfile, "good");
    let unloaded = BTreeSet::from([(Entity::SslProfile, "good".to_owned())]);
    let has = current(&json!([elements()[1], elements()[2]]));
    let plan = Plan::new(&document, &has, &blocked, &unloaded);
    assert_eq!((texts(&plan), plan.failed.len()), (Vec::new(), 0));
    let plan = Plan::new(&document, &Current::default(), &blocked, &unloaded);
    assert_eq!((texts(&plan), plan.failed.len()), (Vec::new(), 2));
}

#[test]
fn new_files_raise_the_ordinal_unless_the_document_names_one() {
    let unloaded = BTreeSet::from([(Entity::SslProfile, "good".to_owned())]);
    let none = BTreeMap::new();
    for (named, has, expected) in [
        (json!({}), json!({}), json!({"ordinal": 1})),
        (
            json!({}),
            json!({"ordinal": 4, "oldestValidOrdinal": 2}),
            json!({"ordinal": 5}),
        ),
        (
            json!({}),
            json!({"ordinal": 3, "oldestValidOrdinal": 7}),
            json!({"ordinal": 8}),
        ),
        (
            json!({"oldestValidOrdinal": 9}),
            json!({"ordinal": 4}),
            json!({"ordinal": 10, "oldestValidOrdinal": 9}),
        ),
        (
            json!({"ordinal": "4"}),
            json!({"ordinal": 4}),
            json!({"ordinal": 4}),
        ),
        (
            json!({"ordinal": 6, "oldestValidOrdinal": 5}),
            json!({"ordinal": 4}),
            json!({"ordinal": 6, "oldestValidOrdinal": 5}),
        ),
    ] {
        let with = |more: &Value| {
            let mut element = elements()[1].clone();
            let attributes = element[1].as_object_mut().unwrap();
            attributes.extend(more.as_object().unwrap().clone());
            json!([element, elements()[2]])
        };
        let plan = Plan::new(
            &document(&with(&named)),
            &current(&with(&has)),
            &none,
            &unloaded,
        );
        let [Operation::Update { attributes, .. }] = plan.operations.as_slice() else {
            panic!("{:?}", plan.operations);
        };
        assert_eq!(Value::Object(attributes.clone()), expected);
        let plan = Plan::new(
            &document(&with(&json!({}))),
            &current(&with(&has)),
            &none,
            &BTreeSet::new(),
        );
        assert_eq!(texts(&plan), Vec::<String>::new());
    }
}

#[test]
fn a_profile_of_the_routers_own_listener_stays() {
    let own = json!([
        ["sslProfile", {"name": "local", "certFile": "local/tls.crt"}],
        ["listener", {"name": "amqps", "port": "5671", "sslProfile": "local"}],
        ["tcpListener", {"name": "old", "port": "1", "address": "a"}],
    ]);
    let plan = Plan::new(
        &document(&json!([])),
        &current(&own),
        &BTreeMap::new(),
        &BTreeSet::new(),
    );
    assert_eq!(texts(&plan), ["delete tcpListener `old`"]);
    let plan = Plan::new(
        &document(&json!([])),
        &current(&own),
        &blocked(Entity::TcpListener, "old"),
        &BTreeSet::new(),
    );
    assert_eq!(texts(&plan), Vec::<String>::new());
}

#[test]
fn a_proxy_with_a_new_password_is_updated_though_nothing_of_it_differs() {
    let proxy =
        json!({"name": "squid", "host": "h", "port": "1", "username": "me", "password": "pass:x"});
    let link = json!({"name": "out", "role": "inter-router", "proxyProfile": "squid"});
    let elements = json!([["proxyProfile", proxy], ["connector", link]]);
    let unloaded = BTreeSet::from([(Entity::ProxyProfile, "squid".to_owned())]);
    let (document, has) = (document(&elements), current(&elements));
    let plan = Plan::new(&document, &has, &BTreeMap::new(), &unloaded);
    let [Operation::Update { attributes, .. }] = plan.operations.as_slice() else {
        panic!("{:?}", plan.operations);
    };
    let expected = json!({"password": "pass:x"});
    assert_eq!(Value::Object(attributes.clone()), expected);
    let blocked = blocked(Entity::ProxyProfile, "squid");
    let plan = Plan::new(&document, &has, &blocked, &unloaded);
    assert_eq!(texts(&plan), Vec::<String>::new());
}
