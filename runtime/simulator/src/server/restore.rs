//! Objects of another server, taken over as they are there. Checks nothing and fills nothing in.

use serde_json::Value;

use super::Server;
use super::object::{meta, metadata, name, namespace, set};
use super::store::StoreKey;
use super::strategy;

/// An object that this server cannot take over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrestorable {
    /// Its kind is neither built in nor defined.
    #[error("no kind `{plural}` of group `{group}` is served")]
    Kind {
        /// As paths name it; empty of the core group.
        group: String,
        /// As paths name it.
        plural: String,
    },
    /// It has no name.
    #[error("an object of `{plural}` has no metadata.name")]
    Unnamed {
        /// As paths name its kind.
        plural: String,
    },
}

impl Server {
    /// Stores an object as another server has it. The uid, times, managed fields, finalizers and
    /// status stay. Its version becomes one of this server's, which is returned. An existing object
    /// under its name is replaced.
    ///
    /// # Errors
    /// Its kind is not served here, or it has no name.
    pub fn restore(
        &self,
        (group, plural): (&str, &str),
        mut object: Value,
    ) -> Result<String, Unrestorable> {
        let mut state = self.lock();
        let kind = state.kinds.get(group, plural).cloned();
        let kind = kind.ok_or_else(|| Unrestorable::Kind {
            group: group.to_owned(),
            plural: plural.to_owned(),
        })?;
        if name(&object).is_empty() {
            let plural = plural.to_owned();
            return Err(Unrestorable::Unnamed { plural });
        }
        let key = match kind.namespaced {
            true => StoreKey::new(namespace(&object), name(&object)),
            false => StoreKey::new("", name(&object)),
        };
        if kind.is("", "services") {
            state.allocations.settle(&key, &object);
        }
        set(metadata(&mut object), "resourceVersion", None);
        let stored = strategy::store(&mut state, &kind, key, object);
        Ok(meta(&stored.value(), "resourceVersion").to_owned())
    }

    /// An object as it is stored, without `apiVersion` and `kind`.
    pub(crate) fn stored(
        &self,
        (group, plural): (&str, &str),
        (namespace, name): (&str, &str),
    ) -> Option<Value> {
        let state = self.lock();
        let kind = state.kinds.get(group, plural)?;
        let stored = state
            .store
            .get(&kind.store, &StoreKey::new(namespace, name))?;
        Some(stored.value())
    }

    /// The name of a kind, as objects carry it, if it is served and stored.
    pub(crate) fn kind_of(&self, (group, plural): (&str, &str)) -> Option<String> {
        let state = self.lock();
        let kind = state.kinds.get(group, plural)?;
        (!kind.virtual_only).then(|| kind.kind.clone())
    }
}
