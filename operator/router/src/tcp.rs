//! Sockets: listeners for clients, and connections to servers. Every socket is configured so that
//! dropping it aborts the connection (RST). Only a stream that came to its end is closed
//! gracefully. If a stream is cut short, neither side therefore takes a part for the whole.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{client, server};

use crate::config::Host;
use crate::relay::Endpoint;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// A peer that vanished is found after 60 s and 3 questions.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(60), Duration::from_secs(20), 3);

/// Why nothing listens.
#[derive(Debug, Error)]
pub enum Error {
    /// The name of the host is not known.
    #[error("cannot resolve host `{host}`")]
    Resolve {
        /// The host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// The address is not available.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// Listens on a host, or on the router's own address, or on all addresses of both families.
///
/// # Errors
/// The host has no address, or it cannot be listened on.
pub async fn listen(
    host: Option<&Host>,
    own: Option<IpAddr>,
    port: u16,
) -> Result<TcpListener, Error> {
    let address = match (host, own) {
        (Some(host), _) => resolve(host, port).await?,
        (None, Some(own)) => SocketAddr::new(own, port),
        (None, None) => {
            let any = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
            match bind(any) {
                // A host without IPv6.
                Err(error) if !in_use(&error) => {
                    SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)
                }
                bound => return bound.map_err(|source| failed(any, source)),
            }
        }
    };
    bind(address).map_err(|source| failed(address, source))
}

/// Checks that a host resolves to an address of this machine. The check listens on nothing, so a
/// port that is in use does not matter.
///
/// # Errors
/// The host has no address, or it is none of this machine.
pub async fn is_local(host: &Host, port: u16) -> Result<(), Error> {
    let address = resolve(host, port).await?;
    let any_port = SocketAddr::new(address.ip(), 0);
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    );
    let bound = socket.and_then(|socket| socket.bind(&any_port.into()));
    bound.map_err(|source| failed(address, source))
}

fn failed(address: SocketAddr, source: io::Error) -> Error {
    Error::Listen { address, source }
}

fn in_use(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse || error.kind() == io::ErrorKind::PermissionDenied
}

/// The first address of a host, of version 4 if it has one.
async fn resolve(host: &Host, port: u16) -> Result<SocketAddr, Error> {
    let found = host.resolve(port).await;
    let found = found.map_err(|source| Error::Resolve {
        host: host.to_string(),
        source,
    })?;
    let best = found
        .iter()
        .find(|address| address.is_ipv4())
        .unwrap_or(&found[0]);
    Ok(*best)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A port whose old connections are still in TIME_WAIT is available again at once.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    let (time, interval, retries) = KEEPALIVE;
    let keepalive = TcpKeepalive::new().with_time(time);
    // Accepted connections inherit it.
    socket.set_tcp_keepalive(&keepalive.with_interval(interval).with_retries(retries))?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Makes an accepted connection ready: it is aborted when dropped.
///
/// # Errors
/// The connection is gone.
pub fn accepted(stream: &TcpStream) -> io::Result<()> {
    stream.set_zero_linger()?;
    stream.set_nodelay(true)
}

/// Connects to a server, by each of its addresses in turn.
///
/// # Errors
/// None can be connected to.
pub async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addresses).await?;
    accepted(&stream)?;
    let (time, interval, retries) = KEEPALIVE;
    let keepalive = TcpKeepalive::new().with_time(time);
    SockRef::from(&stream)
        .set_tcp_keepalive(&keepalive.with_interval(interval).with_retries(retries))?;
    Ok(stream)
}

/// Lets the connection close gracefully: written bytes are delivered after it was dropped.
pub fn settle(stream: &TcpStream) {
    // The only failure is that of a connection that is gone already.
    if let Err(error) = SockRef::from(stream).set_linger(None) {
        tracing::debug!(%error, "a connection was gone before it was closed");
    }
}

impl Endpoint for TcpStream {
    fn broken(&self) -> bool {
        !matches!(self.take_error(), Ok(None))
    }

    fn settle(&self) {
        settle(self);
    }
}

impl Endpoint for server::TlsStream<TcpStream> {
    fn broken(&self) -> bool {
        self.get_ref().0.broken()
    }

    fn settle(&self) {
        settle(self.get_ref().0);
    }
}

impl Endpoint for client::TlsStream<TcpStream> {
    fn broken(&self) -> bool {
        self.get_ref().0.broken()
    }

    fn settle(&self) {
        settle(self.get_ref().0);
    }
}
