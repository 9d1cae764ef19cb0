//! Overrides that are not permitted or that the API server refuses, and odd declarations that still
//! result in a Service.

use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition, SOON, message};
use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_inspect::explain::{Explained, explain};
use lifecycle_listener::controller::lifecycles;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::{BINARIES, writes_to};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b34_overrides_that_cannot_be_taken_say_so_and_write_nothing",
            BINARIES,
            refused,
        ),
        case(
            "m9_m11_b29_b33_odd_declarations_give_the_service_that_was_meant",
            BINARIES,
            odd_declarations,
        ),
        case(
            "an_override_of_another_object_is_reported_and_the_listener_is_ready",
            BINARIES,
            unmatched,
        ),
    ]
}

/// Longer than the first pauses of a back-off.
const QUIET: Duration = Duration::from_secs(6);

/// Class and Listener name, overrides of the class, the condition and reason that follow, and words of its message.
type Bad = (
    &'static str,
    Value,
    (&'static str, &'static str),
    &'static [&'static str],
);

const TOO_FAR: (&str, &str) = ("Accepted", "InvalidOverride");
const REFUSED: (&str, &str) = ("Programmed", "Refused");

fn bad() -> Vec<Bad> {
    vec![
        (
            "renames",
            json!({ "metadata": { "name": "victim" } }),
            TOO_FAR,
            &["`name`", "leave it out"],
        ),
        (
            "moves",
            json!({ "metadata": { "namespace": "kube-system" } }),
            TOO_FAR,
            &["`namespace`", "leave it out"],
        ),
        (
            "disowns",
            json!({ "metadata": { "ownerReferences": [] } }),
            TOO_FAR,
            &["owner", "leave"],
        ),
        (
            "relabels",
            json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": "me" } } }),
            TOO_FAR,
            &["app.kubernetes.io/managed-by", "leave it out"],
        ),
        (
            "transforms",
            json!({ "kind": "ConfigMap" }),
            TOO_FAR,
            &["`kind`", "leave it out"],
        ),
        (
            "unknown-field",
            json!({ "spec": { "nonsense": 1 } }),
            REFUSED,
            &["nonsense"],
        ),
        (
            "wrong-type",
            json!({ "spec": { "sessionAffinity": 5 } }),
            REFUSED,
            &["sessionAffinity"],
        ),
        (
            "no-address",
            json!({ "spec": { "clusterIP": "nonsense" } }),
            REFUSED,
            &["nonsense"],
        ),
        (
            "ranges",
            json!({ "spec": { "loadBalancerSourceRanges": ["nonsense"] } }),
            REFUSED,
            &["nonsense"],
        ),
        (
            "external",
            json!({ "spec": { "type": "ExternalName" } }),
            TOO_FAR,
            &["choose ClusterIP"],
        ),
    ]
}

async fn class(cluster: &Cluster, name: &str, overrides: Value) -> Result<()> {
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": name },
        "spec": { "serviceType": "ClusterIP", "serviceOverrides": overrides },
    });
    let made = cluster.make(cluster.all::<ListenerClass>(), class).await;
    made.map(drop)
        .with_context(|| format!("cannot make class {name}"))
}

async fn refused() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(refuse_all(&cluster).await)
}

async fn refuse_all(cluster: &Cluster) -> Result<()> {
    let victim = json!({ "metadata": { "name": "victim" }, "spec": { "ports": [{ "port": 80 }] } });
    let victim = cluster
        .make(cluster.namespaced::<Service>(), victim)
        .await?;
    let since = Timestamp::now();
    let all = bad();
    for (name, overrides, ..) in &all {
        class(cluster, name, overrides.clone()).await?;
        cluster.expose(name, name).await?;
    }
    let selector = json!({
        "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }],
        "extraPodSelectorLabels": { "no such key!": "x" },
    });
    cluster.create("selector", selector).await?;
    for (name, _, (condition, reason), says) in &all {
        let refused = cluster
            .condition(name, ExpectedCondition(condition, "False", reason))
            .await?;
        let said = message(&refused, condition);
        let missed: Vec<_> = says
            .iter()
            .filter(|words| !said.contains(**words))
            .collect();
        ensure!(
            missed.is_empty(),
            "{condition} of {name} lacks {missed:?}: {said}"
        );
        eprintln!("{name}: {said}");
    }
    let refused = ExpectedCondition("Programmed", "False", "Refused");
    let said = message(&cluster.condition("selector", refused).await?, "Programmed");
    ensure!(said.contains("no such key!"), "{said}");
    tokio::time::sleep(QUIET).await;
    let asked = cluster.requests().await?.since(since);
    eprintln!("{} bad overrides: {:?}", all.len(), asked.counts());
    for (name, _, why, _) in &all {
        let tries = writes_to(&asked, "services", name);
        let wanted = usize::from(*why == REFUSED);
        ensure!(tries.len() == wanted, "{name}: {}", tries.lines());
        let statuses = writes_to(&asked, "listeners", name);
        ensure!(
            (1..=2).contains(&statuses.len()),
            "{name}: {}",
            statuses.lines()
        );
    }
    let services = cluster.all::<Service>().list(&Default::default()).await?;
    let made: Vec<_> = services
        .iter()
        .map(ResourceExt::name_any)
        .filter(|n| n != "kubernetes")
        .collect();
    ensure!(
        made == ["victim"] && services.items.contains(&victim),
        "{made:?}"
    );
    let classes = cluster.all::<ListenerClass>();
    for (name, ..) in &all {
        let without = kube::api::Patch::Json::<()>(serde_json::from_value(json!([
            { "op": "replace", "path": "/spec/serviceOverrides", "value": {} },
        ]))?);
        classes.patch(name, &Default::default(), &without).await?;
        cluster.ready(name).await?;
    }
    Ok(())
}

