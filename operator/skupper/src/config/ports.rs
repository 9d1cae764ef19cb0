//! Allocation of hosts and ports to the Listeners of a namespace, and of the router port behind
//! each.
//!
//! One writer decides for all, based on its earlier decisions. A Listener keeps its allocation, and
//! a later one gets a free one. No restart, no edit of another user and no order of events
//! therefore takes a host or a port away. Deciding again changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Ports that routers use for themselves.
const RESERVED: [u16; 5] = [5671, 5672, 9090, 45671, 55671];
/// The first port that a Listener gets.
const FIRST: u16 = 1024;

/// Generous estimate of the size of an allocation in a configuration, besides its entry.
pub const ALLOCATION: usize = 400;

/// A kind of object that has a host and a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Holder {
    /// A Listener.
    #[default]
    Listener,
    /// A MultiKeyListener.
    MultiKeyListener,
}

impl Holder {
    /// True for the kind that stored allocations leave out: the only one there was at first.
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The kind, as Kubernetes names it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Listener => "Listener",
            Self::MultiKeyListener => "MultiKeyListener",
        }
    }

    /// The name of the entry of an object of this kind.
    pub fn entry(self, name: &str) -> String {
        match self {
            Self::Listener => format!("listener/{name}"),
            Self::MultiKeyListener => format!("multiAddress/{name}"),
        }
    }
}

/// Allocation of one Listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortAllocation {
    /// Kind of the Listener.
    #[serde(default, skip_serializing_if = "Holder::is_usual")]
    pub holder: Holder,
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

/// Request of a Listener, if it can be granted at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRequest {
    /// Kind of the Listener.
    pub holder: Holder,
    /// The uid of the Listener.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// Name of the Pod to reach, if the request is not for the whole workload.
    pub pod: Option<String>,
    /// When it was created: who came first is served first.
    pub created: Timestamp,
    /// Requested host.
    pub host: String,
    /// Requested port.
    pub port: u16,
    /// Size of its part of the router's configuration, in bytes.
    pub size: usize,
}

/// Earlier decisions.
#[derive(Clone, Debug, Default)]
pub struct PriorDecision {
    /// The allocations of then.
    pub allocations: Vec<PortAllocation>,
    /// Ports of the router by the name of the Listener's entry, from a configuration that was written by the implementation that is replaced.
    pub recovered: BTreeMap<String, u16>,
    /// Ports of the router by host and port, from Services that lead to them.
    pub offered: BTreeMap<(String, u16), u16>,
}

/// Decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// In the order of their router ports.
    pub allocations: Vec<PortAllocation>,
    /// Uids of the Listeners that do not fit into the configuration.
    pub full: BTreeSet<String>,
    /// Pods that have not got their names, by the uid of the Listener that exposes them.
    pub lost: BTreeMap<String, LostPods>,
}

/// Pods of a Listener whose host and port are owned by another Listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostPods {
    /// The first of them by name. The configuration has no room for all.
    pub first: String,
    /// How many they are.
    pub count: usize,
}

/// Decides anew. `room` is the size that the configuration may have for all, in bytes. If a
/// Listener gets nothing, its Pods get nothing.
pub fn decide(before: &PriorDecision, requests: &[PortRequest], room: usize) -> Decided {
    let mut order: Vec<&PortRequest> = requests.iter().collect();
    order.sort_by_key(|request| (request.pod.is_some(), age(request), &request.pod));
    let mut allocator = Allocator::new(before, &order, room);
    let own: BTreeSet<&str> = kept_whole(before, requests);
    let first = first_of_pods(&order);
    let is_kept = |request: &&&PortRequest| {
        let is_first = first.get(&host_port(request)).is_none_or(|first| {
            let rivals = request.pod.is_some() && first.created == request.created;
            !rivals || first.uid == request.uid
        });
        has(before, request) && own.contains(request.uid.as_str()) && is_first
    };
    let (kept, others): (Vec<_>, Vec<_>) = order.iter().partition(is_kept);
    for request in kept.into_iter().chain(others) {
        allocator.give(request);
    }
    allocator.decided()
}

/// Returns the order of requests. Times of creation are whole seconds. Between two objects of one
/// second the name decides, which gives a stable order.
fn age(request: &PortRequest) -> (Timestamp, &str, &str) {
    (request.created, &request.name, &request.uid)
}

/// A host and port.
type HostPort<'a> = (&'a str, u16);

fn host_port(request: &PortRequest) -> HostPort<'_> {
    (&request.host, request.port)
}

/// Returns the first of the requests for the same Pod under its name. The order of their
/// observation must not matter if two were made at once.
fn first_of_pods<'a>(order: &[&'a PortRequest]) -> BTreeMap<HostPort<'a>, &'a PortRequest> {
    let mut first = BTreeMap::new();
    for request in order.iter().filter(|request| request.pod.is_some()) {
        first.entry(host_port(request)).or_insert(*request);
    }
    first
}

/// Returns the Listeners that keep their own host and port. Only then do their Pods keep theirs.
fn kept_whole<'a>(before: &PriorDecision, requests: &'a [PortRequest]) -> BTreeSet<&'a str> {
    let whole = requests.iter().filter(|request| request.pod.is_none());
    let kept = whole.filter(|request| has(before, request));
    kept.map(|request| request.uid.as_str()).collect()
}

