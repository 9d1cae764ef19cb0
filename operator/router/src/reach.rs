//! From a routing key to a server: targets are tried one after the other until one takes the
//! stream, a server of this site or another site. Also handles streams from another site for a key
//! of this one. Independent of clients and documents.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::{TlsConnector, client};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::boxed::BoxFuture;
use crate::config::Host;
use crate::link::announcement::Key;
use crate::link::node::{self, Local};
use crate::link::stream::LinkStream;
use crate::relay::Endpoint;
use crate::routing::{Booked, Destination, Security, Target};
use crate::shared::Shared;
use crate::tcp;

/// Number of targets that are tried for one stream.
const TRIES: u32 = 3;
/// Upper bound on the time for the route to another site, in addition to the time of its servers.
const WAY: Duration = Duration::from_secs(1);

/// Peer that takes a stream.
pub(crate) enum Server {
    Plain(TcpStream),
    Tls(Box<client::TlsStream<TcpStream>>),
    Site(LinkStream),
}

/// Targets that may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of all sites.
    Network,
    /// Servers of this site.
    Site,
}

/// Finds a server for the key. `takes` decides if the stream may go to a target that has answered.
pub(crate) async fn reach(
    shared: &Shared,
    key: &str,
    scope: Scope,
    takes: impl Fn(&Arc<Target>) -> bool,
) -> Option<(Booked, Server)> {
    let mut tried = Vec::new();
    for _ in 0..TRIES {
        let booked = match scope {
            Scope::Network => shared.routes.book(key, &tried)?,
            Scope::Site => shared.routes.book_server(key, &tried)?,
        };
        let target = &booked.0;
        let limit = shared.options.connect_timeout;
        let limit = match target.place {
            Destination::Server(_) => limit,
            Destination::Site { .. } => limit * TRIES + WAY,
        };
        let dialled = tokio::select! {
            dialled = timeout(limit, dial(target)) => dialled,
            () = target.gone.cancelled() => {
                tried.push(target.clone());
                continue;
            }
        };
        let late = |_| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it did not answer in time",
            ))
        };
        match dialled.unwrap_or_else(late) {
            Ok(server) => {
                if target.record_success() && target.server().is_some() {
                    shared.state.set_note("tcpConnector", &target.name, None);
                }
                if takes(target) {
                    return Some((booked, server));
                }
            }
            Err(error) => refused(shared, target, key, &error),
        }
        tried.push(target.clone());
    }
    None
}

fn refused(shared: &Shared, target: &Target, key: &str, error: &io::Error) {
    match &target.place {
        Destination::Server(server) => {
            let text = server.unreachable(error);
            if target.refused(&text) {
                tracing::warn!(connector = &*target.name, "{text}");
                shared
                    .state
                    .set_note("tcpConnector", &target.name, Some(text));
            }
        }
        Destination::Site { site, .. } => {
            if target.refused(&error.to_string()) {
                tracing::warn!(%site, key, "a stream was refused: {error}");
            }
        }
    }
}

async fn dial(target: &Target) -> io::Result<Server> {
    match &target.place {
        Destination::Server(server) => {
            let stream = tcp::connect(&server.addresses().await?).await?;
            match &server.tls {
                None => Ok(Server::Plain(stream)),
                Some(security) => Box::pin(secure(&server.host, security, stream)).await,
            }
        }
        Destination::Site { node, site, key } => {
            let opened = Box::pin(node.open(key, site)).await;
            opened.map(Server::Site).map_err(io::Error::other)
        }
    }
}

async fn secure(host: &Host, security: &Security, stream: TcpStream) -> io::Result<Server> {
    let config = security
        .profile
        .now()
        .and_then(|now| now.client(security.verify_hostname))
        .ok_or_else(|| io::Error::other("its profile has no authority"))?;
    let name = match host {
        Host::Address(address) => ServerName::from(*address),
        Host::Name(name) => {
            ServerName::try_from(name.trim_end_matches('.').to_owned()).map_err(io::Error::other)?
        }
    };
    let connector = TlsConnector::from(config);
    Ok(Server::Tls(Box::new(
        connector.connect(name, stream).await?,
    )))
}

/// The servers of this site, for streams that come from others. It holds nothing alive.
pub(crate) struct Servers(pub(crate) Weak<Shared>);

impl Local for Servers {
    fn connect<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, io::Result<node::Server>> {
        Box::pin(async move {
            let shared = self.0.upgrade();
            let shared = shared.ok_or_else(|| io::Error::other("the router ends"))?;
            let alive = |target: &Arc<Target>| !target.gone.is_cancelled();
            let reached = reach(&shared, key.as_str(), Scope::Site, alive).await;
            let (booked, server) =
                reached.ok_or_else(|| io::Error::other("no server of the key answers"))?;
            Ok(match server {
                Server::Plain(io) => Box::new(Served::new(io, booked)) as node::Server,
                Server::Tls(io) => Box::new(Served::new(*io, booked)),
                Server::Site(io) => Box::new(Served::new(io, booked)),
            })
        })
    }
}

/// A stream to a server of this site, aborted when its entry is gone.
struct Served<T> {
    io: T,
    gone: Pin<Box<WaitForCancellationFutureOwned>>,
    booked: Booked,
}

impl<T> Served<T> {
    fn new(io: T, booked: Booked) -> Self {
        let gone = Box::pin(booked.0.gone.clone().cancelled_owned());
        Self { io, gone, booked }
    }

    fn ensure_alive(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.gone.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionReset.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Served<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ensure_alive(cx)?;
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Served<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.ensure_alive(cx)?;
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl<T: Endpoint> Endpoint for Served<T> {
    fn broken(&self) -> bool {
        self.booked.0.gone.is_cancelled() || self.io.broken()
    }

    fn settle(&self) {
        self.io.settle();
    }
}
