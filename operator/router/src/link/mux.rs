//! Many streams over one connection: drives the multiplexer and the pumps of its streams. The first
//! stream carries the messages between the routers; all others carry bytes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use futures::stream::{FuturesUnordered, StreamExt as _};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt as _};
use yamux::{Connection, ConnectionError, FrameDecodeError, Mode};

use super::bucket::Bucket;
use super::frame::record::{Refusal, Request};
use super::line::{Heard, Line};
use super::node::counts::LinkCounts;
use super::stream::{Fault, Growth, LinkStream, Pump};

/// The most streams that either side opens.
pub(super) const MAX_STREAMS: usize = 1024;
/// Upper bound on accepted streams: streams that have ended for one side may not have ended for the
/// other.
const MAX_INCOMING: usize = MAX_STREAMS + MAX_STREAMS / 2;
/// Upper bound on the streams that the multiplexer lets in. It is never the limit that counts.
const ALL_STREAMS: usize = 3 * MAX_STREAMS;
const YAMUX_WINDOW: usize = 256 * 1024;
/// Streams that may be opened at once, and in each second after that.
const OPENED: Bucket = Bucket::new(4096, 4096);

/// Side that dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// This side.
    Dial,
    /// The other.
    Accept,
}

/// Why the connection ended.
#[derive(Debug, Error)]
pub(super) enum Error {
    #[error("the connection was closed")]
    Closed,
    #[error("the connection failed")]
    Io(#[source] io::Error),
    #[error("it opens too many streams")]
    TooManyStreams,
    #[error("it breaks the rules of the multiplexer")]
    Multiplexer(#[source] ConnectionError),
    #[error(transparent)]
    Fault(Fault),
}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::Io(error) | ConnectionError::Decode(FrameDecodeError::Io(error)) => {
                Error::Io(error)
            }
            ConnectionError::Closed => Error::Closed,
            error @ (ConnectionError::Decode(_)
            | ConnectionError::NoMoreStreamIds
            | ConnectionError::TooManyStreams
            | ConnectionError::InvalidWindowUpdate
            | _) => Error::Multiplexer(error),
        }
    }
}

/// Request for a stream.
pub(super) type Open = (Request, oneshot::Sender<Result<LinkStream, Refusal>>);

/// A connection and its streams.
pub(super) struct Mux<T> {
    connection: Connection<Compat<Line<T>>>,
    line: Line<T>,
    side: Side,
    pumps: FuturesUnordered<Pump>,
    /// How many of them this side opened, and the other.
    open: [usize; 2],
    asked: mpsc::Receiver<Open>,
    incoming: mpsc::UnboundedSender<LinkStream>,
    rate: Bucket,
    began: Instant,
    growth: Growth,
    leaving: bool,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Mux<T> {
    pub(super) fn new(
        io: T,
        side: Side,
        asked: mpsc::Receiver<Open>,
        incoming: mpsc::UnboundedSender<LinkStream>,
    ) -> Self {
        let mut config = yamux::Config::default();
        config.set_max_num_streams(ALL_STREAMS);
        // Pumps always read, so that these windows are never full for long; streams have their own.
        config.set_max_connection_receive_window(Some(2 * ALL_STREAMS * YAMUX_WINDOW));
        let line = Line::new(io);
        let mode = match side {
            Side::Dial => Mode::Client,
            Side::Accept => Mode::Server,
        };
        Self {
            connection: Connection::new(line.clone().compat(), config, mode),
            line,
            side,
            pumps: FuturesUnordered::new(),
            open: [0; 2],
            asked,
            incoming,
            rate: OPENED,
            began: Instant::now(),
            growth: Growth::default(),
            leaving: false,
        }
    }

    /// Aborts all streams and lets none in any more.
    pub(super) fn leave(&mut self) {
        self.leaving = true;
        self.pumps.clear();
    }

    pub(super) fn heard(&self) -> Heard {
        self.line.heard()
    }

    pub(super) fn counts(&self) -> Arc<LinkCounts> {
        self.line.counts().clone()
    }

    /// The stream on which the routers talk.
    pub(super) async fn control(&mut self) -> Result<Compat<yamux::Stream>, Error> {
        use tokio_util::compat::FuturesAsyncReadCompatExt as _;
        let stream = std::future::poll_fn(|cx| match self.side {
            Side::Dial => self.connection.poll_new_outbound(cx).map(Some),
            Side::Accept => match self.connection.poll_next_inbound(cx) {
                Poll::Ready(first) => Poll::Ready(first),
                Poll::Pending => Poll::Pending,
            },
        });
        Ok(stream.await.ok_or(Error::Closed)??.compat())
    }

    /// Moves everything until the connection ends.
    pub(super) async fn run(&mut self) -> Error {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        while let Poll::Ready(Some((request, answer))) = self.asked.poll_recv(cx) {
            match self.open(request, cx) {
                Err(error) => return Poll::Ready(error),
                // The requester may be gone.
                Ok(opened) => drop(answer.send(opened)),
            }
        }
        loop {
            match self.connection.poll_next_inbound(cx) {
                Poll::Ready(Some(Ok(stream))) => match self.let_in(stream) {
                    Ok(()) => continue,
                    Err(error) => return Poll::Ready(error),
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(error.into()),
                Poll::Ready(None) => return Poll::Ready(Error::Closed),
                Poll::Pending => {}
            }
            match self.pumps.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(is_opener))) => {
                    self.open[usize::from(is_opener)] -= 1;
                    self.line.counts().ended.fetch_add(1, Ordering::Relaxed);
                }
                Poll::Ready(Some(Err(fault))) => return Poll::Ready(Error::Fault(fault)),
                // The bytes from the pumps are sent at once, not when this task is scheduled
                // again.
                Poll::Ready(None) | Poll::Pending if self.growth.take_moved() => {}
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        // All that streams gave in this turn goes out at once.
        match self.line.send(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Error::Io(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Pending,
        }
    }

    fn open(
        &mut self,
        request: Request,
        cx: &mut Context<'_>,
    ) -> Result<Result<LinkStream, Refusal>, Error> {
        if self.open[1] >= MAX_STREAMS {
            return Ok(Err(Refusal::Limit));
        }
        match self.connection.poll_new_outbound(cx) {
            Poll::Pending => Ok(Err(Refusal::Limit)),
            Poll::Ready(Err(error)) => Err(error.into()),
            Poll::Ready(Ok(stream)) => Ok(Ok(self.add(stream, Some(request)))),
        }
    }

    fn let_in(&mut self, stream: yamux::Stream) -> Result<(), Error> {
        if self.leaving {
            return Ok(());
        }
        let is_slow = self.rate.take(self.began.elapsed());
        if self.open[0] >= MAX_INCOMING || !is_slow {
            return Err(Error::TooManyStreams);
        }
        let stream = self.add(stream, None);
        if let Err(unheard) = self.incoming.send(stream) {
            drop(unheard);
        }
        Ok(())
    }

    fn add(&mut self, stream: yamux::Stream, request: Option<Request>) -> LinkStream {
        let (stream, pump) = LinkStream::new(stream, request, self.growth.clone());
        self.open[usize::from(pump.is_opener())] += 1;
        self.line.counts().opened.fetch_add(1, Ordering::Relaxed);
        self.pumps.push(pump);
        stream
    }

    /// Sends all waiting data and closes the connection. All streams are aborted.
    pub(super) async fn close(&mut self) {
        self.leave();
        let closed = std::future::poll_fn(|cx| self.connection.poll_close(cx)).await;
        if let Err(error) = closed {
            tracing::debug!(%error, "a link was gone before it was closed");
        }
    }
}
