//! Server-side apply: the rows of the list of facts that determine the writes of the driver, and
//! related behavior.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, unchanged, version};

cases![
    first_write_an_apply_creates,
    first_write_an_apply_adopts_the_object_of_another,
    first_write_a_post_records_an_update_so_dropped_fields_stay,
    first_write_create_only_apply_of_the_absent_creates,
    first_write_create_only_apply_of_the_present_is_a_conflict,
    first_write_version_zero_does_not_protect,
    first_write_another_controller_is_refused,
    later_writes_unforced_after_a_hand_edit_is_a_conflict,
    later_writes_forced_take_over,
    later_writes_drop_what_is_not_applied_any_more,
    later_writes_that_change_nothing_keep_the_version,
    uid_in_an_apply_that_matches_changes_nothing,
    uid_in_an_apply_of_the_absent_is_a_conflict,
    uid_in_an_apply_of_another_object_is_invalid,
    status_apply_ignores_a_wrong_uid,
    status_apply_with_a_stale_version_is_a_conflict,
    status_unforced_after_a_hand_edit_is_a_conflict,
    contributors_under_one_manager_lose_each_others_labels,
    contributors_under_two_managers_keep_both,
    entries_of_updates_are_given_up_by_a_merge_patch_of_managed_fields,
    refusals_unknown_fields_fail_without_a_reason,
    refusals_wrong_types_fail_without_a_reason,
    refusals_duplicate_list_keys_fail_without_a_reason,
    refusals_invalid_values_are_invalid,
    service_ports_merge_by_port_and_protocol,
    empty_values_are_owned_and_stay_absent,
    defaults_are_not_owned,
    apply_needs_a_manager,
    apply_needs_a_type,
    apply_of_another_name_is_refused,
    apply_with_managed_fields_is_refused,
    apply_on_dry_run_stores_nothing,
    apply_names_all_conflicts,
];

fn map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

async fn first_write_an_apply_creates(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    let made = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(201)?;
    let entry = &made["metadata"]["managedFields"][0];
    ensure!(
        entry["manager"] == "one" && entry["operation"] == "Apply",
        "{made}"
    );
    ensure!(entry["fieldsV1"]["f:data"]["f:a"] == json!({}), "{made}");
    Ok(())
}

async fn first_write_an_apply_adopts_the_object_of_another(api: Api) -> Result<()> {
    api.map("a").await?;
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1", "controller": true,
    }]);
    let new = api
        .apply(&api.core("configmaps/a"), "one", &wanted)
        .await?
        .is(200)?;
    ensure!(new["metadata"]["ownerReferences"][0]["name"] == "o" && new["data"]["b"] == "2");
    Ok(())
}

async fn first_write_a_post_records_an_update_so_dropped_fields_stay(api: Api) -> Result<()> {
    let path = format!("{}?fieldManager=one", api.core("configmaps"));
    let made = api
        .post(&path, &map(&json!({"a": "1", "b": "2"})))
        .await?
        .is(201)?;
    ensure!(made["metadata"]["managedFields"][0]["operation"] == "Update");
    let new = api
        .apply(&api.core("configmaps/a"), "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    ensure!(new["data"]["b"] == "2", "{new}");
    Ok(())
}

fn create_only() -> Value {
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["resourceVersion"] = "1".into();
    wanted
}

async fn first_write_create_only_apply_of_the_absent_creates(api: Api) -> Result<()> {
    let made = api
        .apply(&api.core("configmaps/a"), "one", &create_only())
        .await?
        .is(201)?;
    ensure!(version(&made) != "1");
    let mut service = create_only();
    service["kind"] = "Service".into();
    service
        .as_object_mut()
        .map(|service| service.remove("data"));
    service["spec"] = json!({"ports": [{"port": 80}]});
    api.apply(&api.core("services/a"), "one", &service)
        .await?
        .is(201)?;
    let refused = api.force(&api.core("services/a"), "one", &service).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    Ok(())
}

async fn first_write_create_only_apply_of_the_present_is_a_conflict(api: Api) -> Result<()> {
    api.map("a").await?;
    let path = api.core("configmaps/a");
    let refused = api.apply(&path, "one", &create_only()).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    let refused = api.force(&path, "one", &create_only()).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    Ok(())
}

async fn first_write_version_zero_does_not_protect(api: Api) -> Result<()> {
    api.map("a").await?;
    let mut wanted = map(&json!({"c": "3"}));
    wanted["metadata"]["resourceVersion"] = "0".into();
    api.apply(&api.core("configmaps/a"), "one", &wanted)
        .await?
        .is(200)?;
    Ok(())
}

async fn first_write_another_controller_is_refused(api: Api) -> Result<()> {
    let owner = |name: &str| json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "controller": true}]);
    let body = json!({"metadata": {"name": "a", "ownerReferences": owner("p")}});
    api.post(&api.core("configmaps"), &body).await?.is(201)?;
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["ownerReferences"] = owner("q");
    let refused = api
        .silently()
        .apply(&api.core("configmaps/a"), "one", &wanted)
        .await?;
    refused.refuses(
        422,
        "Invalid",
        "Only one reference can have Controller set to true",
    )?;
    Ok(())
}

