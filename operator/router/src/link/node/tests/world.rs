//! Nodes, the pipes between them, and echo servers.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::link::announcement::{Key, Role, SiteId};
use crate::link::cost::Cost;
use crate::link::ended::Ended;
use crate::link::node::{Local, Node, Server};
use crate::link::session::{Side, Terms};

use super::wire::{Line, Wire};

pub(super) fn site(number: usize) -> SiteId {
    SiteId::new(&format!("site-{number:02}")).unwrap()
}

pub(super) fn key(number: usize) -> Key {
    Key::new(&format!("key-{number:03}")).unwrap()
}

/// Servers by the number of their key: 900 refuses, 901 never answers, 902 never reads, 903 breaks
/// off after a byte, all others echo.
#[derive(Clone, Default)]
pub(super) struct Servers;

impl Local for Servers {
    fn connect<'a>(
        &'a self,
        asked: &'a Key,
    ) -> Pin<Box<dyn Future<Output = io::Result<Server>> + Send + 'a>> {
        Box::pin(async move {
            let (ours, mut theirs) = duplex(8 * 1024);
            if *asked == key(900) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            if *asked == key(901) {
                std::future::pending::<()>().await;
            }
            let asked = asked.clone();
            tokio::spawn(async move {
                if asked == key(902) {
                    std::future::pending::<()>().await;
                }
                if asked == key(903) {
                    theirs.write_all(b"x").await.unwrap();
                    return;
                }
                let mut buffer = vec![0; 8 * 1024];
                loop {
                    match theirs.read(&mut buffer).await {
                        Ok(0) | Err(_) => break,
                        Ok(size) => {
                            if theirs.write_all(&buffer[..size]).await.is_err() {
                                break;
                            }
                        }
                    }
                }
                drop(theirs.shutdown().await);
            });
            Ok(Box::new(ours) as Server)
        })
    }
}

pub(super) fn node(number: usize, instance: u64, role: Role) -> Node {
    Node::new(site(number), instance, role, Servers)
}

/// One end of a link, until it ends.
pub(super) fn link(
    node: &Node,
    wire: Wire,
    side: Side,
    peer: SiteId,
    cost: Cost,
) -> impl Future<Output = Ended> + Send + use<> {
    let node = node.clone();
    let terms = Terms {
        cost,
        identity: Some(peer),
        ..Terms::default()
    };
    async move { node.link(wire, side, &terms).await }
}

pub(super) struct World {
    pub(super) nodes: Vec<Node>,
    lines: Mutex<BTreeMap<(usize, usize), Line>>,
    ends: Mutex<BTreeMap<(usize, usize), JoinHandle<Ended>>>,
}

impl World {
    pub(super) fn new(sites: usize) -> Self {
        let nodes = (0..sites).map(|number| node(number, 1, Role::Interior));
        Self {
            nodes: nodes.collect(),
            lines: Mutex::default(),
            ends: Mutex::default(),
        }
    }

    /// Sites in a row, once they know each other.
    pub(super) async fn line(sites: usize) -> Self {
        let world = Self::new(sites);
        for at in 1..sites {
            world.join(at - 1, at, 1);
        }
        for node in &world.nodes {
            super::until(node, |ways| ways.sites.len() == sites - 1).await;
        }
        world
    }

    /// Lets node `a` dial node `b`. The returned sender changes the cost of the link for `a`.
    pub(super) fn join(&self, a: usize, b: usize, cost: u32) -> watch::Sender<u32> {
        self.join_over(Line::default(), a, b, cost)
    }

    /// The same over a line that is not as usual.
    pub(super) fn join_over(
        &self,
        line: Line,
        a: usize,
        b: usize,
        cost: u32,
    ) -> watch::Sender<u32> {
        let (changes, changing) = watch::channel(cost);
        let costs = [Cost::from(changing), Cost::fixed(cost)];
        let sides = [(a, b, Side::Dial), (b, a, Side::Accept)];
        let mut ends = self.ends.lock().unwrap();
        for (((from, to, side), wire), cost) in sides.into_iter().zip(line.pipe()).zip(costs) {
            let end = link(&self.nodes[from], wire, side, site(to), cost);
            ends.insert((from, to), tokio::spawn(end));
        }
        let mut lines = self.lines.lock().unwrap();
        lines.insert((a.min(b), a.max(b)), line);
        changes
    }

    fn line_of(&self, a: usize, b: usize) -> Line {
        self.lines.lock().unwrap()[&(a.min(b), a.max(b))].clone()
    }

    /// Stops all delivery between two nodes from now on, without notice to either.
    pub(super) fn silence(&self, a: usize, b: usize) {
        self.line_of(a, b).freeze(&[0, 1]);
    }

    /// The bytes that went over a pipe.
    pub(super) fn carried(&self, a: usize, b: usize) -> u64 {
        self.line_of(a, b).carried()
    }

    /// The connection between two nodes ends.
    pub(super) async fn close(&self, a: usize, b: usize) {
        let end = self.take_handle(a, b);
        end.abort();
        drop(end.await);
    }

    pub(super) fn take_handle(&self, from: usize, to: usize) -> JoinHandle<Ended> {
        self.ends.lock().unwrap().remove(&(from, to)).unwrap()
    }

    /// Why a link ended.
    pub(super) async fn wait_for_end(&self, from: usize, to: usize) -> Ended {
        self.take_handle(from, to).await.unwrap()
    }

    pub(super) fn set_keys(&self, at: usize, keys: &[usize]) {
        let keys = keys.iter().map(|number| key(*number));
        self.nodes[at].set_keys(keys.collect()).unwrap();
    }

    /// Returns the numbers of announcements and acknowledgements that all nodes have sent.
    pub(super) fn message_counts(&self) -> (u64, u64) {
        let said = self.nodes.iter().map(|node| {
            let said = node.frame_counts();
            let announcements = said.announcements.load(Ordering::Relaxed);
            (announcements, said.acknowledgements.load(Ordering::Relaxed))
        });
        said.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }
}
