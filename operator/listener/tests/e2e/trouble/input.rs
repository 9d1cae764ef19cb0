//! Listeners that cannot be exposed: each reports the reason and the remedy, stops there, and
//! recovers after a correction.

use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition, message};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, case};
use serde_json::{Value, json};

use super::{BINARIES, writes_to};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "b28_b29_b33_b36_what_nothing_can_be_made_of_says_why_and_what_to_do",
        BINARIES,
        bad_specs,
    )]
}

/// Longer than the first pauses of a back-off.
const QUIET: Duration = Duration::from_secs(6);

/// A Listener, the reason for its rejection, and words of its message.
type Bad = (String, Value, &'static str, Vec<&'static str>);

fn bad() -> Vec<Bad> {
    [
        without_class(),
        without_ports(),
        clashing(),
        unusable(),
        misnamed(),
    ]
    .concat()
}

fn row(name: &str, spec: Value, reason: &'static str, says: &[&'static str]) -> Bad {
    (name.to_owned(), spec, reason, says.to_vec())
}

fn listener_spec(ports: Value) -> Value {
    json!({ "className": "cluster-internal", "ports": ports })
}

fn http() -> Value {
    json!([{ "name": "http", "port": 8080 }])
}

fn without_class() -> Vec<Bad> {
    let unknown = json!({ "className": "nowhere", "ports": http() });
    let empty = json!({ "className": "", "ports": http() });
    vec![
        row(
            "no-class",
            json!({ "ports": http() }),
            "NoListenerClass",
            &["spec.className"],
        ),
        row("empty-class", empty, "NoListenerClass", &["spec.className"]),
        row(
            "unknown-class",
            unknown,
            "ListenerClassNotFound",
            &["nowhere"],
        ),
    ]
}

fn without_ports() -> Vec<Bad> {
    let bad = [
        ("ports-absent", json!({ "className": "cluster-internal" })),
        ("ports-null", listener_spec(json!(null))),
        ("ports-empty", listener_spec(json!([]))),
    ];
    bad.map(|(name, spec)| row(name, spec, "NoPorts", &["set `spec.ports`"]))
        .into()
}

