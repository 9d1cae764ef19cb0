//! Listeners with several routing keys, of one site and over links.

use lifecycle_router::state::Status;
use serde_json::{Value, json};

use crate::network::{Row, count, sequence, west_but};
use crate::support::{Server, TestSite, connector, ping, port, read_until_close};

/// A listener with a strategy, and an element for each key.
fn several(name: &str, port: u16, strategy: &str, keys: &[(&str, u32)]) -> Vec<Value> {
    let listener = json!(["tcpListener", {"name": name, "port": port.to_string(), "multiAddressStrategy": strategy}]);
    let addresses = keys.iter().map(|(key, value)| {
        json!(["listenerAddress", {"name": format!("{name}/{key}"), "listener": name, "address": key, "value": value}])
    });
    std::iter::once(listener).chain(addresses).collect()
}

fn document(elements: &[Value], connectors: &[Value]) -> Value {
    let all = elements.iter().chain(connectors).cloned();
    all.collect()
}

async fn collect_replies(site: &TestSite, port: u16, times: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..times {
        all.push(read_until_close(site.connect(port).await).await);
    }
    all
}

#[tokio::test]
async fn the_first_key_that_has_a_server_takes_all_and_no_connection_fails_when_it_goes() {
    let site = TestSite::new();
    let port = port(10);
    let (first, second) = (Server::named("first").await, Server::named("second").await);
    let elements = several("m", port, "priority", &[("a", 2), ("b", 1)]);
    let a = connector("a", first.address, "a");
    let b = connector("b", second.address, "b");
    site.apply(&document(&elements, &[])).await;
    assert_eq!(site.status("m"), Status::Idle);
    assert!(site.is_refused(port).await);
    site.apply(&document(&elements, std::slice::from_ref(&b)))
        .await;
    assert_eq!(collect_replies(&site, port, 3).await, ["second"; 3]);
    let status = |name: &str| {
        let state = site.state();
        state.entry("listenerAddress", name).unwrap().status.clone()
    };
    assert_eq!([status("m/a"), status("m/b")], [Status::Idle, Status::Up]);
    site.apply(&document(&elements, &[a, b])).await;
    assert_eq!(collect_replies(&site, port, 3).await, ["first"; 3]);
    assert_eq!(site.state().keys["a"].listeners, 1);
    // The server is gone before the router knows: the next key takes the refused streams.
    first.end().await;
    assert_eq!(collect_replies(&site, port, 3).await, ["second"; 3]);
}

#[tokio::test]
async fn connections_go_by_weight_and_0_gets_none() {
    let site = TestSite::new();
    let port = port(11);
    let servers = [
        Server::named("a").await,
        Server::named("b").await,
        Server::named("none").await,
    ];
    let elements = several("m", port, "weighted", &[("a", 3), ("b", 1), ("none", 0)]);
    let connectors = ["a", "b", "none"].iter().zip(&servers);
    let connectors: Vec<Value> = connectors
        .map(|(key, server)| connector(key, server.address, key))
        .collect();
    site.apply(&document(&elements, &connectors)).await;
    let all = collect_replies(&site, port, 40).await;
    let counts = ["a", "b", "none"].map(|name| count(&all, name));
    assert_eq!(counts, [30, 10, 0]);
    site.apply(&document(&elements, &connectors[1..])).await;
    assert_eq!(collect_replies(&site, port, 3).await, ["b"; 3]);
    site.apply(&document(&elements, &connectors[2..])).await;
    assert_eq!(site.status("m"), Status::Idle, "nothing goes to weight 0");
}

#[tokio::test]
async fn a_key_more_or_less_ends_no_connection() {
    let site = TestSite::new();
    let port = port(12);
    let (echo, other) = (Server::echo().await, Server::named("other").await);
    let connectors = [
        connector("a", echo.address, "a"),
        connector("b", other.address, "b"),
    ];
    let keys = [("a", 2), ("b", 1)];
    site.apply(&document(
        &several("m", port, "priority", &keys[..1]),
        &connectors,
    ))
    .await;
    let mut client = site.connect(port).await;
    ping(&mut client, 35).await;
    site.apply(&document(
        &several("m", port, "priority", &keys),
        &connectors,
    ))
    .await;
    ping(&mut client, 36).await;
    site.apply(&document(
        &several("m", port, "priority", &keys[1..]),
        &connectors,
    ))
    .await;
    ping(&mut client, 37).await;
    assert_eq!(collect_replies(&site, port, 2).await, ["other"; 2]);
    // Another port is another listener.
    site.apply(&document(
        &several("m", port + 1, "priority", &keys),
        &connectors,
    ))
    .await;
    assert!(site.is_refused(port).await);
}

#[tokio::test]
async fn a_key_of_another_site_takes_over_and_gives_back() {
    let (near, far) = (Server::named("near").await, Server::named("far").await);
    let row = Row::new(&[("far", &far)]).await;
    let port = port(13);
    let mut west = west_but(&row.west);
    west.extend(several("m", port, "priority", &[("near", 2), ("far", 1)]));
    row.west.apply(&west);
    row.west.until("m", "Up").await;
    assert_eq!(sequence(&row.west, port, 2).await, ["far"; 2]);
    west.push(connector("near", near.address, "near"));
    row.west.apply(&west);
    row.west.until("m/near", "Up").await;
    assert_eq!(sequence(&row.west, port, 2).await, ["near"; 2]);
    near.end().await;
    assert_eq!(sequence(&row.west, port, 2).await, ["far"; 2]);
    // Both sites learn which sites offer the key.
    let is_told = |state: &Value| state["keys"]["far"]["listeners"] == 2;
    row.east.process.until(is_told).await;
}
