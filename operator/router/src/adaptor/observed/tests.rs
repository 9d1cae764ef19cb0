//! Readings of rows, whole and broken.

use serde_json::json;

use super::*;

fn rows(values: &[Value]) -> Vec<Attributes> {
    let rows = values
        .iter()
        .map(|value| value.as_object().unwrap().clone());
    rows.collect()
}

fn failed(message: &str) -> Status {
    Status::Failed(message.to_owned())
}

#[test]
fn a_listener_is_up_idle_or_failed() {
    for (row, expected) in [
        (json!({"operStatus": "up"}), Status::Up),
        (json!({"operStatus": "up", "connectionMsg": ""}), Status::Up),
        (json!({"operStatus": "down"}), Status::Idle),
        (
            json!({"operStatus": "down", "connectionMsg": ""}),
            Status::Idle,
        ),
        (
            json!({"operStatus": "down", "connectionMsg": "Address already in use - proton:io"}),
            failed("Address already in use - proton:io"),
        ),
        (json!({}), Status::Idle),
        (json!({"operStatus": 7, "connectionMsg": 8}), failed("8")),
    ] {
        let mut named = row.clone();
        named["name"] = "l".into();
        let tcp_listeners = rows(&[named]);
        let observed = Observed::from_rows(&Rows {
            tcp_listeners,
            ..Rows::default()
        });
        let entry = observed.entry(Entity::TcpListener, "l").unwrap();
        assert_eq!(entry.status, expected, "{row}");
        assert_eq!(observed.entry(Entity::TcpConnector, "l"), None);
    }
}

#[test]
fn a_connector_is_up_unless_the_router_says_otherwise() {
    for (row, expected) in [
        (json!({"name": "c"}), Status::Up),
        (
            json!({"name": "c", "operStatus": "up", "connectionMsg": "old"}),
            Status::Up,
        ),
        (json!({"name": "c", "operStatus": "down"}), Status::Idle),
        (
            json!({"name": "c", "operStatus": "down", "connectionMsg": "no"}),
            failed("no"),
        ),
    ] {
        let tcp_connectors = rows(&[row]);
        let observed = Observed::from_rows(&Rows {
            tcp_connectors,
            ..Rows::default()
        });
        assert_eq!(observed.entries[0].status, expected);
    }
}

/// The link `east` beside a connection with these attributes.
fn link(connector: Value, connection: Value) -> (Status, Option<String>) {
    let mut named =
        json!({"name": "east", "host": "east.example", "port": "55671", "role": "inter-router"});
    let object = named.as_object_mut().unwrap();
    object.extend(connector.as_object().unwrap().clone());
    let observed = Observed::from_rows(&Rows {
        connectors: rows(&[named]),
        connections: rows(&[connection]),
        ..Rows::default()
    });
    let entry = observed.entry(Entity::Connector, "east").unwrap();
    (entry.status.clone(), entry.remote_container.clone())
}

fn connection(more: Value) -> Value {
    let mut connection = json!({"host": "east.example:55671", "role": "inter-router", "dir": "out", "opened": true,
        "active": true, "container": "east-pod"});
    let object = connection.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    connection
}

#[test]
fn a_link_is_up_while_its_connection_is_open() {
    let up = (Status::Up, Some("east-pod".to_owned()));
    assert_eq!(link(json!({}), connection(json!({}))), up);
    assert_eq!(link(json!({"port": 55671}), connection(json!({}))), up);
    assert_eq!(link(json!({}), connection(json!({"active": null}))), up);
    assert_eq!(
        link(
            json!({"connectionStatus": "FAILED", "connectionMsg": "old"}),
            connection(json!({}))
        ),
        up
    );
    assert_eq!(
        link(json!({}), connection(json!({"container": null}))),
        (Status::Up, None)
    );
    for other in [
        json!({"host": "west.example:55671"}),
        json!({"host": "east.example:5671"}),
        json!({"role": "inter-router-data"}),
        json!({"role": "edge"}),
        json!({"dir": "in"}),
        json!({"opened": false}),
        json!({"opened": null}),
        json!({"active": false}),
    ] {
        assert_eq!(
            link(json!({}), connection(other.clone())),
            (Status::Idle, None),
            "{other}"
        );
    }
}

/// Message in the words of the real router.
const REFUSED: &str = "Connection to 127.0.0.1:55671 failed: proton:io Connection refused - disconnected 127.0.0.1:55671";
const UNTRUSTED: &str = "Connection to 127.0.0.1:55671 failed: amqp:connection:framing-error SSL Failure: error:0A000086:SSL routines::certificate verify failed";

#[test]
fn a_link_that_fails_says_why() {
    for (row, expected) in [
        (
            json!({"connectionStatus": "FAILED", "connectionMsg": "refused"}),
            failed("refused"),
        ),
        (
            json!({"connectionStatus": "FAILED"}),
            failed("the router cannot connect and gives no reason"),
        ),
        (
            json!({"connectionStatus": "CONNECTING", "connectionMsg": "[C318] Connection Opened: dir=out"}),
            Status::Idle,
        ),
        (json!({"connectionStatus": "CONNECTING"}), Status::Idle),
        (
            json!({"connectionStatus": "CONNECTING", "connectionMsg": REFUSED}),
            failed(REFUSED),
        ),
        (
            json!({"connectionStatus": "CONNECTING", "connectionMsg": UNTRUSTED}),
            failed(UNTRUSTED),
        ),
        (
            json!({"connectionStatus": "SUCCESS", "connectionMsg": REFUSED}),
            Status::Idle,
        ),
        (json!({"port": null}), Status::Idle),
    ] {
        assert_eq!(link(row, json!({})), (expected, None));
    }
}

#[test]
fn routing_keys_are_counted_and_other_addresses_left_out() {
    let observed = Observed::from_rows(&Rows {
        addresses: rows(&[
            json!({"name": "Mweb", "key": "Mweb", "inProcess": 1, "subscriberCount": 2, "remoteCount": 3}),
            json!({"name": "Mnone", "inProcess": 0, "remoteCount": "many"}),
            json!({"key": "M"}),
            json!({"key": "Rrouter"}),
            json!({"key": "L$management", "inProcess": 1}),
            json!({}),
        ]),
        tcp_listeners: rows(&[json!({"operStatus": "up"}), json!({"name": ""})]),
        ..Rows::default()
    });
    let web = AddressCounts {
        in_process: 1,
        subscribers: 2,
        remotes: 3,
    };
    let expected = [("none", AddressCounts::default()), ("web", web)];
    let expected = expected.map(|(key, counts)| (key.to_owned(), counts));
    assert_eq!(observed.addresses, BTreeMap::from(expected));
    assert!(web.is_reachable() && !AddressCounts::default().is_reachable());
    assert_eq!(observed.entries, []);
}
