//! Where the simulated cluster is reached: a port of loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use thiserror::Error;
use tokio::net::TcpListener;

/// Why nobody can be let in.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// Another process listens there.
    #[error(
        "port {port} is in use: choose another with --port, or leave the option out to get a free one"
    )]
    Taken {
        /// The port.
        port: u16,
    },
    /// The operating system refuses it for another reason.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Bind {
        /// The port.
        port: u16,
        /// What is said.
        source: io::Error,
    },
}

/// Takes a port on loopback; 0 takes a free one.
///
/// # Errors
/// Another process has it, or the operating system refuses it.
pub(super) async fn bind(port: u16) -> Result<TcpListener, Error> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            Error::Taken { port }
        } else {
            Error::Bind { port, source }
        }
    })
}
