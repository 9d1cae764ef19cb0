//! Changes in a table, and at random against a model of the router.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

use super::*;

fn entry(kind: &str, attributes: Value) -> Entry {
    let Value::Object(attributes) = attributes else {
        panic!("attributes are an object");
    };
    Entry::from_attributes(Entity::from_name(kind).unwrap(), attributes).unwrap()
}

fn found(current: &[(&str, Value)], wanted: &[(&str, Value)]) -> Vec<Operation> {
    let entries = |of: &[(&str, Value)]| -> Vec<Entry> {
        let all = of
            .iter()
            .map(|(kind, attributes)| entry(kind, attributes.clone()));
        all.collect()
    };
    changes(&entries(current), &entries(wanted))
}

fn texts(operations: &[Operation]) -> Vec<String> {
    operations.iter().map(Operation::to_string).collect()
}

/// The operations for one tcpListener that has these attributes and is to have those.
fn of_listener(has: Value, want: Value) -> Vec<String> {
    let with = |more: Value| {
        let mut attributes = json!({"name": "l", "port": "1024", "address": "key"});
        let object = attributes.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        attributes
    };
    texts(&found(
        &[("tcpListener", with(has))],
        &[("tcpListener", with(want))],
    ))
}

const REPLACED: [&str; 2] = ["delete tcpListener `l`", "create tcpListener `l`"];

#[test]
fn equal_values_are_no_change() {
    for (has, want) in [
        (json!({}), json!({})),
        (json!({"port": "1024"}), json!({"port": 1024})),
        (json!({"port": 1024}), json!({"port": "1024"})),
        (
            json!({"authenticatePeer": false, "host": "", "backlog": 0, "observer": "auto"}),
            json!({}),
        ),
        (
            json!({}),
            json!({"authenticatePeer": false, "host": "", "backlog": "0", "observer": "auto"}),
        ),
        (
            json!({"authenticatePeer": true}),
            json!({"authenticatePeer": "yes"}),
        ),
        (
            json!({"authenticatePeer": "false"}),
            json!({"authenticatePeer": false}),
        ),
        (
            json!({"multiAddressStrategy": "none", "siteId": null}),
            json!({"siteId": ""}),
        ),
        (
            json!({"operStatus": "up", "connectionMsg": "x", "connectionsOpened": 4, "identity": "i", "type": "t"}),
            json!({}),
        ),
        (json!({}), json!({"type": "tcp", "new": false})),
    ] {
        assert_eq!(
            of_listener(has.clone(), want.clone()),
            Vec::<String>::new(),
            "{has} {want}"
        );
    }
}

#[test]
fn other_values_replace_a_listener() {
    for (has, want) in [
        (json!({}), json!({"port": "1025"})),
        (json!({}), json!({"host": "10.0.0.1"})),
        (json!({"host": "10.0.0.1"}), json!({})),
        (json!({}), json!({"authenticatePeer": true})),
        (json!({"authenticatePeer": true}), json!({})),
        (json!({"siteId": "a"}), json!({"siteId": "b"})),
        (json!({"siteId": "a"}), json!({})),
        (json!({}), json!({"sslProfile": "p"})),
        (json!({"sslProfile": "p"}), json!({})),
        (json!({"backlog": 5}), json!({})),
        (json!({}), json!({"multiAddressStrategy": "weighted"})),
        (
            json!({"observer": "auto"}),
            json!({"observer": "none", "address": "other"}),
        ),
        // The router will report that it does not know the attribute.
        (json!({}), json!({"allowedKeys": ["a"]})),
    ] {
        assert_eq!(
            of_listener(has.clone(), want.clone()),
            REPLACED,
            "{has} {want}"
        );
    }
}

#[test]
fn an_observer_is_updated() {
    let found = found(
        &[("tcpListener", json!({"name": "l", "observer": "auto"}))],
        &[("tcpListener", json!({"name": "l", "observer": "none"}))],
    );
    let attributes = json!({"observer": "none"}).as_object().unwrap().clone();
    let name = "l".to_owned();
    let entity = Entity::TcpListener;
    assert_eq!(
        found,
        [Operation::Update {
            entity,
            name,
            attributes
        }]
    );
}

