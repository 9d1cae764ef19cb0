//! Ordered caches, one a kind, fed by the events of a watch. Knows no lifecycle and no client.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::watcher::Event;
use serde_json::Value;

pub use super::raw::{Keep, Raw};
use crate::lifecycle::{Kind, ObjectRef, Stored};
use crate::machine::compare::fingerprint;

/// Namespace, if its kind has one, and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub namespace: Option<String>,
    pub name: String,
}

impl Name {
    pub fn from_meta(meta: &ObjectMeta) -> Self {
        Self {
            namespace: meta.namespace.clone(),
            name: meta.name.clone().unwrap_or_default(),
        }
    }

    pub fn of_kind(&self, kind: &Kind) -> ObjectRef {
        ObjectRef {
            kind: kind.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            label: None,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Change that an event makes.
#[derive(Debug)]
pub struct Change {
    pub(crate) name: Name,
    pub(crate) old: Option<Arc<Stored>>,
    pub(crate) new: Option<Arc<Stored>>,
    /// True if only the version differs, and the managed fields of an object that we do not write.
    pub(crate) same: bool,
    /// True if only the version and the managed fields differ, which a reader does not see.
    pub(crate) reads_same: bool,
}

struct CachedObject {
    stored: Arc<Stored>,
    content: u64,
    /// Fingerprint of the managed fields, for kinds that we write.
    managed: Option<u64>,
}

/// The cache of one kind.
pub struct Store {
    pub kind: Kind,
    keep: Keep,
    /// Of an object with more bytes no more is read than which one it is.
    largest: usize,
    objects: BTreeMap<Name, CachedObject>,
    /// One part for all objects, or one per namespace, each with its own list and watch.
    parts: Vec<Part>,
}

/// State of the watch that feeds a cache, or the share of one namespace in it.
struct Part {
    /// The namespace of its objects; `None`: it has all that there are.
    namespace: Option<String>,
    listing: Option<BTreeMap<Name, CachedObject>>,
    synced: bool,
    newest: u128,
    /// How many lists were begun.
    lists: u64,
}

impl Part {
    fn new(namespace: Option<String>) -> Self {
        Self {
            namespace,
            listing: None,
            synced: false,
            newest: 0,
            lists: 0,
        }
    }

    fn has(&self, name: &Name) -> bool {
        self.namespace.is_none() || self.namespace == name.namespace
    }

    fn saw(&mut self, meta: &ObjectMeta) {
        let version = meta.resource_version.as_deref();
        let version = version.and_then(|v| v.parse().ok());
        self.newest = self.newest.max(version.unwrap_or_default());
    }
}

impl Store {
    /// Cache of all objects of a kind, fed by one watch.
    pub fn new(kind: Kind) -> Self {
        Self::for_namespaces(kind, &BTreeSet::new())
    }

    /// Cache of the objects of a kind in these namespaces, fed by a watch of each; of all objects, fed by one watch, where none is named or the kind has
    /// no namespaces.
    pub fn for_namespaces(kind: Kind, namespaces: &BTreeSet<String>) -> Self {
        let mut store = Self {
            kind,
            keep: Keep::Nothing,
            largest: usize::MAX,
            objects: BTreeMap::new(),
            parts: Vec::new(),
        };
        store.divide(namespaces);
        store
    }

    fn divide(&mut self, namespaces: &BTreeSet<String>) {
        let each = namespaces.iter().cloned().map(Some);
        let each: Vec<_> = each.filter(|_| self.kind.namespaced).collect();
        let each = if each.is_empty() { vec![None] } else { each };
        self.parts = each.into_iter().map(Part::new).collect();
    }

    /// The namespaces of its parts, in order; one `None` where it has all objects.
    pub fn namespaces(&self) -> impl Iterator<Item = Option<&str>> {
        self.parts.iter().map(|part| part.namespace.as_deref())
    }

    /// Keeps at least so much of each object.
    pub fn keep(&mut self, keep: Keep) {
        self.keep = self.keep.max(keep);
    }

    /// Reads no object that has more bytes.
    pub fn limit(&mut self, largest: usize) {
        self.largest = largest;
    }

    /// Returns the name of a part in health reports.
    pub fn part_name(&self, part: usize) -> String {
        let plural = &self.kind.plural;
        match &self.parts[part].namespace {
            Some(namespace) => format!("cache of {plural} in {namespace}"),
            None => format!("cache of {plural}"),
        }
    }

    /// Returns true once each part was listed.
    pub fn is_synced(&self) -> bool {
        self.parts.iter().all(|part| part.synced)
    }

    /// Returns true once a part was listed.
    pub(crate) fn is_part_synced(&self, part: usize) -> bool {
        self.parts[part].synced
    }

    /// How many lists were begun of the part that has an object of this name.
    pub(crate) fn lists_of(&self, name: &Name) -> u64 {
        self.part_of(name).map_or(0, |part| part.lists)
    }

    fn part_of(&self, name: &Name) -> Option<&Part> {
        self.parts.iter().find(|part| part.has(name))
    }

    pub fn get(&self, name: &Name) -> Option<&Arc<Stored>> {
        self.objects.get(name).map(|e| &e.stored)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.objects.keys()
    }

    /// Returns true if an event at or after this version was taken in where an object of this name would be seen (events of one watch come in order), or
    /// if it is seen nowhere.
    pub fn is_past(&self, name: &Name, version: &str) -> bool {
        let is_past = |part: &Part| version.parse().is_ok_and(|v: u128| part.newest >= v);
        self.part_of(name).is_none_or(is_past)
    }

    /// Takes an event of its only watch in.
    pub fn take(&mut self, event: Event<Raw>) -> Vec<Change> {
        self.take_in(0, event)
    }

    /// Takes an event of the watch of a part in.
    pub fn take_in(&mut self, part: usize, event: Event<Raw>) -> Vec<Change> {
        match event {
            Event::Init => {
                let part = &mut self.parts[part];
                part.lists += 1;
                part.listing = Some(BTreeMap::new());
                Vec::new()
            }
            Event::InitApply(raw) => {
                let (name, entry) = self.entry(raw);
                self.parts[part]
                    .listing
                    .get_or_insert_with(BTreeMap::new)
                    .insert(name, entry);
                Vec::new()
            }
            Event::InitDone => {
                self.parts[part].synced = true;
                self.replace(part)
            }
            Event::Apply(raw) => {
                let (name, entry) = self.entry(raw);
                vec![self.put(part, name, entry)]
            }
            Event::Delete(raw) => {
                let name = Name::from_meta(&raw.meta);
                self.parts[part].saw(&raw.meta);
                self.remove(name).into_iter().collect()
            }
        }
    }

    fn entry(&self, raw: Raw) -> (Name, CachedObject) {
        let name = Name::from_meta(&raw.meta);
        let parsed = raw.limit_size(self.largest).parse(&self.kind);
        // Managed fields tell if the written fields are still ours.
        let is_written = self.keep != Keep::Nothing;
        let managed = parsed.managed.as_ref().filter(|_| is_written);
        let managed = managed.map(fingerprint);
        let content = content(&parsed.object);
        let stored = Arc::new(parsed.stored(&self.kind, self.keep));
        let entry = CachedObject {
            stored,
            content,
            managed,
        };
        (name, entry)
    }

    fn put(&mut self, part: usize, name: Name, mut entry: CachedObject) -> Change {
        self.parts[part].saw(&entry.stored.meta);
        if let Err(flaw) = &entry.stored.decoded {
            let old = self.objects.get(&name).map(|old| &old.stored);
            let same = old.filter(|old| old.meta.uid == entry.stored.meta.uid);
            let before = same.and_then(Stored::readable);
            let decoded = before.as_ref().and_then(|b| b.decoded.clone().ok());
            entry.stored = Arc::new(Stored {
                unread: Some(self.kind.unread(&entry.stored.meta, flaw, decoded)),
                before,
                ..Stored::clone(&entry.stored)
            });
        }
        let new = Some(Arc::clone(&entry.stored));
        let (content, managed) = (entry.content, entry.managed);
        let old = self.objects.insert(name.clone(), entry);
        let reads_same = old.as_ref().is_some_and(|o| o.content == content);
        Change {
            name,
            same: reads_same && old.as_ref().is_some_and(|o| o.managed == managed),
            reads_same,
            old: old.map(|o| o.stored),
            new,
        }
    }

    fn remove(&mut self, name: Name) -> Option<Change> {
        self.objects.remove(&name).map(|old| Change {
            name,
            old: Some(old.stored),
            new: None,
            same: false,
            reads_same: false,
        })
    }

    /// Replaces the known objects of a part with the listed ones.
    fn replace(&mut self, part: usize) -> Vec<Change> {
        let of = &mut self.parts[part];
        let listed = of.listing.take().unwrap_or_default();
        let known = self.objects.keys().filter(|name| of.has(name));
        let gone = known.filter(|name| !listed.contains_key(name));
        let gone: Vec<_> = gone.cloned().collect();
        let gone = gone.into_iter().filter_map(|name| self.remove(name));
        let mut changes: Vec<_> = gone.collect();
        let listed = listed.into_iter();
        changes.extend(listed.map(|(name, entry)| self.put(part, name, entry)));
        changes
    }
}

/// Returns a hash of the relevant content of an object: all except its version.
fn content(object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let fields = object.as_object().into_iter().flatten();
    for (key, value) in fields {
        match value.as_object().filter(|_| key == "metadata") {
            None => (key, fingerprint(value)).hash(&mut hasher),
            Some(meta) => meta
                .iter()
                .filter(|(key, _)| *key != "resourceVersion")
                .for_each(|(key, value)| (key, fingerprint(value)).hash(&mut hasher)),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
