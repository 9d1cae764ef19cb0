//! One stream of a link, as its user sees it, and the state that it shares with the pump that moves
//! its bytes. Each end may send as much as the other has room for. A stream whose reader stalls
//! therefore costs only its window. Independent of links.

mod pump;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frame::record::{Refusal, Request};
use crate::relay::Endpoint;
pub(super) use pump::{Fault, Pump};

/// Upper bound on the bytes that either end may send before it hears of more room.
pub const WINDOW: usize = 64 * 1024;
/// The most that a window grows to while its reader keeps up.
const MAX_WINDOW: usize = 1024 * 1024;
/// By how much all windows of a link may have grown.
pub const GROWTH: usize = 16 * 1024 * 1024;
/// Bytes that wait to be sent.
const OUTGOING: usize = 32 * 1024;

type Answer = Result<(), Refusal>;

/// State that a user and a pump share.
#[derive(Debug)]
struct State {
    /// Messages to send before the first byte.
    request: Option<Request>,
    answer: Option<Answer>,
    outgoing: BytesMut,
    shut: bool,
    credit: usize,
    /// Messages and bytes received.
    requested: Option<Request>,
    answered: Option<Answer>,
    incoming: BytesMut,
    ended: bool,
    /// Bytes that the other end may still send, and bytes that it may be granted.
    room: usize,
    window: usize,
    /// True if the stream broke before both ends announced their end.
    broken: bool,
    /// Its user is gone.
    left: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    pump: Option<Waker>,
}

#[derive(Debug)]
struct Shared(Mutex<State>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no holder of a stream panics")
    }
}

impl State {
    fn wake_user(&mut self) {
        let wakers = [self.reader.take(), self.writer.take()];
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn wake_pump(&mut self) {
        if let Some(pump) = self.pump.take() {
            pump.wake();
        }
    }

    /// Returns the room that was used, is free again, and is not announced yet.
    fn free(&self) -> usize {
        self.window - self.room - self.incoming.len()
    }
}

/// State that all streams of a link share: the growth of their windows, and a flag that one of them
/// has data to send.
#[derive(Clone, Debug, Default)]
pub(super) struct Growth(Arc<AtomicUsize>, Arc<AtomicBool>);

impl Growth {
    fn take(&self, size: usize) -> bool {
        let more = |grown: usize| (grown + size <= GROWTH).then_some(grown + size);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn moved(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    /// Returns true if a stream has passed data to the multiplexer since the last call.
    pub(super) fn take_moved(&self) -> bool {
        self.1.swap(false, Ordering::Relaxed)
    }

    fn give(&self, size: usize) {
        self.0.fetch_sub(size, Ordering::Relaxed);
    }
}

/// A stream over a link. Dropping it before both ends have announced the end of their bytes aborts
/// it.
#[derive(Debug)]
pub struct LinkStream(Arc<Shared>);

impl LinkStream {
    /// Creates a stream that sends a request, or that waits for one.
    pub(super) fn new(
        stream: yamux::Stream,
        request: Option<Request>,
        growth: Growth,
    ) -> (Self, Pump) {
        let is_opener = request.is_some();
        let shared = Arc::new(Shared(Mutex::new(State {
            request,
            answer: None,
            outgoing: BytesMut::new(),
            shut: false,
            credit: WINDOW,
            requested: None,
            answered: None,
            incoming: BytesMut::new(),
            ended: false,
            room: WINDOW,
            window: WINDOW,
            broken: false,
            left: false,
            reader: None,
            writer: None,
            pump: None,
        })));
        let pump = Pump::new(stream, shared.clone(), is_opener, growth);
        (Self(shared), pump)
    }

    /// Waits for a result of `look`. Returns `None` if the stream is aborted before.
    async fn wait<T>(&self, look: impl Fn(&mut State) -> Option<T>) -> Option<T> {
        std::future::poll_fn(|cx| {
            let mut state = self.0.state();
            if let Some(found) = look(&mut state) {
                return Poll::Ready(Some(found));
            }
            if state.broken {
                return Poll::Ready(None);
            }
            state.reader = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Returns the request of the opener; absent if it no longer makes one.
    pub(super) async fn request(&self) -> Option<Request> {
        self.wait(|state| state.requested.take()).await
    }

    /// Answers the opener. After a refusal nothing more is sent.
    pub(super) fn answer(&self, answer: Answer) {
        let mut state = self.0.state();
        state.answer = Some(answer);
        state.wake_pump();
    }

    /// Returns the answer of the other end. An abort counts as the absence of a server.
    pub(super) async fn wait_for_answer(&self) -> Answer {
        let answered = self.wait(|state| state.answered.take()).await;
        answered.unwrap_or(Err(Refusal::Backend))
    }

    /// Waits until the stream is aborted.
    pub(super) async fn aborted(&self) {
        self.wait(|_| None::<()>).await;
    }
}

impl AsyncRead for LinkStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        let size = state.incoming.len().min(buffer.remaining());
        if size > 0 {
            buffer.put_slice(&state.incoming[..size]);
            state.incoming.advance(size);
            if state.incoming.is_empty() {
                state.incoming = BytesMut::new();
            }
            if state.free() >= state.window / 2 {
                state.wake_pump();
            }
            return Poll::Ready(Ok(()));
        }
        if state.ended || buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if state.broken {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.state();
        if state.broken || state.shut {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let size = bytes.len().min(OUTGOING - state.outgoing.len());
        if size == 0 && !bytes.is_empty() {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.outgoing.extend_from_slice(&bytes[..size]);
        state.wake_pump();
        Poll::Ready(Ok(size))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        if state.broken {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        state.shut = true;
        state.wake_pump();
        Poll::Ready(Ok(()))
    }
}

impl Endpoint for LinkStream {
    fn broken(&self) -> bool {
        self.0.state().broken
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.left = true;
        state.wake_pump();
    }
}
