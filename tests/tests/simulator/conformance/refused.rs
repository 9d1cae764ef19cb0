//! Objects that an API server refuses, although each field has the right type.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases};

cases![
    a_set_has_a_template_that_its_selector_matches,
    a_schedule_that_cannot_be_read_is_refused,
    a_host_is_a_name_in_dns,
    access_modes_are_known,
    data_has_one_mebibyte,
    schemas_within_junctors_only_restrict,
    rules_fit_the_types_of_their_schema,
    rules_that_could_cost_too_much_are_refused,
    a_version_that_was_ever_stored_cannot_be_dropped,
];

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async fn refused(api: &Api, path: &str, object: &Value, words: &str) -> Result<()> {
    let answer = api.silently().post(path, object).await?;
    answer.refuses(422, "Invalid", words)?;
    Ok(())
}

fn group(api: &Api, group: &str, plural: &str) -> String {
    format!("/apis/{group}/namespaces/{}/{plural}", api.namespace)
}

fn pod(policy: &str) -> Value {
    json!({"restartPolicy": policy, "containers": [{"name": "c", "image": "example.com/image:1"}]})
}

async fn a_set_has_a_template_that_its_selector_matches(api: Api) -> Result<()> {
    let template = json!({"metadata": {"labels": {"c": "d"}}, "spec": pod("Always")});
    let spec =
        json!({"serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": template});
    let set = json!({"metadata": {"name": "a"}, "spec": spec});
    let words = "`selector` does not match template `labels`";
    for plural in ["statefulsets", "deployments", "replicasets"] {
        refused(&api, &group(&api, "apps/v1", plural), &set, words).await?;
    }
    Ok(())
}

async fn a_schedule_that_cannot_be_read_is_refused(api: Api) -> Result<()> {
    let job = json!({"spec": {"template": {"spec": pod("Never")}}});
    let spec = json!({"schedule": "every night", "jobTemplate": job});
    let job = json!({"metadata": {"name": "a"}, "spec": spec});
    let path = group(&api, "batch/v1", "cronjobs");
    refused(&api, &path, &job, "expected exactly 5 fields, found 2").await
}

async fn a_host_is_a_name_in_dns(api: Api) -> Result<()> {
    let ingress = json!({"metadata": {"name": "a"}, "spec": {"rules": [{"host": "Bad_Host"}]}});
    let path = group(&api, "networking.k8s.io/v1", "ingresses");
    refused(&api, &path, &ingress, "spec.rules[0].host: Invalid value").await
}

async fn access_modes_are_known(api: Api) -> Result<()> {
    let resources = json!({"requests": {"storage": "1Gi"}});
    let spec = json!({"accessModes": ["Sometimes"], "resources": resources});
    let claim = json!({"metadata": {"name": "a"}, "spec": spec});
    let path = api.core("persistentvolumeclaims");
    let words = "spec.accessModes: Unsupported value: \"Sometimes\"";
    refused(&api, &path, &claim, words).await
}

async fn data_has_one_mebibyte(api: Api) -> Result<()> {
    let words = "Too long: may not be more than 1048576 bytes";
    let big = "x".repeat(1024 * 1024 + 1);
    let map = json!({"metadata": {"name": "a"}, "data": {"big": big}});
    refused(&api, &api.core("configmaps"), &map, words).await?;
    let secret = json!({"metadata": {"name": "a"}, "stringData": {"big": big}});
    refused(&api, &api.core("secrets"), &secret, words).await
}

/// A definition with a spec of this schema, in versions of which the first is stored.
fn definition(api: &Api, spec: &Value, versions: &[&str]) -> Value {
    let group = format!("{}.example.com", api.namespace);
    let version = |name: &&str| {
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        json!({"name": name, "served": true, "storage": *name == versions[0], "schema": {"openAPIV3Schema": schema}})
    };
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("lamps.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "versions": versions,
            "names": {"plural": "lamps", "singular": "lamp", "kind": "Lamp"}},
    })
}

async fn schemas_within_junctors_only_restrict(api: Api) -> Result<()> {
    let mains = json!({"type": "object", "required": ["volts"], "properties": {"volts": {"type": "integer"}}});
    let power = json!({"type": "object", "oneOf": [mains]});
    let spec = json!({"type": "object", "properties": {"power": power}});
    let words = "properties[power].oneOf[0].type: Forbidden: must be empty to be structural";
    refused(&api, DEFINITIONS, &definition(&api, &spec, &["v1"]), words).await
}

async fn rules_fit_the_types_of_their_schema(api: Api) -> Result<()> {
    for (rule, words) in [
        ("self.sped <= 5", "undefined field 'sped'"),
        (
            "self.speed < self.name",
            "found no matching overload for '_<_' applied to '(int, string)'",
        ),
        ("self.speed + 1", "cel expression must evaluate to a bool"),
        (
            "!oldSelf.hasValue() || self.speed == 1",
            "found no matching overload for 'hasValue'",
        ),
    ] {
        let properties =
            json!({"speed": {"type": "integer"}, "name": {"type": "string", "maxLength": 20}});
        let spec = json!({"type": "object", "properties": properties, "x-kubernetes-validations": [{"rule": rule}]});
        refused(&api, DEFINITIONS, &definition(&api, &spec, &["v1"]), words).await?;
    }
    Ok(())
}

async fn rules_that_could_cost_too_much_are_refused(api: Api) -> Result<()> {
    let rule = json!([{"rule": "self.all(a, self.exists_one(b, a == b))"}]);
    let tags =
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rule});
    let spec = json!({"type": "object", "properties": {"tags": tags}});
    let words = "estimated rule cost exceeds budget";
    refused(&api, DEFINITIONS, &definition(&api, &spec, &["v1"]), words).await
}

async fn a_version_that_was_ever_stored_cannot_be_dropped(api: Api) -> Result<()> {
    let quiet = api.silently();
    let spec = json!({"type": "object"});
    let first = definition(&api, &spec, &["v1", "v2"]);
    quiet.post(DEFINITIONS, &first).await?.is(201)?;
    let name = first["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{DEFINITIONS}/{name}");
    let change = |versions: &[&str]| json!({"spec": {"versions": definition(&api, &spec, versions)["spec"]["versions"]}});
    let changed = quiet
        .patch(MERGE, &path, &change(&["v2", "v1"]))
        .await?
        .is(200)?;
    let stored = &changed["status"]["storedVersions"];
    ensure!(*stored == json!(["v1", "v2"]), "{changed}");
    let dropped = quiet.patch(MERGE, &path, &change(&["v2"])).await?;
    dropped.refuses(422, "Invalid", "missing from spec.versions")?;
    let migrated = json!({"status": {"storedVersions": ["v2"]}});
    quiet
        .patch(MERGE, &format!("{path}/status"), &migrated)
        .await?
        .is(200)?;
    quiet.patch(MERGE, &path, &change(&["v2"])).await?.is(200)?;
    quiet.delete(&path, &json!({})).await?.is(200)?;
    Ok(())
}
