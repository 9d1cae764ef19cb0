//! Fifty sites with five hundred keys, and random events: links are cut, flap, fall silent, thaw
//! and come back, halves are parted, and routers restart. Within the bound every site knows the
//! current paths, no byte of a stream is altered, and nothing is left over. `LINK_CHAOS` sets the
//! number of seeds of each network.

use std::collections::BTreeSet;

use lifecycle_tests::amount::amount;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::task::JoinSet;

use super::dialled::Dialled;
use super::wire::Line;
use super::*;
use crate::link::session::{ALIVE, DEAD};

const SITES: usize = 50;
const KEYS: usize = 10;
/// Time to detect that a link is dead, to dial again, and to notify every site.
const SETTLED: Duration = Duration::from_secs(8);
/// The longest that bytes are under way.
const LATENCY: u64 = 300;
/// Time that a link can stall without being given up, in milliseconds: its last message arrived
/// just before, or a moment ago.
const SHORT: u64 = (DEAD.as_millis() - ALIVE.as_millis()) as u64 - 50;
/// After this both ends have given it up.
const LONG: u64 = (DEAD.as_millis() + ALIVE.as_millis()) as u64 + LATENCY;

type Ends = (usize, usize);

/// Links by their ends, with their costs.
type Links = BTreeMap<Ends, u32>;

/// A change of links and sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A link is closed.
    Close,
    /// Nothing arrives over a link any more, in one direction or both.
    Silence,
    /// A link that is closed or silent is back.
    Return,
    /// A link is closed and made again and again.
    Flap,
    /// A link is silent for less than it takes to give it up.
    Hesitate,
    /// A link is silent, is given up and thaws.
    Thaw,
    /// A router starts again.
    Restart,
}

/// Each happens as often as it is here before any happens again.
const EVENTS: [Event; 8] = [
    Event::Close,
    Event::Silence,
    Event::Return,
    Event::Return,
    Event::Flap,
    Event::Hesitate,
    Event::Thaw,
    Event::Restart,
];

struct Chaos {
    /// Name of this run, for the reader of a failure.
    name: String,
    world: World,
    /// Those that are dialled, silent or not.
    dialled: BTreeMap<Ends, Dialled>,
    /// Those that carry something.
    links: Links,
    /// Those that were there at first, and may come back.
    all: Links,
    instances: Vec<u64>,
    random: Pcg64,
    /// Those that are to happen next.
    ahead: Vec<Event>,
    happened: BTreeMap<Event, usize>,
    /// The longest that it took until everybody knew the ways.
    slowest: Duration,
}

impl Chaos {
    fn new(name: String, all: Links, random: Pcg64) -> Self {
        let mut chaos = Self {
            name,
            world: World::new(SITES),
            dialled: BTreeMap::new(),
            links: Links::new(),
            all: all.clone(),
            instances: vec![1; SITES],
            random,
            ahead: Vec::new(),
            happened: BTreeMap::new(),
            slowest: Duration::ZERO,
        };
        for at in 0..SITES {
            chaos.set_keys(at);
        }
        for ends in all.into_keys() {
            chaos.join(ends);
        }
        chaos
    }

    fn set_keys(&self, at: usize) {
        let keys: Vec<usize> = (0..KEYS).map(|number| at * KEYS + number).collect();
        self.world.set_keys(at, &keys);
    }

    /// A link that is new, over a line that may delay: the same in both directions, or not.
    fn join(&mut self, ends: Ends) {
        let [there, back] = [(); 2].map(|()| self.random.random_range(0..=LATENCY));
        let latencies = match self.random.random_range(0..3) {
            0 => [0, 0],
            1 => [there, there],
            _ => [there, back],
        };
        let line = Line::new(latencies.map(Duration::from_millis));
        let [from, to] = [ends.0, ends.1].map(|at| &self.world.nodes[at]);
        let cost = self.all[&ends];
        // The one before it is closed.
        self.dialled.remove(&ends);
        self.dialled
            .insert(ends, Dialled::new(from, to, cost, line));
        self.links.insert(ends, cost);
    }

