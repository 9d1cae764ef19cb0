//! Patches that are not applies: JSON patch, merge patch, strategic merge.

use anyhow::{Result, ensure};
use serde_json::json;

use super::api::{Api, JSON_PATCH, MERGE, STRATEGIC, cases, unchanged, version};

cases![
    merge_patch_changes_what_it_names,
    merge_patch_null_removes,
    merge_patch_replaces_lists,
    merge_patch_that_changes_nothing_keeps_the_version,
    merge_patch_with_a_stale_version_is_a_conflict,
    merge_patch_with_a_foreign_uid_is_invalid,
    merge_patch_of_the_absent_is_not_found,
    merge_patch_of_the_name_is_refused,
    merge_patch_ignores_generation_and_creation,
    merge_patch_on_dry_run_stores_nothing,
    json_patch_adds_replaces_and_removes,
    json_patch_test_that_fails_is_unprocessable,
    json_patch_of_a_missing_path_is_unprocessable,
    json_patch_that_is_no_list_is_refused,
    strategic_merge_merges_lists_by_key,
    strategic_merge_deletes_by_directive,
    strategic_merge_replaces_by_directive,
    strategic_merge_with_an_unknown_directive_fails,
    strategic_merge_without_the_key_fails,
    unknown_patch_types_are_refused,
    force_is_for_applies_alone,
    status_patch_leaves_the_rest,
];

async fn merge_patch_changes_what_it_names(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    let patch = json!({"data": {"a": "9"}, "metadata": {"labels": {"l": "1"}}});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["data"] == json!({"a": "9", "b": "2"}) && version(&new) != version(&map));
    Ok(())
}

async fn merge_patch_null_removes(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!({"data": {"a": null, "absent": null}});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["data"] == json!({"b": "2"}));
    let patch = json!({"data": null});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new.get("data").is_none());
    Ok(())
}

async fn merge_patch_replaces_lists(api: Api) -> Result<()> {
    let finalizers =
        json!({"metadata": {"name": "a", "finalizers": ["example.com/a", "example.com/b"]}});
    api.post(&api.core("configmaps"), &finalizers)
        .await?
        .is(201)?;
    let patch = json!({"metadata": {"finalizers": ["example.com/c"]}});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["metadata"]["finalizers"] == json!(["example.com/c"]));
    let patch = json!({"metadata": {"finalizers": []}});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["metadata"].get("finalizers").is_none());
    Ok(())
}

async fn merge_patch_that_changes_nothing_keeps_the_version(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    for patch in [
        json!({}),
        json!({"data": {"a": "1"}}),
        json!({"data": {"absent": null}}),
    ] {
        let again = api
            .patch(MERGE, &api.core("configmaps/a"), &patch)
            .await?
            .is(200)?;
        unchanged(&map, &again)?;
    }
    Ok(())
}

async fn merge_patch_with_a_stale_version_is_a_conflict(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    let patch = json!({"data": {"a": "9"}});
    api.patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    let patch = json!({"data": {"a": "8"}, "metadata": {"resourceVersion": version(&map)}});
    let refused = api.patch(MERGE, &api.core("configmaps/a"), &patch).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    Ok(())
}

async fn merge_patch_with_a_foreign_uid_is_invalid(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch =
        json!({"metadata": {"uid": "11111111-1111-1111-1111-111111111111"}, "data": {"a": "9"}});
    let refused = api.patch(MERGE, &api.core("configmaps/a"), &patch).await?;
    let status = refused.refuses(422, "Invalid", "field is immutable")?;
    ensure!(status["details"]["causes"][0]["field"] == "metadata.uid");
    Ok(())
}

async fn merge_patch_of_the_absent_is_not_found(api: Api) -> Result<()> {
    let patch = json!({"data": {"a": "9"}});
    let refused = api.patch(MERGE, &api.core("configmaps/a"), &patch).await?;
    refused.refuses(404, "NotFound", "configmaps \"a\" not found")?;
    Ok(())
}

async fn merge_patch_of_the_name_is_refused(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!({"metadata": {"name": "b"}});
    let refused = api.patch(MERGE, &api.core("configmaps/a"), &patch).await?;
    refused.refuses(400, "BadRequest", "does not match the name on the URL")?;
    Ok(())
}

async fn merge_patch_ignores_generation_and_creation(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    let patch = json!({"metadata": {"generation": 5, "creationTimestamp": "2001-01-01T00:00:00Z"}});
    let again = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    unchanged(&map, &again)
}

async fn merge_patch_on_dry_run_stores_nothing(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    let path = format!("{}?dryRun=All", api.core("configmaps/a"));
    let new = api
        .patch(MERGE, &path, &json!({"data": {"a": "9"}}))
        .await?
        .is(200)?;
    ensure!(new["data"]["a"] == "9");
    let read = api.get(&api.core("configmaps/a")).await?.is(200)?;
    unchanged(&map, &read)
}

