//! Index of objects by key, and of the objects that must reconcile when they change. One key of an
//! object works in both directions. No operation ever walks over all objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::store::{Change, Name};
use crate::lifecycle::{LookupKey, Machine, ObjectRef, Stored};
use crate::machine::ir::{Input, Lookup, Mode};

/// Key by which an input is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexKey {
    /// Exactly this object.
    Named(Name),
    /// All objects with these values, in a namespace where both kinds live in one.
    Of(Option<String>, Vec<String>),
}

/// How the objects of one input are found.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    pub input: &'static Input,
    /// The input's number in its lifecycle.
    pub number: usize,
    /// True if it is looked up in the namespace of the object.
    pub by_namespace: bool,
    /// True if objects of its kind have a namespace.
    pub namespaced: bool,
}

impl Finder {
    /// The keys that an object is found under, its own name first.
    pub fn keys_of(&self, machine: &dyn Machine, object: &Stored) -> Vec<IndexKey> {
        let meta = &object.meta;
        let namespace = meta.namespace.clone().filter(|_| self.by_namespace);
        let mut keys = vec![IndexKey::Named(Name::from_meta(meta))];
        match self.input.lookup {
            Lookup::Labels(labels) => {
                let label = |key: &&str| meta.labels.as_ref()?.get(*key).cloned();
                let values: Option<Vec<_>> = labels.iter().map(label).collect();
                keys.extend(values.map(|values| IndexKey::Of(namespace, values)));
            }
            Lookup::Owner => {
                let owners = meta.owner_references.iter().flatten();
                keys.extend(owners.map(|o| IndexKey::Of(None, vec![o.uid.clone()])));
            }
            Lookup::Namespace => keys.push(IndexKey::Of(namespace, Vec::new())),
            Lookup::Equal => {
                let theirs = machine.theirs(self.number, object);
                keys.extend(theirs.map(|value| IndexKey::Of(namespace, vec![value])));
            }
            Lookup::Refs => {
                let labels = meta.labels.iter().flatten();
                let carried = |(label, _): (&String, &String)| vec![label.clone()];
                keys.extend(labels.map(|l| IndexKey::Of(meta.namespace.clone(), carried(l))));
                // As if each carried the empty label, which a reference to all of a namespace names.
                keys.push(IndexKey::Of(meta.namespace.clone(), vec![String::new()]));
            }
            Lookup::Name(_) | Lookup::Names | Lookup::Ref | Lookup::Key => {}
        }
        keys
    }

    /// The keys that an object looks for.
    pub(crate) fn keys_for(&self, subject: &Stored, look: &LookupKey) -> Vec<IndexKey> {
        let namespace = subject.meta.namespace.clone();
        let named = |name: &String| {
            IndexKey::Named(Name {
                namespace: namespace.clone().filter(|_| self.namespaced),
                name: name.clone(),
            })
        };
        // A reference without a namespace stays in that of the object.
        let referred = |object: &ObjectRef| {
            let in_theirs = object.namespace.clone().or_else(|| namespace.clone());
            let namespace = in_theirs.filter(|_| self.namespaced);
            match &object.label {
                Some(label) => IndexKey::Of(namespace, vec![label.clone()]),
                None => IndexKey::Named(Name {
                    namespace,
                    name: object.name.clone(),
                }),
            }
        };
        let inside = namespace.clone().filter(|_| self.by_namespace);
        match look {
            LookupKey::Nothing | LookupKey::Key(_) => Vec::new(),
            LookupKey::Name(name) => vec![named(name)],
            LookupKey::Names(names) => names.iter().map(named).collect(),
            LookupKey::Labels(values) => vec![IndexKey::Of(inside, values.clone())],
            LookupKey::Equal(value) => vec![IndexKey::Of(inside, vec![value.clone()])],
            LookupKey::Ref(object) => vec![referred(object)],
            LookupKey::Refs(objects) => objects.iter().map(referred).collect(),
            LookupKey::All if self.input.lookup == Lookup::Owner => {
                let uid = subject.meta.uid.clone().unwrap_or_default();
                vec![IndexKey::Of(None, vec![uid])]
            }
            LookupKey::All => vec![IndexKey::Of(inside, Vec::new())],
        }
    }
}

/// Both directions for one input of one lifecycle.
pub struct Index {
    finder: Finder,
    machine: Arc<dyn Machine>,
    found_by: BTreeMap<IndexKey, BTreeSet<Name>>,
    looked_by: BTreeMap<IndexKey, BTreeSet<Name>>,
}

impl Index {
    /// Returns true if its objects are written, and not only read.
    pub fn is_written(&self) -> bool {
        self.finder.input.mode != Mode::Watched
    }

    pub fn new(finder: Finder, machine: Arc<dyn Machine>) -> Self {
        Self {
            finder,
            machine,
            found_by: BTreeMap::new(),
            looked_by: BTreeMap::new(),
        }
    }

    /// The names of the objects under a key that is no name.
    pub fn found_by(&self, key: &IndexKey) -> impl Iterator<Item = &Name> {
        self.found_by.get(key).into_iter().flatten()
    }

    /// Records a change of an object. Returns the objects that looked for its old or its new keys.
    pub fn changed(&mut self, change: &Change) -> BTreeSet<Name> {
        let mut woken = BTreeSet::new();
        if let Some(old) = &change.old {
            for key in self.finder.keys_of(&*self.machine, old) {
                woken.extend(self.looked_by.get(&key).into_iter().flatten().cloned());
                remove(&mut self.found_by, &key, &change.name);
            }
        }
        if let Some(new) = &change.new {
            for key in self.finder.keys_of(&*self.machine, new) {
                woken.extend(self.looked_by.get(&key).into_iter().flatten().cloned());
                if matches!(key, IndexKey::Of(..)) {
                    self.found_by
                        .entry(key)
                        .or_default()
                        .insert(change.name.clone());
                }
            }
        }
        woken
    }

    /// Records the keys that an object looks for now, and drops those that it no longer looks for.
    pub fn depends_on(
        &mut self,
        subject: &Name,
        before: &BTreeSet<IndexKey>,
        now: &BTreeSet<IndexKey>,
    ) {
        for key in before.difference(now) {
            remove(&mut self.looked_by, key, subject);
        }
        for key in now.difference(before) {
            self.looked_by
                .entry(key.clone())
                .or_default()
                .insert(subject.clone());
        }
    }
}

fn remove(map: &mut BTreeMap<IndexKey, BTreeSet<Name>>, key: &IndexKey, name: &Name) {
    if let Some(names) = map.get_mut(key) {
        names.remove(name);
        if names.is_empty() {
            map.remove(key);
        }
    }
}
