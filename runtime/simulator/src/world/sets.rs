//! StatefulSets, one Pod after the other under names that stay, and DaemonSets, a Pod on every node.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, letters, list, number, text};
use super::operation::Operation;
use super::view::View;
use super::workloads::{controlled, pod, removed, report};
use super::{pods, revisions, workloads};

/// A StatefulSet with what decides over its Pods.
struct Stateful<'a> {
    key: &'a ObjectKey,
    set: &'a Value,
    /// All Pods, in order of their numbers.
    there: Vec<(&'a ObjectKey, &'a Value)>,
    /// Numbers that Pods are to have.
    numbers: std::ops::Range<i64>,
    /// Revision of the present template, and the one that Pods had before it.
    update: String,
    current: String,
    /// The set replaces Pods of an old template from this number on, if it does so by itself.
    partition: Option<i64>,
    is_parallel: bool,
}

pub(super) fn stateful(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(set) = view.cache.get(key).filter(|s| !is_leaving(s)) else {
        return Vec::new();
    };
    let (revision, recorded) = revisions::newest(view, (key, set));
    let stateful = Stateful::new(view, (key, set), revision.name);
    let mut operations: Vec<Operation> = recorded.into_iter().collect();
    operations.extend(stateful.missing(view));
    match stateful.surplus() {
        going if going.is_empty() => operations.extend(stateful.outdated()),
        going => operations.extend(going),
    }
    operations.extend(report(key, set, stateful.status()));
    operations
}

impl<'a> Stateful<'a> {
    fn new(view: &View<'a>, (key, set): (&'a ObjectKey, &'a Value), update: String) -> Self {
        let mut there = controlled(view.cache, set, "Pod");
        there.sort_by_key(|(pod, _)| ordinal(pod));
        let first = number(set, "/spec/ordinals/start").unwrap_or(0);
        let wanted = number(set, "/spec/replicas").unwrap_or(1);
        let strategy = text(set, "/spec/updateStrategy/type");
        let from = number(set, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0);
        let policy = text(set, "/spec/podManagementPolicy");
        Self {
            key,
            set,
            there,
            numbers: first..first.saturating_add(wanted),
            current: text(set, "/status/currentRevision").unwrap_or_else(|| update.clone()),
            update,
            partition: (strategy.as_deref() != Some("OnDelete")).then_some(from),
            is_parallel: policy.as_deref() == Some("Parallel"),
        }
    }

    fn name(&self, number: i64) -> String {
        format!("{}-{number}", self.key.name)
    }

    fn find(&self, number: i64) -> Option<&(&'a ObjectKey, &'a Value)> {
        let name = self.name(number);
        self.there.iter().find(|(key, _)| key.name == name)
    }

    /// Creates Pods that are absent. The next begins when the one before is ready.
    fn missing(&self, view: &View<'_>) -> Vec<Operation> {
        let mut operations = Vec::new();
        for number in self.numbers.clone() {
            match self.find(number) {
                None => operations.extend(self.create(view, number)),
                Some((_, pod)) if !pods::is_ready(pod) => {}
                Some(_) => continue,
            }
            if !self.is_parallel {
                break;
            }
        }
        operations
    }

    /// A Pod below the partition keeps the template that it had.
    fn create(&self, view: &View<'_>, number: i64) -> Vec<Operation> {
        let name = self.name(number);
        let is_old = self.partition.is_some_and(|from| number < from);
        let old = revisions::template(view.cache, self.key, &self.current).filter(|_| is_old);
        let (template, revision) = match old {
            Some(template) => (template, &self.current),
            None => (self.set["spec"]["template"].clone(), &self.update),
        };
        let (at, mut made) = pod((self.key, self.set), &name, &template);
        let labels = &mut made["metadata"]["labels"];
        labels["statefulset.kubernetes.io/pod-name"] = json!(name);
        labels["apps.kubernetes.io/pod-index"] = json!(number.to_string());
        labels[revisions::LABEL] = json!(revision);
        made["spec"]["hostname"] = json!(name);
        if let Some(service) = text(self.set, "/spec/serviceName").filter(|name| !name.is_empty()) {
            made["spec"]["subdomain"] = json!(service);
        }
        let mut operations = claims(view, (self.key, self.set), &name, &mut made);
        operations.push(Operation::Create(at, made));
        operations
    }

    /// Deletes Pods beyond the wanted number, the last one first.
    fn surplus(&self) -> Vec<Operation> {
        let beyond = |(key, _): &&(&ObjectKey, &Value)| {
            !ordinal(key).is_some_and(|number| self.numbers.contains(&number))
        };
        let going = self.there.iter().rev().filter(beyond);
        let going: Vec<_> = match self.is_parallel {
            true => going.collect(),
            false => going.take(1).collect(),
        };
        let alive = going.into_iter().filter(|(_, pod)| !is_leaving(pod));
        alive.map(removed).collect()
    }