#[test]
fn a_proxy_is_updated_under_its_links_unless_it_loses_a_value() {
    let link = ("connector", json!({"name": "out", "proxyProfile": "x"}));
    let with = |proxy: Value| [link.clone(), ("proxyProfile", proxy)];
    let open = json!({"name": "x", "host": "a", "port": "1"});
    let secured =
        json!({"name": "x", "host": "b", "port": "1", "username": "me", "password": "file:p"});
    assert_eq!(
        found(&with(open.clone()), &with(secured.clone())),
        [Operation::Update {
            entity: Entity::ProxyProfile,
            name: "x".to_owned(),
            attributes: json!({"host": "b", "username": "me", "password": "file:p"})
                .as_object()
                .unwrap()
                .clone()
        }]
    );
    assert_eq!(
        texts(&found(&with(secured), &with(open))),
        [
            "delete connector `out`",
            "delete proxyProfile `x`",
            "create proxyProfile `x`",
            "create connector `out`",
        ]
    );
}

#[test]
fn an_update_to_what_nobody_sets_sends_the_default() {
    for (kind, has, expected) in [
        (
            "tcpListener",
            json!({"name": "l", "observer": "http1"}),
            json!({"observer": "auto"}),
        ),
        (
            "sslProfile",
            json!({"name": "l", "ordinal": 3}),
            json!({"ordinal": 0}),
        ),
    ] {
        let found = found(&[(kind, has)], &[(kind, json!({"name": "l"}))]);
        let Some(Operation::Update { attributes, .. }) = found.first() else {
            panic!("{found:?}");
        };
        assert_eq!(Value::Object(attributes.clone()), expected);
    }
}

#[test]
fn attributes_are_sent_with_the_types_of_the_router() {
    let found = found(
        &[],
        &[
            (
                "connector",
                json!({"name": "east", "host": "h", "port": 55671, "cost": "3", "verifyHostname": "no",
                    "sslProfile": "", "type": "x", "linkCapacity": "many", "own": [1]}),
            ),
            (
                "listenerAddress",
                json!({"name": "a", "value": "2", "listener": "l", "address": 80}),
            ),
        ],
    );
    let sent = found.iter().map(|operation| match operation {
        Operation::Create { attributes, .. } => Value::Object(attributes.clone()),
        Operation::Delete { .. } | Operation::Update { .. } => panic!("{operation}"),
    });
    assert_eq!(
        sent.collect::<Vec<_>>(),
        [
            json!({"host": "h", "port": "55671", "cost": 3, "verifyHostname": false, "linkCapacity": "many", "own": [1]}),
            json!({"value": 2, "listener": "l", "address": "80"}),
        ]
    );
}

#[test]
fn entities_that_cannot_be_updated_are_replaced() {
    for (kind, has, want) in [
        ("tcpConnector", json!({"host": "a"}), json!({"host": "b"})),
        ("connector", json!({"cost": 1}), json!({"cost": 2})),
        ("listener", json!({"port": "1"}), json!({"port": "2"})),
        ("listenerAddress", json!({"value": 1}), json!({"value": 2})),
        (
            "sslProfile",
            json!({"certFile": "a"}),
            json!({"certFile": "b"}),
        ),
        (
            "sslProfile",
            json!({"ordinal": 1, "certFile": "a"}),
            json!({"ordinal": 2, "certFile": "b"}),
        ),
    ] {
        let named = |mut attributes: Value| {
            attributes["name"] = "n".into();
            attributes
        };
        let found = found(&[(kind, named(has))], &[(kind, named(want))]);
        let expected = [format!("delete {kind} `n`"), format!("create {kind} `n`")];
        assert_eq!(texts(&found), expected);
    }
}

