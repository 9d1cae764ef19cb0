//! Objects of a fixture into a cluster and out of it, as their users apply and delete them.

use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

/// Applies an object, its status too.
pub(super) async fn apply(client: &Client, object: &Value) -> Result<(), String> {
    let (api, parsed) = api(client, object)?;
    let name = parsed.metadata.name.clone().unwrap_or_default();
    let params = PatchParams::apply("world").force();
    let applied = api.patch(&name, &params, &Patch::Apply(&parsed)).await;
    let applied = applied.map_err(|error| format!("{name} cannot be applied: {error}"))?;
    // A status is written on its own.
    if let Some(status) = object.get("status")
        && applied.data["status"] != *status
    {
        let status = json!({ "status": status });
        let written = api
            .patch_status(&name, &PatchParams::default(), &Patch::Merge(&status))
            .await;
        written.map_err(|error| format!("the status of {name} cannot be written: {error}"))?;
    }
    Ok(())
}

/// Deletes an object at once, without regard to its finalizers.
pub(super) async fn delete(client: &Client, object: &Value) -> Result<(), String> {
    let (api, parsed) = api(client, object)?;
    let name = parsed.metadata.name.unwrap_or_default();
    let free = json!({ "metadata": { "finalizers": null } });
    let freed = api
        .patch(&name, &PatchParams::default(), &Patch::Merge(&free))
        .await;
    let at_once = kube::api::DeleteParams::default().grace_period(0);
    let deleted = match freed {
        Ok(_) => api.delete(&name, &at_once).await.map(drop),
        Err(error) => Err(error),
    };
    match deleted {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        deleted => deleted.map_err(|error| format!("{name} cannot be deleted: {error}")),
    }
}

fn api(client: &Client, object: &Value) -> Result<(Api<DynamicObject>, DynamicObject), String> {
    let parsed: DynamicObject = serde_json::from_value(object.clone())
        .map_err(|error| format!("{object} is no object: {error}"))?;
    let types = parsed.types.clone().unwrap_or_default();
    let (group, version) = match types.api_version.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", types.api_version.as_str()),
    };
    let of = GroupVersionKind::gvk(group, version, &types.kind);
    let plural = match types.kind.as_str() {
        "PodListeners" => "podlisteners".to_owned(),
        _ => ApiResource::from_gvk(&of).plural,
    };
    let resource = ApiResource::from_gvk_with_plural(&of, &plural);
    let api = match &parsed.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    Ok((api, parsed))
}
