//! A watch that feeds a cache, with a pause after an error.
//! Streaming lists where the server has them, pages of 500 where it has not; kinds that are not served are waited for.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use kube::core::ApiResource;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Api, Client};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::store::{Raw, Store};
use crate::health::Health;
use crate::lifecycle::Kind;
use crate::machine::backoff::Backoff;
use lifecycle_client::heard::Heard;
use lifecycle_client::kube::one_line;

type Events = Pin<Box<dyn Stream<Item = watcher::Result<Event<Raw>>> + Send>>;

/// How many events of one kind are taken in before the next kind has its turn, and how many bytes of them.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 4 << 20;

/// Time after which a streamed list is abandoned. A server without streamed lists treats them as
/// watches and never reports them complete.
const LONGEST_LIST: Duration = Duration::from_secs(20);
/// The server ends a watch after this many seconds, and it is begun again where it ended: so it is heard that often, also of a quiet kind.
const TURN: u32 = 30;
/// Time without a response after which a watch counts as dead, regardless of its connection. The
/// kind is then listed again.
const LONGEST_SILENCE: Duration = Duration::from_secs(40);
/// Time without news after which the state of the cache is unknown. Between the longest silence and
/// this, a new watch had time to begin.
const STALE: Duration = Duration::from_secs(45);

/// The watch of one kind.
pub struct Watch {
    kind: Kind,
    /// The namespace of the objects; `None`: all namespaces.
    namespace: Option<String>,
    /// A field selector; empty: all objects.
    fields: String,
    /// A label selector; empty: all objects.
    labels: String,
    /// Client whose responses count as signs of life.
    client: Client,
    heard: Heard,
    /// Fires when nothing was heard for too long.
    silence: Pin<Box<Sleep>>,
    /// When it was begun, or failed.
    begun: Instant,
    events: Events,
    /// A list is on its way.
    listing: bool,
    streaming: bool,
    failures: u32,
    /// The last failure had no answer.
    lost: bool,
    pause: Option<Pin<Box<Sleep>>>,
    /// Runs while a streamed list does.
    patience: Option<Pin<Box<Sleep>>>,
    said: Option<String>,
}

impl Watch {
    /// Watches the objects of a kind, in one namespace or in all, that a field selector and a label selector choose; an empty one chooses all.
    pub fn new(
        client: &Client,
        kind: Kind,
        namespace: Option<&str>,
        (fields, labels): (&str, &str),
    ) -> Self {
        let heard = Heard::now();
        let client = heard.by(client);
        Self {
            events: events(&client, (&kind, namespace), (fields, labels), true),
            namespace: namespace.map(str::to_owned),
            fields: fields.to_owned(),
            labels: labels.to_owned(),
            client,
            silence: Box::pin(sleep(LONGEST_SILENCE)),
            begun: heard.last_heard(),
            heard,
            listing: false,
            kind,
            streaming: true,
            failures: 0,
            lost: false,
            pause: None,
            patience: None,
            said: None,
        }
    }

    /// Reports to health whether its part of the cache is reliable: it was listed, and the API
    /// server has responded since.
    pub fn show_health(&self, (store, part): (&Store, usize), health: &Health, now: Instant) {
        let name = store.part_name(part);
        if now.saturating_duration_since(self.heard.last_heard()) > STALE {
            let limit = STALE.as_secs();
            health.waits(
                name,
                format!("nothing was heard of the API server for {limit} s"),
            );
        } else if store.is_part_synced(part) {
            health.works(&name);
        }
    }

    /// When the API server was last heard on this watch, or when it was begun.
    pub(crate) fn heard_at(&self) -> Instant {
        self.heard.last_heard()
    }