#[test]
fn the_order_is_that_of_references() {
    let all = [
        ("listenerAddress", json!({"name": "a", "listener": "l"})),
        ("tcpConnector", json!({"name": "c"})),
        ("proxyProfile", json!({"name": "x"})),
        ("tcpListener", json!({"name": "l", "sslProfile": "p"})),
        ("sslProfile", json!({"name": "p"})),
        ("listener", json!({"name": "in"})),
        ("connector", json!({"name": "out", "proxyProfile": "x"})),
    ];
    assert_eq!(
        texts(&found(&[], &all)),
        [
            "create sslProfile `p`",
            "create proxyProfile `x`",
            "create connector `out`",
            "create listener `in`",
            "create tcpListener `l`",
            "create tcpConnector `c`",
            "create listenerAddress `a`",
        ]
    );
    assert_eq!(
        texts(&found(&all, &[])),
        [
            "delete listenerAddress `a`",
            "delete tcpConnector `c`",
            "delete tcpListener `l`",
            "delete connector `out`",
            "delete listener `in`",
            "delete sslProfile `p`",
            "delete proxyProfile `x`",
        ]
    );
}

#[test]
fn what_refers_to_a_replaced_entity_is_replaced() {
    let with = |file: &str| {
        [
            ("sslProfile", json!({"name": "p", "certFile": file})),
            ("sslProfile", json!({"name": "q"})),
            ("tcpListener", json!({"name": "l", "sslProfile": "p"})),
            ("tcpListener", json!({"name": "m", "sslProfile": "q"})),
            ("listenerAddress", json!({"name": "a", "listener": "l"})),
            ("listenerAddress", json!({"name": "b", "listener": "m"})),
        ]
    };
    assert_eq!(
        texts(&found(&with("old"), &with("new"))),
        [
            "delete listenerAddress `a`",
            "delete tcpListener `l`",
            "delete sslProfile `p`",
            "create sslProfile `p`",
            "create tcpListener `l`",
            "create listenerAddress `a`",
        ]
    );
}

#[test]
fn entities_of_the_router_itself_stay() {
    let fixed = [
        ("listener", json!({"name": "@9090", "port": "9090"})),
        ("listener", json!({"name": "amqp", "port": "5672"})),
        ("listener", json!({"name": "amqps", "port": "5671"})),
        ("connector", json!({"name": "auto-mesh-1", "cost": 1})),
        ("connector", json!({"name": "auto-mesh", "cost": 1})),
    ];
    assert_eq!(found(&fixed, &[]), []);
    assert_eq!(found(&[], &fixed), []);
    let others = [
        ("listener", json!({"name": "amqp", "port": "1"})),
        ("connector", json!({"name": "auto-mesh-1", "cost": 7})),
    ];
    assert_eq!(found(&fixed, &others), []);
    let look_alikes = [
        ("connector", json!({"name": "amqp"})),
        ("listener", json!({"name": "auto-mesh-1"})),
        ("connector", json!({"name": "my-auto-mesh"})),
    ];
    assert_eq!(found(&look_alikes, &[]).len(), 3);
}

#[test]
fn a_document_is_read_entry_by_entry() {
    let document = json!([
        ["router", {"id": "r"}],
        ["site", {}],
        ["log", {"module": "ROUTER"}],
        ["address", {"prefix": "mc"}],
        ["listener", {"name": "amqp", "port": 1}],
        ["tcpListener", {"name": "l", "port": "1"}],
        ["tcpListener", {"name": "l", "port": "2"}],
        ["tcpConnector", {"name": "l"}],
        ["tcpConnector", {"host": "h"}],
        ["tcpConnector", {"name": ""}],
        ["tcpConnector", {"name": 7}],
        ["httpListener", {"name": "h"}],
        ["tcpListener"],
        {"name": "n"},
    ]);
    let read = parse_elements(document.as_array().unwrap());
    let expected = [
        entry("tcpListener", json!({"name": "l", "port": "1"})),
        entry("tcpConnector", json!({"name": "l"})),
    ];
    assert_eq!(read.entries, expected);
    assert_eq!(
        read.faults,
        [
            "tcpListener `l` is in the document twice; the first is used",
            "element 8 of the document: a tcpConnector has no `name`",
            "element 9 of the document: a tcpConnector has no `name`",
            "element 10 of the document: a tcpConnector has no `name`",
            "element 11 of the document: `httpListener` is no entity of the router",
            "element 12 of the document is no [entity, attributes]",
            "element 13 of the document is no [entity, attributes]",
        ]
    );
}

