//! Watches: their start, their events, and the effect of selectors on changes.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, version};

cases![
    a_watch_from_a_version_tells_what_came_after,
    a_watch_without_a_version_begins_with_what_is_there,
    a_streaming_list_ends_with_a_bookmark,
    a_streaming_list_needs_a_version_match,
    a_watch_with_a_version_match_alone_is_refused,
    changes_of_labels_are_additions_and_deletions,
    a_deletion_has_a_version_of_its_own,
    a_watch_of_one_name_tells_of_it_alone,
    a_watch_of_all_namespaces_tells_of_all,
    events_of_custom_kinds_are_watched,
    no_op_writes_are_not_told,
];

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect()
}

async fn change(api: &Api, name: &str, value: &str) -> Result<Value> {
    let patch = json!({"metadata": {"labels": {"l": value}}});
    api.patch(MERGE, &api.core(&format!("configmaps/{name}")), &patch)
        .await?
        .is(200)
}

async fn a_watch_from_a_version_tells_what_came_after(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    change(&api, "a", "1").await?;
    api.map("b").await?;
    api.delete(&api.core("configmaps/a"), &json!({}))
        .await?
        .is(200)?;
    let path = format!(
        "{}?watch=true&resourceVersion={}",
        api.core("configmaps"),
        version(&made)
    );
    let events = api.watch(&path, 3).await?;
    ensure!(
        kinds(&events) == ["MODIFIED", "ADDED", "DELETED"],
        "{events:?}"
    );
    Ok(())
}

async fn a_watch_without_a_version_begins_with_what_is_there(api: Api) -> Result<()> {
    api.map("a").await?;
    api.map("b").await?;
    let events = api
        .watch(&format!("{}?watch=true", api.core("configmaps")), 2)
        .await?;
    ensure!(kinds(&events) == ["ADDED", "ADDED"], "{events:?}");
    Ok(())
}

async fn a_streaming_list_ends_with_a_bookmark(api: Api) -> Result<()> {
    api.map("a").await?;
    api.map("b").await?;
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let events = api
        .silently()
        .watch(&format!("{}?{query}", api.core("configmaps")), 3)
        .await?;
    ensure!(
        kinds(&events) == ["ADDED", "ADDED", "BOOKMARK"],
        "{events:?}"
    );
    let metadata = &events[2]["object"]["metadata"];
    ensure!(
        metadata["annotations"]["k8s.io/initial-events-end"] == "true",
        "{events:?}"
    );
    ensure!(events[2]["object"]["kind"] == "ConfigMap");
    Ok(())
}

async fn a_streaming_list_needs_a_version_match(api: Api) -> Result<()> {
    let path = format!(
        "{}?watch=true&sendInitialEvents=true",
        api.core("configmaps")
    );
    api.get(&path)
        .await?
        .refuses(422, "Invalid", "resourceVersionMatch")?;
    Ok(())
}

async fn a_watch_with_a_version_match_alone_is_refused(api: Api) -> Result<()> {
    let path = format!(
        "{}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan",
        api.core("configmaps")
    );
    api.get(&path).await?.refuses(
        422,
        "Invalid",
        "resourceVersionMatch is forbidden for watch",
    )?;
    Ok(())
}

async fn changes_of_labels_are_additions_and_deletions(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    for value in ["1", "2", "1"] {
        change(&api, "a", value).await?;
    }
    let query = format!(
        "watch=true&labelSelector=l%3D1&resourceVersion={}",
        version(&made)
    );
    let events = api
        .watch(&format!("{}?{query}", api.core("configmaps")), 3)
        .await?;
    ensure!(
        kinds(&events) == ["ADDED", "DELETED", "ADDED"],
        "{events:?}"
    );
    // The last state that matched.
    ensure!(
        events[1]["object"]["metadata"]["labels"]["l"] == "1",
        "{events:?}"
    );
    Ok(())
}

async fn a_deletion_has_a_version_of_its_own(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    api.delete(&api.core("configmaps/a"), &json!({}))
        .await?
        .is(200)?;
    let path = format!(
        "{}?watch=true&resourceVersion={}",
        api.core("configmaps"),
        version(&made)
    );
    let events = api.watch(&path, 1).await?;
    ensure!(
        version(&events[0]["object"]) != version(&made),
        "{events:?}"
    );
    Ok(())
}

async fn a_watch_of_one_name_tells_of_it_alone(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    api.map("b").await?;
    change(&api, "a", "1").await?;
    let query = format!(
        "watch=true&fieldSelector=metadata.name%3Da&resourceVersion={}",
        version(&made)
    );
    let events = api
        .watch(&format!("{}?{query}", api.core("configmaps")), 1)
        .await?;
    ensure!(events[0]["object"]["metadata"]["name"] == "a");
    Ok(())
}

async fn a_watch_of_all_namespaces_tells_of_all(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    change(&api, "a", "1").await?;
    let selector = format!("fieldSelector=metadata.namespace%3D{}", api.namespace);
    let path = format!(
        "/api/v1/configmaps?watch=true&{selector}&resourceVersion={}",
        version(&made)
    );
    let events = api.watch(&path, 1).await?;
    ensure!(kinds(&events) == ["MODIFIED"]);
    Ok(())
}

async fn events_of_custom_kinds_are_watched(api: Api) -> Result<()> {
    let definition = super::custom::define(&api, &json!({})).await?;
    let path = definition.path("things");
    let made = api
        .post(&path, &definition.sample_object(&json!({"size": 1})))
        .await?
        .is(201)?;
    let patch = json!({"spec": {"size": 2}});
    api.patch(MERGE, &format!("{path}/a"), &patch)
        .await?
        .is(200)?;
    let events = api
        .watch(
            &format!("{path}?watch=true&resourceVersion={}", version(&made)),
            1,
        )
        .await?;
    ensure!(kinds(&events) == ["MODIFIED"] && events[0]["object"]["metadata"]["generation"] == 2);
    Ok(())
}

async fn no_op_writes_are_not_told(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    change(&api, "a", "1").await?;
    change(&api, "a", "1").await?;
    change(&api, "a", "2").await?;
    let path = format!(
        "{}?watch=true&resourceVersion={}",
        api.core("configmaps"),
        version(&made)
    );
    let events = api.watch(&path, 2).await?;
    let labels: Vec<&Value> = events
        .iter()
        .map(|event| &event["object"]["metadata"]["labels"]["l"])
        .collect();
    ensure!(labels == ["1", "2"], "{events:?}");
    Ok(())
}
