//! Kinds that are served, with their names and versions. Knows no objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::names::Names;
use crate::schema::Schema;

/// Name under which a kind's objects are stored: `services`, `listeners.listeners.stackable.tech`.
pub(crate) type Id = Arc<str>;

/// One kind with all its versions.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "discovery returns all names of a kind")]
pub(crate) struct Kind {
    /// Store of its objects. Two kinds may share it, as the two kinds of events do.
    pub(crate) store: Id,
    pub(crate) group: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Made by a CustomResourceDefinition.
    pub(crate) custom: bool,
    /// Only `create`, as reviews are: nothing is stored.
    pub(crate) virtual_only: bool,
    /// Versions in order of preference.
    pub(crate) versions: Vec<Version>,
    pub(crate) traits: Traits,
}

/// Traits in which built-in kinds differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// True if `metadata.generation` counts changes of the desired state.
    pub(crate) generation: bool,
    /// An update need not name a version.
    pub(crate) unconditional: bool,
    /// True if a PUT creates an absent object.
    pub(crate) create_on_update: bool,
    /// A deletion is answered with the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// Allowed form of names.
    pub(crate) names: Names,
}

/// One version of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) name: String,
    pub(crate) served: bool,
    /// Subresources besides none: `status`, `scale`, `finalize`, ...
    pub(crate) subresources: Vec<String>,
    /// The structure of its objects.
    pub(crate) schema: Option<Arc<Schema>>,
    /// As the CustomResourceDefinition declares it: schema, columns, selectable fields, subresources.
    pub(crate) declared: Option<Arc<Value>>,
}

impl Version {
    pub(crate) fn has(&self, subresource: &str) -> bool {
        self.subresources.iter().any(|known| known == subresource)
    }
}

impl Kind {
    /// `services`, `leases.coordination.k8s.io`: as messages name it.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// `v1`, `apps/v1`.
    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group)
        }
    }

    pub(crate) fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns true if this is the built-in kind of that group and plural.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        !self.custom && self.group == group && self.plural == plural
    }
}

/// All kinds, by group and plural.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    kinds: BTreeMap<(String, String), Arc<Kind>>,
}

impl Kinds {
    pub(crate) fn insert(&mut self, kind: Kind) {
        let key = (kind.group.clone(), kind.plural.clone());
        self.kinds.insert(key, Arc::new(kind));
    }

    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        self.kinds.remove(&(group.to_owned(), plural.to_owned()));
    }

    pub(crate) fn get(&self, group: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.get(&(group.to_owned(), plural.to_owned()))
    }

    /// In the order of groups and plurals.
    #[allow(dead_code, reason = "discovery returns all kinds")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }
}
