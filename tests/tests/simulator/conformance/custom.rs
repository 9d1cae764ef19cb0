//! Custom kinds: definitions, the effects of their schemas, and several versions.

use std::time::Duration;

use anyhow::{Result, ensure};
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, names, unchanged};

cases![
    a_definition_is_established_and_served,
    a_definition_must_be_named_for_its_kind,
    a_definition_needs_one_stored_version,
    objects_of_a_deleted_definition_are_gone,
    a_new_object_has_no_status,
    changes_of_what_is_wanted_count,
    changes_of_the_status_do_not_count,
    a_status_leaves_the_rest,
    without_the_subresource_a_status_is_a_field,
    updates_need_a_version,
    items_carry_their_type,
    names_with_capitals_are_refused,
    unknown_fields_are_pruned,
    defaults_are_filled_in,
    wrong_types_are_invalid,
    required_fields_are_required,
    values_out_of_bounds_are_invalid,
    rules_are_checked,
    rules_see_what_was_before,
    two_versions_show_the_same_object,
    a_version_that_is_not_served_is_not_found,
    custom_objects_are_scaled,
    selectable_fields_can_be_selected,
    an_apply_merges_by_the_keys_of_the_schema,
    undecodable_objects_refuse_an_applied_status_and_take_a_merge_patch,
];

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A kind of one case.
pub(crate) struct Definition {
    namespace: String,
    group: String,
}

impl Definition {
    /// The path of its objects.
    pub(crate) fn path(&self, plural: &str) -> String {
        self.of_version("v1", plural)
    }

    fn of_version(&self, version: &str, plural: &str) -> String {
        format!(
            "/apis/{}/{version}/namespaces/{}/{plural}",
            self.group, self.namespace
        )
    }

    /// An object named `a`.
    pub(crate) fn sample_object(&self, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/v1", self.group), "kind": "Thing", "metadata": {"name": "a"}, "spec": spec,
        })
    }

    fn own(&self) -> String {
        format!("{DEFINITIONS}/things.{}", self.group)
    }
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "minimum": 0, "maximum": 10},
            "word": {"type": "string", "maxLength": 5, "enum": ["one", "two"]},
            "mode": {"type": "string", "default": "plain"},
            "replicas": {"type": "integer"},
            "named": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "value": {"type": "string"},
                }},
            },
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }},
        "status": {"type": "object", "properties": {
            "phase": {"type": "string"}, "replicas": {"type": "integer"},
        }},
    }})
}

/// Installs the kind `Thing` of a group of the case's own; `change` is merged into its version.
pub(crate) async fn define(api: &Api, change: &Value) -> Result<Definition> {
    let mut version = json!({
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema()},
    });
    merge(&mut version, change);
    install(api, &json!([version])).await
}

async fn install(api: &Api, versions: &Value) -> Result<Definition> {
    let definition = Definition {
        namespace: api.namespace.clone(),
        group: format!("{}.example.com", api.namespace),
    };
    let quiet = api.silently();
    let body = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{}", definition.group)},
        "spec": {
            "group": definition.group, "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"}, "versions": versions,
        },
    });
    quiet.post(DEFINITIONS, &body).await?.is(201)?;
    let served: Vec<&str> = versions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true)
        .filter_map(|version| version["name"].as_str())
        .collect();
    eventually("the kind is served", Duration::from_secs(120), async || {
        for version in &served {
            if quiet
                .get(&definition.of_version(version, "things"))
                .await?
                .code
                != 200
            {
                return Ok(None);
            }
        }
        let read = quiet.get(&definition.own()).await?.is(200)?;
        let conditions = read["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let established = conditions
            .iter()
            .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
        Ok(established.then_some(()))
    })
    .await?;
    Ok(definition)
}

fn merge(into: &mut Value, change: &Value) {
    match change {
        Value::Object(map) => {
            for (key, value) in map {
                merge(&mut into[key], value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            *into = change.clone();
        }
    }
}

async fn a_definition_is_established_and_served(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let read = api.silently().get(&definition.own()).await?.is(200)?;
    ensure!(read["status"]["storedVersions"] == json!(["v1"]), "{read}");
    ensure!(
        read["status"]["acceptedNames"]["listKind"] == "ThingList",
        "{read}"
    );
    ensure!(read["spec"]["names"]["singular"] == "thing", "{read}");
    let made = api
        .post(
            &definition.path("things"),
            &definition.sample_object(&json!({"size": 1})),
        )
        .await?
        .is(201)?;
    ensure!(made["metadata"]["generation"] == 1, "{made}");
    Ok(())
}

fn bare(group: &str, name: &str, storage: bool) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema()},
            }],
        },
    })
}

