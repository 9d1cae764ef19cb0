//! Creation and replacement: names, versions and refusals.

use anyhow::{Result, ensure};
use serde_json::json;

use super::api::{Api, cases, unchanged, version};

cases![
    create_fills_in_what_is_the_servers,
    create_twice_is_a_conflict,
    create_without_a_name_is_refused,
    create_with_a_bad_name_is_refused,
    create_with_a_version_is_refused,
    create_in_another_namespace_is_refused,
    create_in_a_missing_namespace_is_not_found,
    create_by_generate_name_adds_letters,
    create_of_another_kind_is_refused,
    create_ignores_uid_generation_and_times,
    create_on_dry_run_stores_nothing,
    dry_run_must_be_all,
    get_of_the_absent_is_not_found,
    put_replaces,
    put_without_a_version_replaces_anyway,
    put_with_a_stale_version_is_a_conflict,
    put_with_a_foreign_uid_is_a_conflict,
    put_that_changes_nothing_keeps_the_version,
    put_of_the_absent_is_not_found,
    put_with_another_name_is_refused,
    put_creates_a_role_that_is_absent,
    put_on_dry_run_stores_nothing,
    put_of_a_lease_needs_a_version,
    put_with_a_version_that_is_no_number_is_refused,
    unknown_paths_are_not_found,
    unknown_methods_are_refused,
    immutable_config_maps_stay_as_they_are,
    secrets_turn_text_into_data,
    fields_that_are_given_twice_are_refused_where_that_is_asked_for,
];

async fn create_fills_in_what_is_the_servers(api: Api) -> Result<()> {
    let made = api.map("a").await?;
    let metadata = &made["metadata"];
    ensure!(metadata["uid"].is_string() && metadata["creationTimestamp"].is_string());
    ensure!(metadata["namespace"] == api.namespace.as_str() && made["kind"] == "ConfigMap");
    let read = api.get(&api.core("configmaps/a")).await?.is(200)?;
    ensure!(read == made, "{read}");
    Ok(())
}

async fn create_twice_is_a_conflict(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}});
    api.post(&api.core("configmaps"), &body).await?.is(201)?;
    let again = api.post(&api.core("configmaps"), &body).await?;
    again.refuses(409, "AlreadyExists", "configmaps \"a\" already exists")?;
    Ok(())
}

async fn create_without_a_name_is_refused(api: Api) -> Result<()> {
    let refused = api
        .post(&api.core("configmaps"), &json!({"metadata": {}}))
        .await?;
    refused.refuses(422, "Invalid", "name or generateName is required")?;
    Ok(())
}

async fn create_with_a_bad_name_is_refused(api: Api) -> Result<()> {
    for (kind, name) in [
        ("configmaps", "Not_A_Name"),
        ("configmaps", "-a"),
        ("secrets", "a..b"),
    ] {
        let refused = api
            .post(&api.core(kind), &json!({"metadata": {"name": name}}))
            .await?;
        refused.refuses(422, "Invalid", "a lowercase RFC 1123 subdomain must")?;
    }
    Ok(())
}

async fn create_with_a_version_is_refused(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a", "resourceVersion": "5"}});
    let refused = api.post(&api.core("configmaps"), &body).await?;
    refused.refuses(
        500,
        "",
        "resourceVersion should not be set on objects to be created",
    )?;
    Ok(())
}

async fn create_in_another_namespace_is_refused(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a", "namespace": "default"}});
    let refused = api.post(&api.core("configmaps"), &body).await?;
    refused.refuses(400, "BadRequest", "does not match the namespace")?;
    Ok(())
}

async fn create_in_a_missing_namespace_is_not_found(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}});
    let refused = api
        .post("/api/v1/namespaces/nowhere/configmaps", &body)
        .await?;
    refused.refuses(404, "NotFound", "namespaces \"nowhere\" not found")?;
    Ok(())
}

async fn create_by_generate_name_adds_letters(api: Api) -> Result<()> {
    let quiet = api.silently();
    let body = json!({"metadata": {"generateName": "made-"}});
    for _ in 0..3 {
        let made = quiet.post(&api.core("configmaps"), &body).await?.is(201)?;
        let name = made["metadata"]["name"].as_str().unwrap_or_default();
        ensure!(name.starts_with("made-") && name.len() == 10, "{name}");
        ensure!(made["metadata"]["generateName"] == "made-");
    }
    let bad = json!({"metadata": {"generateName": "Bad_"}});
    quiet.post(&api.core("configmaps"), &bad).await?.is(422)?;
    Ok(())
}

