//! Documents, good and bad.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

use super::*;

fn read_json(document: &Value) -> Desired {
    read(&serde_json::to_vec(document).unwrap()).unwrap()
}

/// Returns the listener with these attributes added, or its error.
fn listener_with(more: &Value) -> Result<Listener, String> {
    let mut attributes = json!({"name": "l", "port": "1024", "address": "key"});
    let object = attributes.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    let desired = read_json(&json!([["tcpListener", attributes]]));
    let wanted = desired.listeners["l"].wanted.clone();
    wanted.map_err(|wrong| wrong.to_string())
}

#[test]
fn a_document_of_the_existing_controller_is_understood() {
    let profile = "/etc/skupper-router-certs/web-profile/";
    let desired = read_json(&json!([
        ["router", {"id": "west-pod", "mode": "interior", "helloMaxAgeSeconds": "3", "metadata": "{}"}],
        ["site", {"name": "west", "platform": "kubernetes"}],
        ["address", {"prefix": "mc", "distribution": "multicast"}],
        ["listener", {"name": "@9090", "role": "normal", "port": 9090, "http": true, "healthz": true, "metrics": true}],
        ["listener", {"name": "amqp", "host": "localhost", "port": 5672}],
        ["log", {"module": "ROUTER_CORE", "enable": "error+"}],
        ["sslProfile", {"name": "web-profile", "caCertFile": format!("{profile}ca.crt"), "ordinal": 2, "oldestValidOrdinal": 0}],
        ["tcpListener", {"name": "listener/backend", "port": "1024", "address": "backend", "siteId": "uid"}],
        ["tcpConnector", {"name": "connector/web@10.1.2.3", "host": "10.1.2.3", "port": "8443", "address": "web",
            "siteId": "uid", "processId": "pod", "sslProfile": "web-profile", "verifyHostname": false}],
    ]));
    assert_eq!(desired.faults, Vec::<String>::new());
    assert_eq!(desired.router.as_deref(), Some("west-pod"));
    let listener = desired.listeners["listener/backend"].wanted.clone();
    assert_eq!(
        listener,
        Ok(Listener {
            host: None,
            port: 1024,
            keys: Keys::single("backend"),
            profile: None,
            require_client_certificate: false,
        })
    );
    let connector = desired.connectors["connector/web@10.1.2.3"].wanted.clone();
    assert_eq!(
        connector,
        Ok(Connector {
            host: Host::Address([10, 1, 2, 3].into()),
            port: 8443,
            key: "web".to_owned(),
            profile: Some("web-profile".to_owned()),
            verify_hostname: false,
            has_pod: true,
        })
    );
    let profile = desired.profiles["web-profile"].wanted.clone().unwrap();
    assert_eq!(profile.files().collect::<Vec<_>>(), ["web-profile/ca.crt"]);
}

#[test]
fn what_is_wrong_with_a_listener_is_said() {
    for (more, expected) in [
        (json!({"port": "0"}), "port `0` is not from 1 to 65535"),
        (
            json!({"port": 70000}),
            "port `70000` is not from 1 to 65535",
        ),
        (json!({"port": -1}), "port `-1` is not from 1 to 65535"),
        (json!({"port": "+80"}), "port `+80` is not from 1 to 65535"),
        (
            json!({"port": "http"}),
            "port `http` is not from 1 to 65535",
        ),
        (json!({"port": ""}), "`port` is missing"),
        (json!({"address": null}), "`address` is missing"),
        (
            json!({"address": ["a"]}),
            "`address` must be a text, a number or a boolean",
        ),
        (
            json!({"type": "sctp"}),
            "type `sctp` is not supported, only tcp is",
        ),
        (
            json!({"observer": "non"}),
            "`observer` is `non`; it can be auto, none, http1, http2",
        ),
        (
            json!({"host": "{bad}"}),
            "host `{bad}` is neither an address nor a DNS name",
        ),
        (
            json!({"host": "10.1.2.300"}),
            "host `10.1.2.300` is neither an address nor a DNS name",
        ),
        (
            json!({"host": "a".repeat(64)}),
            &format!(
                "host `{}` is neither an address nor a DNS name",
                "a".repeat(64)
            ),
        ),
        (
            json!({"authenticatePeer": "yes"}),
            "`authenticatePeer` needs an `sslProfile`",
        ),
        (
            json!({"authenticatePeer": "maybe"}),
            "`authenticatePeer` is `maybe`, neither true nor false",
        ),
        (
            json!({"autenticatePeer": true}),
            "`autenticatePeer` is no attribute of this entity",
        ),
    ] {
        assert_eq!(listener_with(&more), Err(expected.to_owned()), "{more}");
    }
    let well = json!({"type": "tcp", "observer": "http2", "host": "some_where.example.", "sslProfile": "p", "authenticatePeer": true});
    assert!(listener_with(&well).unwrap().require_client_certificate);
}

