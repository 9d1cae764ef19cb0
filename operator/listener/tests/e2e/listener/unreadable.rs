//! Listeners that cannot be read: each is named, and none costs another anything.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Result, ensure};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::json;

use super::BINARIES;
use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m16_an_undecodable_listener_does_not_stop_the_others",
            BINARIES,
            undecodable,
        ),
        case("listeners_of_any_depth_stop_nobody", BINARIES, any_depth),
    ]
}

async fn undecodable() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let crds = cluster.all::<CustomResourceDefinition>();
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ports/items/properties/port";
    let loosen = serde_json::from_value(json!([
        { "op": "replace", "path": schema, "value": { "x-kubernetes-preserve-unknown-fields": true } },
    ]))?;
    crds.patch(
        "listeners.listeners.stackable.tech",
        &Default::default(),
        &kube::api::Patch::Json::<()>(loosen),
    )
    .await?;
    let raw = kube::core::DynamicObject {
        types: Some(kube::core::TypeMeta {
            api_version: "listeners.stackable.tech/v1alpha1".into(),
            kind: "Listener".into(),
        }),
        metadata: kube::core::ObjectMeta {
            name: Some("odd".into()),
            ..Default::default()
        },
        data: json!({ "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": "eighty" }] } }),
    };
    let resource = kube::discovery::ApiResource::erase::<Listener>(&());
    let odd: kube::Api<kube::core::DynamicObject> =
        kube::Api::default_namespaced_with(cluster.client.clone(), &resource);
    eventually("the looser schema", SOON, async || {
        Ok(odd.create(&Default::default(), &raw).await.ok())
    })
    .await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await?;
    let events = cluster.of::<Event>();
    eventually("an event that tells of it", SOON, async || {
        let all = events.list(&Default::default()).await?;
        let about =
            |e: &Event| e.regarding.as_ref().and_then(|r| r.name.clone()) == Some("odd".into());
        Ok(all.items.into_iter().find(about))
    })
    .await?;
    ensure!(
        cluster.log().contains("odd"),
        "the log names it: {}",
        cluster.log()
    );
    let mended = json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } });
    odd.patch("odd", &Default::default(), &kube::api::Patch::Merge(mended))
        .await?;
    cluster.ready("odd").await.map(drop)
}

/// Each has overrides that no reader of JSON follows to the end.
async fn any_depth() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let deep = |name: &str| {
        let (open, close) = (r#"{"a":"#.repeat(400), "}".repeat(400));
        format!(
            r#"{{"apiVersion":"listeners.stackable.tech/v1alpha1","kind":"Listener","metadata":{{"name":"{name}"}},"spec":{{"className":"cluster-internal","ports":[{{"name":"http","port":80}}],"objectOverrides":[{open}1{close}]}}}}"#
        )
    };
    for number in 0..40 {
        let path = "/apis/listeners.stackable.tech/v1alpha1/namespaces/default/listeners";
        let body = deep(&format!("deep-{number}")).into_bytes();
        let request = http::Request::post(path).header("Content-Type", "application/json");
        cluster.client.request_text(request.body(body)?).await?;
    }
    let began = Instant::now();
    for round in ["before", "after"] {
        for number in 0..5 {
            cluster
                .expose(&format!("{round}-{number}"), "cluster-internal")
                .await?;
        }
        for number in 0..5 {
            let name = format!("{round}-{number}");
            cluster.ready_within(&name, SOON / 2).await?;
        }
        if round == "before" {
            cluster.stop_operator()?;
            cluster.run_operator(&[]).await?;
        }
    }
    eprintln!(
        "ten Listeners beside forty deep ones, and a restart: {:?}",
        began.elapsed()
    );
    let events = cluster.of::<Event>();
    let told = eventually("an event about each", SOON, async || {
        let all = events.list(&Default::default()).await?;
        let about = |e: &&Event| {
            let name = e.regarding.as_ref().and_then(|r| r.name.clone());
            name.is_some_and(|name| name.starts_with("deep-"))
        };
        let names = all.items.iter().filter(about);
        let names: BTreeSet<_> = names.filter_map(|e| e.regarding.clone()?.name).collect();
        Ok((names.len() == 40).then_some(all.items))
    })
    .await?;
    let notes: BTreeSet<_> = told
        .iter()
        .filter_map(|event| event.note.as_deref())
        .collect();
    let expected =
        "it cannot be read: it is nested deeper than 100 levels; correct it, or delete it";
    ensure!(notes.contains(expected), "{notes:?}");
    let log = cluster.log();
    ensure!(
        log.contains("Listener `default/deep-39` cannot be read"),
        "{log}"
    );
    // One that is corrected is as any other.
    let shallow = kube::api::Patch::Merge(json!({ "spec": { "objectOverrides": [] } }));
    let listeners = cluster.of::<Listener>();
    listeners
        .patch("deep-7", &Default::default(), &shallow)
        .await?;
    cluster.ready("deep-7").await.map(drop)
}
