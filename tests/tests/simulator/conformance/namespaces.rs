//! Namespaces: made, ended, finalized. No controller runs.

use anyhow::{Result, ensure};
use serde_json::json;

use super::api::{Api, MERGE, cases};

cases![
    a_namespace_is_active_and_labelled,
    a_deleted_namespace_terminates,
    nothing_is_made_in_a_terminating_namespace,
    things_in_a_terminating_namespace_can_be_changed_and_deleted,
    finalizing_ends_a_namespace,
    the_default_namespace_is_not_deleted,
    names_of_namespaces_are_labels,
    a_namespace_keeps_its_finalizers_in_an_update,
];

async fn make(api: &Api) -> Result<String> {
    let name = api.own("x");
    let body = json!({"metadata": {"name": name}});
    api.post("/api/v1/namespaces", &body).await?.is(201)?;
    Ok(format!("/api/v1/namespaces/{name}"))
}

async fn a_namespace_is_active_and_labelled(api: Api) -> Result<()> {
    let path = make(&api).await?;
    let made = api.get(&path).await?.is(200)?;
    ensure!(
        made["status"]["phase"] == "Active" && made["spec"]["finalizers"] == json!(["kubernetes"])
    );
    ensure!(made["metadata"]["labels"]["kubernetes.io/metadata.name"].is_string());
    Ok(())
}

async fn a_deleted_namespace_terminates(api: Api) -> Result<()> {
    let path = make(&api).await?;
    let marked = api.delete(&path, &json!({})).await?.is(200)?;
    ensure!(marked["status"]["phase"] == "Terminating", "{marked}");
    api.get(&path).await?.is(200)?;
    Ok(())
}

async fn nothing_is_made_in_a_terminating_namespace(api: Api) -> Result<()> {
    let path = make(&api).await?;
    api.delete(&path, &json!({})).await?.is(200)?;
    let refused = api
        .post(
            &format!("{path}/configmaps"),
            &json!({"metadata": {"name": "a"}}),
        )
        .await?;
    let status = refused.refuses(403, "Forbidden", "because it is being terminated")?;
    ensure!(
        status["details"]["causes"][0]["reason"] == "NamespaceTerminating",
        "{status}"
    );
    Ok(())
}

async fn things_in_a_terminating_namespace_can_be_changed_and_deleted(api: Api) -> Result<()> {
    let path = make(&api).await?;
    api.post(
        &format!("{path}/configmaps"),
        &json!({"metadata": {"name": "a"}}),
    )
    .await?
    .is(201)?;
    api.delete(&path, &json!({})).await?.is(200)?;
    let patch = json!({"data": {"a": "1"}});
    api.patch(MERGE, &format!("{path}/configmaps/a"), &patch)
        .await?
        .is(200)?;
    api.delete(&format!("{path}/configmaps/a"), &json!({}))
        .await?
        .is(200)?;
    Ok(())
}

async fn finalizing_ends_a_namespace(api: Api) -> Result<()> {
    let path = make(&api).await?;
    api.delete(&path, &json!({})).await?.is(200)?;
    let mut namespace = api.get(&path).await?.is(200)?;
    namespace["spec"]["finalizers"] = json!([]);
    api.silently()
        .put(&format!("{path}/finalize"), &namespace)
        .await?
        .is(200)?;
    api.get(&path).await?.is(404)?;
    Ok(())
}

async fn the_default_namespace_is_not_deleted(api: Api) -> Result<()> {
    let refused = api.delete("/api/v1/namespaces/default", &json!({})).await?;
    refused.refuses(403, "Forbidden", "this namespace may not be deleted")?;
    Ok(())
}

async fn names_of_namespaces_are_labels(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a.b"}});
    let refused = api.post("/api/v1/namespaces", &body).await?;
    refused.refuses(422, "Invalid", "must not contain dots")?;
    Ok(())
}

async fn a_namespace_keeps_its_finalizers_in_an_update(api: Api) -> Result<()> {
    let path = make(&api).await?;
    let patch = json!({"spec": {"finalizers": []}, "metadata": {"labels": {"l": "1"}}});
    let new = api.patch(MERGE, &path, &patch).await?.is(200)?;
    ensure!(new["spec"]["finalizers"] == json!(["kubernetes"]), "{new}");
    Ok(())
}