    fn close(&mut self, ends: Ends) {
        self.dialled.remove(&ends);
        self.links.remove(&ends);
    }

    /// In one direction or both.
    fn freeze(&mut self, ends: Ends) {
        let directions: &[usize] = match self.random.random_range(0..4) {
            0 => &[0],
            1 => &[1],
            _ => &[0, 1],
        };
        self.dialled[&ends].line.freeze(directions);
    }

    fn silence(&mut self, ends: Ends) {
        self.freeze(ends);
        self.links.remove(&ends);
    }

    /// A silent link thaws, or is made anew as one that was closed is.
    fn come_back(&mut self, ends: Ends) {
        let thaws = self.random.random_ratio(1, 2);
        if let Some(dialled) = self.dialled.get(&ends).filter(|_| thaws) {
            dialled.line.thaw();
            self.links.insert(ends, self.all[&ends]);
        } else {
            self.join(ends);
        }
    }

    /// One of the links that are there, or of those that are not.
    fn any(&mut self, is_there: bool) -> Option<Ends> {
        let all = self.all.keys().copied();
        let all: Vec<Ends> = all
            .filter(|ends| self.links.contains_key(ends) == is_there)
            .collect();
        let at = self.random.random_range(0..all.len().max(1));
        all.get(at).copied()
    }

    async fn pause(&mut self, millis: std::ops::Range<u64>) {
        let pause = self.random.random_range(millis);
        sleep(Duration::from_millis(pause)).await;
    }

    /// The next event, and the link it happens to. As many links return as are cut or silent, so something can always happen.
    fn draw(&mut self) -> (Event, Ends) {
        if self.ahead.is_empty() {
            self.ahead.extend(EVENTS);
        }
        loop {
            let next = self.random.random_range(0..self.ahead.len());
            let event = self.ahead[next];
            if let Some(ends) = self.any(event != Event::Return) {
                self.ahead.swap_remove(next);
                return (event, ends);
            }
        }
    }

    /// Triggers a random event. Returns the number of new announcements that sites make because of
    /// it.
    async fn happens(&mut self) -> usize {
        let (event, ends) = self.draw();
        *self.happened.entry(event).or_default() += 1;
        match event {
            Event::Close => self.close(ends),
            Event::Silence => self.silence(ends),
            Event::Return => self.come_back(ends),
            Event::Flap => {
                let times = self.random.random_range(3..6);
                for _ in 0..times {
                    self.close(ends);
                    self.pause(0..200).await;
                    self.join(ends);
                    self.pause(0..200).await;
                }
                return 4 * times;
            }
            Event::Hesitate => {
                self.freeze(ends);
                self.pause(0..SHORT).await;
                self.dialled[&ends].line.thaw();
                return 0;
            }
            Event::Thaw => {
                self.freeze(ends);
                self.pause(DEAD.as_millis() as u64..LONG).await;
                self.dialled[&ends].line.thaw();
                return 4;
            }
            Event::Restart => return self.restart(),
        }
        2
    }

    fn restart(&mut self) -> usize {
        let at = self.random.random_range(0..SITES);
        self.instances[at] += 1;
        self.world.nodes[at] = node(at, self.instances[at], Role::Interior);
        self.set_keys(at);
        let of: Vec<Ends> = self.links.keys().copied().collect();
        let of = of.into_iter().filter(|(a, b)| *a == at || *b == at);
        let mut changes = 1;
        for ends in of {
            changes += 2;
            if ends.0 == at {
                self.join(ends);
            } else {
                self.dialled[&ends].lead_to(&self.world.nodes[at]);
            }
        }
        // Those that are silent are none of the new router's.
        let links = &self.links;
        self.dialled
            .retain(|ends, _| links.contains_key(ends) || ends.0 != at && ends.1 != at);
        changes
    }