async fn create_of_another_kind_is_refused(api: Api) -> Result<()> {
    let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    api.silently()
        .post(&api.core("configmaps"), &body)
        .await?
        .is(400)?;
    let body = json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}});
    api.silently()
        .post(&api.core("configmaps"), &body)
        .await?
        .is(400)?;
    Ok(())
}

async fn create_ignores_uid_generation_and_times(api: Api) -> Result<()> {
    let body = json!({"metadata": {
        "name": "a", "uid": "mine", "generation": 7, "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/a",
    }});
    let made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    ensure!(made["metadata"]["uid"] != "mine");
    ensure!(made["metadata"].get("deletionTimestamp").is_none());
    Ok(())
}

async fn create_on_dry_run_stores_nothing(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "data": {"a": "1"}});
    let path = format!("{}?dryRun=All", api.core("configmaps"));
    let made = api.post(&path, &body).await?.is(201)?;
    ensure!(made["metadata"]["uid"].is_string());
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn dry_run_must_be_all(api: Api) -> Result<()> {
    let path = format!("{}?dryRun=Some", api.core("configmaps"));
    let refused = api.post(&path, &json!({"metadata": {"name": "a"}})).await?;
    refused.refuses(422, "Invalid", "dryRun")?;
    Ok(())
}

async fn get_of_the_absent_is_not_found(api: Api) -> Result<()> {
    let refused = api.get(&api.core("services/a")).await?;
    refused.refuses(404, "NotFound", "services \"a\" not found")?;
    let path = api.group("coordination.k8s.io", "leases/a");
    let refused = api.get(&path).await?;
    refused.refuses(
        404,
        "NotFound",
        "leases.coordination.k8s.io \"a\" not found",
    )?;
    Ok(())
}

async fn put_replaces(api: Api) -> Result<()> {
    let mut map = api.map("a").await?;
    map["data"] = json!({"c": "3"});
    let replaced = api.put(&api.core("configmaps/a"), &map).await?.is(200)?;
    ensure!(replaced["data"] == json!({"c": "3"}) && version(&replaced) != version(&map));
    ensure!(replaced["metadata"]["uid"] == map["metadata"]["uid"]);
    Ok(())
}

async fn put_without_a_version_replaces_anyway(api: Api) -> Result<()> {
    api.map("a").await?;
    let body = json!({"metadata": {"name": "a"}, "data": {"c": "3"}});
    let replaced = api.put(&api.core("configmaps/a"), &body).await?.is(200)?;
    ensure!(replaced["data"] == json!({"c": "3"}));
    Ok(())
}

async fn put_with_a_stale_version_is_a_conflict(api: Api) -> Result<()> {
    let first = api.map("a").await?;
    let mut second = first.clone();
    second["data"]["a"] = "2".into();
    api.put(&api.core("configmaps/a"), &second).await?.is(200)?;
    let refused = api.put(&api.core("configmaps/a"), &first).await?;
    refused.refuses(
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version",
    )?;
    Ok(())
}

async fn put_with_a_foreign_uid_is_a_conflict(api: Api) -> Result<()> {
    let mut map = api.map("a").await?;
    map["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    let refused = api.silently().put(&api.core("configmaps/a"), &map).await?;
    refused.refuses(
        409,
        "Conflict",
        "Precondition failed: UID in precondition: 11111111",
    )?;
    Ok(())
}

async fn put_that_changes_nothing_keeps_the_version(api: Api) -> Result<()> {
    let map = api.map("a").await?;
    let again = api.put(&api.core("configmaps/a"), &map).await?.is(200)?;
    unchanged(&map, &again)
}

async fn put_of_the_absent_is_not_found(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}});
    api.put(&api.core("configmaps/a"), &body)
        .await?
        .refuses(404, "NotFound", "\"a\" not found")?;
    Ok(())
}

async fn put_with_another_name_is_refused(api: Api) -> Result<()> {
    api.map("a").await?;
    let body = json!({"metadata": {"name": "b"}});
    let refused = api.put(&api.core("configmaps/a"), &body).await?;
    refused.refuses(400, "BadRequest", "does not match the name on the URL")?;
    Ok(())
}

