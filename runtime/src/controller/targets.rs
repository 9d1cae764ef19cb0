//! Objects that are being written at this moment. Several objects may want the same of one: all but the first look again once that was written,
//! and mostly find that nothing is left to do.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::Subject;
use crate::cluster::store::Name;

/// An object in one of the caches.
pub(crate) type Target = (usize, Name);

#[derive(Default)]
pub(crate) struct Targets(BTreeMap<Target, BTreeSet<Subject>>);

impl Targets {
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