#[test]
fn keys_of_a_listener_with_a_strategy_are_entries_of_their_own() {
    let address = |name: &str, key: &str, value: Value| json!(["listenerAddress", {"name": name, "listener": "l", "address": key, "value": value}]);
    let with = |strategy: &str| {
        let desired = read_json(&json!([
            address("l/c", "c", json!(7)),
            address("l/a", "a", json!("2")),
            ["tcpListener", {"name": "l", "port": "1024", "multiAddressStrategy": strategy}],
            address("l/b", "b", json!(2)),
        ]));
        assert_eq!(desired.faults, Vec::<String>::new());
        let wanted = desired.listeners["l"].wanted.clone().unwrap();
        wanted.keys
    };
    let keys = ["c", "a", "b"].map(Into::into).to_vec();
    assert_eq!(with("priority"), Keys::Priority(keys));
    let weights = [("a", 2), ("b", 2), ("c", 7)].map(|(key, weight)| (key.into(), weight));
    assert_eq!(with("weighted"), Keys::Weighted(weights.into()));
}

#[test]
fn a_wrong_key_of_a_listener_spoils_no_other() {
    let wrong = |document: Value, name: &str| {
        let desired = read_json(&document);
        let wrong = desired.addresses[name].wanted.clone();
        wrong.map_err(|wrong| wrong.to_string()).unwrap_err()
    };
    let one = json!(["tcpListener", {"name": "one", "port": "1024", "address": "key"}]);
    let several =
        json!(["tcpListener", {"name": "l", "port": "1025", "multiAddressStrategy": "priority"}]);
    for (listener, key, value, expected) in [
        ("gone", "a", json!(1), "there is no tcpListener `gone`"),
        (
            "one",
            "a",
            json!(1),
            "tcpListener `one` has one routing key, its `address`: give it a `multiAddressStrategy`",
        ),
        (
            "l",
            "a",
            json!(-1),
            "value `-1` is no whole number up to 4294967295",
        ),
        ("l", "", json!(1), "`address` is missing"),
        (
            "l",
            "fine",
            json!(1),
            "tcpListener `l` has this routing key by another entry",
        ),
    ] {
        let bad = json!({"name": "m/bad", "listener": listener, "address": key, "value": value});
        let document = json!([
            one,
            several,
            ["listenerAddress", {"name": "l/fine", "listener": "l", "address": "fine"}],
            ["listenerAddress", bad],
        ]);
        assert_eq!(wrong(document.clone(), "m/bad"), expected);
        let listener = read_json(&document).listeners["l"].wanted.clone();
        assert_eq!(listener.unwrap().keys, Keys::Priority(vec!["fine".into()]));
    }
    for (attributes, expected) in [
        (
            json!({"multiAddressStrategy": "priority"}),
            "`address` and `multiAddressStrategy` exclude each other: the keys of a strategy are entries `listenerAddress`",
        ),
        (
            json!({"multiAddressStrategy": "random"}),
            "`multiAddressStrategy` is `random`; it can be none, priority, weighted",
        ),
    ] {
        assert_eq!(listener_with(&attributes), Err(expected.to_owned()));
    }
}

