//! Store: objects as bytes that are made once, one counter of versions, and a bounded history to
//! watch and to page. Knows no rules about objects.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;

use super::fields;
use super::kinds::Id;
use super::nulls;
use super::object;

/// Key of an object among those of its kind. The namespace of a cluster-scoped object is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StoreKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl StoreKey {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// One version of an object.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) key: StoreKey,
    pub(crate) revision: u64,
    pub(crate) labels: BTreeMap<String, String>,
    /// Fields for field selectors besides name and namespace.
    fields: BTreeMap<String, String>,
    /// True if it is shown with lists that it does not have.
    nulls: bool,
    /// Object as JSON without `apiVersion` and `kind`, which depend on the request.
    body: Bytes,
}

impl Stored {
    fn new(
        store: &str,
        key: StoreKey,
        revision: u64,
        mut object: Value,
        selectable: &[String],
    ) -> Self {
        let metadata = object::metadata(&mut object);
        metadata.insert("resourceVersion".to_owned(), revision.to_string().into());
        let fields = fields::selectable_fields(store, &object, selectable);
        let labels = object::labels(&object);
        if let Some(map) = object.as_object_mut() {
            map.remove("apiVersion");
            map.remove("kind");
        }
        let nulls = nulls::show(store, &mut object);
        Self {
            key,
            revision,
            labels,
            fields,
            nulls,
            body: object.to_string().into(),
        }
    }

    /// Returns the object that would be stored, for a dry run. Its version is the one that the
    /// object names.
    pub(crate) fn draft(kind: &super::kinds::Kind, key: StoreKey, object: Value) -> Self {
        let version = object["metadata"].get("resourceVersion").cloned();
        let mut draft = Self::new(&kind.store, key, 0, object, &[]);
        let mut object = draft.value();
        object::set(object::metadata(&mut object), "resourceVersion", version);
        nulls::show(&kind.store, &mut object);
        draft.body = object.to_string().into();
        draft
    }

    pub(crate) fn field(&self, field: &str) -> &str {
        match field {
            "metadata.name" => &self.key.name,
            "metadata.namespace" => &self.key.namespace,
            field => self.fields.get(field).map_or("", String::as_str),
        }
    }

    /// The object, without `apiVersion` and `kind`.
    pub(crate) fn value(&self) -> Value {
        let object = serde_json::from_slice(&self.body);
        let mut object = object.expect("stored objects are JSON");
        if self.nulls {
            nulls::forget(&mut object);
        }
        object
    }

    /// JSON without `apiVersion` and `kind`, as items of lists of built-in kinds are.
    pub(crate) fn bare(&self) -> &Bytes {
        &self.body
    }

    /// Appends the object as JSON with `apiVersion` and `kind`.
    pub(crate) fn write(&self, api_version: &str, kind: &str, out: &mut Vec<u8>) {
        let head = format!("{{\"apiVersion\":\"{api_version}\",\"kind\":\"{kind}\",");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&self.body[1..]);
    }
}

/// One write.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) before: Option<Arc<Stored>>,
    /// Of a deletion the last state, with the version of the deletion.
    pub(crate) after: Arc<Stored>,
    pub(crate) gone: bool,
}

/// The objects of one kind.
#[derive(Debug)]
struct Table {
    objects: BTreeMap<StoreKey, Arc<Stored>>,
    changes: VecDeque<Change>,
    /// Changes up to this version are forgotten.
    compacted: u64,
    moved: watch::Sender<u64>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            changes: VecDeque::new(),
            compacted: 0,
            moved: watch::Sender::new(0),
        }
    }
}

/// All objects of all kinds.
#[derive(Debug)]
pub(crate) struct Store {
    revision: u64,
    tables: BTreeMap<Id, Table>,
    /// How many changes of each kind are remembered.
    history: usize,
}

/// The requested version is no longer available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub(crate) oldest: u64,
}

impl Store {
    /// An empty store that goes on counting from `revision`.
    pub(crate) fn new(revision: u64, history: usize) -> Self {
        Self {
            revision,
            tables: BTreeMap::new(),
            history,
        }
    }

