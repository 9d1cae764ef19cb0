//! Content of the document for small sites, and the check that our router reads it.

use lifecycle_router::config;
use lifecycle_router::keys::Keys;

use super::super::ports::Holder;
use super::*;

fn allocation(name: &str, router_port: u16) -> PortAllocation {
    PortAllocation {
        holder: Holder::Listener,
        uid: format!("uid-{name}"),
        name: name.to_owned(),
        pod: None,
        host: name.to_owned(),
        port: 8080,
        router_port,
    }
}

fn spec_of(spec: Value) -> ListenerSpec {
    let mut whole = json!({ "routingKey": "backend", "host": "backend", "port": 8080 });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).expect("it is a spec")
}

fn connector(spec: Value) -> ConnectorSpec {
    let mut whole = json!({ "routingKey": "backend", "port": 9090 });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).expect("it is a spec")
}

const SITE: SiteIdentity<'static> = SiteIdentity {
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

/// The entries of a kind, by name.
fn entries(document: &Value, entity: &str) -> BTreeMap<String, Value> {
    let all = document.as_array().expect("it is an array").iter();
    let found = all.filter(|entry| entry[0] == entity);
    let named = found.map(|entry| (entry[1]["name"].as_str().unwrap_or_default(), &entry[1]));
    named
        .map(|(name, attributes)| (name.to_owned(), attributes.clone()))
        .collect()
}

#[test]
fn a_listener_and_the_ways_to_serve_it() {
    let (allocation, spec) = (allocation("backend", 1024), spec_of(json!({})));
    let host = connector(json!({ "host": "10.0.0.9" }));
    let pods = connector(json!({ "selector": "app=a", "exposePodsByName": true }));
    let pod = SelectedPod {
        name: "a-0".to_owned(),
        ip: "10.0.0.1".to_owned(),
    };
    let foreign = [(pod.clone(), String::new())];
    let selected = [(pod, "uid-a-0".to_owned())];
    let declared_connectors = [
        DeclaredConnector {
            name: "by-host",
            spec: &host,
            pods: &[],
        },
        DeclaredConnector {
            name: "by-pods",
            spec: &pods,
            pods: &selected,
        },
    ];
    let declared_listeners = [DeclaredListener {
        allocation: &allocation,
        spec: DeclaredSpec::One(&spec),
        platform: Platform::Kubernetes,
    }];
    let document = document(
        &SITE,
        &declared_listeners,
        &declared_connectors,
        &[],
        Vec::new(),
    );
    assert_eq!(document[0][0], "router");
    assert_eq!(document[0][1]["id"], "west-${HOSTNAME}");
    let listeners = entries(&document, "tcpListener");
    assert_eq!(
        listeners["listener/backend"],
        json!({ "name": "listener/backend", "port": "1024", "address": "backend", "siteId": "uid-west" })
    );
    let connectors = entries(&document, "tcpConnector");
    let names: Vec<_> = connectors.keys().collect();
    assert_eq!(
        names,
        [
            "connector/by-host@10.0.0.9",
            "connector/by-pods@10.0.0.1",
            "connector/by-pods@a-0"
        ]
    );
    assert_eq!(
        connectors["connector/by-pods@10.0.0.1"]["processId"],
        "uid-a-0"
    );
    // The router checks servers without a Pod, and leaves those with one to Kubernetes.
    let by_host = &connectors["connector/by-host@10.0.0.9"];
    assert_eq!(by_host.get("processId"), None);
    let of_others = DeclaredConnector {
        name: "attached",
        spec: &pods,
        pods: &foreign,
    };
    let of_others = connector_entries(&SITE, of_others);
    assert!(
        of_others
            .iter()
            .all(|(_, entry)| entry["processId"] == "a-0")
    );
    assert_eq!(
        connectors["connector/by-pods@a-0"]["address"],
        "backend.a-0"
    );
    assert_eq!(connectors["connector/by-pods@a-0"]["host"], "10.0.0.1");
}