/// Model of a router, limited to operations: it fills in defaults, refuses everything that the real
/// router refuses, and resolves references once.
#[derive(Debug, Default)]
struct Model {
    entities: BTreeMap<(Entity, String), Attributes>,
}

impl Model {
    fn with_own() -> Self {
        let mut model = Self::default();
        for (entity, name) in own() {
            model.create(entity, name, &Attributes::new());
        }
        model
    }

    fn has(&self, entity: Entity, name: &str) -> bool {
        self.entities.contains_key(&(entity, name.to_owned()))
    }

    fn create(&mut self, entity: Entity, name: &str, given: &Attributes) {
        assert!(!self.has(entity, name), "{entity} {name} is there");
        let mut attributes: Attributes = entity
            .definitions()
            .iter()
            .filter(|definition| definition.default.is_some())
            .map(|definition| {
                let name = definition.name;
                (name.to_owned(), entity.typed_default(name))
            })
            .collect();
        attributes.extend(given.clone());
        for (name, value) in [("name", name), ("operStatus", "up"), ("identity", "1")] {
            attributes.insert(name.to_owned(), value.into());
        }
        for (attribute, of) in entity.references() {
            if let Some(to) = attributes.get(*attribute).and_then(Value::as_str) {
                assert!(self.has(*of, to), "{entity} {name} refers to {of} {to}");
            }
        }
        self.entities.insert((entity, name.to_owned()), attributes);
    }

    fn apply(&mut self, operation: &Operation) {
        let (entity, name) = operation.subject();
        assert!(!entity.is_fixed(name), "{operation}");
        let key = (entity, name.to_owned());
        match operation {
            Operation::Create { attributes, .. } => self.create(entity, name, attributes),
            Operation::Update { attributes, .. } => {
                assert!(
                    attributes.keys().all(|name| entity.is_updatable(name)),
                    "{operation}"
                );
                let kept = self.entities.get_mut(&key).unwrap();
                kept.extend(attributes.clone());
            }
            Operation::Delete { .. } => {
                assert!(self.entities.remove(&key).is_some(), "{operation}");
                let refers = |(of, other): (&(Entity, String), &Attributes)| {
                    of.0.references().iter().any(|(attribute, to)| {
                        *to == entity && other.get(*attribute) == Some(&Value::from(name))
                    })
                };
                assert!(
                    !self.entities.iter().any(refers),
                    "{operation}: it is in use"
                );
            }
        }
    }

    fn entries(&self) -> Vec<Entry> {
        let entities = self.entities.iter();
        let entries = entities.map(|((entity, name), attributes)| Entry {
            entity: *entity,
            name: name.clone(),
            attributes: attributes.clone(),
        });
        entries.collect()
    }
}

