//! Edits, deletions, foreign objects, refusals and restarts: the objects that recover, and the
//! objects that are never touched.

use std::time::{Duration, Instant};

use crate::listeners::{Cluster, ExpectedCondition, SOON, addresses, message};
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use kube::api::{DeleteParams, PropagationPolicy};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::json;

use super::{BINARIES, CONTROLLERS};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m12_a_service_heals_after_edits_and_deletion",
            BINARIES,
            service_heals,
        ),
        case("m12_a_class_edit_reaches_the_service", BINARIES, class_edit),
        case(
            "m15_a_missing_class_is_an_error_that_heals_and_keeps_addresses",
            BINARIES,
            missing_class,
        ),
        case(
            "m14_b38_a_foreign_service_is_never_touched",
            BINARIES,
            foreign_service,
        ),
        case(
            "b27_a_refused_change_is_said_and_heals",
            BINARIES,
            refused_change,
        ),
        case(
            "m13_b25_b38_a_deleted_listener_takes_its_service_along_and_nothing_that_looks_like_it",
            CONTROLLERS,
            deletion,
        ),
        case(
            "an_operator_killed_at_any_moment_is_no_loss",
            BINARIES,
            killed,
        ),
        case(
            "objects_of_the_replaced_operator_are_taken_over_without_a_write",
            BINARIES,
            taken_over,
        ),
    ]
}

async fn service(cluster: &Cluster, name: &str) -> Result<Service> {
    let services = cluster.namespaced::<Service>();
    eventually("the Service", SOON, async || {
        Ok(services.get_opt(name).await?)
    })
    .await
}

/// Waits until a Service fulfils something.
async fn comes_to(
    cluster: &Cluster,
    name: &str,
    what: &str,
    fits: impl Fn(&Service) -> bool,
) -> Result<Service> {
    let services = cluster.namespaced::<Service>();
    let found = eventually(what, SOON, async || {
        let service = services.get_opt(name).await?;
        Ok(service.filter(|s| s.metadata.deletion_timestamp.is_none() && fits(s)))
    })
    .await;
    let now = services.get_opt(name).await?;
    found.map_err(|e| e.context(format!("now: {now:?}; {}", cluster.log())))
}

async fn service_heals() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await?;
    let before = service(&cluster, "web").await?;
    let selector = |s: &Service| s.spec.as_ref().and_then(|s| s.selector.clone());

    let began = Instant::now();
    cluster
        .patch::<Service>(
            "web",
            json!({ "spec": { "selector": { "app": "other", "x": "y" } } }),
        )
        .await?;
    let edited = service(&cluster, "web").await?;
    // Additions of other users under names of their own are kept; our values are restored.
    cluster
        .patch::<Service>(
            "web",
            json!({ "metadata": { "labels": { "app.kubernetes.io/name": "mine" } } }),
        )
        .await?;
    comes_to(&cluster, "web", "our label again", |s| {
        s.labels()["app.kubernetes.io/name"] == "listener"
    })
    .await?;
    ensure!(selector(&edited).is_some(), "the edit took place");
    let key = selector(&before)
        .and_then(|s| s.keys().next().cloned())
        .unwrap_or_default();
    cluster
        .patch::<Service>(
            "web",
            json!({ "spec": { "selector": { key.clone(): "nobody" } } }),
        )
        .await?;
    comes_to(&cluster, "web", "our selector again", |s| {
        selector(s).is_some_and(|s| s[&key] == "web")
    })
    .await?;

    cluster
        .namespaced::<Service>()
        .delete("web", &DeleteParams::default())
        .await?;
    let again = comes_to(&cluster, "web", "a new Service", |s| {
        s.uid() != before.uid()
    })
    .await?;
    ensure!(again.owner_references().len() == 1, "{:?}", again.metadata);
    eprintln!(
        "a label, a selector and the Service itself: healed in {:.1?}",
        began.elapsed()
    );
    cluster.ready("web").await.map(drop)
}

