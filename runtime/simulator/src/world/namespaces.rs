//! Deletion of namespaces: all objects in a deleted namespace are deleted, then the namespace ends.
//! Also creates the service account that each namespace starts with.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::ending;
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, list, uid};
use super::operation::{Operation, Removal};
use super::view::View;
use super::workloads::report;

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    if change.key.is("Namespace") {
        return BTreeSet::from([change.key.clone()]);
    }
    let Some(namespace) = &change.key.namespace else {
        return BTreeSet::new();
    };
    let key = change.key.sibling("Namespace", namespace);
    let goes = cache.get(&key).is_some_and(is_leaving);
    goes.then_some(key).into_iter().collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(namespace) = view.cache.get(key).filter(|n| is_leaving(n)) else {
        return Vec::new();
    };
    let inside = view.cache.inside(&key.name);
    // Nothing that a Pod may use goes before it.
    let has_pods = inside.iter().any(|(key, _)| key.is("Pod"));
    let is_next = |key: &ObjectKey| !has_pods || key.is("Pod");
    let next = inside.iter().filter(|(key, _)| is_next(key));
    let stays = next.filter(|(_, object)| !is_leaving(object));
    let mut operations: Vec<_> = stays
        .map(|(key, object)| Operation::Delete((*key).clone(), Removal::background(uid(object))))
        .collect();
    if !inside.is_empty() {
        if operations.is_empty() {
            let held = if has_pods { &[][..] } else { &inside[..] };
            let status = json!({ "conditions": ending::conditions(view, namespace, held) });
            operations.extend(report(key, namespace, status));
        }
        return operations;
    }
    let finalizers = list(namespace, "/spec/finalizers");
    if finalizers.is_empty() {
        return Vec::new();
    }
    let rest: Vec<&Value> = finalizers.iter().filter(|f| *f != "kubernetes").collect();
    let mut ended = namespace.clone();
    ended["spec"]["finalizers"] = json!(rest);
    vec![Operation::EndNamespace(key.clone(), ended)]
}

/// The account that a namespace has lacked since this change.
pub(super) fn without_account(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let namespace = match (change.key.is("Namespace"), change.key.is("ServiceAccount")) {
        (true, _) => Some(change.key.name.clone()),
        (false, true) => change.key.namespace.clone(),
        (false, false) => None,
    };
    let stays = |name: &String| {
        let key = change.key.sibling("Namespace", name);
        cache.get(&key).is_some_and(|n| !is_leaving(n))
    };
    let account =
        |name: String| ObjectKey::new(Kind::from_name("ServiceAccount"), Some(&name), "default");
    namespace.filter(stays).map(account).into_iter().collect()
}

pub(super) fn account(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    match view.cache.get(key) {
        Some(_) => Vec::new(),
        // Creating an object that no list has shown yet is a conflict, which is then reconciled
        // again.
        None => vec![Operation::Create(key.clone(), key.kind.object(key))],
    }
}