#[test]
fn an_observer_is_taken_from_the_field_and_else_from_the_settings() {
    let observer = |spec: Value| {
        let (allocation, spec) = (allocation("a", 1024), spec_of(spec));
        let declared_listeners = [DeclaredListener {
            allocation: &allocation,
            spec: DeclaredSpec::One(&spec),
            platform: Platform::Kubernetes,
        }];
        let document = document(&SITE, &declared_listeners, &[], &[], Vec::new());
        entries(&document, "tcpListener")["listener/a"]
            .get("observer")
            .cloned()
    };
    assert_eq!(observer(json!({})), None);
    let setting = json!({ "observer": "none" });
    assert_eq!(
        observer(json!({ "settings": setting })),
        Some("none".into())
    );
    let both = json!({ "observer": "http2", "settings": setting });
    assert_eq!(observer(both), Some("http2".into()));
}

#[test]
fn a_secret_is_a_profile_and_its_authority_alone_is_another() {
    let one = allocation("one", 1024);
    let there = spec_of(json!({ "tlsCredentials": "there", "requireClientCert": true }));
    let checked = connector(json!({ "host": "h", "tlsCredentials": "there" }));
    let shown = json!({ "host": "h", "tlsCredentials": "there", "useClientCert": true, "verifyHostname": true });
    let shown = connector(shown);
    let declared_connectors =
        [("checked", &checked), ("shown", &shown)].map(|(name, spec)| DeclaredConnector {
            name,
            spec,
            pods: &[],
        });
    let declared_listeners = [DeclaredListener {
        allocation: &one,
        spec: DeclaredSpec::One(&there),
        platform: Platform::Kubernetes,
    }];
    let document = document(
        &SITE,
        &declared_listeners,
        &declared_connectors,
        &[],
        Vec::new(),
    );
    let listeners = entries(&document, "tcpListener");
    assert_eq!(listeners["listener/one"]["authenticatePeer"], true);
    let connectors = entries(&document, "tcpConnector");
    let checked = &connectors["connector/checked@h"];
    assert_eq!(
        (&checked["sslProfile"], &checked["verifyHostname"]),
        (&json!("there-profile"), &json!(false))
    );
    let shown = &connectors["connector/shown@h"];
    assert_eq!(
        (&shown["sslProfile"], &shown["verifyHostname"]),
        (&json!("there"), &json!(true))
    );
    let profiles = entries(&document, "sslProfile");
    assert_eq!(
        profiles.keys().collect::<Vec<_>>(),
        ["skupper-local-server", "there", "there-profile"]
    );
    assert_eq!(profiles["there-profile"].get("certFile"), None);
}

/// The router of this project reads the written document without an error.
#[test]
fn our_router_reads_it() {
    let allocation = allocation("backend", 1024);
    let spec =
        spec_of(json!({ "tlsCredentials": "tls", "requireClientCert": true, "observer": "http1" }));
    let connector =
        connector(json!({ "host": "h", "tlsCredentials": "tls", "useClientCert": true }));
    let declared_connectors = [DeclaredConnector {
        name: "c",
        spec: &connector,
        pods: &[],
    }];
    let declared_listeners = [DeclaredListener {
        allocation: &allocation,
        spec: DeclaredSpec::One(&spec),
        platform: Platform::Kubernetes,
    }];
    let document = document(
        &SITE,
        &declared_listeners,
        &declared_connectors,
        &[],
        Vec::new(),
    );
    let read = config::read(document.to_string().as_bytes()).expect("it is read");
    assert_eq!(read.faults, Vec::<String>::new());
    let listener = read.listeners["listener/backend"]
        .wanted
        .as_ref()
        .expect("it is right");
    assert_eq!(
        (listener.port, listener.keys.clone()),
        (1024, Keys::single("backend"))
    );
    assert!(listener.require_client_certificate);
    let connector = read.connectors["connector/c@h"]
        .wanted
        .as_ref()
        .expect("it is right");
    assert_eq!((connector.port, connector.verify_hostname), (9090, false));
    assert!(read.profiles["tls"].wanted.is_ok());
}