async fn class_edit() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("web", "cluster-internal").await?;
    let before = cluster.ready("web").await?;
    let uid = service(&cluster, "web").await?.uid();
    let classes = cluster.all::<ListenerClass>();
    let patch = kube::api::Patch::Merge(
        json!({ "spec": { "serviceType": "NodePort", "serviceAnnotations": { "a": "b" } } }),
    );
    classes
        .patch("cluster-internal", &Default::default(), &patch)
        .await?;
    let of_type = |wanted: &'static str| {
        move |s: &Service| s.spec.as_ref().and_then(|s| s.type_.as_deref()) == Some(wanted)
    };
    let changed = comes_to(&cluster, "web", "a NodePort", of_type("NodePort")).await?;
    ensure!(changed.uid() == uid, "changed in place");
    ensure!(
        changed.annotations().get("a").map(String::as_str) == Some("b"),
        "{:?}",
        changed.annotations()
    );
    cluster
        .condition("web", ExpectedCondition("Addressed", "Unknown", "NoPod"))
        .await?;
    let patch = kube::api::Patch::Merge(
        json!({ "spec": { "serviceType": "ClusterIP", "serviceAnnotations": { "a": null } } }),
    );
    classes
        .patch("cluster-internal", &Default::default(), &patch)
        .await?;
    let back = comes_to(&cluster, "web", "a ClusterIP", of_type("ClusterIP")).await?;
    ensure!(
        back.annotations().is_empty(),
        "an annotation that the class dropped goes: {:?}",
        back.annotations()
    );
    let after = cluster.ready("web").await?;
    ensure!(
        addresses(&before) == addresses(&after),
        "{:?}",
        after.status
    );
    Ok(())
}

async fn missing_class() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("early", "later").await?;
    let listener = cluster
        .condition(
            "early",
            ExpectedCondition("Ready", "False", "ListenerClassNotFound"),
        )
        .await?;
    ensure!(
        message(&listener, "Ready").contains("`later`"),
        "{}",
        message(&listener, "Ready")
    );
    let events = cluster.namespaced::<k8s_openapi::api::events::v1::Event>();
    let event = eventually("an event", SOON, async || {
        let all = events.list(&Default::default()).await?.items.into_iter();
        let mut missing = all.filter(|event| event.reason.as_deref() == Some("GetObject"));
        Ok(missing.next())
    })
    .await?;
    let regarding = event.regarding.as_ref().and_then(|r| r.name.as_deref());
    ensure!(
        event.type_.as_deref() == Some("Warning") && regarding == Some("early"),
        "{event:?}"
    );
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "later" },
        "spec": { "serviceType": "ClusterIP" },
    });
    cluster
        .make(cluster.all::<ListenerClass>(), class.clone())
        .await?;
    let ready = cluster.ready("early").await?;
    let version = service(&cluster, "early").await?.resource_version();

    cluster
        .all::<ListenerClass>()
        .delete("later", &DeleteParams::default())
        .await?;
    let without = cluster
        .condition(
            "early",
            ExpectedCondition("Ready", "False", "ListenerClassNotFound"),
        )
        .await?;
    ensure!(
        addresses(&without) == addresses(&ready),
        "addresses stay: {:?}",
        without.status
    );
    ensure!(
        service(&cluster, "early").await?.resource_version() == version,
        "the Service stays as it is"
    );
    cluster.make(cluster.all::<ListenerClass>(), class).await?;
    cluster.ready("early").await.map(drop)
}

