//! Moves the records of one stream between its user and the multiplexer. It always reads, so it
//! holds only as many bytes as a window allows. A sender that exceeds the window is at fault. The
//! multiplexer shows an abort as an end, so an end is a record of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf as _, BytesMut};
use futures::io::{AsyncRead as _, AsyncWrite as _};
use thiserror::Error;

use super::{Growth, MAX_WINDOW, Shared, State};
use crate::link::frame;
use crate::link::frame::record::{MAX_DATA, Record};
use crate::pool;

/// The most credit that is believed.
const MAX_CREDIT: usize = 1 << 30;
/// Received bytes after which a window grows: bytes that only fill the buffers of a longer path
/// prove nothing.
const PROVEN: u64 = 2 * MAX_WINDOW as u64;
/// Reads of one turn, so that a stream that never pauses leaves others theirs.
const TURN: usize = 16;

/// Act of the other end of a link on a stream that no router commits.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// It sent bytes that mean nothing.
    #[error(transparent)]
    Frame(#[from] frame::Error),
    /// It sent more than it may.
    #[error("it sends more than its credit allows")]
    Credit,
    /// It sent a record at the wrong time.
    #[error("it answers without a request, or requests twice")]
    Order,
}

/// How far the stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The opener's request is not sent, or not heard.
    Request,
    /// It waits for an answer.
    Answer,
    Open,
    /// It was refused; nothing more is sent.
    Refused,
}

#[derive(Debug)]
pub(in crate::link) struct Pump {
    stream: yamux::Stream,
    shared: Arc<Shared>,
    is_opener: bool,
    stage: Stage,
    /// Records on their way out, and how much of them is.
    sending: Vec<u8>,
    sent: usize,
    ended: bool,
    /// The beginning of a record that is not whole.
    received: BytesMut,
    /// Bytes.
    heard: u64,
    growth: Growth,
    grown: usize,
}

impl Pump {
    pub(super) fn new(
        stream: yamux::Stream,
        shared: Arc<Shared>,
        is_opener: bool,
        growth: Growth,
    ) -> Self {
        Self {
            stream,
            shared,
            is_opener,
            stage: Stage::Request,
            sending: Vec::new(),
            sent: 0,
            ended: false,
            received: BytesMut::new(),
            heard: 0,
            growth,
            grown: 0,
        }
    }

    /// Returns true if this side opened the stream.
    pub(in crate::link) fn is_opener(&self) -> bool {
        self.is_opener
    }

    /// Takes the next records to send from the user.
    fn fill(&mut self) {
        let shared = self.shared.clone();
        let mut state = shared.state();
        let state = &mut *state;
        let mut bytes = std::mem::take(&mut self.sending);
        bytes.clear();
        if let Some(request) = state.request.take() {
            Record::Open(request).encode_into(&mut bytes);
            self.stage = Stage::Answer;
        }
        match state.answer.take() {
            None => {}
            Some(Ok(())) => {
                Record::Opened.encode_into(&mut bytes);
                self.stage = Stage::Open;
            }
            Some(Err(refusal)) => {
                Record::Refused(refusal).encode_into(&mut bytes);
                self.stage = Stage::Refused;
            }
        }
        if self.stage == Stage::Open {
            self.grant(state, &mut bytes);
            let size = state.outgoing.len().min(state.credit).min(MAX_DATA);
            if size > 0 {
                Record::Data(&state.outgoing[..size]).encode_into(&mut bytes);
                state.outgoing.advance(size);
                state.credit -= size;
                if state.outgoing.is_empty() {
                    state.outgoing = BytesMut::new();
                }
                if let Some(writer) = state.writer.take() {
                    writer.wake();
                }
            }
            if state.shut && state.outgoing.is_empty() && !self.ended {
                Record::End.encode_into(&mut bytes);
                self.ended = true;
            }
        }
        if bytes.is_empty() {
            bytes = Vec::new();
        }
        (self.sending, self.sent) = (bytes, 0);
    }

    /// Announces room to the other end once half of the window is free, and enlarges the window if
    /// its reader keeps up.
    fn grant(&mut self, state: &mut State, bytes: &mut Vec<u8>) {
        if state.free() < state.window / 2 || state.ended {
            return;
        }
        let more = state.window;
        let keeps_up = state.incoming.is_empty() && self.heard >= PROVEN;
        if keeps_up && 2 * more <= MAX_WINDOW && self.growth.take(more) {
            self.grown += more;
            state.window += more;
        }
        let free = state.free();
        state.room += free;
        let free = u32::try_from(free).expect("a window is small");
        Record::Credit(free).encode_into(bytes);
    }

