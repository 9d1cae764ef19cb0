//! MultiKeyListeners: several routing keys behind one Service, of one site and over a Link.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use lifecycle_runtime::yaml;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::links::Hub;
use super::support::{Echo, connect, echoes, greeted, listen, refused, shared, soon_greeted};
use crate::place::{SOON, TestNamespace, has_report, report};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("a_multi_key_listener_falls_back_over_a_link", by_priority),
        shared("a_multi_key_listener_divides_by_weight", by_weight),
        shared(
            "a_multi_key_listener_and_a_site_that_comes_and_goes",
            between_sites,
        ),
        shared("a_host_is_of_one_kind_of_listeners", host_kind_conflict),
        shared("a_multi_key_listener_that_cannot_be_is_told", bad),
    ]
}

async fn several(place: &TestNamespace, name: &str, strategy: Value) -> Result<MultiKeyListener> {
    let spec = json!({ "host": name, "port": 8080, "strategy": strategy });
    place.make(name, json!({ "spec": spec })).await
}

/// Waits until it has this message, with these keys under its strategy, and returns it.
async fn until_reaches(
    place: &TestNamespace,
    (name, message): (&str, &str),
    expected: Value,
) -> Result<MultiKeyListener> {
    let what = format!("MultiKeyListener {name} says {message} and reaches {expected}");
    let reached = |l: &MultiKeyListener| {
        let strategy = l.status.as_ref().and_then(|status| status.strategy.clone());
        report(l).1 == message && json!(strategy) == expected
    };
    place.until(name, &what, reached).await
}

fn ordered(keys: &[&str]) -> Value {
    json!({ "priority": { "routingKeysReachable": keys } })
}

/// The one of `docs/skupper.md`.
fn of_the_page() -> Result<Value> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/skupper.md");
    let text = fs::read_to_string(page)?;
    let mut blocks = text.split("```");
    let block = blocks.find(|block| block.contains("kind: MultiKeyListener"));
    let block = block.and_then(|block| block.strip_prefix("yaml"));
    Ok(yaml::parse_one(block.context("the page has one")?)?)
}

async fn by_priority(mut east: TestNamespace) -> Result<()> {
    let hub = Hub::start(Arc::clone(&east.env)).await?;
    let (near, far) = (Echo::start("near").await?, Echo::start("far").await?);
    let (of_near, of_far) = (
        json!({ "routingKey": "db-near" }),
        json!({ "routingKey": "db-far" }),
    );
    connect(&hub.place, "far", far.at, of_far).await?;
    east.site().await?;
    east.post::<MultiKeyListener>(&of_the_page()?).await?;
    until_reaches(&east, ("db", "No matching connectors"), ordered(&[])).await?;
    let port = east.router_port("db", 5432).await?;
    refused(&east, port).await?;
    hub.join(&east).await?;
    let reached = until_reaches(&east, ("db", "OK"), ordered(&["db-far"])).await?;
    let status = reached.status.context("it has a status")?;
    ensure!(status.has_destination == Some(true), "{status:?}");
    let mut old = soon_greeted(&east, port, "far").await?;
    // The first key has a server now: it gets new connections, and old ones stay.
    connect(&east, "near", near.at, of_near).await?;
    until_reaches(&east, ("db", "OK"), ordered(&["db-near", "db-far"])).await?;
    soon_greeted(&east, port, "near").await?;
    echoes(&mut old, 1000).await?;
    let matched = |c: &Connector| has_report(c, "Ready", "OK");
    east.until("near", "its key is offered", matched).await?;
    let what = "the Connector of the other site is told as well";
    hub.place.until("far", what, matched).await?;
    // No connection fails when its server goes before the router knows. Its socket closes a moment
    // after this.
    let at = near.at;
    drop(near);
    while TcpStream::connect(at).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for _ in 0..5 {
        greeted(&east, port, "far").await?;
    }
    let turned =
        json!({ "spec": { "strategy": { "priority": { "routingKeys": ["db-far", "db-near"] } } } });
    east.patch::<MultiKeyListener>("db", turned).await?;
    until_reaches(&east, ("db", "OK"), ordered(&["db-far", "db-near"])).await?;
    echoes(&mut old, 1000).await?;
    east.delete::<MultiKeyListener>("db").await?;
    east.gone::<Service>("db").await?;
    refused(&east, port).await
}

