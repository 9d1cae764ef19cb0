//! Deployments, ReplicaSets and the older ReplicationControllers: as many Pods of one template as wanted, a new template beside the old until it is available.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::cache::{Cache, Change, controlled_by};
use super::kinds::ObjectKey;
use super::object::{controller, has_condition, is_leaving, letters, list, number, uid};
use super::operation::{Operation, Removal};
use super::pods;
use super::view::View;

const HASH: &str = "pod-template-hash";

/// Returns an object of this kind that changed itself or through its dependents.
pub(super) fn concerned(cache: &Cache, change: &Change, kind: &str) -> BTreeSet<ObjectKey> {
    if change.key.is(kind) {
        return BTreeSet::from([change.key.clone()]);
    }
    let both = [&change.old, &change.new].into_iter().flatten();
    let owners = both.filter_map(controller);
    let found = owners.filter_map(|id| Some(cache.by_uid(&id)?.0.clone()));
    found.filter(|key| key.is(kind)).collect()
}

/// The Pods or sets that an object controls, in order of name.
pub(super) fn controlled<'a>(
    cache: &'a Cache,
    owner: &Value,
    kind: &str,
) -> Vec<(&'a ObjectKey, &'a Value)> {
    let id = uid(owner);
    let all = cache.owned_by(&id);
    all.filter(|(key, o)| key.is(kind) && controller(o).as_ref() == Some(&id))
        .collect()
}

/// A Pod of a template.
pub(super) fn pod(owner: (&ObjectKey, &Value), name: &str, template: &Value) -> (ObjectKey, Value) {
    let key = owner.0.sibling("Pod", name);
    let mut pod = key.kind.object(&key);
    for field in ["labels", "annotations"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")) {
            pod["metadata"][field] = value.clone();
        }
    }
    pod["metadata"]["ownerReferences"] = controlled_by(owner.0, owner.1);
    pod["spec"] = template["spec"].clone();
    (key, pod)
}

/// Removes a Pod.
pub(super) fn removed((key, pod): &(&ObjectKey, &Value)) -> Operation {
    Operation::Delete((*key).clone(), Removal::background(uid(pod)))
}

/// Returns a status update if it changes anything.
pub(super) fn report(key: &ObjectKey, object: &Value, status: Value) -> Option<Operation> {
    let live = object.get("status");
    let fields = status.as_object()?;
    let says = |(field, value): (&String, &Value)| {
        let there = live.and_then(|l| l.get(field));
        match (there, value) {
            (None, value) => !(value.is_null() || *value == json!(0)),
            (Some(there), value) => there != value,
        }
    };
    let patch = json!({ "status": status });
    fields
        .iter()
        .any(says)
        .then(|| Operation::Patch(key.clone(), Some("status"), patch))
}

pub(super) fn replica_set(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(set) = view.cache.get(key).filter(|s| !is_leaving(s)) else {
        return Vec::new();
    };
    let wanted = count(set);
    let alive = |(_, pod): &(&ObjectKey, &Value)| !is_leaving(pod) && !pods::is_over(pod);
    let all = controlled(view.cache, set, "Pod");
    let there: Vec<_> = all.iter().copied().filter(alive).collect();
    let mut operations = Vec::new();
    if there.len() < wanted {
        // Names go by number: a cache that is behind makes no Pod twice.
        let stem = |n: usize| {
            format!(
                "{}-{}",
                key.name,
                &letters(&format!("{} {n}", uid(set)))[..5]
            )
        };
        let is_free = |name: &String| !all.iter().any(|(key, _)| key.name == *name);
        let names = (0..).map(stem).filter(is_free);
        for name in names.take(wanted - there.len()) {
            let (key, pod) = pod((key, set), &name, &set["spec"]["template"]);
            operations.push(Operation::Create(key, pod));
        }
    } else {
        // Those that are not ready go first.
        let mut going: Vec<_> = there.clone();
        going.sort_by_key(|(key, pod)| (pods::is_ready(pod), (*key).clone()));
        operations.extend(going.iter().take(there.len() - wanted).map(removed));
    }
    let ready = there.iter().filter(|(_, pod)| pods::is_ready(pod)).count();
    let status = json!({
        "replicas": there.len(), "fullyLabeledReplicas": there.len(), "readyReplicas": ready,
        "availableReplicas": ready, "observedGeneration": set["metadata"]["generation"],
    });
    operations.extend(report(key, set, status));
    operations
}

fn count(object: &Value) -> usize {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    usize::try_from(wanted).unwrap_or_default()
}

