//! Who may be connected at once. A place is held by a connection; who is being answered keeps it, and of those who only wait
//! (in their handshake, between requests, or with an answer that they do not take) the one that came first makes room for
//! a new one. So clients that connect and do nothing cannot keep out those who ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// Places for connections.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    /// By arrival.
    all: BTreeMap<u64, Holder>,
}

#[derive(Debug)]
struct Holder {
    is_answered: bool,
    end: CancellationToken,
}

/// The place of a connection, until it is dropped or given to another one.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    end: CancellationToken,
}

/// While it lives, its place is given to nobody else.
#[derive(Debug)]
pub(super) struct Answered<'a>(&'a Place);

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        let held = Mutex::default();
        Arc::new(Self { most, held })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no holder panics")
    }

    /// A place for a connection that has just come; absent if all that are there are being answered.
    pub(super) fn take(self: &Arc<Self>) -> Option<Place> {
        let mut held = self.held();
        if held.all.len() >= self.most {
            let mut waiting = held.all.iter().filter(|(_, holder)| !holder.is_answered);
            let oldest = *waiting.next()?.0;
            if let Some(holder) = held.all.remove(&oldest) {
                holder.end.cancel();
            }
        }
        let number = held.next;
        held.next += 1;
        let end = CancellationToken::new();
        let holder = Holder {
            is_answered: false,
            end: end.clone(),
        };
        held.all.insert(number, holder);
        Some(Place {
            places: self.clone(),
            number,
            end,
        })
    }
}

impl Place {
    /// Holds it while a request is answered.
    pub(super) fn answer(&self) -> Answered<'_> {
        self.mark(true);
        Answered(self)
    }

    /// Ends when the place was given to another one.
    pub(super) fn lost(&self) -> WaitForCancellationFuture<'_> {
        self.end.cancelled()
    }

    fn mark(&self, is_answered: bool) {
        if let Some(holder) = self.places.held().all.get_mut(&self.number) {
            holder.is_answered = is_answered;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.held().all.remove(&self.number);
    }
}

impl Drop for Answered<'_> {
    fn drop(&mut self) {
        self.0.mark(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_those_who_wait_makes_room_and_nobody_who_is_answered() {
        let places = Places::new(2);
        let first = places.take().unwrap();
        let second = places.take().unwrap();
        let answered = first.answer();
        let third = places.take().unwrap();
        assert!(second.end.is_cancelled() && !first.end.is_cancelled());
        drop(second);
        let also = third.answer();
        assert!(places.take().is_none());
        drop(answered);
        let fourth = places.take().unwrap();
        assert!(first.end.is_cancelled() && !third.end.is_cancelled());
        drop(also);
        drop(third);
        let _fifth = places.take().unwrap();
        assert!(!fourth.end.is_cancelled());
    }
}
