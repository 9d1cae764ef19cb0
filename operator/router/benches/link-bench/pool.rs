//! A chain of splices. Each client gets a TLS connection to the next splice that was made
//! beforehand. One byte marks the connection as used.

use std::net::SocketAddr;
use std::path::Path;

use tokio::io::copy_bidirectional_with_sizes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::client::TlsStream;

use crate::secure;

const SIZE: usize = 16 * 1024;
/// Connections that wait to be used.
const READY: usize = 64;

/// Makes connections ahead of those who take them.
fn pool(to: SocketAddr, directory: &Path) -> mpsc::Receiver<TlsStream<TcpStream>> {
    let (ready, pool) = mpsc::channel(READY);
    for _ in 0..4 {
        let (ready, connector) = (ready.clone(), secure::connector(directory));
        tokio::spawn(async move {
            while let Ok(place) = ready.reserve().await {
                let Ok(stream) = TcpStream::connect(to).await else {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    continue;
                };
                stream.set_nodelay(true).ok();
                if let Ok(stream) = connector.connect(to.ip().into(), stream).await {
                    place.send(stream);
                }
            }
        });
    }
    pool
}

async fn splice(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut server: impl AsyncRead + AsyncWrite + Unpin,
) {
    copy_bidirectional_with_sizes(&mut client, &mut server, SIZE, SIZE)
        .await
        .ok();
}

/// Clients in the clear come in and go on over TLS.
pub(crate) async fn enter(from: SocketAddr, to: SocketAddr, directory: &Path) {
    let socket = TcpListener::bind(from).await.unwrap();
    let mut pool = pool(to, directory);
    loop {
        let (client, _) = socket.accept().await.unwrap();
        client.set_nodelay(true).ok();
        let Some(mut server) = pool.recv().await else {
            return;
        };
        tokio::spawn(async move {
            if server.write_all(b"o").await.is_ok() && server.flush().await.is_ok() {
                splice(client, server).await;
            }
        });
    }
}

/// They come over TLS and go on over TLS.
pub(crate) async fn pass(from: SocketAddr, to: SocketAddr, directory: &Path) {
    let (connections, mut used) = mpsc::channel(READY);
    tokio::spawn(accept(from, directory.to_owned(), connections));
    let mut pool = pool(to, directory);
    while let Some(client) = used.recv().await {
        let Some(mut server) = pool.recv().await else {
            return;
        };
        tokio::spawn(async move {
            if server.write_all(b"o").await.is_ok() && server.flush().await.is_ok() {
                splice(client, server).await;
            }
        });
    }
}

/// They come over TLS and go to the server in the clear.
pub(crate) async fn leave(from: SocketAddr, to: SocketAddr, directory: &Path) {
    let (connections, mut used) = mpsc::channel(READY);
    tokio::spawn(accept(from, directory.to_owned(), connections));
    while let Some(client) = used.recv().await {
        tokio::spawn(async move {
            if let Ok(server) = TcpStream::connect(to).await {
                server.set_nodelay(true).ok();
                splice(client, server).await;
            }
        });
    }
}

/// Hands connections over once they are used.
async fn accept(
    from: SocketAddr,
    directory: std::path::PathBuf,
    used: mpsc::Sender<tokio_rustls::server::TlsStream<TcpStream>>,
) {
    let acceptor = secure::acceptor(&directory);
    let socket = TcpListener::bind(from).await.unwrap();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        stream.set_nodelay(true).ok();
        let (acceptor, used) = (acceptor.clone(), used.clone());
        tokio::spawn(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            if stream.read_u8().await.is_ok() {
                used.send(stream).await.ok();
            }
        });
    }
}