async fn a_definition_must_be_named_for_its_kind(api: Api) -> Result<()> {
    let group = format!("{}.example.com", api.namespace);
    let body = bare(&group, "other.example.com", true);
    let refused = api.silently().post(DEFINITIONS, &body).await?;
    refused.refuses(422, "Invalid", "metadata.name")?;
    Ok(())
}

async fn a_definition_needs_one_stored_version(api: Api) -> Result<()> {
    let group = format!("{}.example.com", api.namespace);
    let body = bare(&group, &format!("things.{group}"), false);
    let refused = api.silently().post(DEFINITIONS, &body).await?;
    refused.refuses(
        422,
        "Invalid",
        "must have exactly one version marked as storage version",
    )?;
    Ok(())
}

async fn objects_of_a_deleted_definition_are_gone(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let path = definition.path("things");
    api.post(&path, &definition.sample_object(&json!({"size": 1})))
        .await?
        .is(201)?;
    api.silently()
        .delete(&definition.own(), &json!({}))
        .await?
        .is(200)?;
    let quiet = api.silently();
    eventually("the kind is gone", Duration::from_secs(120), async || {
        Ok((quiet.get(&path).await?.code == 404).then_some(()))
    })
    .await
}

async fn a_new_object_has_no_status(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let mut thing = definition.sample_object(&json!({"size": 1}));
    thing["status"] = json!({"phase": "Ready"});
    let made = api
        .post(&definition.path("things"), &thing)
        .await?
        .is(201)?;
    ensure!(made.get("status").is_none(), "{made}");
    Ok(())
}

/// A made object and its path.
async fn create_sample(api: &Api, spec: &Value) -> Result<(Definition, String, Value)> {
    let definition = define(api, &json!({})).await?;
    let path = definition.path("things");
    let made = api
        .post(&path, &definition.sample_object(spec))
        .await?
        .is(201)?;
    Ok((definition, format!("{path}/a"), made))
}

async fn changes_of_what_is_wanted_count(api: Api) -> Result<()> {
    let (_, path, _) = create_sample(&api, &json!({"size": 1})).await?;
    let new = api
        .patch(MERGE, &path, &json!({"spec": {"size": 2}}))
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    let new = api
        .patch(MERGE, &path, &json!({"metadata": {"labels": {"l": "1"}}}))
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    Ok(())
}

async fn changes_of_the_status_do_not_count(api: Api) -> Result<()> {
    let (_, path, _) = create_sample(&api, &json!({"size": 1})).await?;
    let status = json!({"status": {"phase": "Ready"}});
    let new = api
        .patch(MERGE, &format!("{path}/status"), &status)
        .await?
        .is(200)?;
    ensure!(
        new["metadata"]["generation"] == 1 && new["status"]["phase"] == "Ready",
        "{new}"
    );
    let again = api
        .patch(MERGE, &format!("{path}/status"), &status)
        .await?
        .is(200)?;
    unchanged(&new, &again)
}

async fn a_status_leaves_the_rest(api: Api) -> Result<()> {
    let (_, path, made) = create_sample(&api, &json!({"size": 1})).await?;
    let patch = json!({
        "spec": {"size": 9}, "metadata": {"labels": {"l": "1"}}, "status": {"phase": "Ready"},
    });
    let new = api
        .patch(MERGE, &format!("{path}/status"), &patch)
        .await?
        .is(200)?;
    ensure!(
        new["spec"]["size"] == 1 && new["metadata"].get("labels").is_none(),
        "{new}"
    );
    let patch = json!({"status": {"phase": "Gone"}});
    let same = api.patch(MERGE, &path, &patch).await?.is(200)?;
    unchanged(&new, &same)?;
    ensure!(made["metadata"]["uid"] == new["metadata"]["uid"]);
    Ok(())
}

async fn without_the_subresource_a_status_is_a_field(api: Api) -> Result<()> {
    let definition = define(&api, &json!({"subresources": null})).await?;
    let path = definition.path("things");
    let mut thing = definition.sample_object(&json!({"size": 1}));
    thing["status"] = json!({"phase": "Ready"});
    let made = api.post(&path, &thing).await?.is(201)?;
    ensure!(made["status"]["phase"] == "Ready", "{made}");
    let new = api
        .patch(
            MERGE,
            &format!("{path}/a"),
            &json!({"status": {"phase": "Gone"}}),
        )
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    api.get(&format!("{path}/a/status")).await?.is(404)?;
    Ok(())
}

