//! Events of an ordinary start and of a restart: they agree with the final statuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, ResourceExt};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, case};
use serde::Serialize;
use serde_json::json;

use super::support::{Echo, NEEDS, connect, listen};
use crate::place::{TestEnv, TestNamespace, has_report, report};

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "events_of_a_start_agree_with_the_statuses_and_a_restart_has_none",
        NEEDS,
        agree,
    )]
}

/// All events of a namespace, from the oldest on.
async fn events(place: &TestNamespace) -> Result<Vec<Event>> {
    let mut all = place.api::<Event>().list(&Default::default()).await?.items;
    all.sort_by_key(|event| (event.event_time.clone(), event.name_any()));
    Ok(all)
}

fn line(event: &Event) -> String {
    let about = event.regarding.clone().unwrap_or_default();
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    let (kind, name) = (part(&about.kind), part(&about.name));
    let (level, reason) = (part(&event.type_), part(&event.reason));
    format!("{level} {kind} {name}: {reason} {}", part(&event.note))
}

/// Returns the current status of an object of the operator.
async fn status(place: &TestNamespace, about: &ObjectReference) -> Result<(String, String)> {
    let kind = about.kind.as_deref().context("an event is of a kind")?;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("skupper.io", "v2alpha1", kind));
    let objects: Api<DynamicObject> =
        Api::namespaced_with(place.client.clone(), &place.namespace, &kind);
    let name = about.name.as_deref().context("an event is of an object")?;
    let (status, message, _) = report(&objects.get(name).await?);
    Ok((status, message))
}

fn waits<K: Serialize>(object: &K) -> bool {
    report(object).0 == "Pending"
}

/// Waits until all three are Ready, and the controller has nothing left to write.
async fn until_ready(place: &TestNamespace, listener: &str) -> Result<()> {
    let what = "it is Ready";
    let ready = |site: &Site| has_report(site, "Ready", "OK");
    place.until("west", what, ready).await?;
    let ready = |listener: &Listener| has_report(listener, "Ready", "OK");
    place.until(listener, what, ready).await?;
    let ready = |connector: &Connector| has_report(connector, "Ready", "OK");
    place.until("c", what, ready).await?;
    place.wait_until_idle().await.map(drop)
}

async fn agree() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let mut place = TestNamespace::new(Arc::clone(&env), "events").await?;
    let echo = Echo::start("one").await?;
    place.make::<Site>("west", json!({ "spec": {} })).await?;
    listen(&place, "backend", json!({})).await?;
    connect(&place, "c", echo.at, json!({})).await?;
    // The Pod of a router takes its time: who comes at once is Ready in its first status, and has no event.
    let what = "it waits for the router";
    place.until("west", what, waits::<Site>).await?;
    place.until("backend", what, waits::<Listener>).await?;
    place.until("c", what, waits::<Connector>).await?;
    place.run_router().await?;
    until_ready(&place, "backend").await?;
    let of_start = events(&place).await?;
    let lines: Vec<_> = of_start.iter().map(line).collect();
    let ours = of_start
        .iter()
        .filter_map(|event| Some((event.regarding.as_ref()?, event)))
        .filter(|(about, _)| about.api_version.as_deref() == Some("skupper.io/v2alpha1"));
    let mut last = BTreeMap::new();
    for (about, event) in ours {
        // A Certificate reports a missing authority while the Secret of the authority is being
        // created.
        let is_ordinary = about.kind.as_deref() == Some("Certificate")
            || event.type_.as_deref() == Some("Normal")
                && matches!(event.reason.as_deref(), Some("Pending" | "Ready"));
        ensure!(is_ordinary, "{lines:#?}");
        last.insert((about.kind.clone(), about.name.clone()), (about, event));
    }
    for (about, event) in last.values() {
        let (status, message) = status(&place, about).await?;
        let agrees =
            event.reason.as_ref() == Some(&status) && event.note.as_ref() == Some(&message);
        ensure!(agrees, "{} but {status} {message}", line(event));
    }
    for own in [
        ("Site", "west"),
        ("Listener", "backend"),
        ("Connector", "c"),
    ] {
        let (kind, name) = (Some(own.0.to_owned()), Some(own.1.to_owned()));
        let told = last.get(&(kind, name)).map(|(_, event)| line(event));
        let expected = format!("Normal {} {}: Ready OK", own.0, own.1);
        ensure!(told == Some(expected), "{lines:#?}");
    }
    env.kill_controller()?;
    env.run_controller()?;
    // Objects created after the start are reconciled last, so all earlier ones were reconciled.
    listen(&place, "late", json!({})).await?;
    until_ready(&place, "late").await?;
    let is_late = |event: &Event| {
        let about = event.regarding.as_ref();
        about.and_then(|about| about.name.as_deref()) == Some("late")
    };
    let all = events(&place).await?;
    let others = all.iter().filter(|event| !is_late(event)).map(line);
    let others: Vec<_> = others.collect();
    ensure!(others == lines, "{others:#?} after {lines:#?}");
    Ok(())
}
