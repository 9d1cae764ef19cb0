//! From a connection to the last byte of its last answer, within limits.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use thiserror::Error;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::places::{ConnectionSlot, Places, Turn};
use crate::socket::{Duplex, Secure, Socket};
use crate::stalling::Stalling;

/// How long after it failed a connection is accepted again: with all files in use the next try would fail as soon.
const AGAIN: Duration = Duration::from_millis(50);

/// Limits that a server sets for its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Answers that wait for something at once.
    pub waits: usize,
    /// Bytes of the head of a request; at least 8192.
    pub head: usize,
    /// Bytes of the body of a request.
    pub body: usize,
    /// How long a client has for its handshake, for the head of a request (also of the next one), for its body, and for taking anything of an answer.
    pub patience: Duration,
}

impl Default for Limits {
    /// For small questions.
    fn default() -> Self {
        Self {
            connections: 64,
            waits: 32,
            head: 16 * 1024,
            body: 16 * 1024,
            patience: Duration::from_secs(10),
        }
    }
}

/// Why a body was not read.
#[derive(Debug, Error)]
pub enum Unread {
    /// It is too large.
    #[error("it is larger than {0} bytes")]
    Large(usize),
    /// It did not come in time.
    #[error("it did not come within {} s", .0.as_secs())]
    Late(Duration),
    /// The connection ended.
    #[error("it ended too soon")]
    Broken,
}

impl Limits {
    /// Reads the whole body of a request.
    ///
    /// # Errors
    /// It is larger, or takes longer, than is allowed, or ends too soon.
    pub async fn read<B>(&self, body: B) -> Result<Bytes, Unread>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let reading = Limited::new(body, self.body).collect();
        match timeout(self.patience, reading).await {
            Err(_late) => Err(Unread::Late(self.patience)),
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Unread::Large(self.body)),
            Ok(Err(_broken)) => Err(Unread::Broken),
        }
    }
}

/// A server. Clones share their limits.
#[derive(Clone, Debug)]
pub struct Server {
    limits: Limits,
    places: Arc<Places>,
}

impl Server {
    /// With these limits for all that it serves.
    pub fn new(limits: Limits) -> Self {
        Self {
            places: Places::new(limits.connections, limits.waits),
            limits,
        }
    }

    /// Answers all requests at a socket, without end. Its connections end when this is dropped.
    pub async fn serve<A, F, B>(
        &self,
        socket: impl Socket,
        secure: Option<Secure>,
        answer: A,
    ) -> Infallible
    where
        A: Fn(Request<Incoming>, Arc<Turn>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(_ended) = connections.join_next() => {}
                accepted = socket.accept() => match accepted {
                    Ok((stream, client)) => if let Some(place) = self.places.admit(client) {
                        let (server, secure, answer) = (self.clone(), secure.clone(), answer.clone());
                        connections.spawn(async move {
                            server.keep(stream, secure, &place, &answer).await;
                        });
                    },
                    Err(error) => {
                        tracing::debug!(%error, "cannot accept a connection");
                        sleep(AGAIN).await;
                    }
                }
            }
        }
    }

    /// Keeps a connection until it ends or loses its place.
    async fn keep<A, F, B>(
        &self,
        stream: Box<dyn Duplex>,
        secure: Option<Secure>,
        place: &Arc<ConnectionSlot>,
        answer: &A,
    ) where
        A: Fn(Request<Incoming>, Arc<Turn>) -> F,
        F: Future<Output = Response<B>>,
        B: Body<Data = Bytes> + Unpin + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let conversation = async {
            let stream = match secure {
                None => Some(stream),
                Some(secure) => self.handshake(stream, &secure).await,
            };
            if let Some(stream) = stream {
                self.converse(stream, place, answer).await;
            }
        };
        tokio::select! {
            biased;
            () = place.lost() => tracing::debug!("a connection made room for another one"),
            () = conversation => {}
        }
    }

    async fn handshake(&self, stream: Box<dyn Duplex>, secure: &Secure) -> Option<Box<dyn Duplex>> {
        let accepting = async { Some(TlsAcceptor::from(secure().await?).accept(stream).await) };
        match timeout(self.limits.patience, accepting).await.ok()?? {
            Ok(stream) => Some(Box::new(stream)),
            Err(error) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
        }
    }

    async fn converse<A, F, B>(
        &self,
        stream: Box<dyn Duplex>,
        place: &Arc<ConnectionSlot>,
        answer: &A,
    ) where
        A: Fn(Request<Incoming>, Arc<Turn>) -> F,
        F: Future<Output = Response<B>>,
        B: Body<Data = Bytes> + Unpin + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = service_fn(|request| {
            let turn = Arc::new(place.turn());
            let answered = answer(request, turn.clone());
            async move {
                let response = answered.await;
                Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, turn)))
            }
        });
        let stream = Stalling::new(stream, self.limits.patience);
        let conversation = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.patience)
            .max_buf_size(self.limits.head)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = conversation.await {
            tracing::debug!(%error, "a request was cut short");
        }
    }
}

/// Body of a reply. One without a known end keeps the place of its connection, because the client
/// connected for it.
struct GuardedBody<B> {
    body: B,
    _turn: Option<Arc<Turn>>,
}

impl<B: Body> GuardedBody<B> {
    fn new(body: B, turn: Arc<Turn>) -> Self {
        let is_endless = body.size_hint().exact().is_none();
        Self {
            body,
            _turn: is_endless.then_some(turn),
        }
    }
}

impl<B: Body + Unpin> Body for GuardedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