async fn updates_need_a_version(api: Api) -> Result<()> {
    let (definition, path, _) = create_sample(&api, &json!({"size": 1})).await?;
    let refused = api
        .put(&path, &definition.sample_object(&json!({"size": 2})))
        .await?;
    refused.refuses(422, "Invalid", "must be specified for an update")?;
    Ok(())
}

async fn items_carry_their_type(api: Api) -> Result<()> {
    let (definition, ..) = create_sample(&api, &json!({"size": 1})).await?;
    let list = api
        .silently()
        .get(&definition.path("things"))
        .await?
        .is(200)?;
    ensure!(
        list["kind"] == "ThingList" && list["items"][0]["kind"] == "Thing",
        "{list}"
    );
    ensure!(names(&list) == ["a"]);
    Ok(())
}

async fn names_with_capitals_are_refused(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let mut thing = definition.sample_object(&json!({}));
    thing["metadata"]["name"] = "A".into();
    let refused = api.post(&definition.path("things"), &thing).await?;
    refused.refuses(422, "Invalid", "a lowercase RFC 1123 subdomain must")?;
    Ok(())
}

async fn unknown_fields_are_pruned(api: Api) -> Result<()> {
    let spec = json!({"size": 1, "odd": true, "free": {"odd": true}});
    let (_, _, made) = create_sample(&api, &spec).await?;
    ensure!(
        made["spec"].get("odd").is_none() && made["spec"]["free"]["odd"] == true,
        "{made}"
    );
    Ok(())
}

async fn defaults_are_filled_in(api: Api) -> Result<()> {
    let (_, path, made) = create_sample(&api, &json!({"size": 1})).await?;
    ensure!(made["spec"]["mode"] == "plain", "{made}");
    let new = api
        .patch(MERGE, &path, &json!({"spec": {"mode": null}}))
        .await?
        .is(200)?;
    ensure!(new["spec"]["mode"] == "plain", "{new}");
    Ok(())
}

async fn refused(api: &Api, spec: &Value, words: &str) -> Result<()> {
    let definition = define(api, &json!({})).await?;
    let refused = api
        .post(&definition.path("things"), &definition.sample_object(spec))
        .await?;
    refused.refuses(422, "Invalid", words)?;
    Ok(())
}

async fn wrong_types_are_invalid(api: Api) -> Result<()> {
    refused(&api, &json!({"size": "big"}), "spec.size").await
}

async fn required_fields_are_required(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"named": [{"value": "v"}]}),
        "spec.named[0].name: Required value",
    )
    .await
}

async fn values_out_of_bounds_are_invalid(api: Api) -> Result<()> {
    refused(&api, &json!({"size": 11, "word": "three"}), "spec.size").await
}

fn with_rule(rule: &str) -> Value {
    let rules = json!([{"rule": rule, "message": "the rule is broken"}]);
    json!({"schema": {"openAPIV3Schema": {"properties": {"spec": {"x-kubernetes-validations": rules}}}}})
}

async fn rules_are_checked(api: Api) -> Result<()> {
    let definition = define(&api, &with_rule("!has(self.size) || self.size != 3")).await?;
    let path = definition.path("things");
    let refused = api
        .post(&path, &definition.sample_object(&json!({"size": 3})))
        .await?;
    refused.refuses(422, "Invalid", "the rule is broken")?;
    api.post(&path, &definition.sample_object(&json!({"size": 4})))
        .await?
        .is(201)?;
    Ok(())
}

async fn rules_see_what_was_before(api: Api) -> Result<()> {
    let definition = define(&api, &with_rule("self.size >= oldSelf.size")).await?;
    let path = definition.path("things");
    api.post(&path, &definition.sample_object(&json!({"size": 3})))
        .await?
        .is(201)?;
    let refused = api
        .patch(MERGE, &format!("{path}/a"), &json!({"spec": {"size": 2}}))
        .await?;
    refused.refuses(422, "Invalid", "the rule is broken")?;
    Ok(())
}

fn version(name: &str, served: bool, storage: bool) -> Value {
    json!({
        "name": name, "served": served, "storage": storage, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema()},
    })
}

