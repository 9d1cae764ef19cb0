//! Objects that an API server refuses, although each field has the right type.

use std::time::Duration;

use anyhow::{Result, ensure};
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases};

cases![
    a_set_has_a_template_that_its_selector_matches,
    a_schedule_that_cannot_be_read_is_refused,
    a_host_is_a_name_in_dns,
    access_modes_are_known,
    data_has_one_mebibyte,
    a_set_mounts_volumes_and_claims_that_exist,
    ports_end_behind_their_begin,
    a_target_of_scaling_names_its_group,
    a_key_is_no_way_up,
    a_time_zone_is_explicit,
    rules_with_all_of_the_language_hold,
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

async fn a_set_mounts_volumes_and_claims_that_exist(api: Api) -> Result<()> {
    let set = |name: &str, mounted: &str| {
        let mut pod = pod("Always");
        pod["containers"][0]["volumeMounts"] = json!([{"name": mounted, "mountPath": "/data"}]);
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod});
        let resources = json!({"requests": {"storage": "1Gi"}});
        let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}});
        json!({"metadata": {"name": name}, "spec": {
            "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": template, "volumeClaimTemplates": [claim],
        }})
    };
    let path = group(&api, "apps/v1", "statefulsets");
    let words = "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"nope\"";
    refused(&api, &path, &set("a", "nope"), words).await?;
    api.silently()
        .post(&path, &set("b", "data"))
        .await?
        .is(201)?;
    Ok(())
}

async fn ports_end_behind_their_begin(api: Api) -> Result<()> {
    let ports = json!([{"port": 80, "endPort": 70}]);
    let spec = json!({"podSelector": {}, "ingress": [{"ports": ports}]});
    let policy = json!({"metadata": {"name": "a"}, "spec": spec});
    let path = group(&api, "networking.k8s.io/v1", "networkpolicies");
    let words = "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`";
    refused(&api, &path, &policy, words).await
}

async fn a_target_of_scaling_names_its_group(api: Api) -> Result<()> {
    let spec = json!({"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "a"}});
    let scaler = json!({"metadata": {"name": "a"}, "spec": spec});
    let path = group(&api, "autoscaling/v2", "horizontalpodautoscalers");
    refused(&api, &path, &scaler, "apiVersion must specify API group").await
}

async fn a_key_is_no_way_up(api: Api) -> Result<()> {
    let map = json!({"metadata": {"name": "a"}, "data": {"..d": "x"}});
    let words = "data[..d]: Invalid value: \"..d\": must not start with '..'";
    refused(&api, &api.core("configmaps"), &map, words).await
}

async fn a_time_zone_is_explicit(api: Api) -> Result<()> {
    let job = json!({"spec": {"template": {"spec": pod("Never")}}});
    let spec = json!({"schedule": "@daily", "timeZone": "Local", "jobTemplate": job});
    let job = json!({"metadata": {"name": "a"}, "spec": spec});
    let words = "spec.timeZone: Invalid value: \"Local\": timeZone must be an explicit time zone";
    refused(&api, &group(&api, "batch/v1", "cronjobs"), &job, words).await
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

/// The definition of a kind with rules at its root, as generators write them: `metadata` is an object
/// without declared fields.
async fn rules_with_all_of_the_language_hold(api: Api) -> Result<()> {
    let text = json!({"type": "string", "maxLength": 20});
    let rules = [
        "self.metadata.name == 'ok'",
        "self.?mode.orValue('x') == 'x' && !self.?mode.hasValue()",
        "self.?part.?deep.orValue('z') == 'z'",
        "type(self.port) == int ? self.port > 0 : self.port != ''",
        "dyn(self.port) == dyn(80) && bool('true')",
        "self.marks.all(k, v, k != v) && self.marks.exists(k, v, k == 'b' && v == '2')",
        "self.tags.all(i, v, self.tags[i] == v)",
        "self.day < timestamp('2030-01-01T00:00:00Z')",
        "cidr('10.0.0.0/8').ip().family() == 4",
        "google.protobuf.Timestamp{} == timestamp('1970-01-01T00:00:00Z')",
    ];
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    let root = json!({"type": "object", "x-kubernetes-validations": rules, "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "mode": text, "port": {"x-kubernetes-int-or-string": true},
        "part": {"type": "object", "properties": {"deep": text}},
        "day": {"type": "string", "format": "date"},
        "marks": {"type": "object", "maxProperties": 5, "additionalProperties": text},
        "tags": {"type": "array", "maxItems": 5, "items": text},
    }});
    let mut definition = definition(&api, &json!({}), &["v1"]);
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = root;
    let quiet = api.silently();
    quiet.post(DEFINITIONS, &definition).await?.is(201)?;
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let path = format!("/apis/{group}/v1/namespaces/{}/lamps", api.namespace);
    eventually("the kind is served", Duration::from_secs(120), async || {
        Ok((quiet.get(&path).await?.code == 200).then_some(()))
    })
    .await?;
    let lamp = |name: &str| {
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "Lamp", "metadata": {"name": name}, "port": 80,
            "day": "2026-01-31", "marks": {"a": "1", "b": "2"}, "tags": ["x", "y"],
        })
    };
    quiet.post(&path, &lamp("ok")).await?.is(201)?;
    let words = "failed rule: self.metadata.name == 'ok'";
    refused(&api, &path, &lamp("other"), words).await?;
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{DEFINITIONS}/{name}");
    quiet.delete(&path, &json!({})).await?.is(200)?;
    Ok(())
}
