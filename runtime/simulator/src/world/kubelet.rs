//! Kubelet for every ready node. Pods run after a while, get addresses, become ready, end, and are
//! deleted. Volumes are mounted before a Pod runs: `mounts` decides the steps and makes the calls
//! of drivers.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::kinds::{Kind, ObjectKey};
use super::object::{has_condition, is_leaving, list, text, uid};
use super::operation::{Operation, Removal};
use super::view::View;
use super::{mounts, pods};

/// Annotation of a Pod with the exit code of its containers. Without it, a Pod that may not be
/// restarted ends with 0.
pub const EXIT: &str = "world.lifecycle/exit";
/// Annotation of a Pod: `false` while it is not to be ready.
pub const READY: &str = "world.lifecycle/ready";

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    if change.key.is("Pod") {
        return BTreeSet::from([change.key.clone()]);
    }
    if change.key.is("Node") {
        return pods::on_node(cache, &change.key.name);
    }
    // These are the kinds that a Pod may wait for before it runs.
    let of_volumes = [
        "ConfigMap",
        "Secret",
        "PersistentVolumeClaim",
        "PersistentVolume",
    ];
    if !of_volumes.iter().any(|kind| change.key.is(kind)) {
        return BTreeSet::new();
    }
    let kind = Kind::from_name("Pod");
    let waits = |pod: &Value| !pods::has_phase(pod, "Running") && !pods::is_over(pod);
    let pods = cache.all(&kind, change.key.namespace.as_deref());
    let pods = pods.filter(|(_, pod)| waits(pod));
    pods.map(|(key, _)| key.clone()).collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(delay) = view.world.kubelet else {
        return Vec::new();
    };
    match view.cache.get(key) {
        Some(pod) => of_pod(view, key, pod, delay),
        None => mounts::away(view, key, None),
    }
}

fn of_pod(view: &View<'_>, key: &ObjectKey, pod: &Value, delay: Duration) -> Vec<Operation> {
    let node_name = text(pod, "/spec/nodeName").unwrap_or_default();
    if node_name.is_empty() {
        return match is_leaving(pod) {
            true => vec![gone(key, pod)],
            false => mounts::away(view, key, None),
        };
    }
    let Some(node) = view.cache.get(&key.sibling("Node", &node_name)) else {
        return Vec::new();
    };
    if !has_condition(node, "Ready", "True") {
        return unreachable(view, key, pod);
    }
    if is_leaving(pod) {
        if view.waited < delay && !pods::is_over(pod) {
            return vec![Operation::Later(delay - view.waited)];
        }
        // A Pod goes when nothing of it is left.
        let operations = mounts::away(view, key, Some(&uid(pod)));
        return match mounts::is_held(view, &uid(pod)) {
            true => operations,
            false => operations.into_iter().chain([gone(key, pod)]).collect(),
        };
    }
    if pods::is_over(pod) {
        return mounts::away(view, key, Some(&uid(pod)));
    }
    let mut mounting = mounts::toward(view, key, pod, &node_name);
    mounting.operations.extend(mounts::away(view, key, None));
    let runs = pods::has_phase(pod, "Running");
    if !runs && (mounting.waits || !mounts(view, pod)) {
        return mounting.operations;
    }
    let ends = text(pod, "/spec/restartPolicy").is_some_and(|p| p != "Always");
    let may_be_ready = annotation(pod, READY) != Some("false");
    let operation = match (runs, ends) {
        (_, true) | (false, _) if view.waited < delay => {
            Some(Operation::Later(delay - view.waited))
        }
        (false, _) => Some(status(key, running(view, pod, node, may_be_ready))),
        (true, true) => Some(status(key, terminated_status(view, pod))),
        (true, false) if pods::is_ready(pod) != may_be_ready => {
            Some(status(key, running(view, pod, node, may_be_ready)))
        }
        (true, false) => None,
    };
    mounting.operations.into_iter().chain(operation).collect()
}

/// Returns true if everything that a Pod mounts besides the volumes of drivers exists: ConfigMaps,
/// Secrets, claims of any kind.
fn mounts(view: &View<'_>, pod: &Value) -> bool {
    let namespace = text(pod, "/metadata/namespace");
    let is_there = |kind: &str, name: Option<String>, optional: bool| {
        let Some(name) = name else {
            return true;
        };
        let key = ObjectKey::new(Kind::from_name(kind), namespace.as_deref(), &name);
        optional || view.cache.get(&key).is_some()
    };
    list(pod, "/spec/volumes").iter().all(|volume| {
        let optional = |of: &str| volume[of]["optional"] == true;
        is_there(
            "ConfigMap",
            text(volume, "/configMap/name"),
            optional("configMap"),
        ) && is_there(
            "Secret",
            text(volume, "/secret/secretName"),
            optional("secret"),
        ) && is_there(
            "PersistentVolumeClaim",
            text(volume, "/persistentVolumeClaim/claimName"),
            false,
        )
    })
}

