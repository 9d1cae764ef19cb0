//! Behaviour that differs between kinds when their objects are created, changed, stored and
//! deleted. The full rules of each kind have files of their own.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::Call;
use super::failure::Cause;
use super::immutable::{immutable_data, same, stateful_set};
use super::kinds::Kind;
use super::object::{self, keep, list, map, metadata};
use super::state::State;
use super::store::{StoreKey, Stored};
use super::{crds, fields, pods, services, volumes, workloads};

/// Kinds that have a status which only its subresource writes, although creating sets it.
const KEEPS_STATUS_AT_CREATION: [&str; 1] = ["nodes"];

/// Fills in the fields of a new object that the server decides.
pub(crate) fn prepare_new(call: &Call<'_>, object: &mut Value) {
    let kind = &call.kind;
    let keeps = !kind.custom && KEEPS_STATUS_AT_CREATION.contains(&kind.plural.as_str());
    if call.version.has("status") && !keeps {
        object.as_object_mut().map(|object| object.remove("status"));
    }
    if kind.custom {
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "namespaces") => {
            let name = object::name(object).to_owned();
            let labels = metadata(object)
                .entry("labels")
                .or_insert_with(|| json!({}));
            labels["kubernetes.io/metadata.name"] = name.into();
            let finalizers = list(&object["spec"], "finalizers").to_vec();
            if !finalizers.iter().any(|one| one == "kubernetes") {
                let all: Vec<Value> = [finalizers, vec!["kubernetes".into()]].concat();
                map(object, "spec").insert("finalizers".to_owned(), all.into());
            }
            object["status"] = json!({"phase": "Active"});
        }
        ("", "pods") => pods::prepare_new(object),
        ("", "services") => object["status"] = json!({"loadBalancer": {}}),
        ("", "persistentvolumes") => {
            add_finalizer(object, "kubernetes.io/pv-protection");
            object["status"] = json!({"phase": "Pending"});
        }
        ("", "persistentvolumeclaims") => {
            add_finalizer(object, "kubernetes.io/pvc-protection");
            object["status"] = json!({"phase": "Pending"});
        }
        ("apiextensions.k8s.io", _) => crds::prepare_new(object),
        ("storage.k8s.io", "volumeattachments") => object["status"] = json!({"attached": false}),
        ("autoscaling", _) => {
            object["status"] = json!({"currentMetrics": null, "desiredReplicas": 0});
        }
        ("admissionregistration.k8s.io" | "apps" | "batch" | "networking.k8s.io" | "policy", _)
            if call.version.has("status") =>
        {
            object["status"] = empty_status(&kind.plural);
        }
        _ => {}
    }
}

fn empty_status(plural: &str) -> Value {
    match plural {
        "ingresses" => json!({"loadBalancer": {}}),
        "replicasets" => json!({"replicas": 0}),
        "statefulsets" => json!({"replicas": 0, "availableReplicas": 0}),
        "daemonsets" => json!({
            "currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0,
        }),
        "poddisruptionbudgets" => json!({
            "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
        }),
        _ => json!({}),
    }
}

fn add_finalizer(object: &mut Value, finalizer: &str) {
    let mut finalizers = object::finalizers(object);
    if !finalizers.iter().any(|one| one == finalizer) {
        finalizers.push(finalizer.to_owned());
        object::set_finalizers(object, &finalizers);
    }
}

/// Returns the errors of a new object, beyond metadata and schema.
pub(crate) fn validate_new(call: &Call<'_>, object: &Value) -> Vec<Cause> {
    let kind = &call.kind;
    match (kind.custom, kind.group.as_str(), kind.plural.as_str()) {
        (false, "", "services") => services::validate(None, object),
        (false, "", "configmaps" | "secrets") => of_data(object),
        (false, "" | "events.k8s.io", "events") => super::events::validate_new(kind, object),
        (false, "", "pods") => pods::validate_new(object),
        (false, "apps", "deployments") => workloads::deployment(object),
        (false, "apiextensions.k8s.io", _) => crds::validate(object),
        (false, "", "persistentvolumes") | (false, "storage.k8s.io", _) => {
            volumes::validate_new(&kind.plural, object)
        }
        _ => Vec::new(),
    }
}

/// Restores the fields that a change may not touch, and sets the generation, which counts changes
/// of the desired state.
pub(crate) fn prepare_changed(call: &Call<'_>, old: &Value, new: &mut Value) {
    let kind = &call.kind;
    match call.target.subresource.as_str() {
        "status" => return keep_all_but_status(kind, old, new),
        "finalize" => {
            let finalizers = new["spec"].get("finalizers").cloned();
            *new = old.clone();
            object::set(map(new, "spec"), "finalizers", finalizers);
            return;
        }
        _ => {}
    }
    if call.version.has("status") {
        keep(new, old, "status");
    }
    match (kind.custom, kind.group.as_str(), kind.plural.as_str()) {
        (false, "", "namespaces") => {
            let finalizers = old["spec"].get("finalizers").cloned();
            object::set(map(new, "spec"), "finalizers", finalizers);
        }
        (false, "", "services") => services::carry(old, new),
        (false, "", "pods") => pods::tolerate(new),
        _ => {}
    }
    let counts = kind.custom || kind.traits.generation;
    let all = kind.custom && !call.version.has("status");
    let notes = |object: &Value| object["metadata"]["annotations"].clone();
    let noted = kind.is("apps", "deployments") && notes(old) != notes(new);
    if counts && (noted || generation_content(old, all) != generation_content(new, all)) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
        metadata(new).insert("generation".to_owned(), generation.into());
    }
}

