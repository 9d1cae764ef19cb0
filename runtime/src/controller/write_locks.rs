//! Objects that are being written at this moment. Several objects may want the same of one: all but the first look again once that was written,
//! and mostly find that nothing is left to do.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::Subject;
use crate::cluster::store::Name;

/// An object in one of the caches.
pub(crate) type Target = (usize, Name);

#[derive(Default)]
pub(crate) struct WriteLocks(BTreeMap<Target, BTreeSet<Subject>>);

impl WriteLocks {
    /// Returns true if a write to the object is in flight.
    pub(crate) fn is_taken(&self, target: &Target) -> bool {
        self.0.contains_key(target)
    }

    /// Takes an object to write it.
    pub(crate) fn take(&mut self, target: Target) {
        self.0.entry(target).or_default();
    }

    /// Registers an object to be notified when a locked target is free again.
    pub(crate) fn wait(&mut self, target: &Target, subject: &Subject) {
        if let Some(waiting) = self.0.get_mut(target) {
            waiting.insert(subject.clone());
        }
    }

    /// Gives an object back, and returns who waited for it.
    pub(crate) fn free(&mut self, target: &Target) -> BTreeSet<Subject> {
        self.0.remove(target).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_who_want_an_object_one_gets_it_and_the_others_are_told_when_it_is_free() {
        let name = |name: &str| Name {
            namespace: None,
            name: name.to_owned(),
        };
        let subject = |of: &str| Subject {
            lifecycle: 0,
            name: name(of),
        };
        let (mut write_locks, target) = (WriteLocks::default(), (0, name("shared")));
        write_locks.take(target.clone());
        assert!(write_locks.is_taken(&target));
        write_locks.wait(&target, &subject("b"));
        write_locks.wait(&target, &subject("c"));
        let other_kind = (1, name("shared"));
        assert!(!write_locks.is_taken(&other_kind));
        write_locks.wait(&other_kind, &subject("b"));
        let waited = [subject("b"), subject("c")];
        assert_eq!(write_locks.free(&target), BTreeSet::from(waited));
        assert!(!write_locks.is_taken(&target));
        assert!(write_locks.free(&target).is_empty());
        assert!(write_locks.free(&other_kind).is_empty());
    }
}
