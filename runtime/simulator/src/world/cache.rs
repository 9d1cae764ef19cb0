//! Objects that the watches have shown, in order, with their owners. Independent of clients.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kinds::{Kind, ObjectKey};
use super::object::{Object, owners, text, uid, uid_of};

/// Change that an event makes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: ObjectKey,
    pub(super) old: Option<Object>,
    pub(super) new: Option<Object>,
}

/// Objects of the cluster.
#[derive(Debug, Default)]
pub(super) struct Cache {
    objects: BTreeMap<ObjectKey, Object>,
    by_uid: BTreeMap<String, ObjectKey>,
    by_owner: BTreeMap<String, BTreeSet<ObjectKey>>,
    /// For a list in progress, the objects that it has not shown yet.
    unseen: BTreeMap<Kind, BTreeSet<ObjectKey>>,
    listed: BTreeSet<Kind>,
    /// True if a kind was listed for the first time since the last query.
    knows_more: bool,
}

impl Cache {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key)
    }

    pub(super) fn by_uid(&self, uid: &str) -> Option<(&ObjectKey, &Object)> {
        self.objects.get_key_value(self.by_uid.get(uid)?)
    }

    /// All objects of a kind, in one namespace or everywhere.
    pub(super) fn all<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a ObjectKey, &'a Object)> {
        let from = ObjectKey {
            kind: kind.clone(),
            namespace: namespace.map(str::to_owned),
            name: String::new(),
        };
        let rest = self.objects.range(from..);
        rest.take_while(move |(key, _)| {
            let here = namespace.is_none() || key.namespace.as_deref() == namespace;
            key.kind == *kind && here
        })
    }

    /// The same, at once.
    pub(super) fn inside_of<'a>(
        &'a self,
        kind: &Kind,
        namespace: Option<&str>,
    ) -> Vec<(&'a ObjectKey, &'a Object)> {
        let from = ObjectKey::new(kind.clone(), namespace, "");
        let here = |key: &ObjectKey| {
            key.kind == *kind && (namespace.is_none() || key.namespace.as_deref() == namespace)
        };
        let rest = self.objects.range(from..);
        rest.take_while(|(key, _)| here(key)).collect()
    }

    /// Everything in a namespace.
    pub(super) fn inside<'a>(&'a self, namespace: &'a str) -> Vec<(&'a ObjectKey, &'a Object)> {
        let kinds: Vec<&Kind> = self.listed.iter().filter(|k| k.namespaced).collect();
        let mut all = Vec::new();
        for kind in kinds {
            all.extend(self.all(kind, Some(namespace)));
        }
        all
    }

    /// Returns the objects that name this uid among their owners.
    pub(super) fn owned_by(&self, uid: &str) -> impl Iterator<Item = (&ObjectKey, &Object)> {
        let keys = self.by_owner.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.objects.get_key_value(key))
    }

    /// The kinds that were listed at least once.
    pub(super) fn kinds(&self) -> &BTreeSet<Kind> {
        &self.listed
    }

    pub(super) fn knows_more(&self) -> bool {
        self.knows_more
    }

    /// Everything that has owners, if a kind was listed for the first time: they may be of that kind.
    pub(super) fn may_have_lost_owners(&mut self) -> BTreeSet<ObjectKey> {
        match std::mem::take(&mut self.knows_more) {
            true => self.by_owner.values().flatten().cloned().collect(),
            false => BTreeSet::new(),
        }
    }

    pub(super) fn begin_list(&mut self, kind: &Kind) {
        let all = self.all(kind, None).map(|(key, _)| key.clone()).collect();
        self.unseen.insert(kind.clone(), all);
    }

    /// Ends a list, and removes the objects that were not in it.
    pub(super) fn end_list(&mut self, kind: &Kind) -> Vec<Change> {
        self.knows_more |= self.listed.insert(kind.clone());
        let gone = self.unseen.remove(kind).unwrap_or_default();
        gone.into_iter().map(|key| self.put(key, None)).collect()
    }

    /// Forgets a kind and its objects, which a watch no longer follows.
    pub(super) fn forget(&mut self, kind: &Kind) {
        let all: Vec<ObjectKey> = self.all(kind, None).map(|(key, _)| key.clone()).collect();
        for key in all {
            self.put(key, None);
        }
        self.unseen.remove(kind);
        self.listed.remove(kind);
    }

    pub(super) fn put(&mut self, key: ObjectKey, mut new: Option<Object>) -> Change {
        // No controller here reads the managed fields.
        let meta = new.as_mut().and_then(|o| o.pointer_mut("/metadata"));
        if let Some(meta) = meta.and_then(Value::as_object_mut) {
            meta.remove("managedFields");
        }
        if let Some(unseen) = self.unseen.get_mut(&key.kind) {
            unseen.remove(&key);
        }
        if let Some(old) = self
            .objects
            .get(&key)
            .filter(|old| is_behind(new.as_ref(), old))
        {
            let old = Some(old.clone());
            return Change {
                key,
                new: old.clone(),
                old,
            };
        }
        let old = match &new {
            Some(object) => self.objects.insert(key.clone(), object.clone()),
            None => self.objects.remove(&key),
        };
        if let Some(old) = &old {
            self.by_uid.remove(&uid(old));
            for owner in owners(old) {
                if let Some(owned) = self.by_owner.get_mut(&uid_of(owner)) {
                    owned.remove(&key);
                }
            }
        }
        if let Some(new) = &new {
            self.by_uid.insert(uid(new), key.clone());
            for owner in owners(new) {
                let owned = self.by_owner.entry(uid_of(owner)).or_default();
                owned.insert(key.clone());
            }
        }
        Change { key, old, new }
    }
}

/// Returns true if an event has an older version than the cache. The cache may know a newer version
/// from the answer to our own write.
fn is_behind(new: Option<&Object>, old: &Object) -> bool {
    let version = |o: &Object| text(o, "/metadata/resourceVersion")?.parse::<u128>().ok();
    let same = |new: &&Object| uid(new) == uid(old);
    match new.filter(same).and_then(version) {
        Some(new) => version(old).is_some_and(|old| old > new),
        None => false,
    }
}

/// A reference to a controlling owner.
pub(super) fn controlled_by(key: &ObjectKey, owner: &Value) -> Value {
    serde_json::json!([{
        "apiVersion": key.kind.api_version(), "kind": key.kind.kind, "name": key.name, "uid": uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    }])
}