async fn json_patch_adds_replaces_and_removes(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!([
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "add", "path": "/data/c", "value": "3"},
        {"op": "replace", "path": "/data/a", "value": "9"},
        {"op": "remove", "path": "/data/b"},
        {"op": "copy", "from": "/data/a", "path": "/data/d"},
    ]);
    let new = api
        .patch(JSON_PATCH, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["data"] == json!({"a": "9", "c": "3", "d": "9"}));
    Ok(())
}

async fn json_patch_test_that_fails_is_unprocessable(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!([{"op": "test", "path": "/data/a", "value": "7"}]);
    let refused = api
        .silently()
        .patch(JSON_PATCH, &api.core("configmaps/a"), &patch)
        .await?;
    refused.refuses(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    )?;
    Ok(())
}

async fn json_patch_of_a_missing_path_is_unprocessable(api: Api) -> Result<()> {
    api.map("a").await?;
    for patch in [
        json!([{"op": "remove", "path": "/data/absent"}]),
        json!([{"op": "add", "path": "/absent/a", "value": "1"}]),
    ] {
        let refused = api
            .silently()
            .patch(JSON_PATCH, &api.core("configmaps/a"), &patch)
            .await?;
        refused.refuses(422, "Invalid", "the server rejected our request")?;
    }
    Ok(())
}

async fn json_patch_that_is_no_list_is_refused(api: Api) -> Result<()> {
    api.map("a").await?;
    let refused = api
        .silently()
        .patch(JSON_PATCH, &api.core("configmaps/a"), &json!({}))
        .await?;
    refused.refuses(400, "BadRequest", "error decoding patch")?;
    Ok(())
}

fn service() -> serde_json::Value {
    json!({"metadata": {"name": "a"}, "spec": {"ports": [
        {"name": "http", "port": 80}, {"name": "https", "port": 443},
    ]}})
}

async fn strategic_merge_merges_lists_by_key(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service()).await?.is(201)?;
    let patch = json!({"spec": {"ports": [{"port": 80, "targetPort": 8080}, {"name": "more", "port": 90}]}});
    let new = api
        .patch(STRATEGIC, &api.core("services/a"), &patch)
        .await?
        .is(200)?;
    ensure!(
        new["spec"]["ports"]
            .as_array()
            .is_some_and(|ports| ports.len() == 3),
        "{new}"
    );
    Ok(())
}

async fn strategic_merge_deletes_by_directive(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service()).await?.is(201)?;
    let patch = json!({"spec": {"ports": [{"port": 80, "$patch": "delete"}]}});
    let new = api
        .patch(STRATEGIC, &api.core("services/a"), &patch)
        .await?
        .is(200)?;
    ensure!(
        new["spec"]["ports"]
            .as_array()
            .is_some_and(|ports| ports.len() == 1),
        "{new}"
    );
    Ok(())
}

async fn strategic_merge_replaces_by_directive(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!({"data": {"$patch": "replace", "c": "3"}});
    let new = api
        .patch(STRATEGIC, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["data"] == json!({"c": "3"}));
    Ok(())
}

async fn strategic_merge_with_an_unknown_directive_fails(api: Api) -> Result<()> {
    api.map("a").await?;
    let patch = json!({"data": {"$patch": "mend", "c": "3"}});
    let refused = api
        .silently()
        .patch(STRATEGIC, &api.core("configmaps/a"), &patch)
        .await?;
    ensure!(refused.code == 500 || refused.code == 400, "{refused:?}");
    Ok(())
}

async fn strategic_merge_without_the_key_fails(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service()).await?.is(201)?;
    let patch = json!({"spec": {"ports": [{"name": "http", "targetPort": 8080}]}});
    api.silently()
        .patch(STRATEGIC, &api.core("services/a"), &patch)
        .await?
        .is(500)?;
    Ok(())
}

async fn unknown_patch_types_are_refused(api: Api) -> Result<()> {
    api.map("a").await?;
    let refused = api
        .silently()
        .patch("text/plain", &api.core("configmaps/a"), &json!({}))
        .await?;
    refused.refuses(415, "UnsupportedMediaType", "")?;
    Ok(())
}

async fn force_is_for_applies_alone(api: Api) -> Result<()> {
    api.map("a").await?;
    let path = format!("{}?force=true", api.core("configmaps/a"));
    let refused = api
        .patch(MERGE, &path, &json!({"data": {"a": "9"}}))
        .await?;
    refused.refuses(422, "Invalid", "may not be specified for non-apply patch")?;
    Ok(())
}

async fn status_patch_leaves_the_rest(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service()).await?.is(201)?;
    let patch = json!({
        "spec": {"type": "NodePort"}, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    });
    let path = api.core("services/a");
    let new = api.patch(MERGE, &format!("{path}/status"), &patch).await?;
    // An address is for load balancers alone.
    ensure!(new.code == 422 || new.code == 200, "{new:?}");
    let read = api.get(&path).await?.is(200)?;
    ensure!(read["spec"]["type"] == "ClusterIP");
    Ok(())
}
