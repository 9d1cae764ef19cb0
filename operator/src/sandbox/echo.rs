//! An echo server in the sandbox, and a client that sends it random bytes and compares every one.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lifecycle_runtime::shutdown::Shutdown;
use ring::rand::{SecureRandom, SystemRandom};
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How much goes there and back.
pub(super) const BYTES: usize = 1 << 18;
/// Connections at once. More wait until one ends.
const MOST: usize = 256;
/// A conversation on one machine takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_millis(100);

/// Reason why the server cannot be started.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// Another process has its port.
    #[error("port {port} of {address} is in use, where the sandbox is to echo: choose another with --echo-port, and name it in the Connector", port = .0.port(), address = .0.ip())]
    Taken(SocketAddr),
    /// The operating system refuses it for another reason.
    #[error("cannot listen on {at}, where the sandbox is to echo")]
    Bind {
        /// Address to listen on.
        at: SocketAddr,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Why bytes did not come back.
#[derive(Debug, Error)]
pub(super) enum Lost {
    /// No process accepts the connection.
    #[error("nothing answers at {0}")]
    Connect(SocketAddr, #[source] io::Error),
    /// The connection ended too soon.
    #[error("the connection to {0} broke")]
    Broken(SocketAddr, #[source] io::Error),
    /// Something else came back.
    #[error("{0} sent back something else than it was sent")]
    Different(SocketAddr),
    /// Nothing came back in time.
    #[error("{0} did not send all back within {limit} s", limit = PATIENCE.as_secs())]
    Late(SocketAddr),
}

/// Takes the port.
///
/// # Errors
/// Another process has it, or the operating system refuses it.
pub(super) async fn bind(at: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(at).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            Error::Taken(at)
        } else {
            Error::Bind { at, source }
        }
    })
}

/// Echoes until shutdown.
pub(super) async fn serve(listener: TcpListener, mut shutdown: Shutdown) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.wait() => return,
            Some(_ended) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MOST => match accepted {
                Ok((stream, _)) => drop(connections.spawn(echo(stream))),
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    sleep(AGAIN).await;
                }
            },
        }
    }
}

async fn echo(mut stream: TcpStream) {
    let (mut read, mut write) = stream.split();
    // Who went away does not want to hear more.
    if tokio::io::copy(&mut read, &mut write).await.is_ok() {
        let _gone = write.shutdown().await;
    }
}

/// Sends random bytes there and compares the response.
///
/// # Errors
/// They did not all come back as they were.
pub(super) async fn converse(at: SocketAddr) -> Result<(), Lost> {
    let mut sent = vec![0; BYTES];
    SystemRandom::new()
        .fill(&mut sent)
        .expect("the system has random numbers");
    let back = timeout(PATIENCE, exchange(at, &sent)).await;
    if back.map_err(|_| Lost::Late(at))?? == sent {
        Ok(())
    } else {
        Err(Lost::Different(at))
    }
}

async fn exchange(at: SocketAddr, sent: &[u8]) -> Result<Vec<u8>, Lost> {
    let mut stream = TcpStream::connect(at)
        .await
        .map_err(|source| Lost::Connect(at, source))?;
    let (mut read, mut write) = stream.split();
    let send = async {
        write.write_all(sent).await?;
        write.shutdown().await
    };
    let mut back = Vec::with_capacity(sent.len());
    let read = read.read_to_end(&mut back);
    tokio::try_join!(send, read).map_err(|source| Lost::Broken(at, source))?;
    Ok(back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_sent_comes_back_and_anything_else_is_told() {
        let (trigger, shutdown) = Shutdown::pair();
        let server = bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let at = server.local_addr().expect("it has an address");
        assert!(matches!(bind(at).await, Err(Error::Taken(taken)) if taken == at));
        let serving = tokio::spawn(serve(server, shutdown));
        converse(at).await.expect("all comes back");
        trigger.stop();
        serving.await.expect("it ends");
        assert!(matches!(converse(at).await, Err(Lost::Connect(..))));
        let liar = bind(at).await.expect("the port is free again");
        let lying = tokio::spawn(async move {
            let (mut stream, _) = liar.accept().await?;
            let mut bytes = vec![0; BYTES];
            stream.read_exact(&mut bytes).await?;
            bytes[BYTES / 2] ^= 1;
            stream.write_all(&bytes).await
        });
        assert!(matches!(converse(at).await, Err(Lost::Different(_))));
        lying.await.expect("it ends").expect("it can answer");
    }
}