    /// The events that are there now; `random` spreads the pauses.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        random: &mut impl FnMut() -> u64,
    ) -> Poll<Vec<Event<Raw>>> {
        let (mut ready, mut bytes) = (Vec::new(), 0);
        while ready.len() < BATCH && bytes < BATCH_BYTES {
            if let Some(pause) = &mut self.pause {
                match pause.as_mut().poll(cx) {
                    Poll::Ready(()) => self.pause = None,
                    Poll::Pending => break,
                }
            }
            match self.events.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(event))) => {
                    self.worked(&event);
                    bytes += size(&event);
                    ready.push(event);
                }
                Poll::Ready(Some(Err(error))) => self.failed(&error, random()),
                Poll::Ready(None) => self.restart(),
                Poll::Pending if self.is_out_of_patience(cx) => {
                    self.list("streamed lists never end here");
                }
                Poll::Pending if self.is_silent(cx) => self.begin_anew(),
                Poll::Pending => break,
            }
        }
        if ready.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(ready)
        }
    }

    fn is_out_of_patience(&mut self, cx: &mut Context<'_>) -> bool {
        let patience = self.patience.as_mut();
        patience.is_some_and(|patience| patience.as_mut().poll(cx).is_ready())
    }

    /// Returns true if the server was silent for too long.
    fn is_silent(&mut self, cx: &mut Context<'_>) -> bool {
        while self.silence.as_mut().poll(cx).is_ready() {
            let due = self.heard.last_heard().max(self.begun) + LONGEST_SILENCE;
            if due <= Instant::now() {
                return true;
            }
            self.silence = Box::pin(sleep_until(due));
        }
        false
    }

    /// Restarts the watch with a list, which shows the missed changes.
    fn begin_anew(&mut self) {
        let silent = LONGEST_SILENCE.as_secs();
        let said = format!("nothing was heard for {silent} s");
        if self.said.as_deref() != Some(&said) {
            let (kind, plural) = (&self.kind, &self.kind.plural);
            tracing::warn!(?kind, "restarting the watch of {plural}: {said}");
            self.said = Some(said);
        }
        self.restart();
        self.silence = Box::pin(sleep(LONGEST_SILENCE));
    }

    fn worked(&mut self, event: &Event<Raw>) {
        // A list begins well even where it then fails.
        let listing = matches!(event, Event::Init | Event::InitApply(_));
        self.patience = (self.streaming && listing).then(|| Box::pin(sleep(LONGEST_LIST)));
        let is_cut = matches!(event, Event::Init) && std::mem::replace(&mut self.listing, listing);
        self.listing = listing;
        if is_cut && self.streaming {
            self.list("a streamed list takes longer than a watch may");
            return;
        }
        if matches!(event, Event::Init) {
            return;
        }
        self.failures = 0;
        if self.said.take().is_some() {
            tracing::info!(kind = ?self.kind, "watching");
        }
    }

    fn failed(&mut self, error: &watcher::Error, random: u64) {
        if self.streaming && is_unsupported(error) {
            self.list("the server has no streamed lists");
            return;
        }
        (self.begun, self.listing) = (Instant::now(), false);
        // A server that answers again may be well in a moment.
        let lost = api_code(error).is_none();
        if std::mem::replace(&mut self.lost, lost) && !lost {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let pause = Backoff::WATCH.after(self.failures, random);
        self.pause = Some(Box::pin(sleep(pause)));
        if is_expired(error) {
            tracing::debug!(kind = ?self.kind, "the watch is too old: listing again");
            return;
        }
        let said = describe(error);
        // Once a text, not once an attempt.
        if self.said.as_deref() != Some(&said) {
            tracing::warn!(kind = ?self.kind, "cannot watch {}: {said}; trying again", self.kind.plural);
            self.said = Some(said);
        }
    }

    /// Lists in pages from now on.
    fn list(&mut self, why: &str) {
        tracing::info!(kind = ?self.kind, "{why}: listing {} in pages", self.kind.plural);
        self.streaming = false;
        self.restart();
    }

    fn restart(&mut self) {
        (self.begun, self.listing) = (Instant::now(), false);
        self.patience = None;
        let selectors = (self.fields.as_str(), self.labels.as_str());
        let within = (&self.kind, self.namespace.as_deref());
        self.events = events(&self.client, within, selectors, self.streaming);
    }
}

/// A watch, and the part of a cache that it feeds.
pub struct Feed {
    /// Position of the cache among those of its process.
    pub store: usize,
    /// Position of the part in the cache.
    pub part: usize,
    /// Watch of the objects of that part.
    pub watch: Watch,
}

impl Feed {
    /// Watches for each part of a cache, of the objects that a field selector and a label selector choose.
    pub fn for_store(
        client: &Client,
        (number, store): (usize, &Store),
        selectors: (&str, &str),
    ) -> impl Iterator<Item = Self> {
        let parts = store.namespaces().enumerate();
        parts.map(move |(part, namespace)| Self {
            store: number,
            part,
            watch: Watch::new(client, store.kind.clone(), namespace, selectors),
        })
    }
}

fn events(
    client: &Client,
    (kind, namespace): (&Kind, Option<&str>),
    (fields, labels): (&str, &str),
    streaming: bool,
) -> Events {
    let resource = ApiResource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        plural: kind.plural.clone(),
    };
    let api: Api<Raw> = match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let config = Config::default().page_size(500).timeout(TURN);
    let config = match fields {
        "" => config,
        fields => config.fields(fields),
    };
    let config = match labels {
        "" => config,
        labels => config.labels(labels),
    };
    let config = if streaming {
        config.streaming_lists()
    } else {
        config
    };
    Box::pin(watcher(api, config))
}

fn size(event: &Event<Raw>) -> usize {
    match event {
        Event::Apply(raw) | Event::InitApply(raw) | Event::Delete(raw) => raw.size(),
        Event::Init | Event::InitDone => 0,
    }
}

fn api_code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::WatchError(status) => Some(status.code),
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => Some(status.code),
        watcher::Error::InitialListFailed(_)
        | watcher::Error::WatchStartFailed(_)
        | watcher::Error::WatchFailed(_)
        | watcher::Error::NoResourceVersion => None,
    }
}

/// Returns true if an error comes from a server that knows streaming lists but does not support
/// them, here or now.
fn is_unsupported(error: &watcher::Error) -> bool {
    let started = matches!(error, watcher::Error::WatchStartFailed(_));
    started && matches!(api_code(error), Some(400 | 422))
}

fn is_expired(error: &watcher::Error) -> bool {
    api_code(error) == Some(410)
}

fn describe(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => one_line(error),
        watcher::Error::WatchError(status) => one_line(&kube::Error::Api(status.clone())),
        watcher::Error::NoResourceVersion => {
            "the API server sends no versions: this kind cannot be watched".to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
