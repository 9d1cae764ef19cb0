//! Documents applied to an agent: afterwards it has the requested entries, and no further change is
//! necessary.

use lifecycle_router::adaptor::amqp::{Client, Error};
use lifecycle_router::adaptor::changes::{Entry, Operation, changes, parse_elements};
use lifecycle_router::adaptor::observed::{Observed, Rows};
use lifecycle_router::adaptor::{Attributes, Entity};
use lifecycle_router::state::Status;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use crate::support::{Agent, PROTON};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_document_is_applied_once_and_its_changes_alone_afterwards,
        an_entry_that_the_router_refuses_spoils_no_other,
        the_state_is_read_back,
    ]
}

async fn current(client: &mut Client) -> Vec<Entry> {
    let mut entries = Vec::new();
    for entity in Entity::ALL {
        let rows = client.query(entity.name()).await.unwrap();
        let found = rows
            .into_iter()
            .filter_map(|row| Entry::from_attributes(entity, row));
        entries.extend(found);
    }
    entries
}

/// Applies a document, and returns the operations and the errors.
async fn apply(client: &mut Client, document: &Value) -> (Vec<String>, Vec<Error>) {
    let wanted = parse_elements(document.as_array().unwrap());
    assert_eq!(wanted.faults, Vec::<String>::new());
    let operations = changes(&current(client).await, &wanted.entries);
    let mut errors = Vec::new();
    for operation in &operations {
        errors.extend(client.apply(operation).await.err());
    }
    (
        operations.iter().map(Operation::to_string).collect(),
        errors,
    )
}

async fn applies(client: &mut Client, document: &Value, expected: &[&str]) {
    let (operations, errors) = apply(client, document).await;
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(operations, expected);
    let (operations, _) = apply(client, document).await;
    assert_eq!(operations, Vec::<String>::new(), "the second time");
}

fn document() -> Value {
    let files = "/etc/skupper-router-certs/web-profile";
    json!([
        ["router", {"id": "west-pod", "mode": "interior", "helloMaxAgeSeconds": "3"}],
        ["site", {"name": "west", "platform": "kubernetes"}],
        ["address", {"prefix": "mc", "distribution": "multicast"}],
        ["log", {"module": "ROUTER_CORE", "enable": "error+"}],
        ["listener", {"name": "@9090", "role": "normal", "port": 9090, "http": true, "healthz": true, "metrics": true}],
        ["listener", {"name": "amqp", "host": "localhost", "port": 5672}],
        ["listener", {"name": "router-inter-router", "role": "inter-router", "port": 55671, "sslProfile": "web-profile",
            "saslMechanisms": "EXTERNAL", "authenticatePeer": true, "cost": "2"}],
        ["sslProfile", {"name": "web-profile", "caCertFile": format!("{files}/ca.crt"), "ordinal": 2, "oldestValidOrdinal": 0}],
        ["connector", {"name": "east", "role": "inter-router", "host": "east.example", "port": "55671", "cost": 1, "sslProfile": "web-profile"}],
        ["tcpListener", {"name": "listener/backend", "port": "1024", "address": "backend", "siteId": "uid"}],
        ["tcpListener", {"name": "multi/m", "port": 1025, "multiAddressStrategy": "priority", "siteId": "uid"}],
        ["listenerAddress", {"name": "m/a", "address": "a", "value": 1, "listener": "multi/m"}],
        ["listenerAddress", {"name": "m/b", "address": "b", "value": 0, "listener": "multi/m"}],
        ["tcpConnector", {"name": "connector/web@10.1.2.3", "host": "10.1.2.3", "port": "8443", "address": "web",
            "siteId": "uid", "processId": "pod", "sslProfile": "web-profile", "verifyHostname": false}],
    ])
}

