//! A bare multiplexer over one TLS connection: a stream of it for each client, and nothing else.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::task::Poll;

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional_with_sizes,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};
use yamux::{Config, Connection, Mode};

use crate::secure;

const SIZE: usize = 16 * 1024;

type StreamRequest = oneshot::Sender<yamux::Stream>;

/// Runs a connection: opens requested streams and hands over incoming ones.
async fn run_connection(
    io: impl AsyncRead + AsyncWrite + Unpin,
    mode: Mode,
    mut asks: mpsc::Receiver<StreamRequest>,
    come: impl Fn(yamux::Stream),
) {
    let mut config = Config::default();
    config.set_max_num_streams(2048);
    let mut connection = Connection::new(io.compat(), config, mode);
    let mut waiting: Option<StreamRequest> = None;
    poll_fn(|cx| {
        loop {
            if waiting.is_none()
                && let Poll::Ready(Some(asked)) = asks.poll_recv(cx)
            {
                waiting = Some(asked);
            }
            if waiting.is_some()
                && let Poll::Ready(opened) = connection.poll_new_outbound(cx)
            {
                let asked = waiting.take().unwrap();
                drop(asked.send(opened.unwrap()));
                continue;
            }
            match connection.poll_next_inbound(cx) {
                Poll::Ready(Some(Ok(stream))) => come(stream),
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
}

pub(crate) async fn enter(from: SocketAddr, to: SocketAddr, directory: &Path) {
    let socket = TcpListener::bind(from).await.unwrap();
    let stream = loop {
        match TcpStream::connect(to).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    stream.set_nodelay(true).ok();
    let connector = secure::connector(directory);
    let stream = connector.connect(to.ip().into(), stream).await.unwrap();
    let (ask, asks) = mpsc::channel(64);
    tokio::spawn(run_connection(stream, Mode::Client, asks, drop));
    loop {
        let (mut client, _) = socket.accept().await.unwrap();
        client.set_nodelay(true).ok();
        let ask = ask.clone();
        tokio::spawn(async move {
            let (opened, stream) = oneshot::channel();
            if ask.send(opened).await.is_ok()
                && let Ok(stream) = stream.await
            {
                let mut stream = stream.compat();
                // A failure of a stream that carried no data is ignored.
                if stream.write_all(b"o").await.is_ok() {
                    copy_bidirectional_with_sizes(&mut client, &mut stream, SIZE, SIZE)
                        .await
                        .ok();
                }
            }
        });
    }
}

pub(crate) async fn leave(from: SocketAddr, to: SocketAddr, directory: &Path) {
    let socket = TcpListener::bind(from).await.unwrap();
    let acceptor = secure::acceptor(directory);
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        stream.set_nodelay(true).ok();
        let Ok(stream) = acceptor.accept(stream).await else {
            continue;
        };
        let (_ask, asks) = mpsc::channel(1);
        tokio::spawn(async move {
            let _ask = _ask;
            run_connection(stream, Mode::Server, asks, |stream| {
                tokio::spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(to).await {
                        server.set_nodelay(true).ok();
                        let mut stream = stream.compat();
                        if stream.read_u8().await.is_ok() {
                            copy_bidirectional_with_sizes(&mut stream, &mut server, SIZE, SIZE)
                                .await
                                .ok();
                        }
                    }
                });
            })
            .await;
        });
    }
}
