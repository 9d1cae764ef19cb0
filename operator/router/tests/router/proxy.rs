//! A TCP proxy on the path of a link. A test sets the traffic that it lets through, and the delay.
//! Independent of routers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::support::Server;

/// The fate of bytes and of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Each piece passes after this delay.
    Open(Duration),
    /// Connections stay, and carry nothing.
    Stalled,
    /// Connections are closed as soon as they are there.
    Closed,
}

/// At once.
pub(crate) const OPEN: Passage = Passage::Open(Duration::ZERO);

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    passage: watch::Sender<Passage>,
    cuts: watch::Sender<()>,
    _server: Server,
}

impl Proxy {
    /// Starts a proxy on the address of its target, on a port of its own.
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let (passage, cuts) = (watch::Sender::new(OPEN), watch::Sender::new(()));
        let (passages, cutting) = (passage.clone(), cuts.clone());
        let serve = move |stream| {
            let (mut cut, passage) = (cutting.subscribe(), passages.subscribe());
            async move {
                tokio::select! {
                    _ = cut.changed() => {}
                    _ = carry(stream, target, passage) => {}
                }
            }
        };
        let server = Server::serve_at(SocketAddr::new(target.ip(), 0), serve).await;
        Self {
            address: server.address,
            passage,
            cuts,
            _server: server,
        }
    }

    pub(crate) fn passage(&self) -> Passage {
        *self.passage.borrow()
    }

    pub(crate) fn set(&self, passage: Passage) {
        self.passage.send_replace(passage);
        if passage == Passage::Closed {
            self.cut();
        }
    }

    /// Closes all connections, towards both ends.
    pub(crate) fn cut(&self) {
        self.cuts.send_replace(());
    }
}

/// Carries a connection until one of its ends is gone.
async fn carry(
    stream: TcpStream,
    target: SocketAddr,
    passage: watch::Receiver<Passage>,
) -> io::Result<()> {
    if *passage.borrow() == Passage::Closed {
        return Ok(());
    }
    let other = TcpStream::connect(target).await?;
    stream.set_nodelay(true)?;
    other.set_nodelay(true)?;
    let ((from, back), (answers, to)) = (stream.into_split(), other.into_split());
    let ways = (
        pass(from, to, passage.clone()),
        pass(answers, back, passage),
    );
    tokio::try_join!(ways.0, ways.1).map(drop)
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut passage: watch::Receiver<Passage>,
) -> io::Result<()> {
    let mut piece = [0; 16 << 10];
    loop {
        let read = from.read(&mut piece).await?;
        let moves = passage.wait_for(|passage| *passage != Passage::Stalled);
        let passage = moves.await.map_or(OPEN, |passage| *passage);
        if let Passage::Open(delay) = passage {
            sleep(delay).await;
        }
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&piece[..read]).await?;
    }
}
