//! Real routers with random events in random order. Each router reports the actual state of the
//! network, no byte of a stream is altered, and nothing is left over.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use lifecycle_tests::amount::amount;
use lifecycle_tests::eventually::{eventually, run_within};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::proxy::{OPEN, Passage};
use crate::ring::{Certificate, Health, Ring, SITES, port_of};
use crate::support::{LIMIT, random_bytes};

/// Streams that begin with each event.
const STREAMS: usize = 8;
/// Events of each round at least, so that all kinds of them happen in five rounds.
const LEAST: usize = EVENTS.len() / 5;
/// Minimum number of running sites, whatever happens.
const RUNNING: usize = 4;
/// Milliseconds until every temporary condition is over: links that were silent for this time may
/// be dead or alive.
const BRIEF: u64 = 3_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Kill,
    Freeze,
    Cut,
    Delay,
    Stall,
    Flap,
    Partition,
    Renew,
    Expire,
    Estrange,
}

const EVENTS: [Event; 10] = [
    Event::Kill,
    Event::Freeze,
    Event::Cut,
    Event::Delay,
    Event::Stall,
    Event::Flap,
    Event::Partition,
    Event::Renew,
    Event::Expire,
    Event::Estrange,
];

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Nothing came back.
    Refused,
    /// A part came back.
    Broken,
    Whole,
}

struct Chaos {
    ring: Ring,
    random: Pcg64,
    /// Events that come before any comes again.
    deck: Vec<Event>,
    happened: BTreeMap<Event, usize>,
    /// How often an end of a link found it gone or there again.
    changes: u64,
    streams: JoinSet<End>,
    ended: BTreeMap<End, usize>,
}

/// Sends these bytes to an echo server, in pieces with pauses, and compares the response with them.
async fn stream(address: SocketAddr, bytes: Vec<u8>, pause: Duration) -> End {
    let Ok(stream) = TcpStream::connect(address).await else {
        return End::Refused;
    };
    let (mut reader, mut writer) = stream.into_split();
    let write = async {
        for piece in bytes.chunks(4_000) {
            writer.write_all(piece).await?;
            sleep(pause).await;
        }
        writer.shutdown().await
    };
    let mut back = Vec::new();
    let (read, written) = tokio::join!(reader.read_to_end(&mut back), write);
    assert!(bytes.starts_with(&back), "another byte came back");
    // The system reports an abort only once: if the write got the report, the reader sees an end.
    // After a graceful end a write fails differently.
    let read = match written {
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(error),
        _ => read,
    };
    match read {
        Ok(_) => {
            let (came, sent) = (back.len(), bytes.len());
            assert_eq!(came, sent, "a stream that ended in peace is not whole");
            End::Whole
        }
        Err(_) if back.is_empty() => End::Refused,
        Err(_) => End::Broken,
    }
}

impl Chaos {
    fn among(&mut self, number: usize) -> usize {
        self.random.random_range(0..number)
    }

    /// A site that runs.
    fn any(&mut self) -> usize {
        let running = self.ring.running();
        running[self.among(running.len())]
    }

    async fn pause(&mut self, most: u64) {
        let pause = self.random.random_range(0..most);
        sleep(Duration::from_millis(pause)).await;
    }

    /// All links of a site went, or come.
    fn moved(&mut self, at: usize) {
        let own = self.ring.links.iter().filter(|link| link.touches(at));
        self.changes += 2 * own.count() as u64;
    }

    fn begin_streams(&mut self) {
        for _ in 0..STREAMS {
            let [at, owner] = [(); 2].map(|()| self.among(SITES));
            let address = SocketAddr::new(self.ring.members[at].site.address, port_of(owner));
            let size = self.random.random_range(1..200_000);
            let bytes = random_bytes(size, self.random.random());
            let pause = Duration::from_millis(self.random.random_range(0..60));
            self.streams.spawn(stream(address, bytes, pause));
        }
    }

