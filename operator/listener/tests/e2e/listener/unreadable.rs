//! Listeners that cannot be read: each is named, and none costs another anything.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::json;

use super::BINARIES;
use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};

/// The memory that deploy/install/controller.yaml lets the controller have, in KiB.
const LIMIT: u64 = 512 << 10;
const LISTENERS: &str = "/apis/listeners.stackable.tech/v1alpha1/namespaces/default/listeners";
/// How much more than before the allocator may keep for itself, in KiB.
const GIVEN_BACK: u64 = 64 << 10;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m16_an_undecodable_listener_does_not_stop_the_others",
            BINARIES,
            undecodable,
        ),
        case("listeners_of_any_depth_stop_nobody", BINARIES, any_depth),
        case(
            "a_namespace_full_of_large_listeners_takes_no_memory_from_the_others",
            BINARIES,
            large,
        ),
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
    let events = cluster.namespaced::<Event>();
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
    let ready = eventually("its condition", SOON, async || {
        let now = odd.get("odd").await?;
        Ok(now.data.pointer("/status/conditions/0").cloned())
    })
    .await?;
    let said = ready["message"].as_str().unwrap_or_default();
    ensure!(
        ready["type"] == "Ready" && ready["reason"] == "Undecodable",
        "{ready}"
    );
    ensure!(
        said.contains("spec.ports[0].port: ")
            && said.contains("eighty")
            && said.ends_with("; correct it, or delete it"),
        "{said}"
    );
    let mended = json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } });
    odd.patch("odd", &Default::default(), &kube::api::Patch::Merge(mended))
        .await?;
    cluster.ready("odd").await.map(drop)
}

/// One tenant fills a namespace: 51 MB of objects that are too large to read, and 5 MB of objects that are just not.
async fn large() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    cluster.expose("before", "cluster-internal").await?;
    cluster.ready("before").await?;
    let rest = memory(&cluster, "VmRSS:")?;
    let listener = |name: &str, bytes: usize| {
        // A shape that takes twelve times its bytes as values. Smaller values would cost the API server gigabytes.
        let one = format!(r#"{{"a":"{}"}},"#, "x".repeat(50));
        let small = one.repeat(bytes / one.len());
        json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener", "metadata": { "name": name },
            "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }], "objectOverrides": ["OVERRIDE"] },
        })
        .to_string()
        .replace(r#""OVERRIDE""#, &format!(r#"{{"x":[{}]}}"#, small.trim_end_matches(',')))
    };
    for (size, bytes, count) in [("large", 850_000, 60), ("fair", 250_000, 20)] {
        for number in 0..count {
            let body = listener(&format!("{size}-{number}"), bytes).into_bytes();
            let request = http::Request::post(LISTENERS).header("Content-Type", "application/json");
            cluster.client.request_text(request.body(body)?).await?;
        }
    }
    let told = "it cannot be read: it has more than 256 KiB, and no more are read (`--max-object-size`); correct it, or delete it";
    for (round, name) in [("started", "after"), ("restarted", "again")] {
        cluster.expose(name, "cluster-internal").await?;
        cluster.ready(name).await?;
        for fair in [0, 19] {
            cluster.ready(&format!("fair-{fair}")).await?;
        }
        for large in [0, 59] {
            // As text: to read its values takes this test longer than all that it tests.
            let path = format!("{LISTENERS}/large-{large}");
            eventually("its conditions", SOON, async || {
                let request = http::Request::get(&path).body(Vec::new())?;
                let large = cluster.client.request_text(request).await?;
                let reported = large
                    .split_once(r#""status":"#)
                    .map_or("", |(_, status)| status);
                // `Ready`, and `Stalled` for tools.
                let is_told = reported.matches(told).count() == 2;
                let is_named = reported.contains(r#""reason":"Undecodable""#);
                Ok((is_told && is_named).then_some(()))
            })
            .await?;
        }
        let most = memory(&cluster, "VmHWM:")?;
        eprintln!("{round}: {rest} KiB at rest, at most {most} KiB");
        ensure!(most < LIMIT, "{most} KiB of {LIMIT}");
        if round == "started" {
            cluster.stop_operator()?;
            cluster.run_operator(&[]).await?;
        }
    }
    let all = http::Request::delete(LISTENERS).body(Vec::new())?;
    cluster.client.request_text(all).await?;
    eventually("the memory is given back", SOON, async || {
        let now = memory(&cluster, "VmRSS:")?;
        Ok((now < rest + GIVEN_BACK).then_some(()))
    })
    .await
}

/// Memory of the process of the operator in KiB, by a line of its status in /proc.
fn memory(cluster: &Cluster, line: &str) -> Result<u64> {
    let operator = cluster.operator_pid()?;
    let status = fs::read_to_string(format!("/proc/{operator}/status"))?;
    let said = status.lines().find_map(|one| one.strip_prefix(line));
    let number = said.and_then(|said| said.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {line} of the operator"))?
        .parse()?)
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
    let events = cluster.namespaced::<Event>();
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
    let listeners = cluster.namespaced::<Listener>();
    listeners
        .patch("deep-7", &Default::default(), &shallow)
        .await?;
    cluster.ready("deep-7").await.map(drop)
}
