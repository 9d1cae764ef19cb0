//! Facts that the driver depends on, for custom kinds if the other files cover only built-in kinds.
//! Also covers requests that stay refused no matter how often they are tried.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, unchanged, version};
use super::custom::{Definition, define};

cases![
    a_create_only_apply_protects_custom_objects,
    an_unforced_apply_stays_refused_until_it_is_forced,
    a_uid_in_an_apply_is_the_objects_own_also_of_custom_kinds,
    a_custom_status_is_taken_by_force_at_the_version_that_was_seen,
    a_wrong_uid_in_the_status_of_a_service_is_invalid,
    defaults_of_custom_kinds_are_not_owned,
    nulls_of_an_apply_are_not_kept,
    what_is_refused_writes_nothing,
    an_edit_of_another_object_counts_for_nothing,
    a_label_that_is_given_back_is_no_write,
];

/// The path of the thing of a case, and the thing.
fn sample_object(definition: &Definition, spec: &Value) -> (String, Value) {
    let path = format!("{}/a", definition.path("things"));
    (path, definition.sample_object(spec))
}

async fn a_create_only_apply_protects_custom_objects(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let (path, mut wanted) = sample_object(&definition, &json!({"size": 1}));
    wanted["metadata"]["resourceVersion"] = "1".into();
    let made = api.apply(&path, "one", &wanted).await?.is(201)?;
    wanted["spec"]["size"] = 2.into();
    for force in [false, true] {
        let refused = if force {
            api.force(&path, "one", &wanted).await?
        } else {
            api.apply(&path, "one", &wanted).await?
        };
        refused.refuses(409, "Conflict", "the object has been modified")?;
    }
    unchanged(&made, &api.get(&path).await?.is(200)?)?;
    wanted["metadata"]["resourceVersion"] = "0".into();
    let refused = api.apply(&path, "two", &wanted).await?;
    refused.refuses(409, "Conflict", "Apply failed with 1 conflict")?;
    let refused = api.force(&path, "two", &wanted).await?;
    refused.refuses(422, "Invalid", "must be specified for an update")?;
    Ok(())
}

async fn an_unforced_apply_stays_refused_until_it_is_forced(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let (path, wanted) = sample_object(&definition, &json!({"size": 1}));
    let made = api.apply(&path, "one", &wanted).await?.is(201)?;
    let edit = json!({"spec": {"size": 2}});
    let path_of_hand = format!("{path}?fieldManager=hand");
    api.patch(MERGE, &path_of_hand, &edit).await?.is(200)?;
    for _ in 0..3 {
        let refused = api.apply(&path, "one", &wanted).await?;
        refused.refuses(409, "Conflict", "Apply failed with 1 conflict")?;
    }
    let mut forced = wanted;
    forced["metadata"]["uid"] = made["metadata"]["uid"].clone();
    let new = api.force(&path, "one", &forced).await?.is(200)?;
    ensure!(new["spec"]["size"] == 1, "{new}");
    Ok(())
}

async fn a_uid_in_an_apply_is_the_objects_own_also_of_custom_kinds(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let (path, mut wanted) = sample_object(&definition, &json!({"size": 1}));
    wanted["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    let refused = api.force(&path, "one", &wanted).await?;
    refused.refuses(409, "Conflict", "uid mismatch")?;
    let (_, plain) = sample_object(&definition, &json!({"size": 1}));
    let made = api.apply(&path, "one", &plain).await?.is(201)?;
    let refused = api.force(&path, "one", &wanted).await?;
    let status = refused.refuses(422, "Invalid", "field is immutable")?;
    ensure!(status["details"]["causes"][0]["field"] == "metadata.uid");
    wanted["metadata"]["uid"] = made["metadata"]["uid"].clone();
    let again = api.force(&path, "one", &wanted).await?.is(200)?;
    unchanged(&made, &again)
}

async fn a_custom_status_is_taken_by_force_at_the_version_that_was_seen(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let (path, made) = sample_object(&definition, &json!({"size": 1}));
    let made = api.apply(&path, "one", &made).await?.is(201)?;
    let path = format!("{path}/status");
    let mut report = definition.sample_object(&Value::Null);
    report.as_object_mut().map(|report| report.remove("spec"));
    report["status"] = json!({"phase": "Ready"});
    api.apply(&path, "one", &report).await?.is(200)?;
    let edit = json!({"status": {"phase": "Edited"}});
    let path_of_hand = format!("{path}?fieldManager=hand");
    let edited = api.patch(MERGE, &path_of_hand, &edit).await?.is(200)?;
    for _ in 0..2 {
        let refused = api.apply(&path, "one", &report).await?;
        refused.refuses(409, "Conflict", "Apply failed with 1 conflict")?;
    }
    report["metadata"]["resourceVersion"] = version(&made).into();
    let refused = api.force(&path, "one", &report).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    report["metadata"]["resourceVersion"] = version(&edited).into();
    let new = api.force(&path, "one", &report).await?.is(200)?;
    ensure!(new["status"]["phase"] == "Ready", "{new}");
    Ok(())
}

async fn a_wrong_uid_in_the_status_of_a_service_is_invalid(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
    api.post(&api.core("services"), &body).await?.is(201)?;
    let report = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "a", "uid": "11111111-1111-1111-1111-111111111111"},
        "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    });
    let path = api.core("services/a/status");
    let refused = api.force(&path, "two", &report).await?;
    refused.refuses(422, "Invalid", "field is immutable")?;
    Ok(())
}

