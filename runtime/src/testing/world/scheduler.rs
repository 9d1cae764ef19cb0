//! A scheduler: a Pod without a node is given the one with the fewest Pods, by name among equals.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change, fits, has_condition, is_leaving, text, uid};
use super::deed::Deed;
use super::duties::View;
use super::kinds::{Key, Kind};
use super::pods;

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<Key> {
    let waits = |pod: &Value| text(pod, "/spec/nodeName").is_none_or(|node| node.is_empty());
    if change.key.is("Pod") {
        let new = change.new.as_ref();
        return new
            .filter(|pod| waits(pod))
            .map(|_| change.key.clone())
            .into_iter()
            .collect();
    }
    if !change.key.is("Node") {
        return BTreeSet::new();
    }
    let kind = Kind::of("Pod");
    let pods = cache.all(&kind, None).filter(|(_, pod)| waits(pod));
    pods.map(|(key, _)| key.clone()).collect()
}

pub(super) fn deeds(view: &View<'_>, key: &Key) -> Vec<Deed> {
    let Some(pod) = view.cache.get(key).filter(|p| !is_leaving(p)) else {
        return Vec::new();
    };
    let has_gates = !super::cache::list(pod, "/spec/schedulingGates").is_empty();
    if has_gates || pods::is_over(pod) || text(pod, "/spec/nodeName").is_some_and(|n| !n.is_empty())
    {
        return Vec::new();
    }
    let Some(node) = fitting(view.cache, pod) else {
        return Vec::new();
    };
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding",
        "metadata": { "name": key.name, "namespace": key.namespace, "uid": uid(pod) },
        "target": { "apiVersion": "v1", "kind": "Node", "name": node },
    });
    vec![Deed::Bind(key.clone(), node, binding)]
}

fn fitting(cache: &Cache, pod: &Value) -> Option<String> {
    let (nodes, all) = (Kind::of("Node"), Kind::of("Pod"));
    let wanted = pod.pointer("/spec/nodeSelector");
    let can = |node: &Value| {
        let asks = wanted
            .and_then(Value::as_object)
            .is_some_and(|w| !w.is_empty());
        has_condition(node, "Ready", "True")
            && node.pointer("/spec/unschedulable") != Some(&json!(true))
            && (!asks || fits(node, wanted))
    };
    let load = |name: &str| {
        let here =
            |pod: &Value| pod.pointer("/spec/nodeName").and_then(Value::as_str) == Some(name);
        cache.all(&all, None).filter(|(_, pod)| here(pod)).count()
    };
    let fit = cache.all(&nodes, None).filter(|(_, node)| can(node));
    let names = fit.map(|(key, _)| key.name.clone());
    names.min_by_key(|name| (load(name), name.clone()))
}
