//! Deletions: preconditions, finalizers, propagation, grace periods, collections.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, names, unchanged, version};

cases![
    a_deletion_is_answered_with_a_status,
    a_deleted_service_is_answered,
    deletion_of_the_absent_is_not_found,
    deletion_with_another_uid_is_a_conflict,
    deletion_with_a_stale_version_is_a_conflict,
    deletion_with_matching_preconditions_works,
    a_finalizer_makes_a_deletion_wait,
    the_last_finalizer_takes_the_object_along,
    a_second_deletion_changes_nothing,
    no_finalizer_is_added_to_what_is_deleted,
    what_is_deleted_cannot_be_made_again,
    what_is_deleted_can_still_be_changed,
    foreground_adds_its_finalizer,
    orphan_adds_its_finalizer,
    background_takes_the_others_away,
    an_unknown_policy_is_refused,
    deletion_on_dry_run_deletes_nothing,
    a_deleted_collection_is_gone,
    a_collection_is_chosen_by_labels,
    a_deletion_counts_as_a_generation,
    pods_on_nodes_are_given_time,
    pods_without_nodes_go_at_once,
    a_grace_period_of_zero_ends_the_waiting,
    options_may_be_in_the_query,
];

async fn a_deletion_is_answered_with_a_status(api: Api) -> Result<()> {
    api.map("a").await?;
    let status = api
        .delete(&api.core("configmaps/a"), &json!({}))
        .await?
        .is(200)?;
    ensure!(
        status["kind"] == "Status" && status["status"] == "Success",
        "{status}"
    );
    Ok(())
}

async fn a_deleted_service_is_answered(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}});
    api.post(&api.core("services"), &body).await?.is(201)?;
    let gone = api
        .delete(&api.core("services/a"), &json!({}))
        .await?
        .is(200)?;
    ensure!(gone["kind"] == "Service", "{gone}");
    Ok(())
}

async fn deletion_of_the_absent_is_not_found(api: Api) -> Result<()> {
    let refused = api.delete(&api.core("configmaps/a"), &json!({})).await?;
    refused.refuses(404, "NotFound", "configmaps \"a\" not found")?;
    Ok(())
}

async fn deletion_with_another_uid_is_a_conflict(api: Api) -> Result<()> {
    api.map("a").await?;
    let options = json!({"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}});
    let refused = api.delete(&api.core("configmaps/a"), &options).await?;
    refused.refuses(409, "Conflict", "UID in")?;
    Ok(())
}

async fn deletion_with_a_stale_version_is_a_conflict(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    api.patch(
        MERGE,
        &api.core("configmaps/a"),
        &json!({"data": {"a": "2"}}),
    )
    .await?
    .is(200)?;
    let options = json!({"preconditions": {"resourceVersion": version(&made)}});
    let refused = api
        .silently()
        .delete(&api.core("configmaps/a"), &options)
        .await?;
    refused.refuses(409, "Conflict", "ResourceVersion in")?;
    Ok(())
}

async fn deletion_with_matching_preconditions_works(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    let options = json!({"preconditions": {
        "uid": made["metadata"]["uid"], "resourceVersion": version(&made),
    }});
    api.delete(&api.core("configmaps/a"), &options)
        .await?
        .is(200)?;
    Ok(())
}

async fn create_finalized(api: &Api) -> Result<Value> {
    let body =
        json!({"metadata": {"name": "a", "finalizers": ["example.com/hold"]}, "data": {"a": "1"}});
    api.post(&api.core("configmaps"), &body).await?.is(201)?;
    api.delete(&api.core("configmaps/a"), &json!({}))
        .await?
        .is(200)
}

async fn a_finalizer_makes_a_deletion_wait(api: Api) -> Result<()> {
    let marked = create_finalized(&api).await?;
    ensure!(
        marked["metadata"]["deletionTimestamp"].is_string(),
        "{marked}"
    );
    ensure!(
        marked["metadata"]["deletionGracePeriodSeconds"] == 0,
        "{marked}"
    );
    api.get(&api.core("configmaps/a")).await?.is(200)?;
    Ok(())
}

async fn the_last_finalizer_takes_the_object_along(api: Api) -> Result<()> {
    create_finalized(&api).await?;
    let patch = json!({"metadata": {"finalizers": null}});
    api.silently()
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn a_second_deletion_changes_nothing(api: Api) -> Result<()> {
    let marked = create_finalized(&api).await?;
    let again = api
        .delete(&api.core("configmaps/a"), &json!({}))
        .await?
        .is(200)?;
    unchanged(&marked, &again)
}

async fn no_finalizer_is_added_to_what_is_deleted(api: Api) -> Result<()> {
    create_finalized(&api).await?;
    let patch = json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}});
    let refused = api.patch(MERGE, &api.core("configmaps/a"), &patch).await?;
    refused.refuses(
        422,
        "Invalid",
        "no new finalizers can be added if the object is being deleted",
    )?;
    Ok(())
}

async fn what_is_deleted_cannot_be_made_again(api: Api) -> Result<()> {
    create_finalized(&api).await?;
    let refused = api
        .post(&api.core("configmaps"), &json!({"metadata": {"name": "a"}}))
        .await?;
    refused.refuses(409, "AlreadyExists", "object is being deleted: ")?;
    Ok(())
}

async fn what_is_deleted_can_still_be_changed(api: Api) -> Result<()> {
    create_finalized(&api).await?;
    let new = api
        .patch(
            MERGE,
            &api.core("configmaps/a"),
            &json!({"data": {"a": "2"}}),
        )
        .await?
        .is(200)?;
    ensure!(new["data"]["a"] == "2" && new["metadata"]["deletionTimestamp"].is_string());
    Ok(())
}