async fn foreign_service() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let foreign = json!({
        "metadata": { "name": "web", "labels": { "app.kubernetes.io/managed-by": "listeners.stackable.tech_listener" } },
        "spec": { "ports": [{ "port": 1 }] },
    });
    let before = cluster
        .make(cluster.namespaced::<Service>(), foreign)
        .await?;
    cluster.expose("web", "cluster-internal").await?;
    let listener = cluster
        .condition("web", ExpectedCondition("Ready", "False", "ForeignService"))
        .await?;
    let status = listener.status.clone().unwrap_or_default();
    ensure!(
        status.service_name.is_none(),
        "a Service of another controller or user is not told as ours: {status:?}"
    );
    ensure!(
        message(&listener, "Programmed").contains("web"),
        "{}",
        message(&listener, "Programmed")
    );
    let events = cluster.namespaced::<k8s_openapi::api::events::v1::Event>();
    let event = eventually("a warning", SOON, async || {
        let all = events.list(&Default::default()).await?;
        Ok(all
            .items
            .into_iter()
            .find(|e| e.reason.as_deref() == Some("RefuseToOverwriteForeignService")))
    })
    .await?;
    ensure!(
        event.reporting_controller.as_deref() == Some("listener.listeners.stackable.tech"),
        "{event:?}"
    );
    ensure!(
        event.type_.as_deref() == Some("Warning") && event.action.as_deref() == Some("Reconcile"),
        "{event:?}"
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    let after = cluster.namespaced::<Service>().get("web").await?;
    ensure!(before == after, "a foreign Service was touched: {after:?}");
    cluster
        .namespaced::<Service>()
        .delete("web", &DeleteParams::default())
        .await?;
    cluster.ready("web").await.map(drop)
}

async fn refused_change() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("web", "external-stable").await?;
    cluster
        .condition(
            "web",
            ExpectedCondition("Addressed", "Unknown", "WaitingForLoadBalancer"),
        )
        .await?;
    let classes = cluster.all::<ListenerClass>();
    let patch = |class: serde_json::Value| {
        kube::api::Patch::Merge(json!({ "spec": { "loadBalancerClass": class } }))
    };
    classes
        .patch(
            "external-stable",
            &Default::default(),
            &patch(json!("example.org/other")),
        )
        .await?;
    let refused = cluster
        .condition("web", ExpectedCondition("Programmed", "False", "Refused"))
        .await?;
    let said = message(&refused, "Programmed");
    ensure!(
        said.contains("loadBalancerClass"),
        "the API server's own sentence is shown: {said}"
    );
    tokio::time::sleep(Duration::from_secs(3)).await;
    let asked = cluster.requests().await?;
    let refusals = asked
        .iter()
        .filter(|e| e.resource == "services" && e.code == 422)
        .count();
    ensure!(refusals == 1, "a refused write is not repeated: {refusals}");
    classes
        .patch("external-stable", &Default::default(), &patch(json!(null)))
        .await?;
    let healed = ExpectedCondition("Programmed", "True", "Programmed");
    cluster.condition("web", healed).await.map(drop)
}

async fn deletion() -> Result<()> {
    let cluster = Cluster::start_with(PROGRAM, Options::default().with_controllers()).await?;
    let listeners = cluster.namespaced::<Listener>();
    for (name, policy) in [
        ("front", PropagationPolicy::Foreground),
        ("back", PropagationPolicy::Background),
    ] {
        cluster.expose(name, "cluster-internal").await?;
        cluster.ready(name).await?;
        alike(&cluster, name).await?;
        let params = DeleteParams {
            propagation_policy: Some(policy),
            ..DeleteParams::default()
        };
        listeners.delete(name, &params).await?;
        let gone = eventually("both to be gone", SOON, async || {
            let left = listeners.get_opt(name).await?.is_some()
                || cluster
                    .namespaced::<Service>()
                    .get_opt(name)
                    .await?
                    .is_some();
            Ok((!left).then_some(()))
        });
        gone.await?;
    }
    let asked = cluster.requests().await?;
    let after_deletion = asked
        .iter()
        .filter(|e| e.resource == "services" && e.verb == "patch")
        .count();
    ensure!(
        after_deletion == 2,
        "a Listener that goes away gets no Service again: {}",
        asked.lines()
    );
    for name in ["front", "back"] {
        cluster.namespaced::<Service>().get(&like(name)).await?;
    }
    let events = cluster.namespaced::<k8s_openapi::api::events::v1::Event>();
    let events = events.list(&Default::default()).await?.items;
    let of_ours = events.iter().filter(|e| {
        let listener = e.regarding.as_ref().and_then(|r| r.kind.as_deref());
        listener == Some("Listener")
    });
    let warnings: Vec<_> = of_ours
        .filter(|e| e.type_.as_deref() == Some("Warning"))
        .collect();
    ensure!(warnings.is_empty(), "{warnings:?}");
    Ok(())
}