    /// Sends until nothing is left to send.
    fn send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            while self.sent < self.sending.len() {
                let rest = &self.sending[self.sent..];
                let written = Pin::new(&mut self.stream).poll_write(cx, rest);
                self.sent += std::task::ready!(written)?;
                self.growth.moved();
            }
            self.fill();
            if self.sending.is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Reads all available records. Ready at the end of the stream.
    fn receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<io::Result<()>, Fault>> {
        let mut buffer = pool::take();
        let mut outcome = Poll::Pending;
        for turn in 0..TURN {
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => outcome = Poll::Ready(Ok(Ok(()))),
                Poll::Ready(Err(error)) => outcome = Poll::Ready(Ok(Err(error))),
                Poll::Ready(Ok(size)) => {
                    self.received.extend_from_slice(&buffer[..size]);
                    if let Err(fault) = self.parse() {
                        outcome = Poll::Ready(Err(fault));
                    }
                }
            }
            if outcome.is_ready() {
                break;
            }
            if turn + 1 == TURN {
                cx.waker().wake_by_ref();
            }
        }
        pool::give(buffer);
        if self.received.is_empty() {
            self.received = BytesMut::new();
        }
        outcome
    }

    fn parse(&mut self) -> Result<(), Fault> {
        let shared = self.shared.clone();
        let mut state = shared.state();
        let received = std::mem::take(&mut self.received);
        let mut rest = &received[..];
        let mut heard = Ok(());
        while let (Ok(()), Some((record, length))) = (&heard, Record::first(rest)?) {
            heard = self.hear(&mut state, record);
            rest = &rest[length..];
        }
        let read = received.len() - rest.len();
        self.received = received;
        self.received.advance(read);
        heard
    }

    fn hear(&mut self, state: &mut State, record: Record<'_>) -> Result<(), Fault> {
        match (record, self.stage) {
            (Record::Open(request), Stage::Request) if !self.is_opener => {
                self.stage = Stage::Answer;
                state.requested = Some(request);
                state.wake_user();
            }
            (Record::Opened, Stage::Answer) if self.is_opener => {
                self.stage = Stage::Open;
                state.answered = Some(Ok(()));
                state.wake_user();
            }
            (Record::Refused(refusal), Stage::Answer) if self.is_opener => {
                self.stage = Stage::Refused;
                state.answered = Some(Err(refusal));
                state.wake_user();
            }
            (Record::Data(data), Stage::Open) if !state.ended => {
                state.room = state.room.checked_sub(data.len()).ok_or(Fault::Credit)?;
                self.heard += data.len() as u64;
                // Bytes without a reader need no room.
                if !state.left {
                    state.incoming.extend_from_slice(data);
                }
                if let Some(reader) = state.reader.take() {
                    reader.wake();
                }
            }
            (Record::Credit(more), Stage::Open) => {
                let more = usize::try_from(more).unwrap_or(usize::MAX);
                let credit = state.credit.saturating_add(more);
                if credit > MAX_CREDIT || more == 0 {
                    return Err(Fault::Credit);
                }
                state.credit = credit;
            }
            (Record::End, Stage::Open) if !state.ended => {
                state.ended = true;
                state.wake_user();
            }
            (
                Record::Open(_)
                | Record::Opened
                | Record::Refused(_)
                | Record::Data(_)
                | Record::Credit(_)
                | Record::End,
                _,
            ) => return Err(Fault::Order),
        }
        Ok(())
    }

    /// Returns `None` while work is left, or else true if the stream ends in an orderly way.
    fn is_over(&self) -> Option<bool> {
        let state = self.shared.state();
        let is_sent = self.sent == self.sending.len() && state.outgoing.is_empty();
        if self.stage == Stage::Refused {
            return is_sent.then_some(true);
        }
        if self.ended && state.ended {
            return is_sent.then_some(true);
        }
        let ends = state.shut && state.ended && self.stage == Stage::Open;
        let has_answer = state.answer.is_some();
        (state.left && !ends && !has_answer).then_some(false)
    }
}

impl Future for Pump {
    /// True if this side opened the stream, or else the fault of the other end.
    type Output = Result<bool, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.shared.state().pump = Some(cx.waker().clone());
        let received = match this.receive(cx) {
            Poll::Ready(Err(fault)) => return Poll::Ready(Err(fault)),
            Poll::Ready(Ok(end)) => Some(end),
            Poll::Pending => None,
        };
        if let Poll::Ready(Err(error)) = this.send(cx) {
            tracing::trace!(%error, "a stream was aborted");
            return Poll::Ready(Ok(this.is_opener));
        }
        match this.is_over() {
            None if received.is_none() => Poll::Pending,
            Some(true) => {
                let closed = Pin::new(&mut this.stream).poll_close(cx);
                closed.map(|_closed_or_gone| Ok(this.is_opener))
            }
            // Dropped without being closed, it is aborted.
            Some(false) | None => Poll::Ready(Ok(this.is_opener)),
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.growth.give(self.grown);
        let mut state = self.shared.state();
        state.broken = !(self.ended && state.ended);
        state.wake_user();
    }
}