async fn put_creates_a_role_that_is_absent(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "rules": []});
    let path = api.group("rbac.authorization.k8s.io", "roles/a");
    api.put(&path, &body).await?.is(201)?;
    api.put(&path, &body).await?.is(200)?;
    Ok(())
}

async fn put_on_dry_run_stores_nothing(api: Api) -> Result<()> {
    let mut map = api.map("a").await?;
    map["data"]["a"] = "9".into();
    let path = format!("{}?dryRun=All", api.core("configmaps/a"));
    let answer = api.put(&path, &map).await?.is(200)?;
    ensure!(answer["data"]["a"] == "9");
    let read = api.get(&api.core("configmaps/a")).await?.is(200)?;
    ensure!(read["data"]["a"] == "1");
    Ok(())
}

async fn put_of_a_lease_needs_a_version(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {"holderIdentity": "me"}});
    let all = api.group("coordination.k8s.io", "leases");
    api.post(&all, &body).await?.is(201)?;
    let refused = api.put(&format!("{all}/a"), &body).await?;
    refused.refuses(422, "Invalid", "must be specified for an update")?;
    Ok(())
}

async fn put_with_a_version_that_is_no_number_is_refused(api: Api) -> Result<()> {
    let mut map = api.map("a").await?;
    map["metadata"]["resourceVersion"] = "new".into();
    let answer = api.silently().put(&api.core("configmaps/a"), &map).await?;
    ensure!(answer.code >= 400, "{answer:?}");
    Ok(())
}

async fn unknown_paths_are_not_found(api: Api) -> Result<()> {
    for path in ["/api/v1/gadgets", "/apis/example.org/v1/things", "/nowhere"] {
        api.get(path).await?.is(404)?;
    }
    api.get(&api.core("configmaps/a/status")).await?.is(404)?;
    Ok(())
}

async fn unknown_methods_are_refused(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}});
    api.put(&api.core("configmaps"), &body)
        .await?
        .refuses(405, "MethodNotAllowed", "")?;
    api.delete("/api/v1/namespaces", &json!({}))
        .await?
        .refuses(405, "MethodNotAllowed", "")?;
    Ok(())
}

async fn immutable_config_maps_stay_as_they_are(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "data": {"a": "1"}, "immutable": true});
    let mut made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    made["data"]["a"] = "2".into();
    let refused = api.put(&api.core("configmaps/a"), &made).await?;
    refused.refuses(422, "Invalid", "field is immutable when `immutable` is set")?;
    made["data"]["a"] = "1".into();
    made["immutable"] = false.into();
    api.put(&api.core("configmaps/a"), &made).await?.is(422)?;
    Ok(())
}

async fn secrets_turn_text_into_data(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "stringData": {"word": "open"}});
    let made = api.post(&api.core("secrets"), &body).await?.is(201)?;
    ensure!(made["data"]["word"] == "b3Blbg==" && made["type"] == "Opaque");
    ensure!(made.get("stringData").is_none());
    let mut other = made.clone();
    other["type"] = "example.com/other".into();
    api.put(&api.core("secrets/a"), &other).await?.is(422)?;
    Ok(())
}

async fn fields_that_are_given_twice_are_refused_where_that_is_asked_for(api: Api) -> Result<()> {
    let body = r#"{
        "metadata": {"name": "a", "labels": {"a": "1", "a": "2"}}, "unknown": 1,
        "spec": {
            "replicas": 1, "replicas": 2, "selector": {"matchLabels": {"a": "2"}}, "template": {
                "metadata": {"labels": {"a": "2"}},
                "spec": {"containers": [{"name": "c", "name": "c", "image": "example.com/image:1"}]}
            }
        }
    }"#;
    let path = api.group("apps", "deployments");
    let strict = format!("{path}?fieldValidation=Strict");
    api.post_text(&strict, body).await?.refuses(
        400,
        "BadRequest",
        "unknown field \"unknown\", duplicate field \"spec.replicas\"",
    )?;
    let made = api.post_text(&path, body).await?.is(201)?;
    ensure!(made["spec"]["replicas"] == 2, "the last counts: {made}");
    Ok(())
}
