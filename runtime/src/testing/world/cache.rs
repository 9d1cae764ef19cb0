//! Everything that the watches showed, in order, with the owners of what has owners. Knows no client.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kinds::{Key, Kind};

/// An object as the server sends it.
pub(super) type Object = Value;

/// What an event changed.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: Key,
    pub(super) old: Option<Object>,
    pub(super) new: Option<Object>,
}

/// What there is.
#[derive(Debug, Default)]
pub(super) struct Cache {
    objects: BTreeMap<Key, Object>,
    by_uid: BTreeMap<String, Key>,
    by_owner: BTreeMap<String, BTreeSet<Key>>,
    /// Of a list that is under way: what it has not shown yet.
    unseen: BTreeMap<Kind, BTreeSet<Key>>,
    listed: BTreeSet<Kind>,
    /// A kind was listed for the first time since somebody asked.
    knows_more: bool,
}

impl Cache {
    pub(super) fn get(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key)
    }

    pub(super) fn by_uid(&self, uid: &str) -> Option<(&Key, &Object)> {
        self.objects.get_key_value(self.by_uid.get(uid)?)
    }

    /// All objects of a kind, in one namespace or everywhere.
    pub(super) fn all<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Object)> {
        let from = Key {
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
    ) -> Vec<(&'a Key, &'a Object)> {
        let from = Key::new(kind.clone(), namespace, "");
        let here = |key: &Key| {
            key.kind == *kind && (namespace.is_none() || key.namespace.as_deref() == namespace)
        };
        let rest = self.objects.range(from..);
        rest.take_while(|(key, _)| here(key)).collect()
    }

    /// Everything in a namespace.
    pub(super) fn inside<'a>(&'a self, namespace: &'a str) -> Vec<(&'a Key, &'a Object)> {
        let kinds: Vec<&Kind> = self.listed.iter().filter(|k| k.namespaced).collect();
        let mut all = Vec::new();
        for kind in kinds {
            all.extend(self.all(kind, Some(namespace)));
        }
        all
    }

    /// What names this uid among its owners.
    pub(super) fn owned_by(&self, uid: &str) -> impl Iterator<Item = (&Key, &Object)> {
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
    pub(super) fn may_have_lost_owners(&mut self) -> BTreeSet<Key> {
        match std::mem::take(&mut self.knows_more) {
            true => self.by_owner.values().flatten().cloned().collect(),
            false => BTreeSet::new(),
        }
    }

    pub(super) fn begin_list(&mut self, kind: &Kind) {
        let all = self.all(kind, None).map(|(key, _)| key.clone()).collect();
        self.unseen.insert(kind.clone(), all);
    }

    /// What was not in the list is gone.
    pub(super) fn end_list(&mut self, kind: &Kind) -> Vec<Change> {
        self.knows_more |= self.listed.insert(kind.clone());
        let gone = self.unseen.remove(kind).unwrap_or_default();
        gone.into_iter().map(|key| self.put(key, None)).collect()
    }

    pub(super) fn put(&mut self, key: Key, mut new: Option<Object>) -> Change {
        // Nobody here asks who manages what.
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

pub(super) fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}

pub(super) fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer)?.as_i64()
}

pub(super) fn uid(object: &Value) -> String {
    text(object, "/metadata/uid").unwrap_or_default()
}

/// Whether an event tells of a version that we know better already, from the answer to our own write.
fn is_behind(new: Option<&Object>, old: &Object) -> bool {
    let version = |o: &Object| text(o, "/metadata/resourceVersion")?.parse::<u128>().ok();
    let same = |new: &&Object| uid(new) == uid(old);
    match new.filter(same).and_then(version) {
        Some(new) => version(old).is_some_and(|old| old > new),
        None => false,
    }
}

fn uid_of(owner: &Value) -> String {
    text(owner, "/uid").unwrap_or_default()
}

pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    let found = object.pointer(pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

pub(super) fn owners(object: &Value) -> &[Value] {
    list(object, "/metadata/ownerReferences")
}

pub(super) fn is_leaving(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub(super) fn has_finalizer(object: &Value, name: &str) -> bool {
    list(object, "/metadata/finalizers")
        .iter()
        .any(|f| f == name)
}

/// Whether the labels of an object fit a map of labels; an empty one fits nothing.
pub(super) fn fits(object: &Value, selector: Option<&Value>) -> bool {
    let Some(wanted) = selector.and_then(Value::as_object) else {
        return false;
    };
    let labels = object.pointer("/metadata/labels");
    !wanted.is_empty()
        && wanted
            .iter()
            .all(|(k, v)| labels.and_then(|l| l.get(k)) == Some(v))
}

/// Whether a condition has this status.
pub(super) fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let mut all = list(object, "/status/conditions").iter();
    all.any(|c| c["type"] == kind && c["status"] == status)
}

/// Whose controller reference it has.
pub(super) fn controller(object: &Value) -> Option<String> {
    let found = owners(object).iter().find(|o| o["controller"] == true)?;
    text(found, "/uid")
}

/// A reference to a controlling owner.
pub(super) fn controlled_by(key: &Key, owner: &Value) -> Value {
    serde_json::json!([{
        "apiVersion": key.kind.api_version(), "kind": key.kind.kind, "name": key.name, "uid": uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    }])
}

/// Some letters that stand for a text: the same for the same, always.
pub(super) fn letters(of: &str) -> String {
    const ALL: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in of.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut letters = String::new();
    for _ in 0..8 {
        let at = usize::try_from(hash % 27).unwrap_or_default();
        letters.push(char::from(ALL[at]));
        hash /= 27;
    }
    letters
}
