//! The operator of `docs/kube-rs.md`, with kube-rs alone.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::{Controller, watcher::Config};
use kube::{Client, Error, Resource, ResourceExt};
use serde_json::json;

use crate::mirror::Mirror;

/// Context of each call.
pub(crate) struct Context {
    client: Client,
}

async fn reconcile(mirror: Arc<Mirror>, ctx: Arc<Context>) -> Result<Action, Error> {
    let namespace = mirror.namespace().unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(ctx.client.clone(), &namespace);
    let Some(source) = maps.get_opt(&mirror.spec.source).await? else {
        set_status(&ctx, &mirror, "NoSource").await?;
        return Ok(Action::requeue(Duration::from_secs(60)));
    };
    let copy = desired(&mirror, &source);
    maps.patch(
        &mirror.name_any(),
        &PatchParams::apply("mirror").force(),
        &Patch::Apply(&copy),
    )
    .await?;
    set_status(&ctx, &mirror, "Copied").await?;
    Ok(Action::await_change())
}

fn desired(mirror: &Mirror, source: &ConfigMap) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(mirror.name_any()),
            owner_references: mirror.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: source.data.clone(),
        ..ConfigMap::default()
    }
}

async fn set_status(ctx: &Context, mirror: &Mirror, reason: &str) -> Result<(), Error> {
    let mirrors: Api<Mirror> = Api::namespaced(ctx.client.clone(), &mirror.namespace().unwrap());
    let condition = json!({
        "type": "Ready", "status": if reason == "Copied" { "True" } else { "False" }, "reason": reason, "message": "",
        "observedGeneration": mirror.metadata.generation, "lastTransitionTime": mirror.metadata.creation_timestamp,
    });
    let status = json!({ "status": { "conditions": [condition] } });
    mirrors
        .patch_status(
            &mirror.name_any(),
            &PatchParams::default(),
            &Patch::Merge(&status),
        )
        .await?;
    Ok(())
}

fn error_policy(_: Arc<Mirror>, _: &Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

/// Runs the controller for as long as its stream is polled.
pub(crate) fn run(client: Client) -> impl Stream<Item = ()> {
    let mirrors: Api<Mirror> = Api::all(client.clone());
    let maps: Api<ConfigMap> = Api::all(client.clone());
    let context = Arc::new(Context { client });
    Controller::new(mirrors, Config::default())
        .owns(maps, Config::default())
        .run(reconcile, error_policy, context)
        .map(drop)
}
