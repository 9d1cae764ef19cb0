//! Some sites, the messages under way between them, and a naive oracle for their paths.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use crate::link::announcement::{Key, Role, SiteId, Version};
use crate::link::network::{EXPIRY, Message, Network};
use crate::link::routes::Routes;

pub(super) fn site(number: usize) -> SiteId {
    SiteId::new(&format!("site-{number:02}")).unwrap()
}

pub(super) fn key(number: usize) -> Key {
    Key::new(&format!("key-{number}")).unwrap()
}

/// The instance of the first starts.
const INSTANCE: u64 = 1_000_000;

/// The time since a site started, as it measures it.
#[derive(Clone, Copy)]
struct Clock {
    started: Duration,
    percent: u32,
}

impl Clock {
    fn reading_at(self, now: Duration) -> Duration {
        (now - self.started) * self.percent / 100
    }

    /// The first moment at which it shows this.
    fn shows(self, time: Duration) -> Duration {
        self.started + time * 100 / self.percent + Duration::from_nanos(1)
    }
}

/// How the instance of a start compares with those of all starts before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    Higher,
    /// The clock went back.
    Lower,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) networks: Vec<Network>,
    pub(super) now: Duration,
    /// Announcements that were sent.
    pub(super) sent: usize,
    roles: Vec<Role>,
    keys: Vec<BTreeSet<Key>>,
    clocks: Vec<Clock>,
    starts: u64,
    /// True while each start had a higher instance than those before.
    ascending: bool,
    links: BTreeMap<(usize, usize), u32>,
    pipes: BTreeMap<(usize, usize), VecDeque<Message>>,
}

impl World {
    pub(super) fn new(roles: impl IntoIterator<Item = Role>) -> Self {
        let roles: Vec<Role> = roles.into_iter().collect();
        let networks = roles.iter().enumerate();
        let networks = networks.map(|(at, role)| Network::new(site(at), INSTANCE, *role));
        let clock = Clock {
            started: Duration::ZERO,
            percent: 100,
        };
        Self {
            networks: networks.collect(),
            now: Duration::from_secs(1),
            sent: 0,
            keys: vec![BTreeSet::new(); roles.len()],
            clocks: vec![clock; roles.len()],
            roles,
            starts: 0,
            ascending: true,
            links: BTreeMap::new(),
            pipes: BTreeMap::new(),
        }
    }

    fn of_links(sites: usize, links: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut world = Self::new(vec![Role::Interior; sites]);
        for (a, b) in links {
            world.up(a, b, 1);
        }
        world
    }

    pub(super) fn mesh(sites: usize) -> Self {
        let links = (0..sites).flat_map(|a| (a + 1..sites).map(move |b| (a, b)));
        Self::of_links(sites, links)
    }

    pub(super) fn line(sites: usize) -> Self {
        Self::of_links(sites, (1..sites).map(|b| (b - 1, b)))
    }

    pub(super) fn ring(sites: usize) -> Self {
        Self::of_links(sites, (0..sites).map(|a| (a, (a + 1) % sites)))
    }

    /// Links, twice.
    pub(super) fn directions(&self) -> usize {
        2 * self.links.len()
    }

    pub(super) fn routes(&self, at: usize) -> &Routes {
        self.networks[at].routes()
    }

    pub(super) fn up(&mut self, a: usize, b: usize, cost: u32) {
        let (a, b) = (a.min(b), a.max(b));
        let two_edges = self.roles[a] == Role::Edge && self.roles[b] == Role::Edge;
        if a == b || two_edges || self.links.contains_key(&(a, b)) {
            return;
        }
        self.links.insert((a, b), cost);
        for (from, to) in [(a, b), (b, a)] {
            self.pipes.insert((from, to), VecDeque::new());
            let role = self.roles[to];
            let now = self.now_at(from);
            self.networks[from].link_up(&site(to), role, cost, now);
        }
        self.flow();
    }

    pub(super) fn down(&mut self, a: usize, b: usize) {
        let (a, b) = (a.min(b), a.max(b));
        if self.links.remove(&(a, b)).is_none() {
            return;
        }
        for (from, to) in [(a, b), (b, a)] {
            self.pipes.remove(&(from, to));
            let now = self.now_at(from);
            self.networks[from].link_down(&site(to), now);
        }
        self.flow();
    }

    /// One of the links is lost and there again at once.
    pub(super) fn flap(&mut self, which: usize) {
        let count = self.links.len().max(1);
        let link = self.links.iter().nth(which % count);
        if let Some(((a, b), cost)) = link.map(|(ends, cost)| (*ends, *cost)) {
            self.down(a, b);
            self.up(a, b, cost);
        }
    }

