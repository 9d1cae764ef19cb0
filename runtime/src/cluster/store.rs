//! Ordered caches, one a kind, fed by the events of a watch. Knows no lifecycle and no client.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::watcher::Event;
use serde_json::Value;

pub use super::raw::{Keep, Raw};
use crate::lifecycle::{Kind, ObjectRef, Stored};
use crate::machine::compare::fingerprint;

/// Where an object lives: namespace, if its kind has one, and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub namespace: Option<String>,
    pub name: String,
}

impl Name {
    pub fn of(meta: &ObjectMeta) -> Self {
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

/// What an event changed.
#[derive(Debug)]
pub struct Change {
    pub(crate) name: Name,
    pub(crate) old: Option<Arc<Stored>>,
    pub(crate) new: Option<Arc<Stored>>,
    /// Nothing differs but the version, and of what we do not write who manages what.
    pub(crate) same: bool,
    /// Nothing differs but that and who manages what, which whoever only reads it does not see.
    pub(crate) reads_same: bool,
}

struct CachedObject {
    stored: Arc<Stored>,
    content: u64,
    /// Of what we write: who manages what.
    managed: Option<u64>,
}

/// The cache of one kind.
pub struct Store {
    pub kind: Kind,
    keep: Keep,
    /// Of an object with more bytes no more is read than which one it is.
    largest: usize,
    objects: BTreeMap<Name, CachedObject>,
    listing: Option<BTreeMap<Name, CachedObject>>,
    synced: bool,
    newest: u128,
    /// How many lists were begun.
    pub(crate) lists: u64,
}

impl Store {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            keep: Keep::Nothing,
            largest: usize::MAX,
            objects: BTreeMap::new(),
            listing: None,
            synced: false,
            newest: 0,
            lists: 0,
        }
    }

    /// Keeps at least so much of each object.
    pub fn keep(&mut self, keep: Keep) {
        self.keep = self.keep.max(keep);
    }

    /// Reads no object that has more bytes.
    pub fn limit(&mut self, largest: usize) {
        self.largest = largest;
    }

    /// What it is called where health is asked for.
    pub fn part(&self) -> String {
        format!("cache of {}", self.kind.plural)
    }

    pub fn is_synced(&self) -> bool {
        self.synced
    }

    pub fn get(&self, name: &Name) -> Option<&Arc<Stored>> {
        self.objects.get(name).map(|e| &e.stored)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.objects.keys()
    }

    /// Whether an event at or after this version was taken in: events of one kind come in order.
    pub fn is_past(&self, version: &str) -> bool {
        version.parse().is_ok_and(|v: u128| self.newest >= v)
    }

    fn saw(&mut self, meta: &ObjectMeta) {
        let version = meta.resource_version.as_deref();
        let version = version.and_then(|v| v.parse().ok());
        self.newest = self.newest.max(version.unwrap_or_default());
    }

    /// Takes an event in.
    pub fn take(&mut self, event: Event<Raw>) -> Vec<Change> {
        match event {
            Event::Init => {
                self.lists += 1;
                self.listing = Some(BTreeMap::new());
                Vec::new()
            }
            Event::InitApply(raw) => {
                let (name, entry) = self.entry(raw);
                self.listing
                    .get_or_insert_with(BTreeMap::new)
                    .insert(name, entry);
                Vec::new()
            }
            Event::InitDone => {
                self.synced = true;
                self.replace()
            }
            Event::Apply(raw) => {
                let (name, entry) = self.entry(raw);
                vec![self.put(name, entry)]
            }
            Event::Delete(raw) => {
                let name = Name::of(&raw.meta);
                self.saw(&raw.meta);
                self.remove(name).into_iter().collect()
            }
        }
    }

    fn entry(&self, raw: Raw) -> (Name, CachedObject) {
        let name = Name::of(&raw.meta);
        let parsed = raw.within(self.largest).parse(&self.kind);
        // Whose the fields are decides whether what we wrote is ours still.
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

    fn put(&mut self, name: Name, mut entry: CachedObject) -> Change {
        self.saw(&entry.stored.meta);
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

    /// Puts what was listed in the place of what was known.
    fn replace(&mut self) -> Vec<Change> {
        let listed = self.listing.take().unwrap_or_default();
        let gone: Vec<_> = self.objects.keys().cloned().collect();
        let gone = gone.into_iter().filter(|name| !listed.contains_key(name));
        let mut changes: Vec<_> = gone
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|name| self.remove(name))
            .collect();
        changes.extend(
            listed
                .into_iter()
                .map(|(name, entry)| self.put(name, entry)),
        );
        changes
    }
}

/// What of an object can matter: all but its version.
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