#[test]
fn files_of_profiles_lead_nowhere_else() {
    for path in [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "/etc/skupper-router-certs/",
        "a//b",
        "./a",
        "a\0",
    ] {
        let desired = read_json(&json!([["sslProfile", {"name": "p", "caCertFile": path}]]));
        let wrong = desired.profiles["p"].wanted.clone().unwrap_err();
        assert_eq!(wrong, Wrong::Outside(path.to_owned()));
    }
    let half = read_json(&json!([["sslProfile", {"name": "p", "certFile": "p/tls.crt"}]]));
    assert_eq!(
        half.profiles["p"].wanted,
        Err(Wrong::Missing("privateKeyFile"))
    );
    let none = read_json(&json!([["sslProfile", {"name": "p"}]]));
    assert_eq!(none.profiles["p"].wanted, Err(Wrong::EmptyProfile));
}

#[test]
fn elements_that_are_no_entries_are_faults_and_spoil_nothing() {
    let desired = read_json(&json!([
        17,
        ["tcpListener"],
        ["tcpListener", {"port": "1024", "address": "key"}],
        ["tcpListener", {"name": "l", "port": "1024", "address": "key"}],
        ["tcpListener", {"name": "l", "port": "1025", "address": "key"}],
        ["udpListener", {"name": "u"}],
        ["connector", {"name": "auto-mesh", "role": "normal"}],
        ["connector", {"role": "inter-router"}],
        ["listenerAddress", {"listener": "l", "address": "key"}],
    ]));
    assert_eq!(desired.listeners.len(), 1);
    assert_eq!(desired.listeners["l"].wanted.as_ref().unwrap().port, 1024);
    assert_eq!(
        desired.faults,
        [
            "element 0 is no [entity, attributes]",
            "element 1 is no [entity, attributes]",
            "a tcpListener has no `name`",
            "tcpListener `l` is there twice; the first is used",
            "`udpListener` is no entity of this router",
            "a connector has no `name`",
            "a listenerAddress has no `name`",
        ]
    );
    assert!(matches!(read(b"{}"), Err(Error::NotAnArray)));
    assert!(matches!(read(b"[[\"router\", {}]"), Err(Error::Json(_))));
}

/// Checks that a connector that leads to its own listener is refused, and that no other is.
#[test]
fn a_connector_that_leads_to_its_own_listener_is_refused_and_no_other() {
    let check = |listener: Value, connector: Value, expected: bool| {
        let whole = |mut entry: Value, address: &str| {
            entry["port"] = json!("8080");
            entry["address"] = json!(address);
            entry
        };
        let mut named = whole(connector, "k");
        named["name"] = json!("c");
        for (key, expected) in [("k", expected), ("other", false)] {
            let mut entry = whole(listener.clone(), key);
            entry["name"] = json!("l");
            let document = json!([["tcpListener", entry], ["tcpConnector", named]]);
            let desired = read(&serde_json::to_vec(&document).unwrap()).unwrap();
            let wanted = &desired.connectors["c"].wanted;
            assert_eq!(wanted.is_err(), expected, "{document}");
            let told = wanted.as_ref().err().map(ToString::to_string);
            assert!(told.is_none_or(|told| told.contains("`l`")));
        }
    };
    let at = |host: &str| json!({ "host": host });
    check(at("127.0.0.1"), at("127.0.0.1"), true);
    check(at("0.0.0.0"), at("127.0.0.1"), true);
    check(at("127.0.0.1"), at("localhost"), true);
    check(at("web.example.com"), at("Web.example.com"), true);
    check(at("127.0.0.1"), at("127.0.0.2"), false);
    check(at("10.0.0.1"), at("127.0.0.1"), false);
    check(json!({}), at("127.0.0.1"), false);
}