    pub(super) fn set_keys(&mut self, at: usize, keys: BTreeSet<Key>) {
        self.keys[at].clone_from(&keys);
        let now = self.now_at(at);
        self.networks[at].set_keys(keys, now).unwrap();
        self.flow();
    }

    /// Sets the speed of a site's clock, in percent of real time.
    pub(super) fn set_clock(&mut self, at: usize, percent: u32) {
        self.clocks[at].percent = percent;
    }

    fn now_at(&self, at: usize) -> Duration {
        self.clocks[at].reading_at(self.now)
    }

    pub(super) fn restart(&mut self, at: usize, instance: Instance) {
        let links: Vec<_> = self
            .links
            .iter()
            .map(|((a, b), cost)| (*a, *b, *cost))
            .collect();
        let links: Vec<_> = links
            .into_iter()
            .filter(|(a, b, _)| *a == at || *b == at)
            .collect();
        for (a, b, _) in &links {
            self.down(*a, *b);
        }
        self.starts += 1;
        let instance = match instance {
            Instance::Higher => INSTANCE + self.starts,
            Instance::Lower => INSTANCE - 1000 * self.starts,
        };
        self.ascending &= instance > INSTANCE;
        self.clocks[at].started = self.now;
        self.networks[at] = Network::new(site(at), instance, self.roles[at]);
        self.set_keys(at, self.keys[at].clone());
        for (a, b, cost) in links {
            self.up(a, b, cost);
        }
    }