async fn by_weight(mut place: TestNamespace) -> Result<()> {
    let (many, few) = (Echo::start("m").await?, Echo::start("f").await?);
    place.site().await?;
    connect(&place, "many", many.at, json!({ "routingKey": "many" })).await?;
    connect(&place, "few", few.at, json!({ "routingKey": "few" })).await?;
    let weights = json!({ "many": 3, "few": 1, "none": 0 });
    let strategy = json!({ "weighted": { "routingKeys": weights } });
    several(&place, "db", strategy).await?;
    let reached = json!({ "weighted": { "routingKeysReachable": { "few": 1, "many": 3 } } });
    until_reaches(&place, ("db", "OK"), reached).await?;
    let port = place.router_port("db", 8080).await?;
    let expected = BTreeMap::from([('f', 5), ('m', 15)]);
    let counts = shares(&place, port, 20).await?;
    ensure!(counts == expected, "{counts:?}");
    place.delete::<Connector>("many").await?;
    let reached = json!({ "weighted": { "routingKeysReachable": { "few": 1 } } });
    until_reaches(&place, ("db", "OK"), reached).await?;
    greeted(&place, port, "f").await?;
    // The API server takes the status also when nothing is left of a map in it.
    place.delete::<Connector>("few").await?;
    let nothing = |listener: &MultiKeyListener| {
        let status = listener.status.as_ref();
        status.is_some_and(|status| {
            status.strategy.is_none() && status.common.status.as_deref() == Some("Pending")
        })
    };
    let what = "it reaches nothing";
    place.until::<MultiKeyListener>("db", what, nothing).await?;
    connect(&place, "few", few.at, json!({ "routingKey": "few" })).await?;
    let reached = json!({ "weighted": { "routingKeysReachable": { "few": 1 } } });
    until_reaches(&place, ("db", "OK"), reached).await.map(drop)
}

/// Returns the number of connections that each server answers, by the one letter that the server
/// sends.
async fn shares(place: &TestNamespace, port: u16, count: usize) -> Result<BTreeMap<char, usize>> {
    let mut shares = BTreeMap::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect((place.address, port)).await?;
        let letter = timeout(SOON, stream.read_u8()).await??;
        echoes(&mut stream, 1000).await?;
        *shares.entry(char::from(letter)).or_default() += 1;
    }
    Ok(shares)
}

/// One key is served here and one behind a Link, with one Listener of each strategy. The other site goes and returns.
async fn between_sites(mut east: TestNamespace) -> Result<()> {
    let mut hub = Hub::start(Arc::clone(&east.env)).await?;
    let (near, far) = (Echo::start("n").await?, Echo::start("f").await?);
    let (of_near, of_far) = (
        json!({ "routingKey": "near" }),
        json!({ "routingKey": "far" }),
    );
    east.site().await?;
    connect(&east, "near", near.at, of_near).await?;
    connect(&hub.place, "far", far.at, of_far).await?;
    hub.join(&east).await?;
    let weights = json!({ "weighted": { "routingKeys": { "far": 3, "near": 1 } } });
    several(&east, "divided", weights).await?;
    let order = json!({ "priority": { "routingKeys": ["far", "near"] } });
    several(&east, "ordered", order).await?;
    for is_back in [false, true] {
        let both = json!({ "weighted": { "routingKeysReachable": { "far": 3, "near": 1 } } });
        until_reaches(&east, ("divided", "OK"), both).await?;
        until_reaches(&east, ("ordered", "OK"), ordered(&["far", "near"])).await?;
        let divided = east.router_port("divided", 8080).await?;
        let in_order = east.router_port("ordered", 8080).await?;
        // Thirty of forty, were nothing else to count.
        let counts = shares(&east, divided, 40).await?;
        let of_far = counts.get(&'f').copied().unwrap_or_default();
        eprintln!("{of_far} of 40 connections went over the Link");
        ensure!((24..=36).contains(&of_far), "{counts:?}");
        let counts = shares(&east, in_order, 5).await?;
        ensure!(counts == BTreeMap::from([('f', 5)]), "{counts:?}");
        if is_back {
            break;
        }
        hub.place.kill_router()?;
        let rest = json!({ "weighted": { "routingKeysReachable": { "near": 1 } } });
        until_reaches(&east, ("divided", "OK"), rest).await?;
        until_reaches(&east, ("ordered", "OK"), ordered(&["near"])).await?;
        for port in [divided, in_order] {
            let counts = shares(&east, port, 5).await?;
            ensure!(counts == BTreeMap::from([('n', 5)]), "{counts:?}");
        }
        hub.place.run_router().await?;
    }
    Ok(())
}