fn has(before: &PriorDecision, request: &PortRequest) -> bool {
    let same = |held: &PortAllocation| {
        let (place, wanted) = ((&held.host, held.port), (&request.host, request.port));
        held.uid == request.uid && held.pod == request.pod && place == wanted
    };
    before.allocations.iter().any(same)
}

/// The owner of a router port: a Listener, or one of its Pods.
type PortOwner<'a> = (&'a str, Option<&'a str>);

fn port_owner(request: &PortRequest) -> PortOwner<'_> {
    (&request.uid, request.pod.as_deref())
}

struct Allocator<'a> {
    given: BTreeMap<u16, PortAllocation>,
    served: BTreeSet<PortOwner<'a>>,
    taken: BTreeSet<HostPort<'a>>,
    /// Kind of the Listeners of each host: its Service has one writer.
    kinds: BTreeMap<&'a str, Holder>,
    /// Ports of before: no other Listener gets one while its holder may still have it.
    own: BTreeMap<PortOwner<'a>, u16>,
    owned: BTreeSet<u16>,
    /// No port below is free.
    lowest: u16,
    /// Requests that did not fit, with their owners.
    full: BTreeSet<(HostPort<'a>, Holder, PortOwner<'a>)>,
    lost: BTreeMap<String, LostPods>,
    left: usize,
}

impl<'a> Allocator<'a> {
    fn new(before: &'a PriorDecision, order: &[&'a PortRequest], room: usize) -> Self {
        let (mut own, mut owned) = (BTreeMap::new(), BTreeSet::new());
        let held = before.allocations.iter();
        let held: BTreeMap<PortOwner<'_>, u16> = held
            .map(|a| ((a.uid.as_str(), a.pod.as_deref()), a.router_port))
            .collect();
        let recovered = |request: &PortRequest| match request.pod {
            None => before
                .recovered
                .get(&request.holder.entry(&request.name))
                .copied(),
            Some(_) => None,
        };
        // A port belongs to one Listener, whatever was written by hand.
        let ports = order
            .iter()
            .filter_map(|request| Some((request, *held.get(&port_owner(request))?)));
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
            if fits && !own.contains_key(&port_owner(request)) && owned.insert(port) {
                own.insert(port_owner(request), port);
            }
        }
        Self {
            given: BTreeMap::new(),
            served: BTreeSet::new(),
            taken: BTreeSet::new(),
            kinds: BTreeMap::new(),
            own,
            owned,
            lowest: FIRST,
            full: BTreeSet::new(),
            lost: BTreeMap::new(),
            left: room,
        }
    }

    fn give(&mut self, request: &'a PortRequest) {
        let place = host_port(request);
        let alone = request.pod.is_some() && !self.served.contains(&(request.uid.as_str(), None));
        let is_of_others = self.is_taken(place, request.holder);
        if alone || is_of_others {
            // It has lost, and its port is free for others.
            if let Some(port) = self.own.remove(&port_owner(request)) {
                self.owned.remove(&port);
                self.lowest = self.lowest.min(port);
            }
            if let Some(pod) = request.pod.as_ref().filter(|_| !alone) {
                self.lose(&request.uid, pod);
            }
            return;
        }
        let own = self.own.get(&port_owner(request)).copied();
        let port = own.or_else(|| self.lowest_free());
        let (Some(router_port), Some(left)) = (port, self.left.checked_sub(request.size)) else {
            self.full
                .insert((place, request.holder, port_owner(request)));
            return;
        };
        self.left = left;
        self.taken.insert(place);
        self.kinds.insert(place.0, request.holder);
        self.served.insert(port_owner(request));
        let allocation = PortAllocation {
            holder: request.holder,
            uid: request.uid.clone(),
            name: request.name.clone(),
            pod: request.pod.clone(),
            host: request.host.clone(),
            port: request.port,
            router_port,
        };
        self.given.insert(router_port, allocation);
    }

    /// True if another Listener has this host and port, or one of the other kind has the host.
    fn is_taken(&self, place: HostPort<'_>, holder: Holder) -> bool {
        let kind = self.kinds.get(place.0);
        self.taken.contains(&place) || kind.is_some_and(|kind| *kind != holder)
    }

    fn lose(&mut self, uid: &str, pod: &str) {
        let none = || LostPods {
            first: pod.to_owned(),
            count: 0,
        };
        let lost = self.lost.entry(uid.to_owned()).or_insert_with(none);
        if pod < lost.first.as_str() {
            pod.clone_into(&mut lost.first);
        }
        lost.count += 1;
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

    fn decided(mut self) -> Decided {
        // Where a smaller one has got the place meanwhile, room would be of no use.
        let full = std::mem::take(&mut self.full);
        let (lost, full): (Vec<_>, Vec<_>) = full
            .into_iter()
            .partition(|(place, holder, _)| self.is_taken(*place, *holder));
        for (_, _, (uid, pod)) in lost {
            if let Some(pod) = pod {
                self.lose(uid, pod);
            }
        }
        Decided {
            allocations: self.given.into_values().collect(),
            full: full
                .iter()
                .map(|(_, _, (uid, _))| (*uid).to_owned())
                .collect(),
            lost: self.lost,
        }
    }
}

#[cfg(test)]
mod tests;
