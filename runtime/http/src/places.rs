//! Limits the number of clients that are connected at once. Each connection has a place, and a
//! connection that is being answered keeps it. The other connections only wait: in their handshake,
//! between requests, or with an answer that they do not take. One of the waiting connections makes
//! room for a new one: the oldest of the client with the most connections. So a client that
//! connects and does nothing takes nothing from the others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// How many connections there may be, and which there are.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_waits: usize,
    held: Mutex<ConnectionTable>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    /// By arrival.
    connections: BTreeMap<u64, Holder>,
    /// Requests whose reply waits for something, by arrival.
    waits: BTreeMap<u64, Waiter>,
}

#[derive(Debug)]
struct Holder {
    client: Option<IpAddr>,
    is_answered: bool,
    end: CancellationToken,
}

#[derive(Debug)]
struct Waiter {
    client: Option<IpAddr>,
    enough: CancellationToken,
}

/// The place of a connection, until it is dropped or given to another one.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    places: Arc<Places>,
    number: u64,
    client: Option<IpAddr>,
    end: CancellationToken,
}

/// The turn of a request. While it lives, the place of its connection is given to no other.
#[derive(Debug)]
pub struct Turn(Arc<ConnectionSlot>);

/// An answer that waits, until it is dropped.
struct Waiting<'t> {
    places: &'t Places,
    number: u64,
    enough: CancellationToken,
}

impl Places {
    pub(crate) fn new(most: usize, most_waits: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            most_waits,
            held: Mutex::default(),
        })
    }

    fn lock_table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.held.lock().expect("no holder panics")
    }

    /// A place for a connection that has just come; absent if all that are there are being answered.
    pub(crate) fn admit(self: &Arc<Self>, client: Option<IpAddr>) -> Option<Arc<ConnectionSlot>> {
        let mut held = self.lock_table();
        if held.connections.len() >= self.most {
            let all = held.connections.iter();
            let all = all.map(|(number, holder)| (*number, holder.client, !holder.is_answered));
            let first = first_of_busiest(all)?;
            if let Some(holder) = held.connections.remove(&first) {
                holder.end.cancel();
            }
        }
        let number = held.next_number();
        let end = CancellationToken::new();
        let holder = Holder {
            client,
            is_answered: false,
            end: end.clone(),
        };
        held.connections.insert(number, holder);
        Some(Arc::new(ConnectionSlot {
            places: self.clone(),
            number,
            client,
            end,
        }))
    }

    /// One more answer waits. If these are too many, one is given at once.
    fn wait(&self, client: Option<IpAddr>) -> Waiting<'_> {
        let mut held = self.lock_table();
        let number = held.next_number();
        let enough = CancellationToken::new();
        let waiter = Waiter {
            client,
            enough: enough.clone(),
        };
        held.waits.insert(number, waiter);
        if held.waits.len() > self.most_waits {
            let all = held.waits.iter();
            let first =
                first_of_busiest(all.map(|(number, waiter)| (*number, waiter.client, true)));
            if let Some(waiter) = first.and_then(|first| held.waits.remove(&first)) {
                waiter.enough.cancel();
            }
        }
        Waiting {
            places: self,
            number,
            enough,
        }
    }
}

impl ConnectionTable {
    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Of those that may go, the first of the client that has most.
fn first_of_busiest(all: impl Iterator<Item = (u64, Option<IpAddr>, bool)> + Clone) -> Option<u64> {
    let mut of_client: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
    for (_, client, _) in all.clone() {
        *of_client.entry(client).or_default() += 1;
    }
    let mut best: Option<(usize, u64)> = None;
    for (number, client, _) in all.filter(|(_, _, may_go)| *may_go) {
        let count = of_client.get(&client).copied().unwrap_or_default();
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, number));
        }
    }
    best.map(|(_, number)| number)
}

