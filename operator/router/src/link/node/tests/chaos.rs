//! Fifty sites with five hundred keys of which links are cut, fall silent and come back, and routers start again, at random: within the
//! bound everybody knows the ways as they are, no byte of a stream is another one, and nothing is left over.

use std::collections::BTreeSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::task::JoinSet;

use super::*;

const SITES: usize = 50;
const KEYS: usize = 10;
/// Besides what it takes to see that a link is dead.
const SETTLED: Duration = Duration::from_secs(8);

/// The links that are there, by their ends, and what they cost.
type Links = BTreeMap<(usize, usize), u32>;

struct Chaos {
    world: World,
    links: Links,
    /// Those that were there at first, and may come back.
    all: Links,
    instances: Vec<u64>,
    random: Pcg64,
}

impl Chaos {
    fn new(all: Links, seed: u64) -> Self {
        let mut chaos = Self {
            world: World::new(SITES),
            links: Links::new(),
            instances: vec![1; SITES],
            random: Pcg64::seed_from_u64(seed),
            all: all.clone(),
        };
        for at in 0..SITES {
            chaos.set_keys(at);
        }
        for (ends, cost) in all {
            chaos.join(ends, cost);
        }
        chaos
    }

    fn set_keys(&self, at: usize) {
        let keys: Vec<usize> = (0..KEYS).map(|number| at * KEYS + number).collect();
        self.world.set_keys(at, &keys);
    }

    fn join(&mut self, (a, b): (usize, usize), cost: u32) {
        self.world.join(a, b, cost);
        self.links.insert((a, b), cost);
    }

    fn any(&mut self, links: &Links) -> Option<((usize, usize), u32)> {
        let all: Vec<_> = links.iter().collect();
        let at = self.random.random_range(0..all.len().max(1));
        all.get(at).map(|(ends, cost)| (**ends, **cost))
    }

    /// Something happens. Returns in how many sites something is new.
    async fn happens(&mut self) -> usize {
        let links = self.links.clone();
        match self.random.random_range(0..10) {
            0..3 => {
                if let Some(((a, b), _)) = self.any(&links) {
                    self.world.close(a, b).await;
                    self.links.remove(&(a, b));
                }
                2
            }
            3..5 => {
                if let Some(((a, b), _)) = self.any(&links) {
                    self.world.silence(a, b);
                    self.links.remove(&(a, b));
                }
                2
            }
            5..9 => {
                let all = self.all.clone().into_iter();
                let gone = all.filter(|(ends, _)| !links.contains_key(ends)).collect();
                if let Some((ends, cost)) = self.any(&gone) {
                    self.join(ends, cost);
                }
                2
            }
            _ => self.restart().await,
        }
    }

    async fn restart(&mut self) -> usize {
        let at = self.random.random_range(0..SITES);
        let of = self.links.clone().into_iter();
        let of: Links = of.filter(|((a, b), _)| *a == at || *b == at).collect();
        for (a, b) in of.keys() {
            // Its own end, whichever that is.
            let (own, other) = if *a == at { (*a, *b) } else { (*b, *a) };
            self.world.close(own, other).await;
        }
        self.instances[at] += 1;
        self.world.nodes[at] = node(at, self.instances[at], Role::Interior);
        self.set_keys(at);
        for ((a, b), cost) in &of {
            self.join((*a, *b), *cost);
        }
        2 * of.len() + 1
    }

    /// What the cheapest way from a site to each other one costs.
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

    /// Everybody knows the ways as they are.
    fn check(&self, round: usize) {
        for at in 0..SITES {
            let ways = self.world.nodes[at].ways().borrow().clone();
            let known = ways
                .sites
                .iter()
                .map(|(site, way)| (site.clone(), way.cost));
            let known: BTreeMap<SiteId, u64> = known.collect();
            let expected = self.costs(at);
            assert_eq!(known, expected, "site {at} after {round} rounds");
            assert_eq!(ways.keys.len(), KEYS * expected.len(), "site {at}");
        }
    }

    /// A stream from anywhere to anywhere.
    fn stream(&mut self) -> impl Future<Output = bool> + Send + use<> {
        let [from, to] = [(); 2].map(|()| self.random.random_range(0..SITES));
        let node = self.world.nodes[from].clone();
        let key = key(to * KEYS + self.random.random_range(0..KEYS));
        let mut bytes = vec![0; self.random.random_range(1..200_000)];
        self.random.fill(&mut bytes[..]);
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
            assert!(bytes.starts_with(&back), "another byte came back");
            // One that ended in peace is whole.
            assert!(read.is_err() || back.len() == bytes.len());
            read.is_ok()
        }
    }
}

fn said(world: &World) -> u64 {
    world.said().0
}

async fn chaos(all: Links, seed: u64) {
    let mut chaos = Chaos::new(all, seed);
    sleep(SETTLED).await;
    chaos.check(0);
    let directions = 2 * chaos.all.len() as u64;
    let mut streams = JoinSet::new();
    for round in 1..=12 {
        for _ in 0..12 {
            streams.spawn(chaos.stream());
        }
        let (before, mut changes) = (said(&chaos.world), 0);
        for _ in 0..chaos.random.random_range(1..6) {
            changes += chaos.happens().await as u64;
            let pause = chaos.random.random_range(0..1_500);
            sleep(Duration::from_millis(pause)).await;
        }
        sleep(SETTLED).await;
        chaos.check(round);
        // Each change is said once in each direction of each link, and what a link that is new lacks once more.
        let more = said(&chaos.world).saturating_sub(before);
        let most = (3 * changes + SITES as u64) * directions;
        assert!(more <= most, "{more} announcements for {changes} changes");
    }
    let mut whole = 0;
    while let Some(ended) = streams.join_next().await {
        whole += usize::from(ended.unwrap());
    }
    assert!(whole > 12, "{whole} streams were whole");
    sleep(Duration::from_secs(1)).await;
    for node in &chaos.world.nodes {
        let open: u64 = node.peers().iter().map(|peer| peer.traffic.open).sum();
        assert_eq!(open, 0, "streams of {} are left", node.site());
    }
}

#[tokio::test(start_paused = true)]
async fn s40_s43_fifty_sites_in_a_ring_with_chords_know_their_ways_after_anything() {
    let mut random = Pcg64::seed_from_u64(17);
    let mut links: Links = (0..SITES).map(|at| ((at, (at + 1) % SITES), 1)).collect();
    while links.len() < 70 {
        let [a, b] = [(); 2].map(|()| random.random_range(0..SITES));
        let ends: BTreeSet<usize> = [a, b].into();
        if ends.len() == 2 && !links.contains_key(&(b, a)) {
            links.insert((a, b), random.random_range(1..5));
        }
    }
    chaos(links, 1).await;
}

#[tokio::test(start_paused = true)]
async fn s40_s43_fifty_sites_around_a_hub_know_their_ways_after_anything() {
    let links: Links = (1..SITES).map(|at| ((at, 0), 1)).collect();
    chaos(links, 2).await;
}