async fn edited(api: &Api) -> Result<Value> {
    let path = api.core("configmaps/a");
    api.apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(201)?;
    let by_hand = format!("{path}?fieldManager=hand");
    api.patch(MERGE, &by_hand, &json!({"data": {"a": "9"}}))
        .await?
        .is(200)
}

async fn later_writes_unforced_after_a_hand_edit_is_a_conflict(api: Api) -> Result<()> {
    edited(&api).await?;
    let refused = api
        .apply(&api.core("configmaps/a"), "one", &map(&json!({"a": "1"})))
        .await?;
    let status = refused.refuses(409, "Conflict", "Apply failed with 1 conflict")?;
    ensure!(status["details"]["causes"][0]["reason"] == "FieldManagerConflict");
    ensure!(status["details"]["causes"][0]["field"] == ".data.a");
    Ok(())
}

async fn later_writes_forced_take_over(api: Api) -> Result<()> {
    edited(&api).await?;
    let new = api
        .force(&api.core("configmaps/a"), "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    ensure!(new["data"]["a"] == "1");
    ensure!(
        new["metadata"]["managedFields"]
            .as_array()
            .is_some_and(|all| all.len() == 1),
        "{new}"
    );
    Ok(())
}

async fn later_writes_drop_what_is_not_applied_any_more(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    api.apply(&path, "one", &map(&json!({"a": "1", "b": "2"})))
        .await?
        .is(201)?;
    let new = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    ensure!(new["data"] == json!({"a": "1"}), "{new}");
    let new = api.apply(&path, "one", &map(&json!({}))).await?.is(200)?;
    ensure!(
        new["data"]
            .as_object()
            .is_none_or(serde_json::Map::is_empty),
        "{new}"
    );
    Ok(())
}

async fn later_writes_that_change_nothing_keep_the_version(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    let first = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(201)?;
    let again = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    unchanged(&first, &again)?;
    let again = api
        .force(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    unchanged(&first, &again)
}

async fn uid_in_an_apply_that_matches_changes_nothing(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    let first = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(201)?;
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["uid"] = first["metadata"]["uid"].clone();
    let again = api.force(&path, "one", &wanted).await?.is(200)?;
    unchanged(&first, &again)
}

async fn uid_in_an_apply_of_the_absent_is_a_conflict(api: Api) -> Result<()> {
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    let refused = api.force(&api.core("configmaps/a"), "one", &wanted).await?;
    refused.refuses(409, "Conflict", "uid mismatch")?;
    Ok(())
}

async fn uid_in_an_apply_of_another_object_is_invalid(api: Api) -> Result<()> {
    api.map("a").await?;
    let mut wanted = map(&json!({"a": "1"}));
    wanted["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    let refused = api.force(&api.core("configmaps/a"), "one", &wanted).await?;
    let status = refused.refuses(422, "Invalid", "field is immutable")?;
    ensure!(status["details"]["causes"][0]["field"] == "metadata.uid");
    Ok(())
}

/// Creates a load balancer, whose status may have addresses.
async fn balancer(api: &Api) -> Result<Value> {
    let body = json!({"metadata": {"name": "a"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
    api.post(&api.core("services"), &body).await?.is(201)
}

fn report(ip: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "status": {"loadBalancer": {"ingress": [{"ip": ip}]}},
    })
}

async fn status_apply_ignores_a_wrong_uid(api: Api) -> Result<()> {
    let definition = super::custom::define(&api, &json!({})).await?;
    let path = definition.path("things");
    let thing = definition.sample_object(&json!({"size": 1}));
    api.post(&path, &thing).await?.is(201)?;
    let mut wanted = definition.sample_object(&json!({}));
    wanted.as_object_mut().map(|wanted| wanted.remove("spec"));
    wanted["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    wanted["status"] = json!({"phase": "Ready"});
    let new = api
        .force(&format!("{path}/a/status"), "two", &wanted)
        .await?
        .is(200)?;
    ensure!(new["status"]["phase"] == "Ready");
    Ok(())
}

async fn status_apply_with_a_stale_version_is_a_conflict(api: Api) -> Result<()> {
    let service = balancer(&api).await?;
    let path = api.core("services/a/status");
    api.force(&path, "two", &report("192.0.2.1"))
        .await?
        .is(200)?;
    let mut stale = report("192.0.2.2");
    stale["metadata"]["resourceVersion"] = version(&service).into();
    let refused = api.force(&path, "two", &stale).await?;
    refused.refuses(409, "Conflict", "the object has been modified")?;
    Ok(())
}

async fn status_unforced_after_a_hand_edit_is_a_conflict(api: Api) -> Result<()> {
    balancer(&api).await?;
    let path = api.core("services/a/status");
    api.apply(&path, "two", &report("192.0.2.1"))
        .await?
        .is(200)?;
    let edit = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.9"}]}}});
    api.patch(MERGE, &format!("{path}?fieldManager=hand"), &edit)
        .await?
        .is(200)?;
    let refused = api.apply(&path, "two", &report("192.0.2.1")).await?;
    refused.refuses(409, "Conflict", "Apply failed with 1 conflict")?;
    Ok(())
}

fn labelled(label: &str) -> Value {
    let mut wanted = map(&json!({}));
    wanted["metadata"]["labels"] = json!({label: "1"});
    wanted.as_object_mut().map(|wanted| wanted.remove("data"));
    wanted
}

async fn contributors_under_one_manager_lose_each_others_labels(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    api.apply(&path, "shared", &labelled("one"))
        .await?
        .is(201)?;
    let new = api
        .apply(&path, "shared", &labelled("two"))
        .await?
        .is(200)?;
    ensure!(new["metadata"]["labels"] == json!({"two": "1"}), "{new}");
    Ok(())
}

async fn contributors_under_two_managers_keep_both(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    api.apply(&path, "first", &labelled("one")).await?.is(201)?;
    let new = api
        .apply(&path, "second", &labelled("two"))
        .await?
        .is(200)?;
    ensure!(
        new["metadata"]["labels"] == json!({"one": "1", "two": "1"}),
        "{new}"
    );
    Ok(())
}

async fn entries_of_updates_are_given_up_by_a_merge_patch_of_managed_fields(
    api: Api,
) -> Result<()> {
    let path = format!("{}?fieldManager=old", api.core("configmaps"));
    api.post(&path, &map(&json!({"a": "1", "b": "2"})))
        .await?
        .is(201)?;
    let path = api.core("configmaps/a");
    let new = api
        .apply(&path, "one", &map(&json!({"a": "1"})))
        .await?
        .is(200)?;
    let mut entries = new["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    entries.retain(|entry| entry["manager"] != "old");
    let patch = json!({"metadata": {"managedFields": entries}});
    let new = api
        .patch(MERGE, &format!("{path}?fieldManager=one"), &patch)
        .await?
        .is(200)?;
    ensure!(
        new["metadata"]["managedFields"]
            .as_array()
            .is_some_and(|all| all.len() == 1),
        "{new}"
    );
    Ok(())
}

async fn refusals_unknown_fields_fail_without_a_reason(api: Api) -> Result<()> {
    let mut wanted = map(&json!({"a": "1"}));
    wanted["unknown"] = 1.into();
    let refused = api.apply(&api.core("configmaps/a"), "one", &wanted).await?;
    refused.refuses(500, "", "failed to create typed patch object")?;
    Ok(())
}

async fn refusals_wrong_types_fail_without_a_reason(api: Api) -> Result<()> {
    let refused = api
        .apply(&api.core("configmaps/a"), "one", &map(&json!(["a"])))
        .await?;
    refused.refuses(500, "", "failed to create typed patch object")?;
    Ok(())
}

fn service(ports: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": ports}})
}

async fn refusals_duplicate_list_keys_fail_without_a_reason(api: Api) -> Result<()> {
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 80}]);
    let refused = api
        .apply(&api.core("services/a"), "one", &service(&ports))
        .await?;
    refused.refuses(500, "", "failed to create typed patch object")?;
    Ok(())
}

async fn refusals_invalid_values_are_invalid(api: Api) -> Result<()> {
    let ports = json!([{"port": 70000}]);
    let refused = api
        .apply(&api.core("services/a"), "one", &service(&ports))
        .await?;
    refused.refuses(422, "Invalid", "must be between 1 and 65535, inclusive")?;
    Ok(())
}

async fn service_ports_merge_by_port_and_protocol(api: Api) -> Result<()> {
    let path = api.core("services/a");
    let ports = json!([{"name": "dns", "port": 53, "protocol": "UDP"}]);
    api.apply(&path, "one", &service(&ports)).await?.is(201)?;
    let ports = json!([{"name": "dns-tcp", "port": 53, "protocol": "TCP"}]);
    let new = api.apply(&path, "two", &service(&ports)).await?.is(200)?;
    ensure!(
        new["spec"]["ports"]
            .as_array()
            .is_some_and(|ports| ports.len() == 2),
        "{new}"
    );
    Ok(())
}

async fn empty_values_are_owned_and_stay_absent(api: Api) -> Result<()> {
    let mut wanted = service(&json!([{"port": 80}]));
    wanted["spec"]["clusterIP"] = "".into();
    wanted["spec"]["selector"] = json!({});
    wanted["spec"]["externalIPs"] = json!([]);
    let path = api.core("services/a");
    let made = api.apply(&path, "one", &wanted).await?.is(201)?;
    let owned = &made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    ensure!(
        owned["f:clusterIP"].is_object() && owned["f:selector"].is_object(),
        "{made}"
    );
    ensure!(
        made["spec"]["clusterIP"] != "" && made["spec"].get("selector").is_none(),
        "{made}"
    );
    let again = api.apply(&path, "one", &wanted).await?.is(200)?;
    unchanged(&made, &again)
}

async fn defaults_are_not_owned(api: Api) -> Result<()> {
    let made = api
        .apply(
            &api.core("services/a"),
            "one",
            &service(&json!([{"port": 80}])),
        )
        .await?
        .is(201)?;
    let owned = &made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    ensure!(
        owned["f:ports"].is_object() && owned.get("f:sessionAffinity").is_none(),
        "{made}"
    );
    Ok(())
}

async fn apply_needs_a_manager(api: Api) -> Result<()> {
    let wanted = map(&json!({}));
    let refused = api
        .patch(super::api::APPLY, &api.core("configmaps/a"), &wanted)
        .await?;
    refused.refuses(422, "Invalid", "is required for apply patch")?;
    Ok(())
}

async fn apply_needs_a_type(api: Api) -> Result<()> {
    let wanted = json!({"metadata": {"name": "a"}});
    let refused = api
        .silently()
        .apply(&api.core("configmaps/a"), "one", &wanted)
        .await?;
    refused.is(400)?;
    Ok(())
}

async fn apply_of_another_name_is_refused(api: Api) -> Result<()> {
    let refused = api
        .apply(&api.core("configmaps/b"), "one", &map(&json!({})))
        .await?;
    refused.refuses(400, "BadRequest", "")?;
    Ok(())
}

async fn apply_with_managed_fields_is_refused(api: Api) -> Result<()> {
    let mut wanted = map(&json!({}));
    wanted["metadata"]["managedFields"] = json!([{
        "manager": "one", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {},
    }]);
    let refused = api.apply(&api.core("configmaps/a"), "one", &wanted).await?;
    refused.refuses(400, "BadRequest", "metadata.managedFields must be nil")?;
    Ok(())
}

async fn apply_on_dry_run_stores_nothing(api: Api) -> Result<()> {
    let path = format!("{}?fieldManager=one&dryRun=All", api.core("configmaps/a"));
    api.patch(super::api::APPLY, &path, &map(&json!({"a": "1"})))
        .await?
        .is(201)?;
    api.get(&api.core("configmaps/a")).await?.is(404)?;
    Ok(())
}

async fn apply_names_all_conflicts(api: Api) -> Result<()> {
    let path = api.core("configmaps/a");
    api.apply(&path, "one", &map(&json!({"a": "1", "b": "2"})))
        .await?
        .is(201)?;
    api.apply(&path, "two", &map(&json!({"c": "3"})))
        .await?
        .is(200)?;
    let refused = api
        .apply(&path, "three", &map(&json!({"a": "9", "b": "9", "c": "9"})))
        .await?;
    refused.refuses(409, "Conflict", "Apply failed with 3 conflicts")?;
    Ok(())
}