async fn unmatched() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(report_unmatched(&cluster).await)
}

async fn report_unmatched(cluster: &Cluster) -> Result<()> {
    let other = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "wbe", "namespace": "default" } });
    let spec = json!({
        "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }],
        "objectOverrides": [other],
    });
    cluster.create("web", spec).await?;
    cluster.ready("web").await?;
    let unmatched = ExpectedCondition("OverridesMatched", "False", "OverrideNotMatched");
    let said = message(
        &cluster.condition("web", unmatched).await?,
        "OverridesMatched",
    );
    let expected = "`spec.objectOverrides[0]` has no effect, for it is about another object: set name `web`, or remove it";
    ensure!(said == expected, "{said}");
    let all = lifecycles(&ClusterDomain::usual()).into_iter();
    let all = all.map(|(machine, naming)| Explained::new(machine, naming));
    let all: Vec<Explained> = all.collect();
    let object = (Some("default"), "web");
    let told = explain(&cluster.client, &all, &all[0], object, Timestamp::now()).await?;
    let who = json!(told.context("the Listener is there")?.who);
    ensure!(who == json!([{ "who": "person", "what": said }]), "{who}");
    let events = cluster.namespaced::<Event>();
    eventually("a Warning event that names it", SOON, async || {
        let all = events.list(&Default::default()).await?;
        let is_it = |one: &Event| {
            one.type_.as_deref() == Some("Warning")
                && one.reason.as_deref() == Some("OverrideNotMatched")
                && one.note.as_deref() == Some(&*said)
        };
        Ok(all.items.iter().any(is_it).then_some(()))
    })
    .await?;
    let without = json!({ "spec": { "objectOverrides": [] } });
    cluster.patch::<Listener>("web", without).await?;
    let listeners = cluster.namespaced::<Listener>();
    eventually("nothing more is said of it", SOON, async || {
        let listener = listeners.get("web").await?;
        Ok(message(&listener, "OverridesMatched")
            .is_empty()
            .then_some(()))
    })
    .await
}

async fn odd_declarations() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(make_all(&cluster).await)
}

async fn make_all(cluster: &Cluster) -> Result<()> {
    let of = |ports: Value| json!({ "className": "cluster-internal", "ports": ports });
    let http = || json!([{ "name": "http", "port": 80 }]);
    cluster.create("9web", of(http())).await?;
    cluster.create(&"l".repeat(63), of(http())).await?;
    cluster
        .create(
            "equal",
            of(json!([
                { "name": "http", "port": 80 },
                { "name": "http", "port": 80, "protocol": "TCP" },
                { "name": "http", "port": 80, "protocol": null },
            ])),
        )
        .await?;
    cluster
        .create(
            "unnamed",
            of(json!([
                { "name": "port-53", "port": 53 },
                { "name": "port-53", "port": 53, "protocol": "UDP" },
            ])),
        )
        .await?;
    overridden(cluster).await?;
    for name in [
        "9web",
        &"l".repeat(63),
        "equal",
        "unnamed",
        "selects",
        "others",
    ] {
        cluster.ready(name).await?;
    }
    ensure!(ports(cluster, "equal").await? == ["http 80 TCP"]);
    let told_apart = ["port-53 53 TCP", "port-53-udp 53 UDP"];
    ensure!(ports(cluster, "unnamed").await? == told_apart);
    let listener = cluster.namespaced::<Listener>().get("selects").await?;
    let mount = format!(
        "listener.stackable.tech/mnt.{}",
        listener.uid().unwrap_or_default().replace('-', "")
    );
    let service = cluster.namespaced::<Service>().get("selects").await?;
    let selector = json!(service.spec.and_then(|s| s.selector));
    ensure!(
        selector == json!({ "app": "web", mount: "selects" }),
        "{selector}"
    );
    let services = cluster.all::<Service>().list(&Default::default()).await?;
    let reached = services.iter().find(|s| !s.annotations().is_empty());
    ensure!(reached.is_none(), "{reached:?}");
    ensure!(
        services
            .iter()
            .all(|s| s.namespace().as_deref() == Some("default"))
    );
    Ok(())
}

/// Tests a replaced selector, and overrides for objects that are not ours.
async fn overridden(cluster: &Cluster) -> Result<()> {
    let http = json!([{ "name": "http", "port": 80 }]);
    class(
        cluster,
        "selects",
        json!({ "spec": { "selector": { "app": "web" } } }),
    )
    .await?;
    cluster.create("selects", json!({
        "className": "selects", "ports": http, "extraPodSelectorLabels": { "gone": "with it" },
    })).await?;
    let other = |kind: &str, name: &str, namespace: &str| {
        json!({
            "apiVersion": "v1", "kind": kind,
            "metadata": { "name": name, "namespace": namespace, "annotations": { "reached": "too far" } },
        })
    };
    cluster
        .create(
            "others",
            json!({
                "className": "cluster-internal", "ports": http,
                "objectOverrides": [
                    other("Service", "9web", "default"),
                    other("Service", "others", "kube-system"),
                    other("ConfigMap", "others", "default"),
                ],
            }),
        )
        .await?;
    Ok(())
}

async fn ports(cluster: &Cluster, name: &str) -> Result<Vec<String>> {
    let service = cluster.namespaced::<Service>().get(name).await?;
    let ports = service.spec.and_then(|s| s.ports).unwrap_or_default();
    let line = |p: &k8s_openapi::api::core::v1::ServicePort| {
        let text = |t: &Option<String>| t.clone().unwrap_or_default();
        format!("{} {} {}", text(&p.name), p.port, text(&p.protocol))
    };
    Ok(ports.iter().map(line).collect())
}
