//! Which clients may be connected at once. A connection holds a permit; one that is being answered keeps it, and of those that only
//! wait (in their handshake, between requests, or with an answer that they do not take) the one that came first makes room for
//! a new one. So clients that connect and do nothing cannot keep out those that ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// How many connections there may be, and which there are.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
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

/// The permit of a connection, until it is dropped or given to another one.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    number: u64,
    end: CancellationToken,
}

/// While it lives, its permit is given to no other connection.
#[derive(Debug)]
pub(super) struct Answered<'a>(&'a ConnectionPermit);

impl ConnectionLimit {
    pub(super) fn new(most: usize) -> Arc<Self> {
        let held = Mutex::default();
        Arc::new(Self { most, held })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no holder panics")
    }

    /// A permit for a connection that has just come; absent if all that are there are being answered.
    pub(super) fn admit(self: &Arc<Self>) -> Option<ConnectionPermit> {
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
        Some(ConnectionPermit {
            limit: self.clone(),
            number,
            end,
        })
    }
}

impl ConnectionPermit {
    /// Holds it while a request is answered.
    pub(super) fn answer(&self) -> Answered<'_> {
        self.mark(true);
        Answered(self)
    }

    /// Ends when the permit was given to another connection.
    pub(super) fn lost(&self) -> WaitForCancellationFuture<'_> {
        self.end.cancelled()
    }

    fn mark(&self, is_answered: bool) {
        if let Some(holder) = self.limit.held().all.get_mut(&self.number) {
            holder.is_answered = is_answered;
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.held().all.remove(&self.number);
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
        let limit = ConnectionLimit::new(2);
        let first = limit.admit().unwrap();
        let second = limit.admit().unwrap();
        let answered = first.answer();
        let third = limit.admit().unwrap();
        assert!(second.end.is_cancelled() && !first.end.is_cancelled());
        drop(second);
        let also = third.answer();
        assert!(limit.admit().is_none());
        drop(answered);
        let fourth = limit.admit().unwrap();
        assert!(first.end.is_cancelled() && !third.end.is_cancelled());
        drop(also);
        drop(third);
        let _fifth = limit.admit().unwrap();
        assert!(!fourth.end.is_cancelled());
    }
}
