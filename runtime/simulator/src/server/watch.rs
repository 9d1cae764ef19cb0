//! Watches: the current objects, then their changes, within a selection. Each chunk is made on
//! demand from the shared history, so a watch that no client reads costs nothing.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use super::answer::Answer;
use super::call::Call;
use super::failure::{Cause, Failure};
use super::list::{Selection, revision_of};
use super::render::View;
use super::state::State;
use super::store::{Change, Stored};
use super::{Chunks, Server};

/// How long a watch goes on that names no time; a real server takes something between 30 and 60 minutes.
const LIFE: Duration = Duration::from_mins(45);

/// How often a bookmark is sent where they are wanted.
const BOOKMARK: Duration = Duration::from_mins(1);

/// A watch between two chunks.
struct Watching {
    view: View,
    selection: Selection,
    /// All up to this version was sent.
    sent: u64,
    ready: Option<Bytes>,
    bookmarks: bool,
    ends: Instant,
    next_bookmark: Instant,
    moved: Receiver<u64>,
    over: bool,
}

/// Begins a watch.
pub(crate) fn watch(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.kind.virtual_only {
        return Err(Failure::method_not_allowed());
    }
    let query = &call.asked.query;
    let selection = Selection::from_call(call)?;
    let streams = query.flag("sendInitialEvents");
    check_match(
        query.text("resourceVersionMatch"),
        query.has("sendInitialEvents"),
    )?;
    let asked = revision_of(query.text("resourceVersion"))?;
    let life = query
        .number("timeoutSeconds")?
        .filter(|seconds| *seconds > 0);
    let bookmarks = query.flag("allowWatchBookmarks");
    let current = state.store.revision();
    let begins_with_all = streams || (asked == 0 && !query.has("sendInitialEvents"));
    let mut chunk = Vec::new();
    if begins_with_all {
        let all = state.store.all(&call.kind.store, &selection.namespace);
        for stored in all.filter(|stored| selection.matches(stored)) {
            call.view.event("ADDED", stored, &mut chunk);
        }
        if streams && bookmarks {
            call.view.bookmark(current, true, &mut chunk);
        }
    }
    let now = Instant::now();
    let watching = Box::new(Watching {
        view: call.view.clone(),
        selection,
        sent: if begins_with_all || asked == 0 {
            current
        } else {
            asked
        },
        ready: (!chunk.is_empty()).then(|| chunk.into()),
        bookmarks,
        ends: now + life.map_or(LIFE, Duration::from_secs),
        next_bookmark: now + BOOKMARK,
        moved: state.store.moved(&call.kind.store),
        over: false,
    });
    Ok(Answer::watch(|server| watching.chunks(server)))
}

fn check_match(exactly: &str, streams: bool) -> Result<(), Failure> {
    let refuse = |cause: Cause| {
        Err(Failure::invalid_kind(
            "meta.k8s.io",
            "ListOptions",
            "",
            &[cause],
        ))
    };
    let field = "resourceVersionMatch";
    match (exactly, streams) {
        ("", false) | ("NotOlderThan", true) => Ok(()),
        ("", true) => refuse(Cause::forbidden(
            field,
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )),
        (other, true) => refuse(Cause::unsupported(field, &other.into(), &["NotOlderThan"])),
        (_, false) => refuse(Cause::forbidden(
            field,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )),
    }
}

/// Cause for which a watch woke.
enum WakeReason {
    Changed,
    Bookmark,
    End,
}

impl Watching {
    /// The watch as the body of a reply.
    fn chunks(self: Box<Self>, server: Server) -> Chunks {
        stream::unfold((self, server), |(mut watching, server)| async move {
            let chunk = watching.next(&server).await?;
            Some((chunk, (watching, server)))
        })
        .boxed()
    }

    async fn next(&mut self, server: &Server) -> Option<Bytes> {
        loop {
            if let Some(ready) = self.ready.take() {
                return Some(ready);
            }
            if self.over {
                return None;
            }
            // Marked before reading, so that a change in between wakes us again.
            self.moved.mark_unchanged();
            let chunk = self.read(&server.lock());
            if !chunk.is_empty() {
                return Some(chunk.into());
            }
            match self.wait().await {
                WakeReason::Changed => {}
                WakeReason::End => return None,
                WakeReason::Bookmark => {
                    self.next_bookmark = Instant::now() + BOOKMARK;
                    let state = server.lock();
                    let mut chunk = self.read(&state);
                    if !self.over {
                        self.sent = self.sent.max(state.store.revision());
                        self.view.bookmark(self.sent, false, &mut chunk);
                    }
                    self.ready = Some(chunk.into());
                }
            }
        }
    }

    async fn wait(&mut self) -> WakeReason {
        let (ends, next_bookmark, bookmarks) = (self.ends, self.next_bookmark, self.bookmarks);
        tokio::select! {
            biased;
            changed = self.moved.changed() => match changed {
                Ok(()) => WakeReason::Changed,
                Err(_) => WakeReason::End,
            },
            () = sleep_until(ends) => WakeReason::End,
            () = sleep_until(next_bookmark), if bookmarks => WakeReason::Bookmark,
        }
    }

    /// The events that happened since the last chunk.
    fn read(&mut self, state: &State) -> Vec<u8> {
        let mut chunk = Vec::new();
        let changes = match state.store.since(&self.view.kind.store, self.sent) {
            Ok(changes) => changes,
            Err(compacted) => {
                self.over = true;
                let message = format!(
                    "too old resource version: {} ({})",
                    self.sent, compacted.oldest
                );
                let event = serde_json::json!({
                    "type": "ERROR", "object": Failure::expired(message).json(),
                });
                chunk.extend_from_slice(event.to_string().as_bytes());
                chunk.push(b'\n');
                return chunk;
            }
        };
        for change in changes {
            self.sent = change.after.revision;
            if let Some((what, stored)) = seen(&self.selection, change) {
                match stored {
                    Selected::Stored(stored) => self.view.event(what, stored, &mut chunk),
                    Selected::Left(before) => self.view.left(before, self.sent, &mut chunk),
                }
            }
        }
        chunk
    }
}

enum Selected<'a> {
    Stored(&'a Stored),
    /// It no longer matches: its last state that did.
    Left(&'a Stored),
}

/// Returns the event that a watcher of a selection sees for a change.
fn seen<'a>(selection: &Selection, change: &'a Change) -> Option<(&'static str, Selected<'a>)> {
    let matched = change
        .before
        .as_deref()
        .filter(|before| selection.matches(before));
    let matches = !change.gone && selection.matches(&change.after);
    match (matched, matches) {
        (None, false) => None,
        (None, true) => Some(("ADDED", Selected::Stored(&change.after))),
        (Some(_), true) => Some(("MODIFIED", Selected::Stored(&change.after))),
        (Some(_), false) if change.gone => Some(("DELETED", Selected::Stored(&change.after))),
        (Some(before), false) => Some(("DELETED", Selected::Left(before))),
    }
}
