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

/// What an allocation takes in a configuration beside its entry, generously.
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

/// What one Listener has been given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortAllocation {
    /// Of which kind the Listener is.
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

/// What a Listener asks for, if it can be given at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRequest {
    /// Of which kind the Listener is.
    pub holder: Holder,
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
    /// Ports of the router by the name of the Listener's entry, from a configuration that was written by the implementation that is replaced.
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
    /// Pods that have not got their names, by the uid of the Listener that exposes them.
    pub lost: BTreeMap<String, LostPods>,
}

/// Pods of a Listener of which somebody else has the host and port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostPods {
    /// The first of them by name. The configuration has no room for all.
    pub first: String,
    /// How many they are.
    pub count: usize,
}

/// Decides anew. `room` is what the configuration may take for all, in bytes. A Pod of a Listener that gets nothing gets nothing.
pub fn decide(before: &Before, requests: &[PortRequest], room: usize) -> Decided {
    let mut order: Vec<&PortRequest> = requests.iter().collect();
    order.sort_by_key(|request| (request.pod.is_some(), age(request), &request.pod));
    let mut allocator = Allocator::of(before, &order, room);
    let own: BTreeSet<&str> = kept_whole(before, requests);
    let first = first_of_pods(&order);
    let is_kept = |request: &&&PortRequest| {
        let is_first = first.get(&place(request)).is_none_or(|first| {
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

/// Times of creation are whole seconds: of two that were made at once the name decides, which is the same whenever it is asked.
fn age(request: &PortRequest) -> (Timestamp, &str, &str) {
    (request.created, &request.name, &request.uid)
}

/// A host and port.
type Place<'a> = (&'a str, u16);

fn place(request: &PortRequest) -> Place<'_> {
    (&request.host, request.port)
}

/// Who is first of those that want the same Pod under its name: which of them was seen first must not matter if both were made at once.
fn first_of_pods<'a>(order: &[&'a PortRequest]) -> BTreeMap<Place<'a>, &'a PortRequest> {
    let mut first = BTreeMap::new();
    for request in order.iter().filter(|request| request.pod.is_some()) {
        first.entry(place(request)).or_insert(*request);
    }
    first
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

/// The owner of a router port: a Listener, or one of its Pods.
type Whose<'a> = (&'a str, Option<&'a str>);

fn whose(request: &PortRequest) -> Whose<'_> {
    (&request.uid, request.pod.as_deref())
}

struct Allocator<'a> {
    given: BTreeMap<u16, PortAllocation>,
    served: BTreeSet<Whose<'a>>,
    taken: BTreeSet<Place<'a>>,
    /// Of which kind the Listeners of a host are: its Service has one writer.
    kinds: BTreeMap<&'a str, Holder>,
    /// Ports of before: no other Listener gets one while its holder may still have it.
    own: BTreeMap<Whose<'a>, u16>,
    owned: BTreeSet<u16>,
    /// No port below is free.
    lowest: u16,
    /// What there was no room for, and whose it is.
    full: BTreeSet<(Place<'a>, Holder, Whose<'a>)>,
    lost: BTreeMap<String, LostPods>,
    left: usize,
}

impl<'a> Allocator<'a> {
    fn of(before: &'a Before, order: &[&'a PortRequest], room: usize) -> Self {
        let (mut own, mut owned) = (BTreeMap::new(), BTreeSet::new());
        let held = before.allocations.iter();
        let held: BTreeMap<Whose<'_>, u16> = held
            .map(|a| ((a.uid.as_str(), a.pod.as_deref()), a.router_port))
            .collect();
        let recovered = |request: &PortRequest| match request.pod {
            None => before
                .recovered
                .get(&request.holder.entry(&request.name))
                .copied(),
            Some(_) => None,
        };
        // Whatever was written there by hand: a port belongs to one.
        let ports = order
            .iter()
            .filter_map(|request| Some((request, *held.get(&whose(request))?)));
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
            if fits && !own.contains_key(&whose(request)) && owned.insert(port) {
                own.insert(whose(request), port);
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
        let place = place(request);
        let alone = request.pod.is_some() && !self.served.contains(&(request.uid.as_str(), None));
        let is_of_others = self.is_taken(place, request.holder);
        if alone || is_of_others {
            // It has lost, and its port is free for others.
            if let Some(port) = self.own.remove(&whose(request)) {
                self.owned.remove(&port);
                self.lowest = self.lowest.min(port);
            }
            if let Some(pod) = request.pod.as_ref().filter(|_| !alone) {
                self.lose(&request.uid, pod);
            }
            return;
        }
        let own = self.own.get(&whose(request)).copied();
        let port = own.or_else(|| self.lowest_free());
        let (Some(router_port), Some(left)) = (port, self.left.checked_sub(request.size)) else {
            self.full.insert((place, request.holder, whose(request)));
            return;
        };
        self.left = left;
        self.taken.insert(place);
        self.kinds.insert(place.0, request.holder);
        self.served.insert(whose(request));
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
    fn is_taken(&self, place: Place<'_>, holder: Holder) -> bool {
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
