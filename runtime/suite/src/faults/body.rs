//! Bodies of forwarded answers. Watch events are delayed, dropped or cut off here, and logged when
//! they leave.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep_until};
use tower::BoxError;

use super::line::Line;
use super::state::Ending;

/// The body of an answer.
pub(super) enum Reply {
    Whole(Option<Bytes>),
    Watch(Box<WatchReply>),
}

/// The events of a watch.
pub(super) struct WatchReply {
    line: Line,
    number: u64,
    kind: String,
    inner: Body,
    /// Received bytes of a line that is not complete yet.
    begun: Vec<u8>,
    held: VecDeque<String>,
    /// Timer that releases the held events.
    release: Option<Pin<Box<Sleep>>>,
    coalesces: bool,
    is_over: bool,
}

impl Reply {
    pub(super) fn full(body: Bytes) -> Self {
        Self::Whole(Some(body).filter(|body| !body.is_empty()))
    }

    pub(super) fn watch(watch: WatchReply) -> Self {
        Self::Watch(Box::new(watch))
    }
}

impl HttpBody for Reply {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Watch(watch) => watch.poll(cx),
        }
    }
}

impl WatchReply {
    pub(super) fn new(line: Line, number: u64, kind: String, inner: Body) -> Self {
        Self {
            line,
            number,
            kind,
            inner,
            begun: Vec::new(),
            held: VecDeque::new(),
            release: None,
            coalesces: false,
            is_over: false,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.line.is_dead() {
            return Poll::Pending;
        }
        if let Some(ending) = self.ending(cx) {
            return Poll::Ready(self.finish(ending));
        }
        if let Err(error) = self.fill(cx) {
            return Poll::Ready(Some(Err(error)));
        }
        ready!(self.wait(cx));
        match self.held.pop_front() {
            Some(event) => {
                self.line.record(self.number, &format!("=> {event}"));
                let mut bytes = event.into_bytes();
                bytes.push(b'\n');
                Poll::Ready(Some(Ok(Frame::data(bytes.into()))))
            }
            None if self.is_over => {
                self.line.record(self.number, "=> ends");
                Poll::Ready(None)
            }
            None => Poll::Pending,
        }
    }

    /// Returns the ending if a fault ends this watch. Otherwise it registers the task, which is
    /// woken when one does.
    fn ending(&mut self, cx: &Context<'_>) -> Option<Ending> {
        let mut state = self.line.faults.state();
        let watch = state.watches.get_mut(&self.number)?;
        watch.waker = Some(cx.waker().clone());
        watch.ending.take()
    }

    fn finish(&mut self, ending: Ending) -> Option<Result<Frame<Bytes>, BoxError>> {
        self.is_over = true;
        self.held.clear();
        self.inner = Body::empty();
        match ending {
            Ending::Over => {
                self.line.record(self.number, "=> ends");
                None
            }
            Ending::Broken => {
                self.line.record(self.number, "=> breaks");
                let error = "the watch was broken by a fault";
                let error = io::Error::new(io::ErrorKind::ConnectionReset, error);
                Some(Err(error.into()))
            }
            Ending::TooOld => {
                let event = json!({ "type": "ERROR", "object": {
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                    "message": "too old resource version", "reason": "Expired", "code": 410,
                } });
                self.line.record(self.number, &format!("=> {event}"));
                Some(Ok(Frame::data(format!("{event}\n").into_bytes().into())))
            }
        }
    }

    /// Reads everything that the server has sent.
    fn fill(&mut self, cx: &mut Context<'_>) -> Result<(), BoxError> {
        while !self.is_over {
            match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => self.is_over = true,
                Poll::Ready(Some(Err(error))) => {
                    self.is_over = true;
                    return Err(error.into());
                }
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.begun.extend_from_slice(&data);
                        self.split();
                    }
                }
            }
        }
        Ok(())
    }

    fn split(&mut self) {
        while let Some(end) = self.begun.iter().position(|b| *b == b'\n') {
            let rest = self.begun.split_off(end + 1);
            let line = std::mem::replace(&mut self.begun, rest);
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if !line.is_empty() {
                self.held.push_back(line);
            }
        }
    }

    /// Waits while events of this kind are held back.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        let gate = match self.line.disturbed && !self.held.is_empty() {
            true => self.line.faults.state().gate(&self.kind, now),
            false => None,
        };
        if let Some(gate) = gate {
            self.coalesces |= gate.coalesces;
            let mut release = Box::pin(sleep_until(gate.until));
            if release.as_mut().poll(cx).is_pending() {
                self.release = Some(release);
                return Poll::Pending;
            }
        }
        self.release = None;
        if std::mem::take(&mut self.coalesces) {
            let held = std::mem::take(&mut self.held);
            self.held = coalesced(held);
        }
        Poll::Ready(())
    }
}

impl Drop for WatchReply {
    fn drop(&mut self) {
        self.line.faults.state().watches.remove(&self.number);
    }
}

/// Of each object only the last event, where that stood.
fn coalesced(events: VecDeque<String>) -> VecDeque<String> {
    let name = |event: &String| {
        let event: Value = serde_json::from_str(event).ok()?;
        let meta = event.pointer("/object/metadata")?;
        let text = |key: &str| meta.get(key).and_then(Value::as_str).map(str::to_owned);
        Some((text("namespace"), text("name")?))
    };
    let names: Vec<_> = events.iter().map(name).collect();
    let is_last = |n: usize| names[n].is_none() || !names[n + 1..].contains(&names[n]);
    let kept = events.into_iter().enumerate().filter(|(n, _)| is_last(*n));
    kept.map(|(_, event)| event).collect()
}