async fn defaults_of_custom_kinds_are_not_owned(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let (path, wanted) = sample_object(&definition, &json!({"size": 1}));
    let made = api.apply(&path, "one", &wanted).await?.is(201)?;
    ensure!(made["spec"]["mode"] == "plain", "{made}");
    let owned = &made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    ensure!(
        owned["f:size"].is_object() && owned.get("f:mode").is_none(),
        "{made}"
    );
    let again = api.apply(&path, "one", &wanted).await?.is(200)?;
    unchanged(&made, &again)
}

async fn nulls_of_an_apply_are_not_kept(api: Api) -> Result<()> {
    let wanted = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "annotations": null},
        "spec": {"ports": [{"port": 80, "name": ""}], "selector": null, "externalName": ""},
    });
    let path = api.core("services/a");
    let made = api.apply(&path, "one", &wanted).await?.is(201)?;
    ensure!(made["spec"].get("externalName").is_none(), "{made}");
    ensure!(made["spec"].get("selector").is_none(), "{made}");
    ensure!(made["metadata"].get("annotations").is_none(), "{made}");
    let again = api.apply(&path, "one", &wanted).await?.is(200)?;
    unchanged(&made, &again)
}

async fn what_is_refused_writes_nothing(api: Api) -> Result<()> {
    let service = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec});
    let path = api.core("services/a");
    let plain = service(json!({"ports": [{"port": 80}]}));
    let made = api.apply(&path, "one", &plain).await?.is(201)?;
    let port = json!({"port": 80, "protocol": "TCP"});
    for (spec, code) in [
        (json!({"ports": [port, port]}), 500),
        (json!({"ports": [{"port": "x"}]}), 500),
        (json!({"ports": [{"port": 80}], "colour": "blue"}), 500),
        (json!({"ports": [{"port": 99999}]}), 422),
        (json!({"ports": [{"port": 80}], "type": "Nothing"}), 422),
    ] {
        for _ in 0..2 {
            api.force(&path, "one", &service(spec.clone()))
                .await?
                .is(code)?;
        }
    }
    unchanged(&made, &api.get(&path).await?.is(200)?)
}

async fn an_edit_of_another_object_counts_for_nothing(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let path = definition.path("things");
    let class = definition.sample_object(&json!({"size": 1}));
    api.post(&path, &class).await?.is(201)?;
    let mut user = definition.sample_object(&json!({"size": 2, "free": {"className": "a"}}));
    user["metadata"]["name"] = "b".into();
    let before = api.post(&path, &user).await?.is(201)?;
    let edit = json!({"spec": {"size": 3}});
    let edited = api
        .patch(MERGE, &format!("{path}/a"), &edit)
        .await?
        .is(200)?;
    ensure!(edited["metadata"]["generation"] == 2, "{edited}");
    let after = api.get(&format!("{path}/b")).await?.is(200)?;
    ensure!(after["metadata"]["generation"] == 1, "{after}");
    unchanged(&before, &after)
}

async fn a_label_that_is_given_back_is_no_write(api: Api) -> Result<()> {
    let label = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"l": value}}});
    let path = api.core("configmaps/a");
    api.apply(&path, "one", &label("ours")).await?.is(201)?;
    let replaced = api
        .force(&path, "policy", &label("theirs"))
        .await?
        .is(200)?;
    // A manager that gives up its desired fields owns nothing more of the object, and a write
    // without changes stays a no-op.
    let again = api
        .force(&path, "policy", &label("theirs"))
        .await?
        .is(200)?;
    unchanged(&replaced, &again)?;
    let taken = api.force(&path, "one", &label("ours")).await?.is(200)?;
    ensure!(version(&taken) != version(&replaced), "{taken}");
    Ok(())
}