/// Returns an object without the fields that its generation does not count.
fn generation_content(object: &Value, with_status: bool) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("metadata");
        map.remove("apiVersion");
        map.remove("kind");
        if !with_status {
            map.remove("status");
        }
    }
    object
}

fn keep_all_but_status(kind: &Kind, old: &Value, new: &mut Value) {
    let (status, version) = (new.get("status").cloned(), new["metadata"].clone());
    if kind.custom || kind.group == "apiextensions.k8s.io" {
        let managed = version.get("managedFields").cloned();
        *new = old.clone();
        object::set(metadata(new), "managedFields", managed);
    } else {
        // Of built-in kinds even a status brings its metadata along.
        *new = old.clone();
        new["metadata"] = version;
        for field in ["ownerReferences", "finalizers"] {
            if kind.plural == "pods" {
                object::set(metadata(new), field, old["metadata"].get(field).cloned());
            }
        }
    }
    let slot = new.as_object_mut().expect("an object is one");
    object::set(slot, "status", status);
}

/// Returns the errors of a change, beyond metadata and schema.
pub(crate) fn validate_changed(call: &Call<'_>, old: &Value, new: &Value) -> Vec<Cause> {
    let kind = &call.kind;
    if kind.is("", "services") && call.target.subresource == "status" {
        return services::of_status(new);
    }
    if !call.target.subresource.is_empty() || kind.custom {
        return Vec::new();
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "services") => services::validate(Some(old), new),
        ("", "pods") => pods::validate_changed(old, new),
        ("", "persistentvolumes" | "persistentvolumeclaims") | ("storage.k8s.io", _) => {
            volumes::validate_changed(&kind.plural, old, new)
        }
        ("", "configmaps" | "secrets") => {
            let mut causes = of_data(new);
            causes.extend(immutable_data(old, new));
            causes
        }
        ("", "namespaces") => Vec::new(),
        ("apps", "deployments") => {
            let mut causes = workloads::deployment(new);
            causes.extend(same(old, new, &["spec", "selector"]));
            causes
        }
        ("apps", "replicasets" | "daemonsets") => same(old, new, &["spec", "selector"]),
        ("apps", "statefulsets") => stateful_set(old, new),
        ("batch", "jobs") => {
            let mut causes = same(old, new, &["spec", "selector"]);
            causes.extend(same(old, new, &["spec", "template"]));
            causes
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            let (before, after) = (&old["roleRef"], &new["roleRef"]);
            if before == after {
                Vec::new()
            } else {
                let of = |field: &str| after[field].clone();
                // Shown as the type that has no names for JSON.
                let shown =
                    json!({"APIGroup": of("apiGroup"), "Kind": of("kind"), "Name": of("name")});
                vec![Cause::invalid("roleRef", &shown, "cannot change roleRef")]
            }
        }
        ("discovery.k8s.io", "endpointslices") => same(old, new, &["addressType"]),
        ("apiextensions.k8s.io", _) => crds::validate(new),
        _ => Vec::new(),
    }
}

/// Keys of data are names of files, and each is in one map only.
fn of_data(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    for field in ["data", "binaryData"] {
        for name in object[field]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let path = format!("{field}[{name}]");
            if name.is_empty() || !name.chars().all(fits) {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                    'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                causes.push(Cause::invalid(path, &name.as_str().into(), detail));
            } else if field == "data" && object["binaryData"].get(name).is_some() {
                let detail = "duplicate of key present in binaryData";
                causes.push(Cause::invalid(path, &name.as_str().into(), detail));
            }
        }
    }
    causes
}

/// Writes an object, and applies the consequences for its kind.
pub(crate) fn store(state: &mut State, kind: &Kind, key: StoreKey, object: Value) -> Arc<Stored> {
    let selectable = selectable(kind);
    let stored = state.store.put(&kind.store, key, object, &selectable);
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        crds::changed(state, &stored.value());
    }
    stored
}

/// Deletes an object, and applies the consequences for its kind.
pub(crate) fn bury(state: &mut State, kind: &Kind, key: &StoreKey, last: Value) -> Arc<Stored> {
    if kind.is("", "services") {
        state.allocations.release(key);
    }
    let stored = state
        .store
        .remove(&kind.store, key, last, &selectable(kind));
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        crds::gone(state, &stored.value());
    }
    if kind.custom {
        crds::finish(state, kind);
    }
    stored
}

fn selectable(kind: &Kind) -> Vec<String> {
    let versions = kind.versions.iter().flat_map(fields::selectable);
    versions.collect()
}

/// Returns the grace period of an object, or `None` if its kind has no grace period.
pub(crate) fn grace(kind: &Kind, object: &Value, asked: Option<i64>) -> Option<i64> {
    if !kind.is("", "pods") {
        return None;
    }
    Some(pods::grace(object, asked))
}

/// Makes the changes of a pending deletion besides those to `metadata`.
pub(crate) fn prepare_deleting(kind: &Kind, object: &mut Value) {
    if kind.is("", "namespaces") {
        map(object, "status").insert("phase".to_owned(), "Terminating".into());
    }
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        crds::prepare_deleting(object);
    }
}