    fn count_ended(&mut self) {
        while let Some(ended) = self.streams.try_join_next() {
            *self.ended.entry(ended.unwrap()).or_default() += 1;
        }
    }

    async fn happens(&mut self) {
        if self.deck.is_empty() {
            self.deck = EVENTS.to_vec();
            self.deck.shuffle(&mut self.random);
        }
        let event = self.deck.pop().unwrap();
        *self.happened.entry(event).or_default() += 1;
        let lasts = self.random.random::<bool>();
        eprintln!("{event:?}{}", if lasts { ", which lasts" } else { "" });
        match event {
            Event::Kill => self.stops(Health::Dead, lasts).await,
            Event::Freeze => self.stops(Health::Frozen, lasts).await,
            Event::Cut => {
                let at = self.among(self.ring.links.len());
                self.cut(at);
            }
            Event::Delay => {
                let late = Duration::from_millis(self.random.random_range(1..30));
                self.hinders(Passage::Open(late), lasts).await;
            }
            Event::Stall => self.hinders(Passage::Stalled, lasts).await,
            Event::Flap => {
                let at = self.among(self.ring.links.len());
                for _ in 0..self.random.random_range(3..7) {
                    self.cut(at);
                    self.pause(400).await;
                }
            }
            Event::Partition => self.parts(lasts).await,
            Event::Renew => {
                let at = self.any();
                let same = self.ring.members[at].certificate;
                self.ring.certify(at, same).await;
            }
            Event::Expire => self.certifies(Certificate::Expired, lasts).await,
            Event::Estrange => self.certifies(Certificate::Foreign, lasts).await,
        }
    }

    fn cut(&mut self, at: usize) {
        self.ring.links[at].proxy.cut();
        self.changes += 4;
    }

    async fn stops(&mut self, health: Health, lasts: bool) {
        let (at, running) = (self.any(), self.ring.running().len());
        let member = &mut self.ring.members[at];
        match health {
            Health::Runs => {}
            Health::Frozen => member.site.process.freeze(),
            Health::Dead => member.site.process.kill(),
        }
        member.health = health;
        self.moved(at);
        if !lasts || running <= RUNNING {
            self.pause(BRIEF).await;
            self.goes_on(at);
        }
    }

    fn goes_on(&mut self, at: usize) {
        let member = &mut self.ring.members[at];
        match member.health {
            Health::Runs => return,
            Health::Frozen => member.site.process.thaw(),
            Health::Dead => member.site.process.restart(),
        }
        member.health = Health::Runs;
        self.moved(at);
    }

    fn set(&mut self, at: usize, passage: Passage) {
        self.ring.links[at].proxy.set(passage);
        self.changes += 2;
    }

    async fn hinders(&mut self, passage: Passage, lasts: bool) {
        let at = self.among(self.ring.links.len());
        self.set(at, passage);
        if !lasts {
            self.pause(BRIEF).await;
            self.set(at, OPEN);
        }
    }

    /// Half of the sites is cut off the other half.
    async fn parts(&mut self, lasts: bool) {
        let mut sites: Vec<usize> = (0..SITES).collect();
        sites.shuffle(&mut self.random);
        let half = &sites[..SITES / 2];
        let links = self.ring.links.iter().enumerate();
        let is_between = |(a, b): (usize, usize)| half.contains(&a) != half.contains(&b);
        let between = links.filter(|(_, link)| is_between(link.ends));
        let between: Vec<usize> = between.map(|(at, _)| at).collect();
        for at in &between {
            self.set(*at, Passage::Closed);
        }
        if !lasts {
            self.pause(BRIEF).await;
            for at in between {
                self.set(at, OPEN);
            }
        }
    }

    async fn certifies(&mut self, certificate: Certificate, lasts: bool) {
        let at = self.any();
        self.moved(at);
        self.ring.certify(at, certificate).await;
        if !lasts {
            self.pause(BRIEF).await;
            self.moved(at);
            self.ring.certify(at, Certificate::Good).await;
        }
    }

