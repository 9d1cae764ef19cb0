//! Pipes in memory on which bytes take their time, and which can stand still for a while without losing any.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The most bytes that are under way in one direction.
const ROOM: usize = 64 * 1024;

/// The way between two nodes, over which one pipe after the other may go: its directions from who dials, and to it.
#[derive(Clone, Default)]
pub(super) struct Line(Arc<[Mutex<Direction>; 2]>);

#[derive(Default)]
struct Direction {
    latency: Duration,
    frozen: bool,
    carried: u64,
    /// Wakers of pipe readers and writers that wait because the direction is frozen.
    waiting: Vec<Waker>,
}

impl Line {
    pub(super) fn new(latencies: [Duration; 2]) -> Self {
        Self(Arc::new(latencies.map(|latency| {
            Mutex::new(Direction {
                latency,
                ..Direction::default()
            })
        })))
    }

    /// Stops all delivery in these directions from now on, without notice to either end.
    pub(super) fn freeze(&self, directions: &[usize]) {
        for at in directions {
            self.direction(*at).frozen = true;
        }
    }

    /// All that waited arrives.
    pub(super) fn thaw(&self) {
        for at in [0, 1] {
            let mut direction = self.direction(at);
            direction.frozen = false;
            direction.waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// The bytes that went over it, in both directions.
    pub(super) fn carried(&self) -> u64 {
        self.direction(0).carried + self.direction(1).carried
    }

    /// Both ends of a pipe that goes over it, first that of who dials.
    pub(super) fn pipe(&self) -> [Wire; 2] {
        let ways = Arc::new([Mutex::default(), Mutex::default()]);
        [0, 1].map(|side| Wire {
            line: self.clone(),
            ways: ways.clone(),
            side,
            timer: None,
        })
    }

    fn direction(&self, at: usize) -> MutexGuard<'_, Direction> {
        self.0[at].lock().unwrap()
    }
}

/// The bytes under way in one direction of a pipe.
#[derive(Default)]
struct DirectionBuffer {
    /// Bytes and when they arrive; none are the end.
    bytes: VecDeque<(Instant, Bytes)>,
    size: usize,
    /// Time since which the writer knows that its peer does not read.
    unread: Option<Instant>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl DirectionBuffer {
    fn push(&mut self, due: Instant, bytes: &[u8]) {
        self.size += bytes.len();
        self.bytes.push_back((due, Bytes::copy_from_slice(bytes)));
        wake(&mut self.reader);
    }
}

fn wake(waiting: &mut Option<Waker>) {
    if let Some(waker) = waiting.take() {
        waker.wake();
    }
}

/// One end of a pipe.
pub(super) struct Wire {
    line: Line,
    ways: Arc<[Mutex<DirectionBuffer>; 2]>,
    /// Direction in which it writes.
    side: usize,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wire {
    fn lock_buffer(&self, at: usize) -> MutexGuard<'_, DirectionBuffer> {
        self.ways[at].lock().unwrap()
    }

    /// Returns the time at which bytes written now arrive.
    fn due(&self) -> Instant {
        Instant::now() + self.line.direction(self.side).latency
    }

    /// True if nothing arrives from the other end. Then it is woken when that changes.
    fn is_cut(&self, cx: &Context<'_>) -> bool {
        let mut direction = self.line.direction(1 - self.side);
        if direction.frozen {
            direction.waiting.push(cx.waker().clone());
        }
        direction.frozen
    }

    fn end(&self) {
        self.lock_buffer(self.side).push(self.due(), &[]);
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let from = 1 - self.side;
        if self.is_cut(cx) {
            return Poll::Pending;
        }
        loop {
            let mut way = self.lock_buffer(from);
            let Some((due, bytes)) = way.bytes.front_mut() else {
                way.reader = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let due = *due;
            if due <= Instant::now() {
                let size = bytes.len().min(buffer.remaining());
                let is_last = !bytes.is_empty() && size == bytes.len();
                buffer.put_slice(&bytes.split_to(size));
                if is_last {
                    way.bytes.pop_front();
                }
                way.size -= size;
                wake(&mut way.writer);
                return Poll::Ready(Ok(()));
            }
            drop(way);
            let timer = self.timer.insert(Box::pin(sleep_until(due)));
            ready!(timer.as_mut().poll(cx));
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let (due, is_cut) = (self.due(), self.is_cut(cx));
        let mut way = self.lock_buffer(self.side);
        let unread = way.unread.is_some_and(|since| since <= Instant::now());
        if unread && !is_cut {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let size = bytes.len().min(ROOM - way.size);
        if size == 0 {
            way.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        way.push(due, &bytes[..size]);
        self.line.direction(self.side).carried += size as u64;
        Poll::Ready(Ok(size))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.end();
        let due = self.due();
        let mut way = self.lock_buffer(1 - self.side);
        way.unread = Some(due);
        wake(&mut way.writer);
    }
}