fn like(name: &str) -> String {
    format!("like-{name}")
}

/// Creates a Service of another user with every label and the selector of that of a Listener.
async fn alike(cluster: &Cluster, name: &str) -> Result<()> {
    let original = service(cluster, name).await?;
    let selector = original.spec.as_ref().and_then(|s| s.selector.clone());
    let copy = json!({
        "metadata": { "name": like(name), "labels": original.labels() },
        "spec": { "selector": selector, "ports": [{ "port": 8080 }] },
    });
    cluster
        .make(cluster.namespaced::<Service>(), copy)
        .await
        .map(drop)
}

async fn killed() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let kubeconfig = |c: &Cluster| c.server.kubeconfig("operator", &["system:masters"]);
    for round in 0..12_u64 {
        let name = format!("web-{round}");
        cluster.expose(&name, "cluster-internal").await?;
        tokio::time::sleep(Duration::from_millis(round * 9)).await;
        cluster.kill_operator()?;
        let kubeconfig = kubeconfig(&cluster)?;
        cluster.run_operator_with(&["--disable-leader-election"], kubeconfig, &[])?;
        cluster.ready(&name).await?;
    }
    for round in 0..12 {
        let name = format!("web-{round}");
        let service = service(&cluster, &name).await?;
        ensure!(
            service.owner_references().len() == 1,
            "{name}: {:?}",
            service.metadata
        );
    }
    Ok(())
}

/// Tests objects left by the replaced operator: its field managers, fields under operation
/// `Update`, a status without conditions.
async fn taken_over() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await?;
    cluster.stop_operator()?;
    let services = cluster.namespaced::<Service>();
    let mut old = services.get("web").await?;
    let entries = old.metadata.managed_fields.iter_mut().flatten();
    let ours = entries.filter(|e| {
        e.manager.as_deref() == Some("listeners.stackable.tech/listeners.stackable.tech_listener")
    });
    ensure!(
        ours.map(|e| e.operation = Some("Update".to_owned()))
            .count()
            == 1,
        "one entry of ours"
    );
    services.replace("web", &Default::default(), &old).await?;
    let before = services.get("web").await?;
    cluster.run_operator(&[]).await?;
    cluster
        .patch::<Listener>(
            "web",
            json!({ "metadata": { "annotations": { "touched": "yes" } } }),
        )
        .await?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let after = services.get("web").await?;
    ensure!(
        before.resource_version() == after.resource_version(),
        "a Service equal to ours was written: {after:?}"
    );
    // A label that the Listener drops goes, although the old entry holds it.
    cluster
        .patch::<Listener>(
            "web",
            json!({ "spec": { "extraPodSelectorLabels": { "a": "b" } } }),
        )
        .await?;
    let with = comes_to(&cluster, "web", "the label", |s| {
        s.spec
            .as_ref()
            .and_then(|s| s.selector.as_ref())
            .is_some_and(|s| s.contains_key("a"))
    })
    .await?;
    ensure!(with.uid() == before.uid(), "the same Service");
    cluster
        .patch::<Listener>(
            "web",
            json!({ "spec": { "ports": [{ "name": "other", "port": 9090 }] } }),
        )
        .await?;
    let ports = |s: &Service| {
        s.spec
            .as_ref()
            .and_then(|s| s.ports.clone())
            .unwrap_or_default()
    };
    comes_to(&cluster, "web", "only the new port", |s| {
        ports(s).len() == 1 && ports(s)[0].port == 9090
    })
    .await
    .map(drop)
}