/// Row 58: whatever accepts such a Listener, the router opens no socket for it.
#[test]
fn s58_certificates_of_clients_are_asked_for_also_where_no_profile_is_named() {
    let allocation = allocation("backend", 1024);
    let spec = spec_of(json!({ "requireClientCert": true }));
    let declared = DeclaredListener {
        allocation: &allocation,
        spec: DeclaredSpec::One(&spec),
        platform: Platform::Kubernetes,
    };
    let document = document(&SITE, &[declared], &[], &[], Vec::new());
    let read = config::read(document.to_string().as_bytes()).expect("it is read");
    let wanted = &read.listeners["listener/backend"].wanted;
    assert_eq!(*wanted, Err(config::Wrong::AuthenticateWithoutProfile));
}

#[test]
fn ports_are_recovered_from_a_document_of_the_existing_implementation() {
    let text = r#"[["router",{"id":"west-pod","mode":"interior","helloMaxAgeSeconds":"3"}],
        ["tcpListener",{"name":"listener/backend","port":"1024","address":"backend","siteId":"x"}],
        ["tcpListener",{"name":"listener/backend@a-0","port":"1025","address":"backend.a-0"}],
        ["tcpListener",{"name":"listener/broken","port":"x"}]]"#;
    let before = recovered(text).expect("it is read");
    assert_eq!(
        before.recovered,
        [("listener/backend".to_owned(), 1024)].into()
    );
    assert!(recovered("{}").is_err());
}

#[test]
fn outside_kubernetes_the_router_listens_at_the_host_and_port_themselves() {
    let allocation = allocation("web", 1024);
    let spec = spec_of(json!({}));
    let at = |platform| {
        let declared = DeclaredListener {
            allocation: &allocation,
            spec: DeclaredSpec::One(&spec),
            platform,
        };
        let (_, attributes) = listener_entry(&SITE, declared);
        (attributes.get("host").cloned(), attributes["port"].clone())
    };
    assert_eq!(at(Platform::Linux), (Some("web".into()), "8080".into()));
    assert_eq!(at(Platform::Kubernetes), (None, "1024".into()));
}

#[test]
fn other_sites_link_by_a_listener_for_each_role() {
    let spec = json!({
        "roles": [{ "name": "inter-router" }, { "name": "edge", "port": 4000 }, { "name": "odd" }],
        "tlsCredentials": "server", "bindHost": "10.0.0.1", "settings": { "allowed-keys": "web" },
    });
    let spec: RouterAccessSpec = serde_json::from_value(spec).expect("it is a spec");
    let declared = DeclaredAccess {
        name: "door",
        spec: &spec,
    };
    let document = document(&SITE, &[], &[], &[declared], Vec::new());
    let listener = |name: &str, role: &str, port: u16| {
        json!({
            "name": name, "role": role, "host": "10.0.0.1", "port": port, "sslProfile": "server",
            "saslMechanisms": "EXTERNAL", "authenticatePeer": true, "allowedKeys": ["web"],
        })
    };
    let listeners = entries(&document, "listener");
    assert_eq!(listeners.len(), 3);
    let expected = listener("door-inter-router", "inter-router", 55671);
    assert_eq!(listeners["door-inter-router"], expected);
    assert_eq!(listeners["door-edge"], listener("door-edge", "edge", 4000));
    assert_eq!(
        entries(&document, "sslProfile")["server"],
        pair("server")[1]
    );
    let metadata = document[0][1]["metadata"].as_str().expect("it is a text");
    let metadata: Value = serde_json::from_str(metadata).expect("it is JSON");
    let expected = json!({ "id": "uid-west", "version": "0.1.0", "name": "west", "namespace": "west", "platform": "kubernetes" });
    assert_eq!(metadata, expected);
}