fn links_with(router: &Value, more: &Value) -> [Result<u32, String>; 2] {
    let mut all = json!({"name": "l", "role": "inter-router", "host": "east", "port": "55671", "sslProfile": "p"});
    let object = all.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    // The order of the document means nothing.
    let desired = read_json(&json!([
        ["connector", all],
        ["listener", all],
        ["router", router]
    ]));
    assert_eq!(desired.faults, Vec::<String>::new());
    let connector = desired.link_connectors["l"].wanted.clone();
    let listener = desired.link_listeners["l"].wanted.clone();
    let [connector, listener] = [
        connector.map(|link| link.cost),
        listener.map(|link| link.cost),
    ];
    [connector, listener].map(|read| read.map_err(|wrong| wrong.to_string()))
}

#[test]
fn links_are_read_and_what_is_wrong_with_one_is_said_of_it() {
    let site = json!({"id": "west-pod", "metadata": "{\"id\": \"uid\"}"});
    for (more, cost) in [
        (json!({}), 1),
        (json!({"cost": 7, "port": 55671}), 7),
        (json!({"cost": "0"}), 1),
        (
            json!({"cost": -3, "saslMechanisms": "EXTERNAL", "linkCapacity": "250"}),
            1,
        ),
        (json!({"role": "edge", "cost": "1000000"}), 1_000_000),
    ] {
        assert_eq!(links_with(&site, &more), [Ok(cost), Ok(cost)], "{more}");
    }
    for (more, expected) in [
        (
            json!({"cost": "cheap"}),
            "cost `cheap` is no whole number up to 1000000",
        ),
        (
            json!({"cost": 1_000_001}),
            "cost `1000001` is no whole number up to 1000000",
        ),
        (json!({"sslProfile": ""}), "`sslProfile` is missing"),
        (json!({"port": "0"}), "port `0` is not from 1 to 65535"),
        (
            json!({"host": "{bad}"}),
            "host `{bad}` is neither an address nor a DNS name",
        ),
        (
            json!({"saslMechanisms": "PLAIN"}),
            "`saslMechanisms` is `PLAIN`; it can be EXTERNAL",
        ),
        (
            json!({"allowKeys": "a"}),
            "`allowKeys` is no attribute of this entity",
        ),
    ] {
        let expected = Err(expected.to_owned());
        assert_eq!(
            links_with(&site, &more),
            [expected.clone(), expected],
            "{more}"
        );
    }
    let [connector, listener] = links_with(&site, &json!({"authenticatePeer": false}));
    assert!(connector.unwrap_err().contains("no attribute"));
    assert!(
        listener
            .unwrap_err()
            .contains("every link is authenticated")
    );
    let [connector, _] = links_with(&site, &json!({"proxyProfile": "p"}));
    assert!(connector.unwrap_err().contains("not supported"));
    let numbers = links_with(&site, &json!({"allowedKeys": [7]}));
    assert!(
        numbers
            .iter()
            .all(|wrong| wrong.clone().unwrap_err().contains("list of texts"))
    );
    for keys in [json!("a, b,"), json!(["a", "b"])] {
        let link = json!({"name": "l", "role": "edge", "host": "h", "port": 1, "sslProfile": "p", "allowedKeys": keys});
        let desired = read_json(&json!([["router", site], ["connector", link]]));
        let link = desired.link_connectors["l"].wanted.clone().unwrap();
        assert_eq!(
            link.allowed_keys,
            Some(["a", "b"].map(str::to_owned).into())
        );
    }
    let edge = json!({"id": "west", "mode": "edge"});
    let [connector, listener] = links_with(&edge, &json!({}));
    assert!(connector.is_ok() && listener.unwrap_err().contains("takes in no links"));
    let nobody = links_with(&json!({}), &json!({}));
    assert!(
        nobody
            .iter()
            .all(|wrong| wrong.clone().unwrap_err().contains("no id"))
    );
}