    /// Lets time pass; messages that are under way stay there.
    pub(super) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let all = self.networks.iter().zip(&self.clocks);
            let due = all.filter_map(|(network, clock)| Some(clock.shows(network.wake_at()?)));
            match due.min() {
                Some(due) if due <= until => self.now = due.max(self.now),
                _ => break,
            }
            self.flow();
        }
        self.now = until;
        self.flow();
    }

    /// Lets each site perform its due work, and collects its messages.
    fn flow(&mut self) {
        for at in 0..self.networks.len() {
            self.flow_of(at);
        }
    }

    fn flow_of(&mut self, at: usize) {
        let now = self.now_at(at);
        let network = &mut self.networks[at];
        if network.wake_at().is_some_and(|due| due <= now) {
            network.tick(now);
        }
        for ((_, to), pipe) in self.pipes.range_mut((at, 0)..(at + 1, 0)) {
            for message in network.messages(&site(*to), now) {
                self.sent += usize::from(matches!(message, Message::Announce(..)));
                pipe.push_back(message);
            }
        }
    }

    /// How many directions have a message under way.
    pub(super) fn waiting(&self) -> usize {
        self.pipes.values().filter(|pipe| !pipe.is_empty()).count()
    }

    fn take(&mut self, which: usize) -> Option<(usize, usize, Message)> {
        let mut full = self.pipes.iter_mut().filter(|(_, pipe)| !pipe.is_empty());
        let ((from, to), pipe) = full.nth(which)?;
        Some((*from, *to, pipe.pop_front()?))
    }

    /// The first message of one direction arrives.
    pub(super) fn deliver(&mut self, which: usize) {
        let (from, to, message) = self.take(which).unwrap();
        self.arrive(from, to, message);
        self.flow_of(to);
    }

    /// It is lost.
    pub(super) fn lose(&mut self, which: usize) {
        self.take(which).unwrap();
    }

    /// Acknowledgements arrive.
    pub(super) fn acknowledge(&mut self) {
        for (from, to) in self.pipes.keys().copied().collect::<Vec<_>>() {
            let pipe = self.pipes.get_mut(&(from, to)).unwrap();
            let is_answer = |message: &Message| matches!(message, Message::Acknowledge(..));
            let (answers, others) = std::mem::take(pipe).into_iter().partition(is_answer);
            *pipe = others;
            for answer in Vec::from(answers) {
                self.arrive(from, to, answer);
            }
        }
    }

    /// All messages that are under way arrive, and those that they cause.
    pub(super) fn drain(&mut self) {
        while self.waiting() > 0 {
            for (from, to) in self.pipes.keys().copied().collect::<Vec<_>>() {
                if let Some(message) = self
                    .pipes
                    .get_mut(&(from, to))
                    .and_then(VecDeque::pop_front)
                {
                    self.arrive(from, to, message);
                    self.flow_of(to);
                }
            }
        }
    }

    fn arrive(&mut self, from: usize, to: usize, message: Message) {
        let now = self.now_at(to);
        let network = &mut self.networks[to];
        match message {
            Message::Announce(announcement) => {
                network.receive(&site(from), announcement, now).unwrap();
            }
            Message::Acknowledge(origin, version) => {
                network.acknowledged(&site(from), &origin, version);
            }
        }
    }

    /// A message of any direction arrives, or is lost, or comes twice, or after the one behind it.
    pub(super) fn step(&mut self, which: usize, fate: u8) {
        let waiting = self.waiting();
        if waiting == 0 {
            return;
        }
        let (from, to, message) = self.take(which % waiting).unwrap();
        // A link keeps the order of acknowledgements. It never loses one that reports forgotten
        // information: the link would end with that.
        let fate = match &message {
            Message::Acknowledge(_, version) if fate == 2 || *version == Version::default() => 3,
            Message::Acknowledge(..) | Message::Announce(..) => fate,
        };
        match fate {
            0 => {}
            1 => {
                self.arrive(from, to, message.clone());
                self.arrive(from, to, message);
            }
            2 => self.pipes.get_mut(&(from, to)).unwrap().push_back(message),
            _ => self.arrive(from, to, message),
        }
        self.flow();
    }

    /// Delivers everything, and repeats lost messages, until no message is sent any more.
    pub(super) fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 3 {
            let before = self.sent;
            self.drain();
            // The time is short enough that nothing expires, and long enough that lost messages
            // are sent again.
            self.wait(Duration::from_millis(5001));
            quiet = if self.sent == before && self.waiting() == 0 {
                quiet + 1
            } else {
                0
            };
        }
    }

    /// Returns a hash that distinguishes moments.
    pub(super) fn print(&self, happened: (usize, usize)) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{happened:?} {:?} {:?}", self.networks, self.pipes).hash(&mut hasher);
        hasher.finish()
    }

    /// All ways of all sites.
    pub(super) fn describe_routes(&self) -> String {
        let routes: Vec<&Routes> = self
            .networks
            .iter()
            .map(|network| &**network.routes())
            .collect();
        format!("{routes:?}")
    }

    /// The links that streams may use: of an edge site the one that it announces.
    fn used(&self) -> BTreeMap<(usize, usize), u64> {
        let mut used = BTreeMap::new();
        for ((a, b), cost) in &self.links {
            let announced = |at: usize, to: usize| {
                let own = self.networks[at].own();
                assert!(self.roles[at] == Role::Edge || own.links.contains_key(&site(to)));
                own.links.contains_key(&site(to))
            };
            if announced(*a, *b) && announced(*b, *a) {
                used.insert((*a, *b), u64::from(*cost));
                used.insert((*b, *a), u64::from(*cost));
            }
        }
        used
    }

    /// The costs of all ways from one site, computed by trying every link again and again.
    fn costs(&self, from: usize) -> BTreeMap<usize, u64> {
        let used = self.used();
        let mut costs = BTreeMap::from([(from, 0)]);
        for _ in &self.networks {
            for ((a, b), cost) in &used {
                let passes = *a == from || self.roles[*a] == Role::Interior;
                if let Some(there) = costs.get(a).copied().filter(|_| passes) {
                    let all = costs.entry(*b).or_insert(u64::MAX);
                    *all = (*all).min(there + cost);
                }
            }
        }
        costs.remove(&from);
        costs
    }

    /// Checks that every site has the paths of the oracle and the keys of all sites that it
    /// reaches, and that no path is a circle.
    pub(super) fn agrees_with_the_oracle(&self) {
        for from in 0..self.networks.len() {
            let costs = self.costs(from);
            let routes = self.routes(from);
            let had = routes
                .sites
                .iter()
                .map(|(site, route)| (site.clone(), route.cost));
            let wanted = costs.iter().map(|(to, cost)| (site(*to), *cost));
            let (had, wanted): (BTreeMap<_, _>, BTreeMap<_, _>) = (had.collect(), wanted.collect());
            assert_eq!(had, wanted, "ways of {from}");
            for to in costs.keys() {
                self.follow(from, *to);
            }
            let mut keys: BTreeMap<Key, BTreeSet<SiteId>> = BTreeMap::new();
            for to in costs.keys() {
                for key in &self.keys[*to] {
                    keys.entry(key.clone()).or_default().insert(site(*to));
                }
            }
            let had = routes.keys.iter();
            let had = had.map(|(key, sites)| (key.clone(), sites.iter().cloned().collect()));
            assert_eq!(
                had.collect::<BTreeMap<_, BTreeSet<_>>>(),
                keys,
                "keys of {from}"
            );
        }
        let contested = self.networks.iter().any(|network| network.contested() > 0);
        assert!(!(self.ascending && contested));
        assert!(EXPIRY > Duration::from_secs(30));
    }

    fn follow(&self, from: usize, to: usize) {
        let (mut at, mut left) = (from, u64::MAX);
        while at != to {
            let route = &self.routes(at).sites[&site(to)];
            assert!(route.cost < left, "a circle from {from} to {to} at {at}");
            left = route.cost;
            at = (0..self.networks.len())
                .find(|next| site(*next) == route.next)
                .unwrap();
        }
    }
}