    /// Returns a copy with equal objects and versions, without their history.
    pub(crate) fn copy(&self) -> Self {
        let tables = self.tables.iter().map(|(id, table)| {
            let table = Table {
                objects: table.objects.clone(),
                changes: VecDeque::new(),
                compacted: self.revision,
                moved: watch::Sender::new(*table.moved.borrow()),
            };
            (id.clone(), table)
        });
        Self {
            revision: self.revision,
            tables: tables.collect(),
            history: self.history,
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn set_history(&mut self, history: usize) {
        self.history = history;
    }

    /// Makes room for a kind.
    pub(crate) fn open(&mut self, store: &Id) {
        self.tables.entry(store.clone()).or_default();
    }

    pub(crate) fn get(&self, store: &str, key: &StoreKey) -> Option<&Arc<Stored>> {
        self.tables.get(store)?.objects.get(key)
    }

    pub(crate) fn len(&self, store: &str) -> usize {
        self.tables
            .get(store)
            .map_or(0, |table| table.objects.len())
    }

    /// All objects of a kind, or those of one namespace, in the order of their keys.
    pub(crate) fn all<'a>(
        &'a self,
        store: &str,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Stored>> {
        let objects = self.tables.get(store).map(|table| {
            let first = StoreKey::new(namespace, "");
            table.objects.range(first..)
        });
        objects
            .into_iter()
            .flatten()
            .map(|(_, stored)| stored)
            .take_while(move |stored| namespace.is_empty() || stored.key.namespace == namespace)
    }

    /// Writes an object and returns its new version.
    pub(crate) fn put(
        &mut self,
        store: &Id,
        key: StoreKey,
        object: Value,
        selectable: &[String],
    ) -> Arc<Stored> {
        self.revision += 1;
        let after = Arc::new(Stored::new(
            store,
            key.clone(),
            self.revision,
            object,
            selectable,
        ));
        let table = self.tables.entry(store.clone()).or_default();
        let before = table.objects.insert(key, after.clone());
        let change = Change {
            before,
            after: after.clone(),
            gone: false,
        };
        self.remember(store, change);
        after
    }

    /// Deletes an object and returns its last state, which may differ from the stored one.
    pub(crate) fn remove(
        &mut self,
        store: &Id,
        key: &StoreKey,
        last: Value,
        selectable: &[String],
    ) -> Arc<Stored> {
        self.revision += 1;
        let after = Arc::new(Stored::new(
            store,
            key.clone(),
            self.revision,
            last,
            selectable,
        ));
        let table = self.tables.entry(store.clone()).or_default();
        let before = table.objects.remove(key);
        let change = Change {
            before,
            after: after.clone(),
            gone: true,
        };
        self.remember(store, change);
        after
    }

    fn remember(&mut self, store: &Id, change: Change) {
        let revision = self.revision;
        let table = self.tables.entry(store.clone()).or_default();
        table.changes.push_back(change);
        while table.changes.len() > self.history {
            if let Some(forgotten) = table.changes.pop_front() {
                table.compacted = forgotten.after.revision;
            }
        }
        table.moved.send_replace(revision);
    }

    /// Forgets all changes so far, as a compaction of etcd does.
    pub(crate) fn compact(&mut self) {
        for table in self.tables.values_mut() {
            table.changes.clear();
            table.compacted = self.revision;
        }
    }

    /// The version of the last change of a kind.
    pub(crate) fn last(&self, store: &str) -> u64 {
        self.tables
            .get(store)
            .map_or(0, |table| *table.moved.borrow())
    }

    /// Returns a receiver that is notified of every change of a kind.
    pub(crate) fn moved(&mut self, store: &Id) -> watch::Receiver<u64> {
        self.tables
            .entry(store.clone())
            .or_default()
            .moved
            .subscribe()
    }

    /// Returns the writes after a version.
    pub(crate) fn since(
        &self,
        store: &str,
        revision: u64,
    ) -> Result<impl Iterator<Item = &Change>, Compacted> {
        let table = self.tables.get(store);
        let compacted = table.map_or(0, |table| table.compacted);
        if revision < compacted {
            return Err(Compacted { oldest: compacted });
        }
        let changes = table.map(|table| {
            let from = table
                .changes
                .partition_point(|change| change.after.revision <= revision);
            table.changes.range(from..)
        });
        Ok(changes.into_iter().flatten())
    }

    /// The objects of a kind as they were at a version.
    pub(crate) fn list_at(
        &self,
        store: &str,
        namespace: &str,
        revision: u64,
    ) -> Result<Vec<Arc<Stored>>, Compacted> {
        let mut objects: BTreeMap<&StoreKey, &Arc<Stored>> = self
            .all(store, namespace)
            .map(|stored| (&stored.key, stored))
            .collect();
        let changes: Vec<&Change> = self.since(store, revision)?.collect();
        for change in changes.into_iter().rev() {
            match &change.before {
                Some(before) => objects.insert(&before.key, before),
                None => objects.remove(&change.after.key),
            };
        }
        let there = objects
            .into_values()
            .filter(|stored| namespace.is_empty() || stored.key.namespace == namespace);
        Ok(there.cloned().collect())
    }
}