    /// Deletes one Pod of an old template, the last one first, while all after it are ready.
    fn outdated(&self) -> Option<Operation> {
        let from = self.partition?;
        let is_ready = |number| {
            let pod = self.find(number);
            pod.is_some_and(|(_, pod)| pods::is_ready(pod) && !is_leaving(pod))
        };
        if !self.is_parallel && !self.numbers.clone().all(is_ready) {
            return None;
        }
        for number in self.numbers.clone().rev().filter(|number| *number >= from) {
            let found = self.find(number)?;
            let is_new = revisions::of_pod(found.1).as_ref() == Some(&self.update);
            if !is_new && !is_leaving(found.1) {
                return Some(removed(found));
            }
            if !is_ready(number) {
                return None;
            }
        }
        None
    }

    fn status(&self) -> Value {
        let count = |fits: &dyn Fn(&Value) -> bool| {
            let all = self.there.iter();
            all.filter(|(_, pod)| fits(pod)).count()
        };
        let of = |revision: &str| {
            count(&|pod| revisions::of_pod(pod).as_deref() == Some(revision) && !is_leaving(pod))
        };
        let ready = count(&|pod| pods::is_ready(pod));
        let (wanted, updated) = (self.numbers.clone().count(), of(&self.update));
        let is_over = self.partition.is_some()
            && [updated, ready, self.there.len()]
                .iter()
                .all(|count| *count == wanted);
        let current = if is_over { &self.update } else { &self.current };
        json!({
            "observedGeneration": self.set["metadata"]["generation"], "replicas": self.there.len(),
            "readyReplicas": ready, "availableReplicas": ready, "currentReplicas": of(current),
            "updatedReplicas": updated, "currentRevision": current, "updateRevision": self.update,
        })
    }
}

/// The number at the end of a name.
fn ordinal(pod: &ObjectKey) -> Option<i64> {
    pod.name.rsplit_once('-')?.1.parse().ok()
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
    let (revision, recorded) = revisions::newest(view, (key, set));
    let there = controlled(view.cache, set, "Pod");
    let kind = Kind::from_name("Node");
    let nodes: Vec<&ObjectKey> = view.cache.all(&kind, None).map(|(key, _)| key).collect();
    let on = |pod: &Value| text(pod, "/spec/nodeName");
    let mut operations: Vec<Operation> = recorded.into_iter().collect();
    for node in &nodes {
        let name = format!("{}-{}", key.name, &letters(&node.name)[..5]);
        if !there.iter().any(|(key, _)| key.name == name) {
            let (at, mut made) = pod((key, set), &name, &set["spec"]["template"]);
            made["spec"]["nodeName"] = json!(node.name);
            made["metadata"]["labels"][revisions::LABEL] = json!(revision.hash);
            operations.push(Operation::Create(at, made));
        }
    }
    let is_new = |pod: &Value| revisions::of_pod(pod).as_ref() == Some(&revision.hash);
    operations.extend(replaced(set, &there, nodes.len(), &is_new));
    let ready = there.iter().filter(|(_, pod)| pods::is_ready(pod)).count();
    let placed = there.iter().filter(|(_, pod)| on(pod).is_some()).count();
    let updated = there.iter().filter(|(_, pod)| is_new(pod)).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"], "desiredNumberScheduled": nodes.len(),
        "currentNumberScheduled": placed, "numberReady": ready, "numberAvailable": ready,
        "numberMisscheduled": 0, "updatedNumberScheduled": updated,
    });
    operations.extend(report(key, set, status));
    operations
}

/// Deletes Pods of an old template, as many at a time as may be unavailable.
fn replaced(
    set: &Value,
    there: &[(&ObjectKey, &Value)],
    nodes: usize,
    is_new: &dyn Fn(&Value) -> bool,
) -> Vec<Operation> {
    if text(set, "/spec/updateStrategy/type").as_deref() == Some("OnDelete") {
        return Vec::new();
    }
    let most = set.pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable");
    let most = match most {
        Some(Value::String(part)) => {
            let part: usize = part.trim_end_matches('%').parse().unwrap_or(0);
            nodes.saturating_mul(part).div_ceil(100)
        }
        Some(number) => usize::try_from(number.as_u64().unwrap_or(1)).unwrap_or(1),
        None => 1,
    };
    let runs = |pod: &Value| pods::is_ready(pod) && !is_leaving(pod);
    let running = there.iter().filter(|(_, pod)| runs(pod)).count();
    let free = most.max(1).saturating_sub(nodes.saturating_sub(running));
    let old = there
        .iter()
        .filter(|(_, pod)| !is_new(pod) && !is_leaving(pod));
    // One that does not run is no loss.
    let (up, down): (Vec<_>, Vec<_>) = old.partition(|(_, pod)| runs(pod));
    down.into_iter()
        .chain(up.into_iter().take(free))
        .map(removed)
        .collect()
}
