//! The connection under a multiplexer. It gathers outgoing bytes, because the multiplexer writes
//! the head and the body of a frame separately and flushes after each. Over TLS every such write
//! would be a record and a packet of its own.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::node::counts::LinkCounts;

/// Bytes that are gathered before some have to go.
const GATHERED: usize = 64 * 1024;

/// When something was last heard on a connection.
#[derive(Clone, Debug)]
pub(super) struct Heard(Arc<Mutex<Instant>>);

impl Heard {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn now(&self) {
        *self.0.lock().expect("no holder panics") = Instant::now();
    }

    /// Waits until nothing was received for this time.
    pub(super) async fn silent_for(&self, time: Duration) {
        loop {
            let due = *self.0.lock().expect("no holder panics") + time;
            if due <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(due).await;
        }
    }
}

/// Connection that records when something arrives, and sends on request. Its clones are the same
/// connection.
pub(super) struct Line<T> {
    ends: Arc<Mutex<Ends<T>>>,
    heard: Heard,
    counts: Arc<LinkCounts>,
}

struct Ends<T> {
    io: T,
    gathered: BytesMut,
}

impl<T> Clone for Line<T> {
    fn clone(&self) -> Self {
        Self {
            ends: self.ends.clone(),
            heard: self.heard.clone(),
            counts: self.counts.clone(),
        }
    }
}

impl<T> Line<T> {
    pub(super) fn new(io: T) -> Self {
        let gathered = BytesMut::new();
        Self {
            ends: Arc::new(Mutex::new(Ends { io, gathered })),
            heard: Heard::new(),
            counts: Arc::default(),
        }
    }

    pub(super) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    pub(super) fn counts(&self) -> &Arc<LinkCounts> {
        &self.counts
    }

    fn ends(&self) -> MutexGuard<'_, Ends<T>> {
        self.ends.lock().expect("no holder of a connection panics")
    }
}

impl<T: AsyncWrite + Unpin> Line<T> {
    /// Sends all that was gathered.
    pub(super) fn send(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut ends = self.ends();
        ready!(self.after_reading(ends.write(cx, 0, &self.counts)))?;
        self.after_reading(Pin::new(&mut ends.io).poll_flush(cx))
    }

    /// Delays a write error until reading ends. A peer that hangs up at once may have sent the
    /// reason, for example that it does not accept our certificate. That reason must be read first.
    fn after_reading(&self, written: Poll<io::Result<()>>) -> Poll<io::Result<()>> {
        let gone = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        let is_gone = matches!(&written, Poll::Ready(Err(error)) if gone.contains(&error.kind()));
        if is_gone && self.counts.received.load(Ordering::Relaxed) == 0 {
            return Poll::Pending;
        }
        written
    }
}

impl<T: AsyncWrite + Unpin> Ends<T> {
    /// Writes until no more than `rest` bytes are left.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        rest: usize,
        counts: &LinkCounts,
    ) -> Poll<io::Result<()>> {
        while self.gathered.len() > rest {
            let written = ready!(Pin::new(&mut self.io).poll_write(cx, &self.gathered))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.gathered.advance(written);
            counts.sent.fetch_add(written as u64, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Line<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.ends().io).poll_read(cx, buffer);
        let size = buffer.filled().len() - before;
        if size > 0 {
            self.heard.now();
            let received = &self.counts.received;
            received.fetch_add(size as u64, Ordering::Relaxed);
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Line<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut ends = self.ends();
        ready!(self.after_reading(ends.write(cx, GATHERED, &self.counts)))?;
        ends.gathered.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    /// Does nothing. Only the caller that drives the multiplexer knows when gathering is complete.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send(cx))?;
        Pin::new(&mut self.ends().io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures::future::poll_fn;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// A connection that notes each write, and takes nothing while it is full.
    #[derive(Default)]
    struct Noted {
        writes: Vec<usize>,
        is_full: bool,
    }

    impl AsyncWrite for Noted {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            if self.is_full {
                return Poll::Pending;
            }
            self.writes.push(bytes.len());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn what_is_given_in_one_turn_leaves_in_one_write() {
        let mut line = Line::new(Noted::default());
        let mut turn = async |pieces: &[usize]| {
            for piece in pieces {
                line.write_all(&vec![7; *piece]).await.unwrap();
                line.flush().await.unwrap();
            }
            poll_fn(|cx| line.send(cx)).await.unwrap();
            std::mem::take(&mut line.ends().io.writes)
        };
        assert_eq!(turn(&[12, 200, 12, 16_000]).await, [16_224]);
        assert_eq!(turn(&[]).await, [0; 0]);
        // The bytes beyond the gathering bound are sent before the rest is accepted.
        assert_eq!(turn(&[GATHERED, 1, 1]).await, [GATHERED + 1, 1]);
        line.shutdown().await.unwrap();
        let sent = line.counts().sent.load(Ordering::Relaxed);
        assert_eq!(sent, 16_224 + GATHERED as u64 + 2);
    }

    #[tokio::test]
    async fn no_more_is_gathered_while_nothing_leaves() {
        let mut line = Line::new(Noted {
            is_full: true,
            ..Noted::default()
        });
        line.write_all(&[7; GATHERED + 1]).await.unwrap();
        let write =
            poll_fn(|cx| Poll::Ready(Pin::new(&mut line).poll_write(cx, b"x").is_pending()));
        assert!(write.await);
        line.ends().io.is_full = false;
        line.shutdown().await.unwrap();
        assert_eq!(line.ends().io.writes, [GATHERED + 1]);
    }
}
