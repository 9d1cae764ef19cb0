//! Garbage collection. An object without any remaining owner is deleted. A foreground deletion
//! waits for the dependents that block it. An orphaning deletion first releases its dependents.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::events;
use super::kinds::{Kind, ObjectKey};
use super::object::{has_finalizer, is_leaving, list, owners, text, uid, uid_of};
use super::operation::{Operation, Removal};
use super::view::View;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let mut keys = BTreeSet::from([change.key.clone()]);
    for object in [&change.old, &change.new].into_iter().flatten() {
        // The keys are owners that wait for their dependents, and dependents of owners that are
        // gone or being deleted.
        keys.extend(owners(object).iter().filter_map(|o| {
            let owner = cache.by_uid(&text(o, "/uid")?)?;
            is_leaving(owner.1).then(|| owner.0.clone())
        }));
        let is_gone = change.new.as_ref().map(uid) != Some(uid(object));
        if is_gone || is_leaving(object) {
            keys.extend(cache.owned_by(&uid(object)).map(|(key, _)| key.clone()));
        }
    }
    keys
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(object) = view.cache.get(key) else {
        return Vec::new();
    };
    if is_leaving(object) {
        if has_finalizer(object, ORPHAN) {
            return orphan(view.cache, key, object);
        }
        if has_finalizer(object, FOREGROUND) {
            return foreground(view.cache, key, object);
        }
    }
    if owners(object).is_empty() || is_leaving(object) {
        return Vec::new();
    }
    owned(view, key, object)
}

/// Takes its reference away from all that it owns, then lets it go.
fn orphan(cache: &Cache, key: &ObjectKey, object: &Value) -> Vec<Operation> {
    let own = uid(object);
    let owned: Vec<_> = cache.owned_by(&own).collect();
    if owned.is_empty() {
        return vec![without_finalizer(key, object, ORPHAN)];
    }
    let lets_go = |(key, object): (&ObjectKey, &Value)| without_owners(key, object, &[&own]);
    owned.into_iter().map(lets_go).collect()
}

/// Deletes all that it owns, and lets it go when nothing blocks it any more.
fn foreground(cache: &Cache, key: &ObjectKey, object: &Value) -> Vec<Operation> {
    let own = uid(object);
    let blocks = |(_, owned): &(&ObjectKey, &Value)| {
        let mut all = owners(owned).iter();
        all.any(|o| o["uid"] == own.as_str() && o["blockOwnerDeletion"] == true)
    };
    if cache.owned_by(&own).any(|owned| blocks(&owned)) {
        return Vec::new();
    }
    vec![without_finalizer(key, object, FOREGROUND)]
}

/// State of an owner, as far as the caches know. It is looked up by kind, name and uid, in the
/// namespace of its dependent.
enum Owner {
    /// The owner exists and stays.
    Solid,
    /// The owner waits for its dependents.
    Waiting,
    /// It seems to be gone.
    Gone(ObjectKey),
    /// The owner's kind is not watched, or its location is unknown.
    Unknown,
}

fn owned(view: &View<'_>, key: &ObjectKey, object: &Value) -> Vec<Operation> {
    let cache = view.cache;
    let (mut solid, mut waiting, mut gone) = (false, Vec::new(), Vec::new());
    for owner in owners(object) {
        let id = text(owner, "/uid").unwrap_or_default();
        match find_owner(cache, key, owner, &id) {
            Owner::Solid | Owner::Unknown => solid = true,
            Owner::Waiting => waiting.push(id),
            Owner::Gone(at) => gone.push((at, id)),
        }
    }
    let mut operations = misplaced(view, key, object);
    if waiting.is_empty() && gone.is_empty() {
        return operations;
    }
    if solid {
        // It has another owner; those that are going must not wait for it.
        let ids: Vec<&String> = waiting
            .iter()
            .chain(gone.iter().map(|(_, id)| id))
            .collect();
        let operation = without_owners(key, object, &ids);
        operations.push(if_gone(gone, operation));
        return operations;
    }
    let has_dependents = cache.owned_by(&uid(object)).next().is_some();
    let policy = match !waiting.is_empty() && has_dependents {
        true => "Foreground",
        false => "Background",
    };
    let removal = Removal {
        uid: uid(object),
        policy,
        at_once: false,
    };
    operations.push(if_gone(gone, Operation::Delete(key.clone(), removal)));
    operations
}