/// A Service has one writer: a host is of the kind that came first.
async fn host_kind_conflict(mut place: TestNamespace) -> Result<()> {
    let echo = Echo::start("one").await?;
    place.site().await?;
    connect(&place, "c", echo.at, json!({})).await?;
    let strategy = json!({ "priority": { "routingKeys": ["backend"] } });
    several(&place, "db", strategy.clone()).await?;
    until_reaches(&place, ("db", "OK"), ordered(&["backend"])).await?;
    let service = place.api::<Service>().get("db").await?;
    let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
    let names: Vec<_> = ports
        .iter()
        .map(|port| (port.name.as_deref(), port.port))
        .collect();
    ensure!(names == [(Some("multiaddress-db"), 8080)], "{names:?}");
    listen(&place, "same", json!({ "host": "db" })).await?;
    let said = "MultiKeyListener db with host db and port 8080 already exists in namespace";
    let told = |l: &Listener| has_report(l, "Error", said);
    place.until("same", "it names who has both", told).await?;
    listen(&place, "beside", json!({ "host": "db", "port": 5432 })).await?;
    let said = "MultiKeyListener db has host db, and a host is of MultiKeyListeners or of Listeners: take another host";
    let told = |l: &Listener| has_report(l, "Error", said);
    place
        .until("beside", "it names who has the host", told)
        .await?;
    place.delete::<MultiKeyListener>("db").await?;
    for name in ["same", "beside"] {
        let what = "who waited has the host";
        let ready = |l: &Listener| has_report(l, "Ready", "OK");
        place.until(name, what, ready).await?;
    }
    place.delete::<Listener>("same").await?;
    let taken = json!({ "spec": { "host": "db", "port": 1, "strategy": strategy } });
    place.make::<MultiKeyListener>("late", taken).await?;
    let said = "Listener beside has host db, and a host is of Listeners or of MultiKeyListeners: take another host";
    let told = |l: &MultiKeyListener| has_report(l, "Error", said);
    place
        .until("late", "it names a Listener", told)
        .await
        .map(drop)
}

async fn bad(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let mut refusals = Vec::new();
    let (p, w) = (
        json!({ "routingKeys": ["a"] }),
        json!({ "routingKeys": { "a": 1 } }),
    );
    for strategy in [
        json!({}),
        json!({ "priority": p, "weighted": w }),
        json!({ "priority": { "routingKeys": [] } }),
        json!({ "priority": { "routingKeys": ["a", "a"] } }),
    ] {
        let refused = several(&place, "refused", strategy).await;
        refusals.push(
            refused
                .map(|_| ())
                .expect_err("it is refused by its schema"),
        );
    }
    for (refusal, expected) in
        refusals
            .iter()
            .zip(["exactly one", "exactly one", "at least 1", "Duplicate"])
    {
        let said = format!("{refusal:#}");
        ensure!(said.contains(expected), "{said}");
    }
    for (name, strategy, expected) in [
        (
            "minus",
            json!({ "weighted": { "routingKeys": { "a": -1 } } }),
            "spec.strategy: weight -1 of \"a\" must be between 0 and 4294967295",
        ),
        (
            "zero",
            json!({ "weighted": { "routingKeys": { "a": 0 } } }),
            "spec.strategy has no weight above 0, so connections would go nowhere",
        ),
        (
            "empty",
            json!({ "priority": { "routingKeys": ["a", ""] } }),
            "spec.strategy has an empty routing key: leave it out",
        ),
    ] {
        several(&place, name, strategy).await?;
        let told = |l: &MultiKeyListener| has_report(l, "Error", expected);
        place.until(name, expected, told).await?;
    }
    several(&place, "fine", json!({ "priority": p })).await?;
    until_reaches(&place, ("fine", "No matching connectors"), ordered(&[])).await?;
    let other = json!({ "spec": { "strategy": { "priority": null, "weighted": w } } });
    let refused = place.patch::<MultiKeyListener>("fine", other).await;
    let said = format!("{:#}", refused.expect_err("the strategy stays"));
    ensure!(said.contains("strategy is immutable"), "{said}");
    Ok(())
}