async fn a_document_is_applied_once_and_its_changes_alone_afterwards() {
    let mut agent = Agent::start();
    let fixed = agent.dump();
    let mut client = agent.client().await;
    let created = [
        "create sslProfile `web-profile`",
        "create connector `east`",
        "create listener `router-inter-router`",
        "create tcpListener `listener/backend`",
        "create tcpListener `multi/m`",
        "create tcpConnector `connector/web@10.1.2.3`",
        "create listenerAddress `m/a`",
        "create listenerAddress `m/b`",
    ];
    let mut document = document();
    applies(&mut client, &document, &created).await;
    let dump = agent.dump();
    assert_eq!(dump["listener"]["router-inter-router"]["cost"], 2);
    assert_eq!(dump["listener"]["router-inter-router"]["port"], "55671");
    assert_eq!(dump["tcpListener"]["multi/m"]["port"], "1025");
    assert_eq!(dump["listenerAddress"]["m/a"]["value"], 1);
    assert_eq!(
        dump["tcpConnector"]["connector/web@10.1.2.3"]["verifyHostname"],
        false
    );

    document[9][1]["observer"] = "none".into();
    applies(
        &mut client,
        &document,
        &["update tcpListener `listener/backend`"],
    )
    .await;
    document[7][1]["ordinal"] = 3.into();
    applies(&mut client, &document, &["update sslProfile `web-profile`"]).await;
    assert_eq!(agent.dump()["sslProfile"]["web-profile"]["ordinal"], 3);
    document[9][1]["observer"] = "".into();
    applies(
        &mut client,
        &document,
        &["update tcpListener `listener/backend`"],
    )
    .await;
    assert_eq!(
        agent.dump()["tcpListener"]["listener/backend"]["observer"],
        "auto"
    );
    document[10][1]["port"] = "1026".into();
    let replaced = [
        "delete listenerAddress `m/a`",
        "delete listenerAddress `m/b`",
        "delete tcpListener `multi/m`",
        "create tcpListener `multi/m`",
        "create listenerAddress `m/a`",
        "create listenerAddress `m/b`",
    ];
    applies(&mut client, &document, &replaced).await;

    agent.run("forget");
    applies(&mut client, &document, &created).await;

    let emptied = [
        "delete listenerAddress `m/a`",
        "delete listenerAddress `m/b`",
        "delete tcpConnector `connector/web@10.1.2.3`",
        "delete tcpListener `listener/backend`",
        "delete tcpListener `multi/m`",
        "delete connector `east`",
        "delete listener `router-inter-router`",
        "delete sslProfile `web-profile`",
    ];
    applies(&mut client, &json!([]), &emptied).await;
    assert_eq!(
        agent.dump(),
        fixed,
        "the router's own entities are as they were"
    );
}

async fn an_entry_that_the_router_refuses_spoils_no_other() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    agent.run("refuse CREATE tcpListener 400 no such file");
    let (operations, errors) = apply(&mut client, &document()).await;
    assert_eq!(operations.len(), 8);
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].to_string(),
        "CREATE tcpListener `listener/backend`: the router refused it with status 400: no such file"
    );
    applies(
        &mut client,
        &document(),
        &["create tcpListener `listener/backend`"],
    )
    .await;
}

async fn the_state_is_read_back() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    apply(&mut client, &document()).await;
    agent.run(r#"set tcpListener listener/backend {"operStatus": "up"}"#);
    agent.run(r#"set tcpListener multi/m {"connectionMsg": "Address already in use - proton:io"}"#);
    agent.run(r#"add router.address {"name": "Mbackend", "key": "Mbackend", "inProcess": 0, "subscriberCount": 0, "remoteCount": 1}"#);
    agent.run(
        r#"add connection {"name": "c1", "host": "east.example:55671", "role": "inter-router", "dir": "out",
        "container": "east-pod", "opened": true, "active": true}"#
            .replace('\n', " ")
            .as_str(),
    );
    let rows = |rows: Result<Vec<Attributes>, Error>| rows.unwrap();
    let rows = Rows {
        tcp_listeners: rows(client.query("tcpListener").await),
        tcp_connectors: rows(client.query("tcpConnector").await),
        connectors: rows(client.query("connector").await),
        addresses: rows(client.query("router.address").await),
        connections: rows(client.query("connection").await),
    };
    let observed = Observed::from_rows(&rows);
    let status = |entity, name: &str| observed.entry(entity, name).unwrap().status.clone();
    assert_eq!(status(Entity::TcpListener, "listener/backend"), Status::Up);
    assert_eq!(
        status(Entity::TcpListener, "multi/m"),
        Status::Failed("Address already in use - proton:io".to_owned())
    );
    assert_eq!(
        status(Entity::TcpConnector, "connector/web@10.1.2.3"),
        Status::Up
    );
    let link = observed.entry(Entity::Connector, "east").unwrap();
    assert_eq!(link.status, Status::Up);
    assert_eq!(link.remote_container.as_deref(), Some("east-pod"));
    assert_eq!(status(Entity::Connector, "auto-mesh-peer"), Status::Idle);
    assert_eq!(observed.addresses["backend"].remotes, 1);
    agent.run("remove connection c1");
    let connections = client.query("connection").await.unwrap();
    let observed = Observed::from_rows(&Rows {
        connections,
        ..rows
    });
    let link = observed.entry(Entity::Connector, "east").unwrap();
    assert_eq!(
        (link.status.clone(), link.remote_container.clone()),
        (Status::Idle, None)
    );
}