fn annotation<'a>(pod: &'a Value, name: &str) -> Option<&'a str> {
    pod.pointer("/metadata/annotations")?.get(name)?.as_str()
}

fn gone(key: &ObjectKey, pod: &Value) -> Operation {
    let removal = Removal {
        at_once: true,
        ..Removal::background(uid(pod))
    };
    Operation::Delete(key.clone(), removal)
}

fn status(key: &ObjectKey, status: Value) -> Operation {
    Operation::Patch(key.clone(), Some("status"), json!({ "status": status }))
}

/// Marks a Pod on a node that is not ready as not ready.
fn unreachable(view: &View<'_>, key: &ObjectKey, pod: &Value) -> Vec<Operation> {
    if !pods::is_ready(pod) {
        return Vec::new();
    }
    let conditions = conditions(view, pod, false);
    vec![status(key, json!({ "conditions": conditions }))]
}

/// Returns the conditions with this readiness. An unchanged condition keeps its time.
fn conditions(view: &View<'_>, pod: &Value, ready: bool) -> Vec<Value> {
    let kinds = [
        ("PodReadyToStartContainers", true),
        ("Initialized", true),
        ("Ready", ready),
        ("ContainersReady", ready),
        ("PodScheduled", true),
    ];
    let condition = |(kind, holds): (&str, bool)| {
        let status = if holds { "True" } else { "False" };
        let all = list(pod, "/status/conditions");
        let old = all
            .iter()
            .find(|c| c["type"] == kind && c["status"] == status);
        let fresh = || json!({ "type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": view.now });
        old.cloned().unwrap_or_else(fresh)
    };
    kinds.into_iter().map(condition).collect()
}

fn containers(view: &View<'_>, pod: &Value, ready: bool, exit: Option<i64>) -> Vec<Value> {
    let started = text(pod, "/status/startTime").unwrap_or_else(|| view.now.clone());
    let state = match exit {
        None => json!({ "running": { "startedAt": started } }),
        Some(code) => json!({ "terminated": {
            "exitCode": code, "reason": if code == 0 { "Completed" } else { "Error" },
            "startedAt": started, "finishedAt": view.now,
        } }),
    };
    let one = |container: &Value| {
        let image = &container["image"];
        json!({
            "name": container["name"], "image": image, "imageID": image, "ready": ready,
            "started": exit.is_none(), "restartCount": 0, "state": state,
        })
    };
    list(pod, "/spec/containers").iter().map(one).collect()
}

fn running(view: &View<'_>, pod: &Value, node: &Value, ready: bool) -> Value {
    let host = list(node, "/status/addresses");
    let host = host.iter().find(|a| a["type"] == "InternalIP");
    let host = host.and_then(|a| text(a, "/address")).unwrap_or_default();
    let own = match pod.pointer("/spec/hostNetwork") == Some(&json!(true)) {
        true => host.clone(),
        false => text(pod, "/status/podIP").unwrap_or_else(|| free(view, node)),
    };
    let start = text(pod, "/status/startTime").unwrap_or_else(|| view.now.clone());
    json!({
        "phase": "Running", "startTime": start, "hostIP": host, "hostIPs": [{ "ip": host }],
        "podIP": own, "podIPs": [{ "ip": own }],
        "conditions": conditions(view, pod, ready), "containerStatuses": containers(view, pod, ready, None),
    })
}

fn terminated_status(view: &View<'_>, pod: &Value) -> Value {
    let code = annotation(pod, EXIT).and_then(|code| code.parse().ok());
    let code = code.unwrap_or(0);
    let phase = if code == 0 { "Succeeded" } else { "Failed" };
    json!({
        "phase": phase, "conditions": conditions(view, pod, false),
        "containerStatuses": containers(view, pod, false, Some(code)),
    })
}

/// The first address of a node that no Pod has.
fn free(view: &View<'_>, node: &Value) -> String {
    let range = text(node, "/spec/podCIDR").unwrap_or_else(|| "10.244.255.0/24".to_owned());
    let stem = range
        .rsplit_once('.')
        .map_or("10.244.255", |(stem, _)| stem);
    let kind = Kind::from_name("Pod");
    let taken: BTreeSet<String> = view
        .cache
        .all(&kind, None)
        .filter_map(|(_, pod)| text(pod, "/status/podIP"))
        .collect();
    let mut all = (2..255).map(|n| format!("{stem}.{n}"));
    all.find(|ip| !taken.contains(ip)).unwrap_or_default()
}
