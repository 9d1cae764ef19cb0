//! Our own writes that the caches do not show yet. Readers of such an object wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::queue::Subject;
use crate::cluster::store::{Name, Store};

/// Almost every write is guarded by itself, so a fence that outlived a broken watch may fall.
const LONGEST: Duration = Duration::from_secs(60);

/// Write that a cache must show before any reconcile acts on it.
#[derive(Clone, Debug)]
pub(crate) struct FencedWrite {
    pub(crate) uid: Option<String>,
    /// The version of our write; `None` if the object is gone by it.
    pub(crate) version: Option<String>,
    /// True if only the cache lifts the fence. A created object would be created again by a
    /// reconciliation that does not see its record.
    pub(crate) lasting: bool,
}

struct Fence {
    wrote: FencedWrite,
    lists: u64,
    until: Instant,
    waiting: BTreeSet<Subject>,
}

/// All open fences, by cache and object.
#[derive(Default)]
pub(crate) struct Fences {
    open: BTreeMap<(usize, Name), Fence>,
}

impl Fences {
    /// Opens a fence, unless the cache shows the write already.
    pub(crate) fn raise(
        &mut self,
        at: (usize, Name),
        mut wrote: FencedWrite,
        store: &Store,
        now: Instant,
    ) {
        if shows(store, &at.1, &wrote) {
            return;
        }
        let before = self.open.remove(&at);
        wrote.lasting |= before.as_ref().is_some_and(|f| f.wrote.lasting);
        let waiting = before.map(|f| f.waiting).unwrap_or_default();
        let fence = Fence {
            wrote,
            lists: store.lists_of(&at.1),
            until: now + LONGEST,
            waiting,
        };
        self.open.insert(at, fence);
    }

    /// Returns the time until which an object must wait if one of its inputs is behind a fence. The
    /// object is woken when the fence falls.
    pub(crate) fn hold(
        &mut self,
        subject: &Subject,
        touched: impl Iterator<Item = (usize, Name)>,
        now: Instant,
    ) -> Option<Instant> {
        if self.open.is_empty() {
            return None;
        }
        for at in touched {
            if let Some(fence) = self.open.get_mut(&at)
                && (fence.until > now || fence.wrote.lasting)
            {
                fence.waiting.insert(subject.clone());
                // A lasting fence is checked again, so that waiting objects are not forgotten.
                return Some(if fence.wrote.lasting {
                    now + LONGEST
                } else {
                    fence.until
                });
            }
        }
        None
    }

    /// Lifts a fence if the cache shows the write, and returns the waiting objects.
    pub(crate) fn check_fence(&mut self, at: &(usize, Name), store: &Store) -> BTreeSet<Subject> {
        let falls = self
            .open
            .get(at)
            .is_some_and(|fence| shows(store, &at.1, &fence.wrote));
        match falls.then(|| self.open.remove(at)).flatten() {
            Some(fence) => fence.waiting,
            None => BTreeSet::new(),
        }
    }

    /// Lifts the fences of writes before the start of a list, because that list reflects them.
    pub(crate) fn listed(&mut self, number: usize, store: &Store) -> BTreeSet<Subject> {
        let (fallen, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|((n, name), fence)| *n == number && fence.lists < store.lists_of(name));
        self.open = open;
        let fallen: BTreeMap<_, Fence> = fallen;
        fallen.into_values().flat_map(|f| f.waiting).collect()
    }
}

/// As new as the write, gone, or another object of that name.
fn shows(store: &Store, name: &Name, wrote: &FencedWrite) -> bool {
    let version = wrote.version.as_deref();
    let Some(cached) = store.get(name) else {
        return version.is_none_or(|w| store.is_past(name, w));
    };
    let same = cached.meta.uid == wrote.uid;
    !same || version.is_some_and(|w| is_as_new(cached.meta.resource_version.as_deref(), w))
}

/// Versions of one kind are numbers that grow; anything else is only compared for equality.
fn is_as_new(cached: Option<&str>, wrote: &str) -> bool {
    let cached = cached.unwrap_or_default();
    match (cached.parse::<u128>(), wrote.parse::<u128>()) {
        (Ok(cached), Ok(wrote)) => cached >= wrote,
        _ => cached == wrote,
    }
}

#[cfg(test)]
mod tests;
