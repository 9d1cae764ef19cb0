//! One list and one watch for each kind, those of definitions included as they come.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::{Instant, Sleep, sleep_until};

use super::cache::{Cache, Change};
use super::kinds::{Kind, ObjectKey};
use super::object::text;

type Stream = BoxStream<'static, Result<Event<kube::core::DynamicObject>, watcher::Error>>;

/// Delay of a watch after a failure.
const PAUSE: Duration = Duration::from_secs(1);

struct Watch {
    stream: Stream,
    paused: Option<Pin<Box<Sleep>>>,
}

/// All watches, in order of kinds.
pub(super) struct Watches {
    client: Client,
    all: BTreeMap<Kind, Watch>,
}

impl Watches {
    pub(super) fn new(client: Client) -> Self {
        let mut watches = Self {
            client,
            all: BTreeMap::new(),
        };
        for kind in Kind::built_in() {
            watches.add(kind);
        }
        watches
    }

    fn add(&mut self, kind: Kind) {
        let api = Api::all_with(self.client.clone(), &kind.resource());
        let stream = watcher::watcher(api, watcher::Config::default()).boxed();
        let watch = Watch {
            stream,
            paused: None,
        };
        self.all.insert(kind, watch);
    }

    /// Takes in all that came; pending if that is nothing.
    pub(super) fn poll(&mut self, cache: &mut Cache, cx: &mut Context<'_>) -> Poll<Vec<Change>> {
        let mut changes = Vec::new();
        for (kind, watch) in &mut self.all {
            while let Some(event) = watch.next(cx) {
                changes.extend(take(cache, kind, event));
            }
        }
        self.follow(cache, &changes);
        if changes.is_empty() && !cache.knows_more() {
            Poll::Pending
        } else {
            Poll::Ready(changes)
        }
    }

    /// Definitions add and take kinds. A kind in another stored version is another kind here.
    fn follow(&mut self, cache: &mut Cache, changes: &[Change]) {
        let definitions = changes
            .iter()
            .filter(|c| c.key.is("CustomResourceDefinition"));
        for change in definitions {
            let old = change.old.as_ref().and_then(Kind::defined);
            let new = change.new.as_ref().and_then(Kind::defined);
            if old == new {
                continue;
            }
            if let Some(old) = old {
                self.all.remove(&old);
                cache.forget(&old);
            }
            if let Some(new) = new {
                self.add(new);
            }
        }
    }
}

impl Watch {
    fn next(&mut self, cx: &mut Context<'_>) -> Option<Event<kube::core::DynamicObject>> {
        if let Some(pause) = &mut self.paused {
            if pause.as_mut().poll(cx).is_pending() {
                return None;
            }
            self.paused = None;
        }
        match self.stream.poll_next_unpin(cx) {
            Poll::Ready(Some(Ok(event))) => Some(event),
            Poll::Ready(Some(Err(_))) => {
                let mut pause = Box::pin(sleep_until(Instant::now() + PAUSE));
                // The delay has not elapsed, and the poll only registers the waker.
                let _ = pause.as_mut().poll(cx).is_pending();
                self.paused = Some(pause);
                None
            }
            Poll::Ready(None) | Poll::Pending => None,
        }
    }
}

fn take(cache: &mut Cache, kind: &Kind, event: Event<kube::core::DynamicObject>) -> Vec<Change> {
    let (object, is_there) = match event {
        Event::Init => {
            cache.begin_list(kind);
            return Vec::new();
        }
        Event::InitDone => return cache.end_list(kind),
        Event::InitApply(object) | Event::Apply(object) => (object, true),
        Event::Delete(object) => (object, false),
    };
    let Ok(mut object) = serde_json::to_value(object) else {
        return Vec::new();
    };
    let name = text(&object, "/metadata/name").unwrap_or_default();
    let namespace = text(&object, "/metadata/namespace");
    let key = ObjectKey::new(kind.clone(), namespace.as_deref(), &name);
    object["apiVersion"] = Value::from(kind.api_version());
    object["kind"] = Value::from(kind.kind.as_str());
    vec![cache.put(key, is_there.then_some(object))]
}