    /// Faults end: all of them, or each with an even chance.
    async fn mends(&mut self, all: bool) {
        for at in 0..SITES {
            if all || self.random.random() {
                self.goes_on(at);
            }
            let member = &self.ring.members[at];
            let is_bad = member.health == Health::Runs && member.certificate != Certificate::Good;
            if is_bad && (all || self.random.random()) {
                self.moved(at);
                self.ring.certify(at, Certificate::Good).await;
            }
        }
        for at in 0..self.ring.links.len() {
            let is_bad = self.ring.links[at].proxy.passage() != OPEN;
            if is_bad && (all || self.random.random()) {
                self.set(at, OPEN);
            }
        }
    }

    /// Each site that runs reaches one of the keys that it can, and all bytes come back.
    async fn reaches(&mut self) {
        for at in self.ring.running() {
            let served = self.ring.served(at);
            if served.is_empty() {
                continue;
            }
            let owner = served[self.among(served.len())];
            let address = SocketAddr::new(self.ring.members[at].site.address, port_of(owner));
            let bytes = random_bytes(20_000, self.random.random());
            let is_whole = async || {
                let end = stream(address, bytes.clone(), Duration::ZERO).await;
                Ok((end == End::Whole).then_some(()))
            };
            let what = format!("a stream from s{at} to s{owner} is whole");
            eventually(&what, LIMIT, is_whole).await.unwrap();
        }
    }
}

/// Returns the upper bound on announcements: each change is announced at most once in each
/// direction of each link. Several changes are announced together, and most links already have them
/// from elsewhere. Measured are two to four announcements per change in total, and up to nine while
/// a network starts.
fn most_said(changes: u64, links: usize) -> u64 {
    changes * 2 * links as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s40_s43_s57_s59_six_routers_report_what_is_so_after_anything_and_no_byte_is_another_one() {
    let rounds = amount("ROUTER_CHAOS", 6, 200);
    let seed = amount("ROUTER_CHAOS_SEED", 1, 1);
    eprintln!("ROUTER_CHAOS={rounds} ROUTER_CHAOS_SEED={seed}");
    let ring = Ring::new().await;
    // Each link came, and each site got its keys.
    let changes = (2 * ring.links.len() + SITES) as u64;
    let mut chaos = Chaos {
        ring,
        random: Pcg64::seed_from_u64(seed),
        deck: Vec::new(),
        happened: BTreeMap::new(),
        changes,
        streams: JoinSet::new(),
        ended: BTreeMap::new(),
    };
    let mut said = 0;
    for round in 1..=rounds + 1 {
        // After the last one all is well.
        let is_last = round > rounds;
        chaos.mends(is_last).await;
        for _ in 0..chaos.random.random_range(LEAST..=4) {
            chaos.begin_streams();
            if !is_last {
                chaos.happens().await;
            }
            chaos.pause(300).await;
        }
        let when = format!("round {round}: routers report what is so");
        chaos.ring.settles(&when).await;
        chaos.reaches().await;
        chaos.count_ended();
        said += chaos.ring.new_announcements().await;
        let most = most_said(chaos.changes, chaos.ring.links.len());
        assert!(said <= most, "{said} announcements, and {most} at most");
    }
    let all_end = async {
        while let Some(ended) = chaos.streams.join_next().await {
            *chaos.ended.entry(ended.unwrap()).or_default() += 1;
        }
    };
    run_within(LIMIT, all_end).await.expect("all streams end");
    chaos.ring.wait_until_idle().await;
    let (changes, ended, happened) = (chaos.changes, &chaos.ended, &chaos.happened);
    eprintln!("{said} announcements for {changes} changes, streams {ended:?}, {happened:?}");
    let ended = |end| ended.get(&end).copied().unwrap_or_default() as u64;
    // Measured are five and more for each round that are whole, and one and more that break.
    assert!(ended(End::Whole) >= 2 * rounds && ended(End::Broken) > 0);
    assert!(rounds < 5 || happened.len() == EVENTS.len());
    assert!(said > changes, "nothing was announced");
}