    /// Cuts all links between two halves for a while, and then restores all links. Returns the
    /// number of new announcements by sites.
    async fn part(&mut self) -> usize {
        let halves: Vec<bool> = (0..SITES).map(|_| self.random.random()).collect();
        let of: Vec<Ends> = self.links.keys().copied().collect();
        let between = of.into_iter().filter(|(a, b)| halves[*a] != halves[*b]);
        let between: Vec<Ends> = between.collect();
        let falls_silent = self.random.random_ratio(1, 2);
        for ends in &between {
            match falls_silent {
                true => self.silence(*ends),
                false => self.close(*ends),
            }
        }
        self.settles("parted").await;
        let all: Vec<Ends> = self.all.keys().copied().collect();
        let gone = all
            .into_iter()
            .filter(|ends| !self.links.contains_key(ends));
        let gone: Vec<Ends> = gone.collect();
        for ends in &gone {
            self.come_back(*ends);
        }
        self.settles("healed").await;
        2 * (between.len() + gone.len())
    }

    /// Returns the cost of the cheapest route from a site to each other one.
    fn costs(&self, from: usize) -> BTreeMap<SiteId, u64> {
        let mut costs = vec![u64::MAX; SITES];
        costs[from] = 0;
        loop {
            let before = costs.clone();
            for ((a, b), cost) in &self.links {
                let cost = u64::from(*cost);
                costs[*a] = costs[*a].min(costs[*b].saturating_add(cost));
                costs[*b] = costs[*b].min(costs[*a].saturating_add(cost));
            }
            if costs == before {
                break;
            }
        }
        let all = costs.into_iter().enumerate();
        let reached = all.filter(|(at, cost)| *at != from && *cost != u64::MAX);
        reached.map(|(at, cost)| (site(at), cost)).collect()
    }

    /// A site that does not know the ways as they are.
    fn mistaken(&self, expected: &[BTreeMap<SiteId, u64>]) -> Option<String> {
        let mut all = self.world.nodes.iter().zip(expected);
        all.find_map(|(node, expected)| {
            let ways = node.routes().borrow().clone();
            let known = ways.sites.iter();
            let known: BTreeMap<_, _> = known.map(|(to, way)| (to.clone(), way.cost)).collect();
            let (keys, all) = (ways.keys.len(), KEYS * expected.len());
            let is_other = |(to, cost): &(&SiteId, &u64)| expected.get(to) != Some(*cost);
            let text = || {
                let other: Vec<_> = known.iter().filter(is_other).collect();
                let site = node.site();
                let (had, of) = (known.len(), expected.len());
                format!("{site} knows {had} of {of} sites, {other:?} otherwise, and {keys} of {all} keys")
            };
            (known != *expected || keys != all).then(text)
        })
    }

    /// Within the bound everybody knows the ways as they are, and then nothing changes any more.
    async fn settles(&mut self, when: &str) {
        let expected: Vec<_> = (0..SITES).map(|at| self.costs(at)).collect();
        let since = Instant::now();
        while self.mistaken(&expected).is_some() && since.elapsed() < SETTLED {
            sleep(Duration::from_millis(100)).await;
        }
        self.slowest = self.slowest.max(since.elapsed());
        tokio::time::sleep_until(since + SETTLED).await;
        if let Some(mistaken) = self.mistaken(&expected) {
            panic!("{}, {when}: {mistaken}", self.name);
        }
    }

    /// A stream from anywhere to anywhere.
    fn stream(&mut self) -> impl Future<Output = bool> + Send + use<> {
        let [from, to] = [(); 2].map(|()| self.random.random_range(0..SITES));
        let node = self.world.nodes[from].clone();
        let key = key(to * KEYS + self.random.random_range(0..KEYS));
        let mut bytes = vec![0; self.random.random_range(1..200_000)];
        self.random.fill(&mut bytes[..]);
        let name = self.name.clone();
        async move {
            let Ok(stream) = node.open(&key, &site(to)).await else {
                return false;
            };
            let (mut reader, mut writer) = tokio::io::split(stream);
            let write = async {
                for piece in bytes.chunks(7_000) {
                    if writer.write_all(piece).await.is_err() {
                        return;
                    }
                    sleep(Duration::from_millis(300)).await;
                }
                drop(writer.shutdown().await);
            };
            let mut back = Vec::new();
            let (read, ()) = tokio::join!(reader.read_to_end(&mut back), write);
            assert!(
                bytes.starts_with(&back),
                "{name}: another byte came back of {from} to {to}"
            );
            // One that ended in peace is whole.
            let is_whole = back.len() == bytes.len();
            assert!(read.is_err() || is_whole, "{name}: {from} to {to}");
            read.is_ok()
        }
    }

