//! Work behind one listening socket. It lets each connection in, talks to its client, finds a
//! server for it, and moves bytes until the connection ends.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsAcceptor, server};

use crate::config::Listener;
use crate::keys::KeyChoice;
use crate::metrics::{Counts, count};
use crate::reach::{Scope, Server, reach};
use crate::recurring::Recurring;
use crate::relay::{Endpoint, relay};
use crate::routing::Booked;
use crate::shared::Shared;
use crate::state::Status;
use crate::streams::StreamPermit;
use crate::{cause, tcp, tls};

/// How long nothing is accepted after the system had nothing left to accept with.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// How long until a socket is tried again that was not available: at first, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Listener and everything that its connections need.
pub(crate) struct AcceptLoop {
    pub(crate) name: Arc<str>,
    pub(crate) listener: Listener,
    pub(crate) keys: Arc<KeyChoice>,
    pub(crate) profile: Option<Arc<tls::Slot>>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) shared: Arc<Shared>,
}

impl AcceptLoop {
    /// Listens.
    pub(crate) async fn listen(&self) -> Result<TcpListener, tcp::Error> {
        let own = self.shared.options.bind_address;
        tcp::listen(self.listener.host.as_ref(), own, self.listener.port).await
    }

    /// Keeps a socket open and accepts from it, until it is aborted.
    pub(crate) async fn keep(self: Arc<Self>, first: Option<Result<TcpListener, tcp::Error>>) {
        let (mut pause, longest) = AGAIN;
        let mut trouble = Recurring::default();
        let mut socket = first;
        loop {
            let tried = match socket.take() {
                Some(tried) => tried,
                None => {
                    let tried = self.listen().await;
                    let store = &self.shared.state;
                    store.set("tcpListener", &self.name, status(&tried));
                    tried
                }
            };
            match tried {
                Ok(socket) => {
                    if trouble.worked() {
                        tracing::info!(listener = &*self.name, "listening again");
                    }
                    self.accept(&socket).await;
                }
                Err(error) => {
                    let why = cause::chain(&error);
                    if trouble.failed(&why) {
                        tracing::warn!(listener = &*self.name, "{why}; trying again");
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(longest);
                }
            }
        }
    }

    async fn accept(self: &Arc<Self>, socket: &TcpListener) {
        let mut trouble = Recurring::default();
        loop {
            match socket.accept().await {
                Ok((stream, from)) => {
                    if trouble.worked() {
                        tracing::info!(listener = &*self.name, "accepting connections again");
                    }
                    self.admit(stream, from.ip().to_canonical());
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    if trouble.failed(&error.to_string()) {
                        tracing::warn!(listener = &*self.name, %error, "cannot accept connections");
                    }
                    sleep(EXHAUSTED).await;
                }
            }
        }
    }

    fn admit(self: &Arc<Self>, stream: TcpStream, from: IpAddr) {
        // Dropped from here on, it is aborted; a connection that is gone already is no matter.
        if tcp::accepted(&stream).is_err() {
            return;
        }
        let accepting = self.clone();
        let streams = &self.shared.streams;
        let admitted = streams.run((&self.name, from), |permit| accepting.carry(stream, permit));
        count(if admitted {
            &self.counts.opened
        } else {
            &self.counts.refused
        });
    }

    async fn carry(self: Arc<Self>, stream: TcpStream, permit: StreamPermit) {
        let _closed = Closed(self.counts.clone());
        match &self.profile {
            None => self.conduct(stream, &permit).await,
            Some(profile) => {
                if let Some(stream) = self.handshake(profile, stream).await {
                    Box::pin(self.conduct(stream, &permit)).await;
                }
            }
        }
    }

    async fn handshake(
        &self,
        profile: &tls::Slot,
        stream: TcpStream,
    ) -> Option<server::TlsStream<TcpStream>> {
        let required = self.listener.require_client_certificate;
        let config = profile.now().and_then(|now| now.server(required));
        let Some(config) = config else {
            count(&self.counts.handshakes_failed);
            return None;
        };
        let accepting = TlsAcceptor::from(config).accept(stream);
        let limit = self.shared.options.handshake_timeout;
        match timeout(limit, Box::pin(accepting.into_fallible())).await {
            Ok(Ok(stream)) => return Some(stream),
            // Closed in peace, so that the client gets to see the alert.
            Ok(Err((error, stream))) => {
                tracing::debug!(listener = &*self.name, %error, "a TLS handshake failed");
                tcp::settle(&stream);
            }
            Err(_late) => {}
        }
        count(&self.counts.handshakes_failed);
        None
    }

    async fn conduct(&self, mut client: impl Endpoint, permit: &StreamPermit) {
        let Some((_booked, server)) = self.reached(permit).await else {
            count(&self.counts.unserved);
            return;
        };
        match server {
            Server::Plain(mut server) => self.relay(&mut client, &mut server, permit).await,
            Server::Tls(mut server) => self.relay(&mut client, &mut *server, permit).await,
            Server::Site(mut server) => {
                Box::pin(self.relay(&mut client, &mut server, permit)).await;
            }
        }
    }

    /// A server of the first key in turn that has one which takes the stream.
    async fn reached(&self, permit: &StreamPermit) -> Option<(Booked, Server)> {
        let takes = |target: &Arc<_>| permit.attach(target);
        let mut tried = Vec::new();
        loop {
            let reachable = |key: &str| self.shared.routes.reachable(key);
            let key = self.keys.next(&tried, reachable)?;
            let reached = reach(&self.shared, &key, Scope::Network, takes).await;
            if reached.is_some() {
                return reached;
            }
            tried.push(key);
        }
    }

    async fn relay(
        &self,
        client: &mut impl Endpoint,
        server: &mut impl Endpoint,
        permit: &StreamPermit,
    ) {
        let traffic = &self.counts.traffic;
        let patience = self.shared.options.patience;
        match relay(client, server, traffic, patience, || permit.heard()).await {
            Ok(()) => {
                client.settle();
                server.settle();
            }
            Err(error) => tracing::debug!(listener = &*self.name, %error, "a stream was aborted"),
        }
    }
}

/// Counts the end of a connection, however it ends.
struct Closed(Arc<Counts>);

impl Drop for Closed {
    fn drop(&mut self) {
        count(&self.0.closed);
    }
}

/// Returns the status of a listener by its socket.
pub(crate) fn status(tried: &Result<TcpListener, tcp::Error>) -> Status {
    match tried {
        Ok(_) => Status::Up,
        Err(error) => Status::Failed(cause::chain(error)),
    }
}