impl ConnectionSlot {
    /// Holds it while a request is answered.
    pub(crate) fn turn(self: &Arc<Self>) -> Turn {
        self.mark(true);
        Turn(self.clone())
    }

    /// Ends when the place was given to another connection.
    pub(crate) fn lost(&self) -> WaitForCancellationFuture<'_> {
        self.end.cancelled()
    }

    fn mark(&self, is_answered: bool) {
        if let Some(holder) = self.places.lock_table().connections.get_mut(&self.number) {
            holder.is_answered = is_answered;
        }
    }
}

impl Turn {
    /// The address that the request comes from, if its socket has addresses.
    pub fn client(&self) -> Option<IpAddr> {
        self.0.client
    }

    /// Waits for an event on behalf of an answer. Returns `None` if too many answers wait, so that
    /// this one must be given now from the current state.
    pub async fn wait<T>(&self, event: impl Future<Output = T>) -> Option<T> {
        let waiting = self.0.places.wait(self.0.client);
        tokio::select! {
            biased;
            happened = event => Some(happened),
            () = waiting.enough.cancelled() => None,
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.places.lock_table().connections.remove(&self.number);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.mark(false);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.places.lock_table().waits.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::Ipv4Addr;

    use super::*;

    fn client(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(10, 0, 0, last).into())
    }

    #[test]
    fn the_first_of_those_who_wait_makes_room_and_nobody_who_is_answered() {
        let places = Places::new(2, 1);
        let first = places.admit(None).unwrap();
        let second = places.admit(None).unwrap();
        let answered = first.turn();
        let third = places.admit(None).unwrap();
        assert!(second.end.is_cancelled() && !first.end.is_cancelled());
        drop(second);
        let also = third.turn();
        assert!(places.admit(None).is_none());
        drop(answered);
        let fourth = places.admit(None).unwrap();
        assert!(first.end.is_cancelled() && !third.end.is_cancelled());
        drop(also);
        drop(third);
        let _fifth = places.admit(None).unwrap();
        assert!(!fourth.end.is_cancelled());
    }

    #[test]
    fn who_has_most_connections_makes_room_and_not_who_came_first() {
        let places = Places::new(4, 1);
        let modest = places.admit(client(1)).unwrap();
        let greedy: Vec<_> = (0..3).map(|_| places.admit(client(2)).unwrap()).collect();
        let more: Vec<_> = (0..50).map(|_| places.admit(client(2)).unwrap()).collect();
        assert!(!modest.end.is_cancelled());
        assert!(greedy.iter().all(|place| place.end.is_cancelled()));
        assert_eq!(
            more.iter()
                .filter(|place| !place.end.is_cancelled())
                .count(),
            3
        );
        let _newcomer = places.admit(client(3)).unwrap();
        assert!(!modest.end.is_cancelled());
    }

    #[tokio::test]
    async fn the_first_answer_that_waits_is_given_when_too_many_do() {
        let places = Places::new(8, 2);
        let turn = |last: u8| places.admit(client(last)).unwrap().turn();
        let turns = [turn(1), turn(2), turn(2), turn(3)];
        let mut waits = turns
            .iter()
            .map(|turn| Box::pin(turn.wait(pending::<()>())));
        let [mut one, mut two, mut three, mut four] =
            std::array::from_fn(|_| waits.next().unwrap());
        let mut given = vec![];
        for (number, wait) in [
            (1, &mut one),
            (2, &mut two),
            (3, &mut three),
            (4, &mut four),
        ] {
            tokio::select! {
                biased;
                _ = wait => given.push(number),
                () = std::future::ready(()) => {}
            }
        }
        for (number, wait) in [(1, one), (2, two), (3, three), (4, four)] {
            tokio::select! {
                biased;
                _ = wait => given.push(number),
                () = std::future::ready(()) => {}
            }
        }
        assert_eq!(given, [1, 2], "2 has two, then all have one");
        assert_eq!(turns[0].wait(async { 7 }).await, Some(7));
    }
}
