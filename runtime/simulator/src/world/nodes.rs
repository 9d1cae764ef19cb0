//! Nodes. They exist from the start, and Pods of a vanished node are deleted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::kinds::{Kind, ObjectKey};
use super::object::{text, uid};
use super::operation::{Operation, Removal};
use super::view::View;

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    if change.key.is("Node") && change.new.is_none() {
        let kind = Kind::from_name("Pod");
        let pods = cache.all(&kind, None);
        let was_here = |pod: &Value| text(pod, "/spec/nodeName").as_ref() == Some(&change.key.name);
        return pods
            .filter(|(_, pod)| was_here(pod))
            .map(|(key, _)| key.clone())
            .collect();
    }
    BTreeSet::new()
}

/// Deletes a Pod at once if its node has vanished, because no kubelet could end it.
pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(pod) = view.cache.get(key) else {
        return Vec::new();
    };
    let node = text(pod, "/spec/nodeName").unwrap_or_default();
    if node.is_empty() || view.cache.get(&key.sibling("Node", &node)).is_some() {
        return Vec::new();
    }
    let removal = Removal {
        at_once: true,
        ..Removal::background(uid(pod))
    };
    vec![Operation::Delete(key.clone(), removal)]
}

/// The nodes that are made at the start: number `n` has addresses of its own.
pub(super) fn build_node(n: usize, name: &str, now: &str) -> (ObjectKey, Value, Value) {
    let key = ObjectKey::new(Kind::from_name("Node"), None, name);
    let mut node = key.kind.object(&key);
    node["metadata"]["labels"] = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
    });
    node["spec"] = json!({ "podCIDR": format!("10.244.{n}.0/24") });
    let size = json!({ "cpu": "4", "memory": "8Gi", "pods": "110" });
    let status = json!({ "status": {
        "addresses": [
            { "type": "InternalIP", "address": format!("172.18.0.{}", n + 2) },
            { "type": "ExternalIP", "address": format!("203.0.113.{}", n + 2) },
            { "type": "Hostname", "address": name },
        ],
        "capacity": size, "allocatable": size,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "it is simulated",
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        }],
    } });
    (key, node, status)
}