#[test]
fn a_site_is_who_its_router_says_it_is() {
    let identity = |document: Value| {
        let desired = read_json(&document);
        (desired.site, desired.faults)
    };
    let metadata = json!({"id": "uid", "version": "2.2", "name": "west", "namespace": "ns", "platform": "kubernetes"});
    let (site, faults) = identity(json!([
        ["site", {"name": "other", "location": "x"}],
        ["router", {"id": "west-pod", "mode": "edge", "metadata": metadata.to_string()}],
    ]));
    assert_eq!((site.id.as_deref(), site.edge), (Some("uid"), true));
    assert_eq!(site.version.as_deref(), Some("2.2"));
    assert_eq!(site.namespace.as_deref(), Some("ns"));
    assert!(faults.is_empty());
    let (site, faults) = identity(json!([
        ["router", {"id": "west-pod", "mode": "standalone", "metadata": "{"}],
        ["site", {"name": "west", "platform": "linux"}],
    ]));
    assert_eq!((site.id.as_deref(), site.edge), (Some("west-pod"), false));
    assert_eq!(
        (site.name.as_deref(), site.platform.as_deref()),
        (Some("west"), Some("linux"))
    );
    assert_eq!(
        faults,
        ["router: `mode` is `standalone`; it can be interior, edge"]
    );
    let (site, faults) = identity(json!([["router", {"id": "x".repeat(129)}]]));
    assert!(site.id.is_none() && faults[0].contains("longer than 128 bytes"));
}

#[test]
fn a_hash_tells_what_is_written_and_not_how() {
    let of = |value: Value| hash(value.as_object().unwrap());
    let one = of(json!({"name": "l", "port": "1024", "host": ""}));
    assert_eq!(one, of(json!({"port": 1024, "name": "l"})));
    assert_eq!(one.len(), 16);
    assert_ne!(one, of(json!({"port": 1025, "name": "l"})));
    assert_ne!(one, of(json!({"port": 1024, "name": "m"})));
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = [
        "name",
        "port",
        "host",
        "address",
        "sslProfile",
        "caCertFile",
        "certFile",
        "tcpListener",
        "tcpConnector",
        "sslProfile",
        "type",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(names.to_vec()).prop_map(Value::from),
        (0_u32..70_000).prop_map(|port| Value::from(port.to_string())),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        let key = proptest::sample::select(names.to_vec()).prop_map(str::to_owned);
        let entry = (
            key.clone(),
            proptest::collection::btree_map(key.clone(), inner.clone(), 0..6),
        )
            .prop_map(|(entity, map)| json!([entity, map]));
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec(entry, 0..6).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_or_refused_in_words(document in any_json()) {
        match read(&serde_json::to_vec(&document).unwrap()) {
            Err(error) => prop_assert!(!document.is_array(), "{error}"),
            Ok(desired) => {
                for listener in desired.listeners.values().flat_map(|entry| &entry.wanted) {
                    prop_assert!(listener.port > 0 && listener.keys.all().all(|key| !key.is_empty()));
                }
                for profile in desired.profiles.values().flat_map(|entry| &entry.wanted) {
                    prop_assert!(profile.files().all(|file| !file.starts_with('/') && !file.contains("..")));
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _any_answer_but_a_panic = read(&bytes);
    }

    #[test]
    fn a_document_that_is_cut_short_is_never_taken_for_a_whole_one(at in 0_usize..90) {
        let whole = br#"[["router", {"id": "w"}], ["tcpListener", {"name": "l", "port": "1024", "address": "k"}]]"#;
        prop_assert!(read(whole).is_ok());
        prop_assert!(read(&whole[..at.min(whole.len() - 1)]).is_err());
    }
}
