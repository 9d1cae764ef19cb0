//! Sockets that accept clients: TCP and Unix, in the clear or over TLS. All streams have one type,
//! so that the HTTP code exists once.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// The two ways of a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// Source of the TLS configuration for the next handshake. It yields `None` while no configuration
/// is available.
pub type Secure =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Option<Arc<ServerConfig>>> + Send>> + Send + Sync>;

/// Something that clients connect to.
pub trait Socket: Send + Sync {
    /// Accepts the next connection. Also returns its address, as far as that tells clients apart.
    fn accept(&self) -> impl Future<Output = io::Result<(Box<dyn Duplex>, Option<IpAddr>)>> + Send;
}

impl Socket for TcpListener {
    async fn accept(&self) -> io::Result<(Box<dyn Duplex>, Option<IpAddr>)> {
        let (stream, from) = Self::accept(self).await?;
        // Small answers must not wait for each other.
        let _slower = stream.set_nodelay(true);
        Ok((Box::new(stream), Some(from.ip().to_canonical())))
    }
}

impl Socket for UnixListener {
    async fn accept(&self) -> io::Result<(Box<dyn Duplex>, Option<IpAddr>)> {
        let (stream, _) = Self::accept(self).await?;
        Ok((Box::new(stream), None))
    }
}