fn clashing() -> Vec<Bad> {
    let two = |a: Value, b: Value| listener_spec(json!([a, b]));
    let named = json!({ "name": "a", "port": 80 });
    let renamed = json!({ "name": "b", "port": 80, "protocol": "TCP" });
    let moved = json!({ "name": "a", "port": 81 });
    let udp = json!({ "name": "a", "port": 80, "protocol": "UDP" });
    let own_name: &[&str] = &["`a`", "give each port a name of its own"];
    let bad: [(&str, Value, &[&'static str]); 3] = [
        (
            "two-names",
            two(named.clone(), renamed),
            &["port 80", "keep one of them"],
        ),
        ("one-name", two(named.clone(), moved), own_name),
        ("two-protocols", two(named, udp), own_name),
    ];
    bad.map(|(name, spec, says)| row(name, spec, "PortClash", says))
        .into()
}

fn unusable() -> Vec<Bad> {
    let port = |number: i64| listener_spec(json!([{ "name": "http", "port": number }]));
    let pigeon =
        listener_spec(json!([{ "name": "http", "port": 80, "protocol": "carrier pigeon" }]));
    let bad: [(&str, Value, &[&'static str]); 4] = [
        ("port-zero", port(0), &["port 0", "from 1 to 65535"]),
        (
            "port-high",
            port(70_000),
            &["port 70000", "from 1 to 65535"],
        ),
        ("port-low", port(-1), &["port -1", "from 1 to 65535"]),
        (
            "protocol",
            pigeon,
            &["port 80", "carrier pigeon", "choose TCP, UDP or SCTP"],
        ),
    ];
    bad.map(|(name, spec, says)| row(name, spec, "InvalidPort", says))
        .into()
}

fn misnamed() -> Vec<Bad> {
    let port = listener_spec(json!([{ "name": "Not A Name", "port": 80 }]));
    let bad: [(&str, Value, &[&'static str]); 4] = [
        ("port-name", port, &["Not A Name", "lower-case letters"]),
        (
            "with.dot",
            listener_spec(http()),
            &["a dot", "another name"],
        ),
        (
            &"l".repeat(64),
            listener_spec(http()),
            &["64 characters", "shorter name"],
        ),
        (
            &"l".repeat(253),
            listener_spec(http()),
            &["253 characters", "shorter name"],
        ),
    ];
    bad.map(|(name, spec, says)| row(name, spec, "InvalidName", says))
        .into()
}

async fn bad_specs() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(refuse_all(&cluster).await)
}

async fn refuse_all(cluster: &Cluster) -> Result<()> {
    cluster.expose("neighbour", "cluster-internal").await?;
    let neighbour = cluster.ready("neighbour").await?;
    let since = Timestamp::now();
    let all = bad();
    try_join_all(
        all.iter()
            .map(|(name, spec, ..)| cluster.create(name, spec.clone())),
    )
    .await?;
    for (name, _, reason, says) in &all {
        let refused = cluster
            .condition(name, ExpectedCondition("Accepted", "False", reason))
            .await?;
        for condition in ["Accepted", "Ready"] {
            let said = message(&refused, condition);
            let missed: Vec<_> = says
                .iter()
                .filter(|words| !said.contains(**words))
                .collect();
            ensure!(
                missed.is_empty(),
                "{condition} of {name} lacks {missed:?}: {said}"
            );
        }
        let phase = refused.status.and_then(|s| s.phase);
        ensure!(phase.as_deref() == Some("Error"), "{name}: {phase:?}");
    }
    tokio::time::sleep(QUIET).await;
    let asked = cluster.requests().await?.since(since);
    eprintln!("{} bad Listeners: {:?}", all.len(), asked.counts());
    for (name, ..) in &all {
        let statuses = writes_to(&asked, "listeners", name);
        ensure!(statuses.len() == 1, "{name}: {}", statuses.lines());
    }
    ensure!(asked.counts().writes == all.len(), "{}", asked.lines());
    let told = asked.of_cost(Cost::Event);
    ensure!(
        told.iter().all(|e| e.code == 201) && told.len() == all.len(),
        "{}",
        told.lines()
    );
    is_quiet(cluster).await?;
    nothing_else(cluster, &neighbour).await?;
    heal(cluster, &all).await
}

/// Nothing but watches and Leases for a while.
async fn is_quiet(cluster: &Cluster) -> Result<()> {
    let since = Timestamp::now();
    tokio::time::sleep(QUIET).await;
    let asked = cluster.requests().await?.since(since);
    let asked = asked.only(|e| !matches!(e.cost(), Cost::Watch | Cost::Lease));
    ensure!(asked.is_empty(), "{}", asked.lines());
    Ok(())
}

async fn nothing_else(cluster: &Cluster, neighbour: &Listener) -> Result<()> {
    let services = cluster.all::<Service>().list(&Default::default()).await?;
    let names: Vec<String> = services.iter().map(ResourceExt::name_any).collect();
    ensure!(
        names == ["kubernetes", "neighbour"] || names == ["neighbour"],
        "{names:?}"
    );
    let now = cluster.namespaced::<Listener>().get("neighbour").await?;
    ensure!(&now == neighbour, "{now:?}");
    Ok(())
}

async fn heal(cluster: &Cluster, all: &[Bad]) -> Result<()> {
    let correct = json!({ "spec": {
        "className": "cluster-internal",
        "ports": [{ "name": "http", "port": 8080 }],
    } });
    let names = all
        .iter()
        .filter(|(.., reason, _)| *reason != "InvalidName");
    let mut healed = 0;
    for (name, ..) in names {
        cluster.patch::<Listener>(name, correct.clone()).await?;
        cluster.ready(name).await?;
        healed += 1;
    }
    ensure!(healed == all.len() - 4, "{healed} healed");
    Ok(())
}
