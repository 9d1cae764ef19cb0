//! StatefulSets, one Pod after the other under names that stay, and DaemonSets, a Pod on every node.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, letters, list, number, text};
use super::operation::Operation;
use super::view::View;
use super::workloads::{controlled, pod, removed, report};
use super::{pods, workloads};

pub(super) fn stateful(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(set) = view.cache.get(key).filter(|s| !is_leaving(s)) else {
        return Vec::new();
    };
    let wanted = number(set, "/spec/replicas").unwrap_or(1);
    let wanted = usize::try_from(wanted).unwrap_or_default();
    let there = controlled(view.cache, set, "Pod");
    let name = |n: usize| format!("{}-{n}", key.name);
    let find = |name: &String| there.iter().find(|(key, _)| key.name == *name);
    let mut operations = Vec::new();
    // The next begins when the one before is ready.
    for name in (0..wanted).map(name) {
        match find(&name) {
            None => {
                let (at, mut made) = pod((key, set), &name, &set["spec"]["template"]);
                made["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
                made["spec"]["hostname"] = json!(name);
                operations.extend(claims(view, (key, set), &name, &mut made));
                operations.push(Operation::Create(at, made));
                break;
            }
            Some((_, pod)) if !pods::is_ready(pod) => break,
            Some(_) => {}
        }
    }
    let names: BTreeSet<String> = (0..wanted).map(name).collect();
    let last = there
        .iter()
        .rev()
        .find(|(key, _)| !names.contains(&key.name));
    operations.extend(last.filter(|(_, pod)| !is_leaving(pod)).map(removed));
    let ready = there.iter().filter(|(_, pod)| pods::is_ready(pod)).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"], "replicas": there.len(),
        "readyReplicas": ready, "availableReplicas": ready, "currentReplicas": there.len(), "updatedReplicas": there.len(),
    });
    operations.extend(report(key, set, status));
    operations
}

/// The claims of a Pod by their templates, which stay when it goes; the Pod mounts them.
fn claims(
    view: &View<'_>,
    (key, set): (&ObjectKey, &Value),
    pod: &str,
    made: &mut Value,
) -> Vec<Operation> {
    let mut operations = Vec::new();
    for template in list(set, "/spec/volumeClaimTemplates") {
        let volume = text(template, "/metadata/name").unwrap_or_default();
        let at = key.sibling("PersistentVolumeClaim", &format!("{volume}-{pod}"));
        let mounts = json!({ "name": volume, "persistentVolumeClaim": { "claimName": at.name } });
        match made
            .pointer_mut("/spec/volumes")
            .and_then(Value::as_array_mut)
        {
            Some(volumes) => {
                volumes.retain(|v| v["name"] != mounts["name"]);
                volumes.push(mounts);
            }
            None => made["spec"]["volumes"] = json!([mounts]),
        }
        if view.cache.get(&at).is_none() {
            let mut claim = at.kind.object(&at);
            claim["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
            claim["metadata"]["labels"] = set["spec"]["selector"]["matchLabels"].clone();
            claim["spec"] = template["spec"].clone();
            operations.push(Operation::Create(at, claim));
        }
    }
    operations
}

/// Returns a DaemonSet that changed itself or through its Pods. A changed Node returns all
/// DaemonSets.
pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    if change.key.is("Node") {
        let kind = Kind::from_name("DaemonSet");
        return cache.all(&kind, None).map(|(key, _)| key.clone()).collect();
    }
    workloads::concerned(cache, change, "DaemonSet")
}

pub(super) fn daemons(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(set) = view.cache.get(key).filter(|s| !is_leaving(s)) else {
        return Vec::new();
    };
    let there = controlled(view.cache, set, "Pod");
    let kind = Kind::from_name("Node");
    let nodes: Vec<&ObjectKey> = view.cache.all(&kind, None).map(|(key, _)| key).collect();
    let on = |pod: &Value| text(pod, "/spec/nodeName");
    let mut operations = Vec::new();
    for node in &nodes {
        let name = format!("{}-{}", key.name, &letters(&node.name)[..5]);
        if !there.iter().any(|(key, _)| key.name == name) {
            let (at, mut made) = pod((key, set), &name, &set["spec"]["template"]);
            made["spec"]["nodeName"] = json!(node.name);
            operations.push(Operation::Create(at, made));
        }
    }
    let ready = there.iter().filter(|(_, pod)| pods::is_ready(pod)).count();
    let placed = there.iter().filter(|(_, pod)| on(pod).is_some()).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"], "desiredNumberScheduled": nodes.len(),
        "currentNumberScheduled": placed, "numberReady": ready, "numberAvailable": ready,
        "numberMisscheduled": 0, "updatedNumberScheduled": placed,
    });
    operations.extend(report(key, set, status));
    operations
}
