//! Scheduler: a Pod without a node gets a node where its volumes are reachable. The node with the
//! fewest Pods comes first, then the order of names. Volumes that wait for scheduling get their
//! node first.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::claims;
use super::kinds::{Kind, ObjectKey};
use super::object::{fits, has_condition, is_leaving, list, text, uid};
use super::operation::Operation;
use super::pods;
use super::view::View;

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let waits = |pod: &Value| text(pod, "/spec/nodeName").is_none_or(|node| node.is_empty());
    if change.key.is("Pod") {
        let new = change.new.as_ref();
        return new
            .filter(|pod| waits(pod) || has_claims_to_come(cache, pod))
            .map(|_| change.key.clone())
            .into_iter()
            .collect();
    }
    let all = [
        "Node",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
    ];
    if !all.iter().any(|kind| change.key.is(kind)) {
        return BTreeSet::new();
    }
    let kind = Kind::from_name("Pod");
    let pods = cache.all(&kind, change.key.namespace.as_deref());
    let pods = pods.filter(|(_, pod)| waits(pod) || has_claims_to_come(cache, pod));
    pods.map(|(key, _)| key.clone()).collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(pod) = view.cache.get(key).filter(|p| !is_leaving(p)) else {
        return Vec::new();
    };
    let has_gates = !list(pod, "/spec/schedulingGates").is_empty();
    if has_gates || pods::is_over(pod) {
        return Vec::new();
    }
    let own = text(pod, "/spec/nodeName").filter(|n| !n.is_empty());
    let Some(claims) = claims_of(view, key, pod) else {
        return Vec::new();
    };
    // A Pod that a user has put on a node has claims all the same.
    let Some(node) = own.clone().or_else(|| fitting(view.cache, pod, &claims)) else {
        return Vec::new();
    };
    let to_come: Vec<_> = claims.iter().filter(|(_, c)| !is_placed(c)).collect();
    if !to_come.is_empty() {
        let waits = |(_, claim): &&&(ObjectKey, &Value)| {
            claims::waits_for_pod(view.cache, claim)
                && claims::annotation(claim, claims::SELECTED).is_none()
        };
        let told = |(at, claim): &(ObjectKey, &Value)| {
            let chosen = json!({ claims::SELECTED: node });
            let chosen = json!({ "metadata": { "uid": uid(claim), "annotations": chosen } });
            Operation::Patch(at.clone(), None, chosen)
        };
        return to_come.iter().filter(waits).map(|c| told(c)).collect();
    }
    if own.is_some() {
        return Vec::new();
    }
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding",
        "metadata": { "name": key.name, "namespace": key.namespace, "uid": uid(pod) },
        "target": { "apiVersion": "v1", "kind": "Node", "name": node },
    });
    vec![Operation::Bind(key.clone(), node, binding)]
}

/// Returns true if a claim is bound, so that its reachable nodes are known.
fn is_placed(claim: &Value) -> bool {
    text(claim, "/spec/volumeName").is_some() && claims::is_bound(claim)
}

/// Returns true if a Pod has a node and still waits for volumes, as a Pod of a DaemonSet may.
fn has_claims_to_come(cache: &Cache, pod: &Value) -> bool {
    let namespace = text(pod, "/metadata/namespace");
    let kind = Kind::from_name("PersistentVolumeClaim");
    claims::of_pod(pod).iter().any(|(name, _)| {
        let at = ObjectKey::new(kind.clone(), namespace.as_deref(), name);
        let claim = cache.get(&at);
        claim.is_some_and(|c| !is_placed(c) && claims::waits_for_pod(cache, c))
    })
}

/// Returns the claims of a Pod that simulated drivers serve. Returns `None` if one does not exist
/// yet.
fn claims_of<'a>(
    view: &View<'a>,
    key: &ObjectKey,
    pod: &Value,
) -> Option<Vec<(ObjectKey, &'a Value)>> {
    let mut all = Vec::new();
    if view.world.volumes.is_none() {
        return Some(all);
    }
    for (name, _) in claims::of_pod(pod) {
        let at = key.sibling("PersistentVolumeClaim", &name);
        let claim = view.cache.get(&at)?;
        if claims::driver(view, claim).is_some() || claims::volume(view.cache, claim).is_some() {
            all.push((at, claim));
        }
    }
    Some(all)
}

/// Returns true if a volume is reachable from a node.
fn reaches(cache: &Cache, node: &Value, claim: &Value) -> bool {
    let Some((_, volume)) = claims::volume(cache, claim) else {
        return true;
    };
    let terms = list(volume, "/spec/nodeAffinity/required/nodeSelectorTerms");
    let label = |key: &Value| node.pointer("/metadata/labels")?.get(key.as_str()?);
    let holds = |expression: &Value| {
        let values = list(expression, "/values");
        let is_in = label(&expression["key"]).is_some_and(|v| values.contains(v));
        match expression["operator"].as_str() {
            Some("In") => is_in,
            Some("NotIn") => !is_in,
            Some("Exists") => label(&expression["key"]).is_some(),
            Some("DoesNotExist") => label(&expression["key"]).is_none(),
            Some(_) | None => false,
        }
    };
    let fits = |term: &Value| list(term, "/matchExpressions").iter().all(holds);
    terms.is_empty() || terms.iter().any(fits)
}

fn fitting(cache: &Cache, pod: &Value, claims: &[(ObjectKey, &Value)]) -> Option<String> {
    let (nodes, all) = (Kind::from_name("Node"), Kind::from_name("Pod"));
    let wanted = pod.pointer("/spec/nodeSelector");
    let chosen = claims.iter().find(|(_, claim)| !is_placed(claim));
    let chosen = chosen.and_then(|(_, claim)| claims::annotation(claim, claims::SELECTED));
    let can = |node: &Value| {
        let asks = wanted
            .and_then(Value::as_object)
            .is_some_and(|w| !w.is_empty());
        has_condition(node, "Ready", "True")
            && node.pointer("/spec/unschedulable") != Some(&json!(true))
            && (!asks || fits(node, wanted))
            && claims.iter().all(|(_, claim)| reaches(cache, node, claim))
    };
    let load = |name: &str| {
        let here =
            |pod: &Value| pod.pointer("/spec/nodeName").and_then(Value::as_str) == Some(name);
        cache.all(&all, None).filter(|(_, pod)| here(pod)).count()
    };
    let fit = cache.all(&nodes, None).filter(|(_, node)| can(node));
    let names = fit.map(|(key, _)| key.name.clone());
    // A choice that volumes are being made for stands.
    names.min_by_key(|name| (chosen.as_ref() != Some(name), load(name), name.clone()))
}
