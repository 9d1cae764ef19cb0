//! Behaviour that differs between kinds when their objects are created, changed, stored and
//! deleted. The full rules of each kind have files of their own.

mod cron;
mod data;
mod networking;
mod policies;
mod roles;
mod workloads;

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::Call;
use super::failure::Cause;
use super::immutable::{immutable_data, same, stateful_set};
use super::kinds::Kind;
use super::object::{self, keep, list, map, metadata};
use super::state::State;
use super::store::{StoreKey, Stored};
use super::{crds, fields, pods, services, volumes};

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
    if kind.custom {
        return Vec::new();
    }
    let mut causes = validate(kind, object);
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "services") => causes.extend(services::validate(None, object)),
        ("" | "events.k8s.io", "events") => {
            causes.extend(super::events::validate_new(kind, object));
        }
        ("", "pods") => causes.extend(pods::of_spec(&object["spec"], "spec")),
        ("apiextensions.k8s.io", _) => causes.extend(crds::unapproved(object)),
        ("batch", "cronjobs") => causes.extend(workloads::of_new_cron_job(object)),
        ("networking.k8s.io", "ingresses") => causes.extend(networking::of_new_ingress(object)),
        _ => {}
    }
    causes
}

/// Returns the errors that an object has in itself, new or changed.
fn validate(kind: &Kind, object: &Value) -> Vec<Cause> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "configmaps") => data::config_map(object),
        ("", "secrets") => data::secret(object),
        ("apps" | "batch", plural) | ("", plural @ "replicationcontrollers") => {
            workloads::validate(plural, object)
        }
        ("", plural @ ("persistentvolumes" | "persistentvolumeclaims"))
        | ("storage.k8s.io", plural) => volumes::validate(plural, object),
        ("networking.k8s.io", "ingresses") => networking::ingress(object),
        ("networking.k8s.io", "networkpolicies") => networking::policy(object),
        ("policy", "poddisruptionbudgets") => policies::budget(object),
        ("autoscaling", "horizontalpodautoscalers") => policies::autoscaler(object),
        ("admissionregistration.k8s.io", plural) if plural.ends_with("webhookconfigurations") => {
            policies::webhooks(object)
        }
        ("rbac.authorization.k8s.io", _) => roles::validate(kind, object),
        ("apiextensions.k8s.io", _) => crds::validate(object),
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
        (false, "apiextensions.k8s.io", _) => crds::prepare_changed(new),
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
    let mut causes = validate(kind, new);
    causes.extend(match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "services") => services::validate(Some(old), new),
        ("", "pods") => pods::validate_changed(old, new),
        ("", "persistentvolumes" | "persistentvolumeclaims") | ("storage.k8s.io", _) => {
            volumes::validate_changed(&kind.plural, old, new)
        }
        ("", "configmaps" | "secrets") => immutable_data(old, new),
        ("apps", "deployments" | "replicasets" | "daemonsets") => {
            same(old, new, &["spec", "selector"])
        }
        ("apps", "statefulsets") => stateful_set(old, new),
        ("batch", "jobs") => {
            let mut causes = same(old, new, &["spec", "selector"]);
            causes.extend(same(old, new, &["spec", "template"]));
            causes
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            role_of_binding(old, new)
        }
        ("discovery.k8s.io", "endpointslices") => same(old, new, &["addressType"]),
        ("apiextensions.k8s.io", _) => crds::validate_changed(old, new),
        _ => Vec::new(),
    });
    causes
}

fn role_of_binding(old: &Value, new: &Value) -> Vec<Cause> {
    let (before, after) = (&old["roleRef"], &new["roleRef"]);
    if before == after {
        return Vec::new();
    }
    let of = |field: &str| after[field].clone();
    // Shown as the type that has no names for JSON.
    let shown = json!({"APIGroup": of("apiGroup"), "Kind": of("kind"), "Name": of("name")});
    vec![Cause::invalid("roleRef", &shown, "cannot change roleRef")]
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