async fn two_versions_show_the_same_object(api: Api) -> Result<()> {
    let versions = json!([version("v1", true, false), version("v2", true, true)]);
    let definition = install(&api, &versions).await?;
    let made = api
        .post(
            &definition.path("things"),
            &definition.sample_object(&json!({"size": 1})),
        )
        .await?
        .is(201)?;
    let other = api
        .get(&format!("{}/a", definition.of_version("v2", "things")))
        .await?
        .is(200)?;
    unchanged(&made, &other)?;
    ensure!(
        other["apiVersion"] == format!("{}/v2", definition.group),
        "{other}"
    );
    Ok(())
}

async fn a_version_that_is_not_served_is_not_found(api: Api) -> Result<()> {
    let versions = json!([version("v1", true, true), version("v2", false, false)]);
    let definition = install(&api, &versions).await?;
    api.get(&definition.of_version("v2", "things"))
        .await?
        .is(404)?;
    Ok(())
}

async fn custom_objects_are_scaled(api: Api) -> Result<()> {
    let scale = json!({"subresources": {"scale": {
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    }}});
    let definition = define(&api, &scale).await?;
    let path = definition.path("things");
    api.post(&path, &definition.sample_object(&json!({"replicas": 2})))
        .await?
        .is(201)?;
    let mut scale = api.get(&format!("{path}/a/scale")).await?.is(200)?;
    ensure!(scale["spec"]["replicas"] == 2, "{scale}");
    scale["spec"]["replicas"] = 5.into();
    api.silently()
        .put(&format!("{path}/a/scale"), &scale)
        .await?
        .is(200)?;
    let new = api.silently().get(&format!("{path}/a")).await?.is(200)?;
    ensure!(new["spec"]["replicas"] == 5, "{new}");
    Ok(())
}

async fn selectable_fields_can_be_selected(api: Api) -> Result<()> {
    let fields = json!({"selectableFields": [{"jsonPath": ".spec.mode"}]});
    let definition = define(&api, &fields).await?;
    let path = definition.path("things");
    api.post(&path, &definition.sample_object(&json!({"mode": "odd"})))
        .await?
        .is(201)?;
    let found = api
        .silently()
        .get(&format!("{path}?fieldSelector=spec.mode%3Dodd"))
        .await?
        .is(200)?;
    ensure!(names(&found) == ["a"]);
    let found = api
        .silently()
        .get(&format!("{path}?fieldSelector=spec.mode%3Dplain"))
        .await?
        .is(200)?;
    ensure!(names(&found).is_empty());
    api.get(&format!("{path}?fieldSelector=spec.size%3D1"))
        .await?
        .is(400)?;
    Ok(())
}

async fn an_apply_merges_by_the_keys_of_the_schema(api: Api) -> Result<()> {
    let definition = define(&api, &json!({})).await?;
    let path = format!("{}/a", definition.path("things"));
    let named =
        |name: &str| definition.sample_object(&json!({"named": [{"name": name, "value": name}]}));
    api.apply(&path, "one", &named("x")).await?.is(201)?;
    let new = api.apply(&path, "two", &named("y")).await?.is(200)?;
    ensure!(
        new["spec"]["named"]
            .as_array()
            .is_some_and(|all| all.len() == 2),
        "{new}"
    );
    let again = api.apply(&path, "two", &named("y")).await?.is(200)?;
    unchanged(&new, &again)
}

async fn undecodable_objects_refuse_an_applied_status_and_take_a_merge_patch(
    api: Api,
) -> Result<()> {
    let (definition, path, _) = create_sample(&api, &json!({"size": 1})).await?;
    let quiet = api.silently();
    let mut changed = quiet.get(&definition.own()).await?.is(200)?;
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        ["size"] = json!({"type": "string"});
    quiet.put(&definition.own(), &changed).await?.is(200)?;
    let mut wanted = definition.sample_object(&json!({}));
    wanted.as_object_mut().map(|wanted| wanted.remove("spec"));
    wanted["status"] = json!({"phase": "Ready"});
    let path = format!("{path}/status");
    eventually(
        "the new schema is used",
        Duration::from_secs(120),
        async || {
            let answer = quiet.force(&path, "two", &wanted).await?;
            if answer.code == 200 {
                return Ok(None);
            }
            answer
                .refuses(500, "", "failed to create typed live object")
                .map(Some)
        },
    )
    .await?;
    let new = quiet
        .patch(MERGE, &path, &json!({"status": {"phase": "Gone"}}))
        .await?
        .is(200)?;
    ensure!(new["status"]["phase"] == "Gone", "{new}");
    Ok(())
}
