//! Nodes, the pipes between them, and servers that answer with what they hear.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf, duplex,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::link::announcement::{Key, Role, SiteId};
use crate::link::cost::Cost;
use crate::link::ended::Ended;
use crate::link::node::{Local, Node, Server};
use crate::link::session::{Side, Terms};

pub(super) fn site(number: usize) -> SiteId {
    SiteId::new(&format!("site-{number:02}")).unwrap()
}

pub(super) fn key(number: usize) -> Key {
    Key::new(&format!("key-{number:03}")).unwrap()
}

/// Servers by the number of their key: 900 refuses, 901 never answers, 902 never reads, 903 breaks off after a byte, all others answer
/// with what they hear.
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

/// One end of a pipe that can be made silent, and counts what it carries.
pub(super) struct Wire {
    io: DuplexStream,
    silent: Arc<AtomicBool>,
    pub(super) carried: Arc<AtomicU64>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.silent.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.silent.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        if let Poll::Ready(Ok(size)) = written {
            self.carried.fetch_add(size as u64, Ordering::Relaxed);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[derive(Clone)]
struct Pipe {
    silent: Arc<AtomicBool>,
    carried: Arc<AtomicU64>,
}

pub(super) struct World {
    pub(super) nodes: Vec<Node>,
    pipes: Mutex<BTreeMap<(usize, usize), Pipe>>,
    ends: Mutex<BTreeMap<(usize, usize), JoinHandle<Ended>>>,
}

impl World {
    pub(super) fn new(sites: usize) -> Self {
        let nodes = (0..sites).map(|number| node(number, 1, Role::Interior));
        Self {
            nodes: nodes.collect(),
            pipes: Mutex::default(),
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

    /// Node `a` dials node `b`. What the link costs for `a` can be changed.
    pub(super) fn join(&self, a: usize, b: usize, cost: u32) -> watch::Sender<u32> {
        let (changes, changing) = watch::channel(cost);
        let (one, other) = duplex(64 * 1024);
        let pipe = Pipe {
            silent: Arc::default(),
            carried: Arc::default(),
        };
        let mut ends = self.ends.lock().unwrap();
        for ((from, to), io, side) in [((a, b), one, Side::Dial), ((b, a), other, Side::Accept)] {
            let node = self.nodes[from].clone();
            let wire = Wire {
                io,
                silent: pipe.silent.clone(),
                carried: pipe.carried.clone(),
            };
            let terms = Terms {
                cost: match side {
                    Side::Dial => changing.clone().into(),
                    Side::Accept => Cost::fixed(cost),
                },
                identity: Some(site(to)),
                ..Terms::default()
            };
            let end = tokio::spawn(async move { node.link(wire, side, &terms).await });
            ends.insert((from, to), end);
        }
        self.pipes
            .lock()
            .unwrap()
            .insert((a.min(b), a.max(b)), pipe);
        changes
    }

    fn pipe(&self, a: usize, b: usize) -> Pipe {
        self.pipes.lock().unwrap()[&(a.min(b), a.max(b))].clone()
    }

    /// From now on nothing arrives between two nodes, and neither is told.
    pub(super) fn silence(&self, a: usize, b: usize) {
        self.pipe(a, b).silent.store(true, Ordering::Relaxed);
    }

    /// The bytes that went over a pipe.
    pub(super) fn carried(&self, a: usize, b: usize) -> u64 {
        self.pipe(a, b).carried.load(Ordering::Relaxed)
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
    pub(super) async fn ended(&self, from: usize, to: usize) -> Ended {
        self.take_handle(from, to).await.unwrap()
    }

    pub(super) fn set_keys(&self, at: usize, keys: &[usize]) {
        let keys = keys.iter().map(|number| key(*number));
        self.nodes[at].set_keys(keys.collect()).unwrap();
    }

    /// Announcements and acknowledgements that all have said.
    pub(super) fn said(&self) -> (u64, u64) {
        let said = self.nodes.iter().map(|node| {
            let said = node.said();
            let announcements = said.announcements.load(Ordering::Relaxed);
            (announcements, said.acknowledgements.load(Ordering::Relaxed))
        });
        said.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }
}