/// Publishes an Event for each owner that lives in another namespace.
fn misplaced(view: &View<'_>, key: &ObjectKey, object: &Value) -> Vec<Operation> {
    let own = key.namespace.as_deref().unwrap_or_default();
    let elsewhere = owners(object).iter().filter(|owner| {
        let found = view.cache.by_uid(&uid_of(owner));
        found.is_some_and(|(at, _)| at.namespace.is_some() && at.namespace != key.namespace)
    });
    let event = |owner: &Value| {
        let word = |field: &str| text(owner, field).unwrap_or_default();
        let (version, kind, name) = (word("/apiVersion"), word("/kind"), word("/name"));
        let id = uid_of(owner);
        let message = format!(
            "ownerRef [{version}/{kind}, namespace: {own}, name: {name}, uid: {id}] does not exist in namespace {own:?}"
        );
        let about = (key, object);
        events::warning(view, about, "OwnerRefInvalidNamespace", &message)
    };
    elsewhere.filter_map(event).collect()
}

/// Confirms apparently absent owners with the server, because the caches may be stale.
fn if_gone(gone: Vec<(ObjectKey, String)>, operation: Operation) -> Operation {
    match gone.is_empty() {
        true => operation,
        false => Operation::IfGone(gone, Box::new(operation)),
    }
}

fn find_owner(cache: &Cache, key: &ObjectKey, owner: &Value, id: &str) -> Owner {
    let Some(kind) = kind_of(cache, owner) else {
        return Owner::Unknown;
    };
    // A cluster-scoped object does not tell the namespace of such an owner, so its absence cannot
    // be determined.
    if kind.namespaced && key.namespace.is_none() {
        return Owner::Unknown;
    }
    let name = text(owner, "/name").unwrap_or_default();
    let at = ObjectKey::new(kind, key.namespace.as_deref(), &name);
    match cache.by_uid(id) {
        Some((found, _)) if *found != at => Owner::Gone(at),
        Some((_, owner)) if is_leaving(owner) && has_finalizer(owner, FOREGROUND) => Owner::Waiting,
        Some(_) => Owner::Solid,
        None => Owner::Gone(at),
    }
}

fn kind_of(cache: &Cache, owner: &Value) -> Option<Kind> {
    let (version, kind) = (text(owner, "/apiVersion")?, text(owner, "/kind")?);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let mut kinds = cache.kinds().iter();
    kinds.find(|k| k.group == group && k.kind == kind).cloned()
}

fn without_owners(key: &ObjectKey, object: &Value, uids: &[&String]) -> Operation {
    let stays = |o: &&Value| !uids.iter().any(|uid| o["uid"] == uid.as_str());
    let rest: Vec<_> = owners(object).iter().filter(stays).collect();
    let patch = json!({ "metadata": {
        "uid": uid(object), "resourceVersion": object["metadata"]["resourceVersion"], "ownerReferences": rest,
    } });
    Operation::Patch(key.clone(), None, patch)
}

pub(super) fn without_finalizer(key: &ObjectKey, object: &Value, name: &str) -> Operation {
    let all = list(object, "/metadata/finalizers").iter();
    let rest: Vec<_> = all.filter(|f| *f != name).collect();
    let patch = json!({ "metadata": {
        "uid": uid(object), "resourceVersion": object["metadata"]["resourceVersion"], "finalizers": rest,
    } });
    Operation::Patch(key.clone(), None, patch)
}
