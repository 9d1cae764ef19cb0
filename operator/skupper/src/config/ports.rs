//! Which Listener of a namespace has which host and port, and behind which port of the router.
//!
//! One writer decides for all, from what it decided before: who has something keeps it, whoever comes later gets what is free. So no restart, no
//! edit of another user and no order of events takes a host or a port away, and deciding again changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Ports that routers use for themselves.
const RESERVED: [u16; 5] = [5671, 5672, 9090, 45671, 55671];
/// The first port that a Listener gets.
const FIRST: u16 = 1024;

/// What one Listener has been given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortAllocation {
    /// The uid of the Listener.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// The Pod that is reached, where it is not the whole workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The host that it offers: the name of a Service.
    pub host: String,
    /// The port of the Service.
    pub port: u16,
    /// The port at which the router listens for it.
    pub router_port: u16,
}

/// What a Listener asks for, if it can be given at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRequest {
    /// The uid of the Listener.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// The Pod that is to be reached, where it is not the whole workload.
    pub pod: Option<String>,
    /// When it was created: who came first is served first.
    pub created: Timestamp,
    /// The host that it asks for.
    pub host: String,
    /// The port that it asks for.
    pub port: u16,
    /// What the router's configuration takes for it, in bytes.
    pub size: usize,
}

/// What was decided before.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// The allocations of then.
    pub allocations: Vec<PortAllocation>,
    /// Ports of the router by the name of the Listener, from a configuration that was written by the implementation that is replaced.
    pub recovered: BTreeMap<String, u16>,
    /// Ports of the router by host and port, from Services that lead to them.
    pub offered: BTreeMap<(String, u16), u16>,
}

/// What is decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// In the order of their router ports.
    pub allocations: Vec<PortAllocation>,
    /// Uids of the Listeners for which the configuration has no room.
    pub full: BTreeSet<String>,
}

/// Decides anew. `room` is what the configuration may take for all, in bytes. A Pod of a Listener that gets nothing gets nothing.
pub fn decide(before: &Before, requests: &[PortRequest], room: usize) -> Decided {
    let mut order: Vec<&PortRequest> = requests.iter().collect();
    order.sort_by_key(|request| {
        (
            request.pod.is_some(),
            request.created,
            &request.uid,
            &request.pod,
        )
    });
    let mut allocator = Allocator::of(before, &order, room);
    let own: BTreeSet<&str> = kept_whole(before, requests);
    let is_kept =
        |request: &&&PortRequest| has(before, request) && own.contains(request.uid.as_str());
    let (kept, others): (Vec<_>, Vec<_>) = order.iter().partition(is_kept);
    for request in kept.into_iter().chain(others) {
        allocator.give(request);
    }
    allocator.decided()
}

/// Who keeps its own host and port: only then its Pods keep theirs.
fn kept_whole<'a>(before: &Before, requests: &'a [PortRequest]) -> BTreeSet<&'a str> {
    let whole = requests.iter().filter(|request| request.pod.is_none());
    let kept = whole.filter(|request| has(before, request));
    kept.map(|request| request.uid.as_str()).collect()
}

fn has(before: &Before, request: &PortRequest) -> bool {
    let same = |held: &PortAllocation| {
        let (place, wanted) = ((&held.host, held.port), (&request.host, request.port));
        held.uid == request.uid && held.pod == request.pod && place == wanted
    };
    before.allocations.iter().any(same)
}

/// Whom a port belongs to: a Listener, or one of its Pods.
type Holder<'a> = (&'a str, Option<&'a str>);

fn holder(request: &PortRequest) -> Holder<'_> {
    (&request.uid, request.pod.as_deref())
}

struct Allocator<'a> {
    given: BTreeMap<u16, PortAllocation>,
    served: BTreeSet<Holder<'a>>,
    taken: BTreeSet<(&'a str, u16)>,
    /// Ports of before: no other Listener gets one while its holder may still have it.
    own: BTreeMap<Holder<'a>, u16>,
    owned: BTreeSet<u16>,
    /// No port below is free.
    lowest: u16,
    /// What there was no room for, and whose it is.
    full: BTreeSet<((&'a str, u16), &'a str)>,
    left: usize,
}

impl<'a> Allocator<'a> {
    fn of(before: &'a Before, order: &[&'a PortRequest], room: usize) -> Self {
        let (mut own, mut owned) = (BTreeMap::new(), BTreeSet::new());
        let held = before.allocations.iter();
        let held: BTreeMap<Holder<'_>, u16> = held
            .map(|a| ((a.uid.as_str(), a.pod.as_deref()), a.router_port))
            .collect();
        let recovered = |request: &PortRequest| match request.pod {
            None => before.recovered.get(&request.name).copied(),
            Some(_) => None,
        };
        // Whatever was written there by hand: a port belongs to one.
        let ports = order
            .iter()
            .filter_map(|request| Some((request, *held.get(&holder(request))?)));
        let found = order
            .iter()
            .filter_map(|request| Some((request, recovered(request)?)));
        let offered =
            |request: &PortRequest| before.offered.get(&(request.host.clone(), request.port));
        let led = order
            .iter()
            .filter_map(|request| Some((request, *offered(request)?)));
        for (request, port) in ports.chain(found).chain(led) {
            let fits = port >= FIRST && !RESERVED.contains(&port);
            if fits && !own.contains_key(&holder(request)) && owned.insert(port) {
                own.insert(holder(request), port);
            }
        }
        Self {
            given: BTreeMap::new(),
            served: BTreeSet::new(),
            taken: BTreeSet::new(),
            own,
            owned,
            lowest: FIRST,
            full: BTreeSet::new(),
            left: room,
        }
    }

    fn give(&mut self, request: &'a PortRequest) {
        let place = (request.host.as_str(), request.port);
        let alone = request.pod.is_some() && !self.served.contains(&(request.uid.as_str(), None));
        if alone || self.taken.contains(&place) {
            // It has lost, and its port is free for others.
            if let Some(port) = self.own.remove(&holder(request)) {
                self.owned.remove(&port);
                self.lowest = self.lowest.min(port);
            }
            return;
        }
        let own = self.own.get(&holder(request)).copied();
        let port = own.or_else(|| self.lowest_free());
        let (Some(router_port), Some(left)) = (port, self.left.checked_sub(request.size)) else {
            self.full.insert((place, &request.uid));
            return;
        };
        self.left = left;
        self.taken.insert(place);
        self.served.insert(holder(request));
        let allocation = PortAllocation {
            uid: request.uid.clone(),
            name: request.name.clone(),
            pod: request.pod.clone(),
            host: request.host.clone(),
            port: request.port,
            router_port,
        };
        self.given.insert(router_port, allocation);
    }

    fn lowest_free(&mut self) -> Option<u16> {
        let is_free = |port: &u16| {
            let taken = self.given.contains_key(port) || self.owned.contains(port);
            !taken && !RESERVED.contains(port)
        };
        let free = (self.lowest..=u16::MAX).find(is_free)?;
        self.lowest = free;
        Some(free)
    }

    fn decided(self) -> Decided {
        // Where a smaller one has got the place meanwhile, room would be of no use.
        let lost = |place| self.taken.contains(place);
        let full = self.full.iter().filter(|(place, _)| !lost(place));
        let full = full.map(|(_, uid)| (*uid).to_owned()).collect();
        Decided {
            allocations: self.given.into_values().collect(),
            full,
        }
    }
}

#[cfg(test)]
mod tests;