pub(super) fn deployment(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(deployment) = view.cache.get(key).filter(|d| !is_leaving(d)) else {
        return Vec::new();
    };
    let template = &deployment["spec"]["template"];
    let wanted = count(deployment);
    let sets = controlled(view.cache, deployment, "ReplicaSet");
    let sum = |field: &str| -> i64 {
        let all = sets
            .iter()
            .map(|(_, set)| number(set, field).unwrap_or_default());
        all.sum()
    };
    let new = sets.iter().find(|(_, set)| is_of(set, template));
    let of_new = |field: &str| {
        new.and_then(|(_, set)| number(set, field))
            .unwrap_or_default()
    };
    let is_paused = deployment.pointer("/spec/paused") == Some(&json!(true));
    let mut operations = match is_paused {
        true => resized(&sets, new, wanted),
        false => rolled(view, (key, deployment), &sets, new),
    };
    let (all, ready) = (sum("/status/replicas"), sum("/status/availableReplicas"));
    let is_available = usize::try_from(ready).is_ok_and(|n| n >= wanted);
    let missing = i64::try_from(wanted)
        .unwrap_or_default()
        .saturating_sub(ready)
        .max(0);
    let status = json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": all, "updatedReplicas": of_new("/status/replicas"),
        "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": missing,
        "conditions": [
            condition(view, deployment, ("Available", is_available), ("MinimumReplicasAvailable", "MinimumReplicasUnavailable")),
            progress(view, deployment, is_paused),
        ],
    });
    operations.extend(report(key, deployment, status));
    operations
}

/// Returns true if a ReplicaSet has a template, apart from the label that tells sets apart.
fn is_of(set: &Value, template: &Value) -> bool {
    let mut own = set["spec"]["template"].clone();
    let labels = own.pointer_mut("/metadata/labels");
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    own == *template
}

/// Scales the set of the present template up, and the others down once it is available.
fn rolled(
    view: &View<'_>,
    (key, deployment): (&ObjectKey, &Value),
    sets: &[(&ObjectKey, &Value)],
    new: Option<&(&ObjectKey, &Value)>,
) -> Vec<Operation> {
    let wanted = count(deployment);
    let others = || {
        sets.iter()
            .filter(|(key, _)| new.is_none_or(|new| new.0 != *key))
    };
    let down = || others().filter_map(|(key, set)| scaled(key, set, 0));
    let recreates = deployment.pointer("/spec/strategy/type") == Some(&json!("Recreate"));
    let runs = |set: &Value| count(set) > 0 || !controlled(view.cache, set, "Pod").is_empty();
    if recreates && others().any(|(_, set)| runs(set)) {
        let again = Operation::Again(Duration::from_secs(1));
        return down().chain([again]).collect();
    }
    let Some((at, set)) = new else {
        let hash = letters(&deployment["spec"]["template"].to_string());
        return vec![first(deployment, key, &hash, wanted)];
    };
    let mut operations: Vec<Operation> = scaled(at, set, wanted).into_iter().collect();
    let available = number(set, "/status/availableReplicas").unwrap_or_default();
    if usize::try_from(available).is_ok_and(|n| n >= wanted) {
        operations.extend(down());
    }
    operations
}

/// A paused Deployment makes no set. It only changes the size of the one that has Pods.
fn resized(
    sets: &[(&ObjectKey, &Value)],
    new: Option<&(&ObjectKey, &Value)>,
    wanted: usize,
) -> Vec<Operation> {
    let active: Vec<_> = sets.iter().filter(|(_, set)| count(set) > 0).collect();
    let one = match active[..] {
        [] => new,
        [one] => Some(one),
        [..] => None,
    };
    one.and_then(|(key, set)| scaled(key, set, wanted))
        .into_iter()
        .collect()
}

fn progress(view: &View<'_>, deployment: &Value, is_paused: bool) -> Value {
    if !is_paused {
        let reasons = ("NewReplicaSetAvailable", "");
        return condition(view, deployment, ("Progressing", true), reasons);
    }
    let mut all = list(deployment, "/status/conditions").iter();
    let old = all.find(|c| c["type"] == "Progressing" && c["reason"] == "DeploymentPaused");
    old.cloned().unwrap_or_else(|| {
        json!({
            "type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused", "message": "Deployment is paused",
            "lastUpdateTime": view.now, "lastTransitionTime": view.now,
        })
    })
}

/// A condition that keeps its times while it stays as it is.
fn condition(
    view: &View<'_>,
    object: &Value,
    (kind, holds): (&str, bool),
    (yes, no): (&str, &str),
) -> Value {
    let status = if holds { "True" } else { "False" };
    let reason = if holds { yes } else { no };
    let old = list(object, "/status/conditions")
        .iter()
        .find(|c| c["type"] == kind);
    if let Some(old) = old.filter(|_| has_condition(object, kind, status)) {
        return old.clone();
    }
    json!({
        "type": kind, "status": status, "reason": reason, "message": "",
        "lastUpdateTime": view.now, "lastTransitionTime": view.now,
    })
}

fn first(deployment: &Value, owner: &ObjectKey, hash: &str, replicas: usize) -> Operation {
    let key = owner.sibling("ReplicaSet", &format!("{}-{hash}", owner.name));
    let mut set = key.kind.object(&key);
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    set["metadata"]["labels"] = template["metadata"]["labels"].clone();
    set["metadata"]["ownerReferences"] = controlled_by(owner, deployment);
    set["spec"] = json!({ "replicas": replicas, "selector": selector, "template": template });
    Operation::Create(key, set)
}

fn scaled(key: &ObjectKey, set: &Value, replicas: usize) -> Option<Operation> {
    let patch = json!({ "spec": { "replicas": replicas } });
    (count(set) != replicas).then(|| Operation::Patch(key.clone(), None, patch))
}
