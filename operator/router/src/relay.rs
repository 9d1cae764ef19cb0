//! Moves bytes between two ends of a stream until both have announced their end, or one has failed.
//! Independent of sockets: the ends are anything that reads and writes. It has no queue: a
//! direction that cannot write does not read.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::pool::{self, Buffer};

/// Interval of the liveness checks of an end that is not read from.
pub const LOOK: Duration = Duration::from_secs(5);

/// One end of a stream.
pub trait Endpoint: AsyncRead + AsyncWrite + Unpin {
    /// Returns true if the other side is known to have aborted, without reading.
    fn broken(&self) -> bool {
        false
    }

    /// Makes closing it an end instead of an abort.
    fn settle(&self) {}
}

impl Endpoint for tokio::io::DuplexStream {}

/// Bytes that were moved.
#[derive(Debug, Default)]
pub struct Traffic {
    /// From clients.
    pub sent: AtomicU64,
    /// To clients.
    pub received: AtomicU64,
}

/// How long a stream may carry nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    /// Before its first byte, from either end; absent for ever.
    pub silent: Option<Duration>,
    /// After that; absent for ever.
    pub idle: Option<Duration>,
}

/// Moves bytes both ways. The end of one way is passed on and leaves the other way open. Calls `heard` at the first byte.
///
/// # Errors
/// Returns an error if an end failed or was aborted, or if no bytes moved for too long. The caller
/// should then abort both ends: neither may take the received part for the whole.
pub async fn relay(
    client: &mut impl Endpoint,
    server: &mut impl Endpoint,
    traffic: &Traffic,
    patience: Patience,
    heard: impl FnOnce(),
) -> io::Result<()> {
    let mut silence = Silence::new(patience, heard);
    let mut there = Direction::new(&traffic.sent);
    let mut back = Direction::new(&traffic.received);
    let mut look: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|cx| {
        let first = there.poll(cx, client, server)?;
        let second = back.poll(cx, server, client)?;
        if first.is_ready() && second.is_ready() {
            return Poll::Ready(Ok(()));
        }
        let moves = std::mem::take(&mut there.moves) | std::mem::take(&mut back.moves);
        if silence.poll(cx, moves).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        // An abort shows when an end is read, so an end that is not read just now is checked from
        // time to time. The timer stays when both are read again, because a stream that stops and
        // goes on a thousand times a second needs it only once.
        let stopped = !(there.is_reading() && back.is_reading());
        if stopped && look.is_none() {
            look = Some(Box::pin(sleep(LOOK)));
        }
        while let Some(timer) = &mut look {
            ready!(timer.as_mut().poll(cx));
            if !stopped {
                look = None;
                break;
            }
            let broken = !there.is_reading() && client.broken();
            if broken || !back.is_reading() && server.broken() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            timer.as_mut().reset(Instant::now() + LOOK);
        }
        Poll::Pending
    })
    .await
}

/// Progress of one direction.
enum Stage {
    /// It waits for bytes; `true` if some may still be on their way out of the writer.
    Reading(bool),
    /// These bytes must be written.
    Writing {
        buffer: Buffer,
        from: usize,
        to: usize,
    },
    /// No bytes are left; the writer is being notified.
    Ending,
    /// The writer was notified.
    Over,
}

/// Since when nothing moves, where that matters.
struct Silence<F> {
    idle: Option<Duration>,
    limit: Option<Duration>,
    /// Until the first byte.
    heard: Option<F>,
    last: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<F: FnOnce()> Silence<F> {
    fn new(patience: Patience, heard: F) -> Self {
        Self {
            idle: patience.idle,
            limit: patience.silent,
            heard: Some(heard),
            last: Instant::now(),
            timer: None,
        }
    }

    /// Ready once it has lasted too long.
    fn poll(&mut self, cx: &mut Context<'_>, moves: bool) -> Poll<()> {
        if moves && let Some(heard) = self.heard.take() {
            heard();
            self.limit = self.idle;
            self.timer = None;
        }
        let Some(limit) = self.limit else {
            return Poll::Pending;
        };
        if moves {
            self.last = Instant::now();
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        loop {
            ready!(timer.as_mut().poll(cx));
            // It is not set anew with each byte.
            let due = self.last + limit;
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
    }
}

struct Direction<'t> {
    moved: &'t AtomicU64,
    /// True if something was read since the last check.
    moves: bool,
    stage: Stage,
}

impl<'t> Direction<'t> {
    fn new(moved: &'t AtomicU64) -> Self {
        Self {
            moved,
            moves: false,
            stage: Stage::Reading(false),
        }
    }

    fn is_reading(&self) -> bool {
        matches!(self.stage, Stage::Reading(_))
    }

    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut R,
        writer: &mut W,
    ) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut held = None;
        loop {
            match &mut self.stage {
                Stage::Reading(unflushed) => {
                    let mut buffer = held.take().unwrap_or_else(pool::take);
                    match read(cx, reader, &mut buffer) {
                        Poll::Ready(Ok(0)) => {
                            pool::give(buffer);
                            self.stage = Stage::Ending;
                        }
                        Poll::Ready(Ok(to)) => {
                            self.moves = true;
                            self.stage = Stage::Writing {
                                buffer,
                                from: 0,
                                to,
                            };
                        }
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => {
                            pool::give(buffer);
                            if *unflushed {
                                ready!(Pin::new(writer).poll_flush(cx))?;
                                *unflushed = false;
                            }
                            return Poll::Pending;
                        }
                    }
                }
                Stage::Writing { buffer, from, to } => {
                    while *from < *to {
                        let bytes = &buffer[*from..*to];
                        let written = ready!(Pin::new(&mut *writer).poll_write(cx, bytes))?;
                        if written == 0 {
                            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                        }
                        *from += written;
                        self.moved.fetch_add(written as u64, Ordering::Relaxed);
                    }
                    held = Some(std::mem::take(buffer));
                    self.stage = Stage::Reading(true);
                }
                Stage::Ending => {
                    ready!(Pin::new(&mut *writer).poll_shutdown(cx))?;
                    self.stage = Stage::Over;
                }
                Stage::Over => return Poll::Ready(Ok(())),
            }
        }
    }
}

fn read<R: AsyncRead + Unpin>(
    cx: &mut Context<'_>,
    reader: &mut R,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut filled = ReadBuf::new(buffer);
    ready!(Pin::new(reader).poll_read(cx, &mut filled))?;
    Poll::Ready(Ok(filled.filled().len()))
}

#[cfg(test)]
mod tests;
