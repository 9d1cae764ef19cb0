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
    /// Takes an object to write it. Whoever does not get it is told when it is free.
    pub(crate) fn take(&mut self, target: &Target, subject: &Subject) -> bool {
        match self.0.get_mut(target) {
            Some(waiting) => {
                waiting.insert(subject.clone());
                false
            }
            None => {
                self.0.insert(target.clone(), BTreeSet::new());
                true
            }
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
        assert!(write_locks.take(&target, &subject("a")));
        assert!(!write_locks.take(&target, &subject("b")));
        assert!(!write_locks.take(&target, &subject("c")));
        assert!(
            write_locks.take(&(1, name("shared")), &subject("b")),
            "another kind"
        );
        let waited = [subject("b"), subject("c")];
        assert_eq!(write_locks.free(&target), BTreeSet::from(waited));
        assert!(write_locks.take(&target, &subject("b")));
        assert!(write_locks.free(&target).is_empty());
    }
}