async fn foreground_adds_its_finalizer(api: Api) -> Result<()> {
    api.map("a").await?;
    let options = json!({"propagationPolicy": "Foreground"});
    let marked = api
        .delete(&api.core("configmaps/a"), &options)
        .await?
        .is(200)?;
    ensure!(
        marked["metadata"]["finalizers"] == json!(["foregroundDeletion"]),
        "{marked}"
    );
    Ok(())
}

async fn orphan_adds_its_finalizer(api: Api) -> Result<()> {
    api.map("a").await?;
    let options = json!({"propagationPolicy": "Orphan"});
    let marked = api
        .delete(&api.core("configmaps/a"), &options)
        .await?
        .is(200)?;
    ensure!(
        marked["metadata"]["finalizers"] == json!(["orphan"]),
        "{marked}"
    );
    Ok(())
}

async fn background_takes_the_others_away(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a", "finalizers": ["foregroundDeletion"]}});
    api.post(&api.core("configmaps"), &body).await?.is(201)?;
    let options = json!({"propagationPolicy": "Background"});
    api.silently()
        .delete(&api.core("configmaps/a"), &options)
        .await?
        .is(200)?;
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn an_unknown_policy_is_refused(api: Api) -> Result<()> {
    api.map("a").await?;
    let refused = api
        .delete(
            &api.core("configmaps/a"),
            &json!({"propagationPolicy": "Never"}),
        )
        .await?;
    refused.refuses(422, "Invalid", "propagationPolicy")?;
    Ok(())
}

async fn deletion_on_dry_run_deletes_nothing(api: Api) -> Result<()> {
    api.map("a").await?;
    let options = json!({"dryRun": ["All"]});
    api.delete(&api.core("configmaps/a"), &options)
        .await?
        .is(200)?;
    api.get(&api.core("configmaps/a")).await?.is(200)?;
    // A body replaces all query parameters.
    let path = format!("{}?dryRun=All", api.core("configmaps/a"));
    api.delete(&path, &json!({})).await?.is(200)?;
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn a_deleted_collection_is_gone(api: Api) -> Result<()> {
    api.map("a").await?;
    api.map("b").await?;
    let gone = api
        .silently()
        .delete(&api.core("configmaps"), &json!({}))
        .await?
        .is(200)?;
    ensure!(names(&gone) == ["a", "b"], "{gone}");
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn a_collection_is_chosen_by_labels(api: Api) -> Result<()> {
    api.map("a").await?;
    let body = json!({"metadata": {"name": "b", "labels": {"l": "1"}}});
    api.post(&api.core("configmaps"), &body).await?.is(201)?;
    let path = format!("{}?labelSelector=l%3D1", api.core("configmaps"));
    api.silently().delete(&path, &json!({})).await?.is(200)?;
    api.get(&api.core("configmaps/a")).await?.is(200)?;
    api.get(&api.core("configmaps/b")).await?.is(404)?;
    Ok(())
}

async fn a_deletion_counts_as_a_generation(api: Api) -> Result<()> {
    let definition = super::custom::define(&api, &json!({})).await?;
    let path = definition.path("things");
    let mut thing = definition.sample_object(&json!({"size": 1}));
    thing["metadata"]["finalizers"] = json!(["example.com/hold"]);
    api.post(&path, &thing).await?.is(201)?;
    let marked = api
        .delete(&format!("{path}/a"), &json!({}))
        .await?
        .is(200)?;
    ensure!(marked["metadata"]["generation"] == 2, "{marked}");
    let patch = json!({"metadata": {"finalizers": []}});
    api.silently()
        .patch(MERGE, &format!("{path}/a"), &patch)
        .await?
        .is(200)?;
    Ok(())
}

async fn pod(api: &Api, node: Option<&str>) -> Result<Value> {
    let mut pod =
        json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    if let Some(node) = node {
        pod["spec"]["nodeName"] = node.into();
    }
    api.post(&api.core("pods"), &pod).await?.is(201)
}

async fn pods_on_nodes_are_given_time(api: Api) -> Result<()> {
    pod(&api, Some("one")).await?;
    let marked = api.delete(&api.core("pods/a"), &json!({})).await?.is(200)?;
    ensure!(
        marked["metadata"]["deletionGracePeriodSeconds"] == 30,
        "{marked}"
    );
    api.get(&api.core("pods/a")).await?.is(200)?;
    Ok(())
}

async fn pods_without_nodes_go_at_once(api: Api) -> Result<()> {
    pod(&api, None).await?;
    api.silently()
        .delete(&api.core("pods/a"), &json!({}))
        .await?
        .is(200)?;
    api.get(&api.core("pods/a")).await?.is(404)?;
    Ok(())
}

async fn a_grace_period_of_zero_ends_the_waiting(api: Api) -> Result<()> {
    pod(&api, Some("one")).await?;
    api.silently()
        .delete(&api.core("pods/a"), &json!({}))
        .await?
        .is(200)?;
    let options = json!({"gracePeriodSeconds": 0});
    api.silently()
        .delete(&api.core("pods/a"), &options)
        .await?
        .is(200)?;
    api.get(&api.core("pods/a")).await?.is(404)?;
    Ok(())
}

async fn options_may_be_in_the_query(api: Api) -> Result<()> {
    api.map("a").await?;
    let path = format!("{}?propagationPolicy=Foreground", api.core("configmaps/a"));
    let marked = api.send_delete(&path).await?.is(200)?;
    ensure!(
        marked["metadata"]["finalizers"] == json!(["foregroundDeletion"]),
        "{marked}"
    );
    Ok(())
}
