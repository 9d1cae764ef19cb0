//! Lists whose elements are all owned by one manager: the result of an apply, the reasons for its
//! refusal, and the end.

use anyhow::{Result, ensure};
use lifecycle_runtime::machine::compare::migrated;
use serde_json::{Value, json};

use super::api::{Api, JSON_PATCH, MERGE, cases, unchanged, version};

cases![
    an_edited_port_makes_every_apply_clash,
    an_added_port_outlives_every_apply,
    a_port_that_two_own_outlives_an_apply_without_it,
    ports_of_an_update_make_every_apply_clash,
    elements_are_taken_over_by_a_patch_of_managed_fields,
    elements_are_taken_over_at_the_version_that_was_seen,
];

const PORTS: &[&str] = &["spec.ports"];

fn service_manifest(ports: &[(&str, u16)]) -> Value {
    let ports = ports
        .iter()
        .map(|(name, port)| json!({"name": name, "port": port, "protocol": "TCP"}));
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"ports": ports.collect::<Vec<_>>(), "selector": {"app": "a"}},
    })
}

fn ports(service: &Value) -> Vec<u64> {
    let ports = service["spec"]["ports"].as_array();
    ports
        .into_iter()
        .flatten()
        .filter_map(|port| port["port"].as_u64())
        .collect()
}

/// A Service of manager `one`.
async fn create_service(api: &Api) -> Result<String> {
    let path = api.core("services/a");
    api.apply(&path, "one", &service_manifest(&[("http", 8080)]))
        .await?
        .is(201)?;
    Ok(path)
}

/// Writes these ports by hand.
async fn by_hand(api: &Api, path: &str, ports: Value) -> Result<Value> {
    let edit = json!({"spec": {"ports": ports}});
    let path = format!("{path}?fieldManager=hand");
    api.patch(MERGE, &path, &edit).await?.is(200)
}

/// Every port becomes that of manager `one`; nothing else changes.
async fn take_over(api: &Api, path: &str, live: &Value) -> Result<Value> {
    let patch = json!({"metadata": {
        "uid": live["metadata"]["uid"], "resourceVersion": version(live),
        "managedFields": migrated(live, "one", &[], PORTS),
    }});
    let after = api.patch(MERGE, path, &patch).await?.is(200)?;
    ensure!(after["spec"] == live["spec"], "{after}");
    Ok(after)
}

async fn ends(api: &Api, path: &str, list: &[(&str, u16)]) -> Result<()> {
    let after = api
        .force(path, "one", &service_manifest(list))
        .await?
        .is(200)?;
    let expected: Vec<u64> = list.iter().map(|(_, port)| u64::from(*port)).collect();
    ensure!(ports(&after) == expected, "{after}");
    let again = api
        .force(path, "one", &service_manifest(list))
        .await?
        .is(200)?;
    unchanged(&after, &again)
}

async fn an_edited_port_makes_every_apply_clash(api: Api) -> Result<()> {
    let path = create_service(&api).await?;
    let edited = by_hand(&api, &path, json!([{"name": "http", "port": 8081}])).await?;
    for _ in 0..2 {
        let refused = api
            .force(&path, "one", &service_manifest(&[("http", 8080)]))
            .await?;
        refused.refuses(422, "Invalid", "Duplicate value")?;
    }
    take_over(&api, &path, &edited).await?;
    ends(&api, &path, &[("http", 8080)]).await
}

async fn an_added_port_outlives_every_apply(api: Api) -> Result<()> {
    let path = create_service(&api).await?;
    let added = json!([{"name": "http", "port": 8080}, {"name": "more", "port": 9090}]);
    by_hand(&api, &path, added).await?;
    let kept = api
        .force(&path, "one", &service_manifest(&[("http", 8080)]))
        .await?
        .is(200)?;
    ensure!(ports(&kept) == [8080, 9090], "{kept}");
    take_over(&api, &path, &kept).await?;
    ends(&api, &path, &[("http", 8080)]).await
}

async fn a_port_that_two_own_outlives_an_apply_without_it(api: Api) -> Result<()> {
    let path = create_service(&api).await?;
    let two = service_manifest(&[("http", 8080)]);
    api.force(&path, "two", &two).await?.is(200)?;
    let other = service_manifest(&[("other", 9090)]);
    let kept = api.force(&path, "one", &other).await?.is(200)?;
    ensure!(ports(&kept).len() == 2, "{kept}");
    take_over(&api, &path, &kept).await?;
    ends(&api, &path, &[("other", 9090)]).await
}

async fn ports_of_an_update_make_every_apply_clash(api: Api) -> Result<()> {
    let mut old = service_manifest(&[("http", 80), ("more", 81)]);
    old["metadata"]["labels"] = json!({"app": "a"});
    let services = format!("{}?fieldManager=old", api.core("services"));
    let old = api.post(&services, &old).await?.is(201)?;
    let path = api.core("services/a");
    let refused = api
        .force(&path, "one", &service_manifest(&[("http", 8080)]))
        .await?;
    refused.refuses(422, "Invalid", "Duplicate value")?;
    let taken = take_over(&api, &path, &old).await?;
    ensure!(
        taken["metadata"]["labels"] == json!({"app": "a"}),
        "{taken}"
    );
    ends(&api, &path, &[("http", 8080)]).await
}

async fn elements_are_taken_over_by_a_patch_of_managed_fields(api: Api) -> Result<()> {
    let path = create_service(&api).await?;
    let edited = by_hand(&api, &path, json!([{"name": "http", "port": 8081}])).await?;
    let patch = json!([
        {"op": "test", "path": "/metadata/uid", "value": edited["metadata"]["uid"]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version(&edited)},
        {"op": "replace", "path": "/metadata/managedFields", "value": migrated(&edited, "one", &[], PORTS)},
    ]);
    let taken = api.patch(JSON_PATCH, &path, &patch).await?.is(200)?;
    let entries = taken["metadata"]["managedFields"].as_array();
    ensure!(entries.is_some_and(|entries| entries.len() == 1), "{taken}");
    ends(&api, &path, &[("http", 8080)]).await
}

async fn elements_are_taken_over_at_the_version_that_was_seen(api: Api) -> Result<()> {
    let path = create_service(&api).await?;
    let seen = by_hand(&api, &path, json!([{"name": "http", "port": 8081}])).await?;
    let now = by_hand(&api, &path, json!([{"name": "http", "port": 8082}])).await?;
    let patch = json!({"metadata": {
        "uid": seen["metadata"]["uid"], "resourceVersion": version(&seen),
        "managedFields": migrated(&seen, "one", &[], PORTS),
    }});
    let refused = api.patch(MERGE, &path, &patch).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    unchanged(&now, &api.get(&path).await?.is(200)?)
}