    /// Checks the number of announcements since `before`. Each change is announced once in each
    /// direction of each link, and a new link transfers missing announcements once more.
    fn said_little(&self, before: u64, changes: usize) {
        let more = self.world.message_counts().0.saturating_sub(before);
        let directions = 2 * self.all.len();
        let most = (3 * changes + SITES) * directions;
        let name = &self.name;
        assert!(
            more <= most as u64,
            "{name}: {more} announcements for {changes} changes"
        );
    }

    async fn runs(mut self, rounds: usize, events: usize) -> BTreeMap<Event, usize> {
        self.settles("at first").await;
        let mut streams = JoinSet::new();
        for round in 1..=rounds {
            for _ in 0..12 {
                streams.spawn(self.stream());
            }
            let (before, mut changes) = (self.world.message_counts().0, 0);
            for _ in 0..events {
                changes += self.happens().await;
                self.pause(0..1_500).await;
            }
            self.settles(&format!("round {round}")).await;
            self.said_little(before, changes);
        }
        let before = self.world.message_counts().0;
        let changes = self.part().await;
        self.said_little(before, changes);
        let mut whole = 0;
        while let Some(ended) = streams.join_next().await {
            whole += usize::from(ended.unwrap());
        }
        assert!(whole > rounds, "{}: {whole} streams were whole", self.name);
        sleep(Duration::from_secs(5)).await;
        for node in &self.world.nodes {
            let open: u64 = node.peers().iter().map(|peer| peer.traffic.open).sum();
            let (name, site) = (&self.name, node.site());
            assert_eq!(open, 0, "{name}: streams of {site} are left");
            assert_eq!(node.contested(), 0, "{name}: {site}");
        }
        eprintln!("{}: known in {:?} at most", self.name, self.slowest);
        self.happened
    }
}

/// Runs networks of one kind with the first seeds, in `rounds` rounds of `events` events.
async fn chaos(kind: &str, (rounds, events): (usize, usize), links: impl Fn(&mut Pcg64) -> Links) {
    let mut happened: BTreeMap<Event, usize> = BTreeMap::new();
    for seed in 0..amount("LINK_CHAOS", 1, 10) {
        let mut random = Pcg64::seed_from_u64(seed);
        let links = links(&mut random);
        let chaos = Chaos::new(format!("{kind}, seed {seed}"), links, random);
        for (event, times) in chaos.runs(rounds, events).await {
            *happened.entry(event).or_default() += times;
        }
    }
    let missing = EVENTS.iter().find(|event| !happened.contains_key(event));
    assert_eq!(missing, None, "only {happened:?} happened");
}

/// Adds links at random costs until `count` links exist.
fn add(links: &mut Links, count: usize, random: &mut Pcg64) {
    while links.len() < count {
        let [a, b] = [(); 2].map(|()| random.random_range(0..SITES));
        let ends: BTreeSet<usize> = [a, b].into();
        if ends.len() == 2 && !links.contains_key(&(b, a)) {
            links.insert((a, b), random.random_range(1..5));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn s40_s43_fifty_sites_in_a_ring_with_chords_know_their_ways_after_anything() {
    chaos("ring", (3, 4), |random| {
        let mut links: Links = (0..SITES).map(|at| ((at, (at + 1) % SITES), 1)).collect();
        add(&mut links, 70, random);
        links
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn s40_s43_fifty_sites_with_eight_neighbours_each_know_their_ways_after_anything() {
    chaos("mesh", (1, 8), |random| {
        let mut links = Links::new();
        add(&mut links, 4 * SITES, random);
        links
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn s40_s43_fifty_sites_around_a_hub_know_their_ways_after_anything() {
    chaos("star", (4, 4), |_| {
        (1..SITES).map(|at| ((at, 0), 1)).collect()
    })
    .await;
}