fn own() -> [(Entity, &'static str); 4] {
    [
        (Entity::Listener, "@9090"),
        (Entity::Listener, "amqp"),
        (Entity::Listener, "amqps"),
        (Entity::Connector, "auto-mesh-1"),
    ]
}

fn value_of(kind: super::super::schema::Kind) -> BoxedStrategy<Value> {
    use super::super::schema::Kind;
    match kind {
        Kind::Text => prop_oneof![
            Just(json!("")),
            Just(Value::Null),
            "[a-c]".prop_map(Value::from),
            (0..3).prop_map(Value::from),
        ]
        .boxed(),
        Kind::Number => prop_oneof![
            (0..3).prop_map(Value::from),
            (0..3).prop_map(|number: i32| number.to_string().into()),
            Just(json!("")),
        ]
        .boxed(),
        Kind::Flag => prop_oneof![
            any::<bool>().prop_map(Value::from),
            Just(json!("yes")),
            Just(json!("false")),
        ]
        .boxed(),
    }
}

/// An entry of a document, with few names and values, so that many are equal.
fn any_entry() -> impl Strategy<Value = Entry> {
    (proptest::sample::select(&Entity::ALL[..]), 0..4_usize).prop_flat_map(|(entity, name)| {
        let references: Vec<&str> = entity.references().iter().map(|(name, _)| *name).collect();
        let own = own();
        let name = match (name, own.iter().find(|(of, _)| *of == entity)) {
            (3, Some((_, name))) => (*name).to_owned(),
            _ => format!("n{name}"),
        };
        let values = entity.definitions().iter().map(move |definition| {
            let value = if references.contains(&definition.name) {
                proptest::sample::select(&["n0", "n1", "n2", ""][..])
                    .prop_map(Value::from)
                    .boxed()
            } else {
                value_of(definition.kind)
            };
            let value = proptest::option::weighted(0.3, value);
            value.prop_map(|value| Some((definition.name.to_owned(), value?)))
        });
        values.collect::<Vec<_>>().prop_map(move |values| Entry {
            entity,
            name: name.clone(),
            attributes: values.into_iter().flatten().collect(),
        })
    })
}

/// Generates a document in which every reference has its object.
fn any_document() -> impl Strategy<Value = Vec<Entry>> {
    proptest::collection::vec(any_entry(), 0..14).prop_map(|entries| {
        let mut names = BTreeSet::new();
        let mut entries: Vec<Entry> = entries
            .into_iter()
            .filter(|entry| names.insert((entry.entity, entry.name.clone())))
            .collect();
        for entry in &mut entries {
            for (attribute, of) in entry.entity.references() {
                let to = entry.attributes.get(*attribute).and_then(Value::as_str);
                let is_there = to.is_some_and(|to| names.contains(&(*of, to.to_owned())));
                if !is_there {
                    entry.attributes.remove(*attribute);
                }
            }
        }
        entries
    })
}

/// Fails unless the router has exactly the wanted entries besides its own entities.
fn has_exactly(model: &Model, wanted: &[Entry]) {
    for entry in wanted
        .iter()
        .filter(|entry| !entry.entity.is_fixed(&entry.name))
    {
        let key = (entry.entity, entry.name.clone());
        let has = model
            .entities
            .get(&key)
            .unwrap_or_else(|| panic!("{key:?} is missing"));
        for definition in entry.entity.definitions() {
            let has = entry.entity.effective(has, definition.name);
            let want = entry.entity.effective(&entry.attributes, definition.name);
            assert_eq!(has, want, "{key:?} {}", definition.name);
        }
    }
    let is_wanted = |entity, name: &str| {
        wanted
            .iter()
            .any(|entry| entry.entity == entity && entry.name == name)
    };
    for (entity, name) in model.entities.keys() {
        assert!(
            entity.is_fixed(name) || is_wanted(*entity, name),
            "{entity} {name} is left"
        );
    }
    for (entity, name) in own() {
        assert!(model.has(entity, name), "{entity} {name} is gone");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, rng_seed: RngSeed::Fixed(36), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_there_the_router_has_what_is_wanted_and_the_second_time_nothing_is_to_be_done(
        documents in proptest::collection::vec(any_document(), 1..5),
    ) {
        let mut model = Model::with_own();
        for document in &documents {
            for operation in changes(&model.entries(), document) {
                model.apply(&operation);
            }
            has_exactly(&model, document);
            prop_assert_eq!(changes(&model.entries(), document), []);
        }
    }

    #[test]
    fn the_order_of_a_document_does_not_matter(document in any_document(), other in any_document()) {
        let reversed: Vec<Entry> = document.iter().rev().cloned().collect();
        prop_assert_eq!(changes(&other, &document), changes(&other, &reversed));
    }
}
