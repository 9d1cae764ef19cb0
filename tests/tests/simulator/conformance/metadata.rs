//! `metadata`: labels, annotations, owners, finalizers.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases};

cases![
    labels_must_be_labels,
    label_keys_must_be_qualified_names,
    annotations_are_limited,
    finalizers_must_be_qualified_names,
    orphan_and_foreground_exclude_each_other,
    owners_need_all_their_fields,
    owners_are_controllers_at_most_once,
    equal_owners_are_kept_once,
    owners_of_one_uid_that_differ_are_both_kept,
    empty_labels_are_left_out,
    managed_fields_of_an_update_name_its_manager,
    managed_fields_are_taken_away_by_an_empty_list,
    names_of_services_may_begin_with_digits,
    names_of_services_have_no_dots,
    names_of_roles_may_have_colons,
];

async fn refused(api: &Api, metadata: &Value, words: &str) -> Result<()> {
    let answer = api
        .post(&api.core("configmaps"), &json!({"metadata": metadata}))
        .await?;
    answer.refuses(422, "Invalid", words)?;
    Ok(())
}

async fn labels_must_be_labels(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"name": "a", "labels": {"a": "no spaces"}}),
        "a valid label must be",
    )
    .await
}

async fn label_keys_must_be_qualified_names(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"name": "a", "labels": {"-a": "1"}}),
        "name part must consist of",
    )
    .await?;
    refused(
        &api,
        &json!({"name": "a", "labels": {"A_/a": "1"}}),
        "prefix part",
    )
    .await
}

async fn annotations_are_limited(api: Api) -> Result<()> {
    let long = "a".repeat(300_000);
    let body = json!({"metadata": {"name": "a", "annotations": {"a": long}}});
    api.post(&api.core("configmaps"), &body).await?.is(422)?;
    Ok(())
}

async fn finalizers_must_be_qualified_names(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"name": "a", "finalizers": ["not a name"]}),
        "metadata.finalizers",
    )
    .await
}

async fn orphan_and_foreground_exclude_each_other(api: Api) -> Result<()> {
    let both = json!({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]});
    let body = json!({"metadata": both});
    api.silently()
        .post(&api.core("configmaps"), &body)
        .await?
        .refuses(422, "Invalid", "cannot be both set")?;
    Ok(())
}

async fn owners_need_all_their_fields(api: Api) -> Result<()> {
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": ""}]);
    refused(
        &api,
        &json!({"name": "a", "ownerReferences": owners}),
        "must not be empty",
    )
    .await
}

fn owner(name: &str, controller: bool) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "controller": controller})
}

async fn owners_are_controllers_at_most_once(api: Api) -> Result<()> {
    let body =
        json!({"metadata": {"name": "a", "ownerReferences": [owner("p", true), owner("q", true)]}});
    let answer = api.silently().post(&api.core("configmaps"), &body).await?;
    answer.refuses(
        422,
        "Invalid",
        "Found \"true\" in references for ConfigMap/p and ConfigMap/q",
    )?;
    Ok(())
}

async fn equal_owners_are_kept_once(api: Api) -> Result<()> {
    let body =
        json!({"metadata": {"name": "a", "ownerReferences": [owner("p", true), owner("p", true)]}});
    let made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    ensure!(
        made["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|owners| owners.len() == 1)
    );
    Ok(())
}

async fn owners_of_one_uid_that_differ_are_both_kept(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a", "ownerReferences": [owner("p", true), owner("p", false)]}});
    let made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    ensure!(
        made["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|owners| owners.len() == 2)
    );
    Ok(())
}

async fn empty_labels_are_left_out(api: Api) -> Result<()> {
    let body =
        json!({"metadata": {"name": "a", "labels": {}, "annotations": {}, "finalizers": []}});
    let made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    ensure!(
        made["metadata"].get("labels").is_none() && made["metadata"].get("finalizers").is_none()
    );
    Ok(())
}

async fn managed_fields_of_an_update_name_its_manager(api: Api) -> Result<()> {
    let path = format!("{}?fieldManager=one", api.core("configmaps"));
    let made = api
        .post(
            &path,
            &json!({"metadata": {"name": "a"}, "data": {"a": "1"}}),
        )
        .await?
        .is(201)?;
    ensure!(made["metadata"]["managedFields"][0]["manager"] == "one");
    let path = format!("{}?fieldManager=two", api.core("configmaps/a"));
    let new = api
        .patch(MERGE, &path, &json!({"data": {"b": "2"}}))
        .await?
        .is(200)?;
    let managers: Vec<&str> = new["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["manager"].as_str())
        .collect();
    ensure!(managers == ["one", "two"], "{managers:?}");
    Ok(())
}

async fn managed_fields_are_taken_away_by_an_empty_list(api: Api) -> Result<()> {
    let path = format!("{}?fieldManager=one", api.core("configmaps"));
    api.post(
        &path,
        &json!({"metadata": {"name": "a"}, "data": {"a": "1"}}),
    )
    .await?
    .is(201)?;
    let patch = json!({"metadata": {"managedFields": [{}]}});
    let new = api
        .patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["metadata"].get("managedFields").is_none(), "{new}");
    Ok(())
}

fn service(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
}

async fn names_of_services_may_begin_with_digits(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service("9bad"))
        .await?
        .is(201)?;
    Ok(())
}

async fn names_of_services_have_no_dots(api: Api) -> Result<()> {
    api.post(&api.core("services"), &service("a.b"))
        .await?
        .refuses(422, "Invalid", "must not contain dots")?;
    let long = "a".repeat(64);
    api.post(&api.core("services"), &service(&long))
        .await?
        .refuses(422, "Invalid", "63")?;
    Ok(())
}

async fn names_of_roles_may_have_colons(api: Api) -> Result<()> {
    let path = api.group("rbac.authorization.k8s.io", "roles");
    api.post(&path, &json!({"metadata": {"name": "a:b"}, "rules": []}))
        .await?
        .is(201)?;
    api.get(&format!("{path}/a:b")).await?.is(200)?;
    Ok(())
}
