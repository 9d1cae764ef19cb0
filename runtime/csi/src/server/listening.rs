//! One socket while its process serves: connections in, until the shutdown and the last answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, stream};
use tokio::io::DuplexStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep;
use tonic::service::Routes;
use tonic::transport::Server;

use super::authority::relayed;
use super::kept_socket::KeptSocket;
use crate::error::Error;
use lifecycle_runtime::shutdown::Shutdown;

/// How long calls that are under way may take after the shutdown begins.
const GRACE_PERIOD: Duration = Duration::from_secs(4);
/// Connections at once: kubelet and each sidecar need one. More wait until one ends.
const MOST: usize = 64;
/// When a connection is accepted again after the system refused one.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Bound socket, and the routes that it serves.
pub(crate) struct ListeningSocket {
    pub(crate) socket: KeptSocket,
    pub(crate) routes: Routes,
}

impl ListeningSocket {
    /// Serves until the shutdown; calls that are under way then may end, for a while.
    ///
    /// # Errors
    /// The socket fails.
    pub(crate) async fn serve(self, mut shutdown: Shutdown) -> Result<(), Error> {
        // Its file is removed after the last answer.
        let bound = self.socket.bound();
        let mut stops = shutdown.clone();
        let (relaying, mut relayed) = mpsc::channel(1);
        let answered = async {
            let served = Server::builder()
                .add_routes(self.routes)
                .serve_with_incoming_shutdown(incoming(self.socket, relaying), async move {
                    stops.wait().await;
                })
                .await;
            // The last answers are on their way still: nothing is ever sent here, it ends with the last relay.
            let _ = relayed.recv().await.is_none();
            served
        };
        let served = tokio::select! {
            served = answered => served,
            () = async { shutdown.wait().await; sleep(GRACE_PERIOD).await } => Ok(()),
        };
        drop(bound);
        served.map_err(|source| Error::Serve {
            source: Box::new(source),
        })
    }
}

/// Connections, each relayed by a task of its own.
fn incoming(
    socket: KeptSocket,
    relaying: mpsc::Sender<()>,
) -> impl Stream<Item = io::Result<DuplexStream>> {
    let places = Arc::new(Semaphore::new(MOST));
    stream::unfold(
        (socket, relaying, places),
        |(mut socket, relaying, places)| async {
            let place = places.clone().acquire_owned().await.ok()?;
            loop {
                match socket.accept().await {
                    Ok(client) => {
                        let (theirs, relay) = relayed(client);
                        let running = relaying.clone();
                        tokio::spawn(async move {
                            relay.await;
                            drop((running, place));
                        });
                        return Some((Ok(theirs), (socket, relaying, places)));
                    }
                    Err(error) => {
                        tracing::warn!("a connection cannot be taken: {error}");
                        sleep(ACCEPT_AGAIN).await;
                    }
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, StreamExt as _};
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn one_connection_too_many_waits_until_another_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let socket = KeptSocket::bind(&path, None).expect("a socket");
        let (relaying, _relayed) = mpsc::channel(1);
        let mut incoming = Box::pin(incoming(socket, relaying));
        let mut clients = Vec::new();
        let mut served = Vec::new();
        for _ in 0..MOST {
            clients.push(UnixStream::connect(&path).await.expect("a connection"));
            served.push(incoming.next().await);
        }
        clients.push(UnixStream::connect(&path).await.expect("it waits"));
        sleep(Duration::from_millis(50)).await;
        assert!(incoming.next().now_or_never().is_none());
        drop((clients.remove(0), served.remove(0)));
        assert!(incoming.next().await.is_some());
    }
}
