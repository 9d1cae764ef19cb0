//! Watches that a process always keeps, so that its calls need not query the API server. They cover
//! kinds that a driver names, each completely or by a field selector.

use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use kube::Client;
use kube::runtime::watcher::Event;
use rand::Rng;
use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tokio::sync::watch;
use tokio::time::{Instant, interval};

use crate::driver::cache_policy::{Readers, WatchedKind};
use lifecycle_runtime::cluster::store::{Keep, Name, Raw, Store};
use lifecycle_runtime::cluster::watching::Feed;
use lifecycle_runtime::health::{BEAT, Health};
use lifecycle_runtime::lifecycle::{Kind, Stored};

/// Caches that calls read, fed by watches that never end.
pub(crate) struct SharedWatches {
    watched: Vec<WatchedKind>,
    stores: Mutex<Vec<Store>>,
    changes: watch::Sender<u64>,
}

impl SharedWatches {
    /// Caches of these kinds, in these namespaces or in all.
    pub(crate) fn new(watched: Vec<WatchedKind>, namespaces: &BTreeSet<String>) -> Self {
        let stores = watched.iter().map(|watched| {
            let mut store = Store::for_namespaces(watched.kind.clone(), namespaces);
            // A call may write to the objects that it reads, so the store keeps them whole.
            store.keep(Keep::Whole);
            store
        });
        Self {
            stores: Mutex::new(stores.collect()),
            watched,
            changes: watch::channel(0).0,
        }
    }

    /// Returns the cached object for such a call. An object that is not cached may exist
    /// nevertheless.
    pub(crate) fn get(&self, kind: &Kind, name: &Name, reader: Readers) -> Option<Arc<Stored>> {
        let number = self.watch_index(kind)?;
        let readers = self.watched[number].readers;
        let may_read = readers == Readers::AllCalls || readers == reader;
        let known = || self.stores()[number].get(name).cloned();
        may_read.then(known).flatten()
    }

    /// Takes in the object that a write returned, unless a watch was faster.
    pub(crate) fn wrote(&self, kind: &Kind, object: Raw) {
        let Some(number) = self.watch_index(kind) else {
            return;
        };
        let mut stores = self.stores();
        let store = &mut stores[number];
        let meta = kube::Resource::meta(&object);
        // An object that was never seen is not selected, arrives soon, or is already deleted.
        let is_known = store.get(&Name::from_meta(meta)).is_some();
        let is_new = || {
            let version = meta.resource_version.as_deref().unwrap_or_default();
            let selection = &self.watched[number].selection;
            selection.takes(&object) && !store.is_past(&Name::from_meta(meta), version)
        };
        if (is_known || is_new()) && !is_behind(store, &object) {
            store.take(Event::Apply(object));
        }
    }

    /// Returns true if all watches have listed their objects.
    pub(crate) fn are_synced(&self) -> bool {
        self.stores().iter().all(Store::is_synced)
    }

    /// Returns a receiver that is notified of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reports to health the caches that are not synced yet. Caches for repeated calls are
    /// excluded, because they only save requests.
    pub(crate) fn waits(&self, health: &Health) {
        let (watched, stores) = (self.watched.iter(), self.stores());
        for (watched, store) in watched.zip(stores.iter()) {
            let parts = store.namespaces().enumerate();
            for (part, _) in parts.filter(|_| watched.readers == Readers::AllCalls) {
                health.waits(store.part_name(part), "not listed yet");
            }
        }
    }

    /// Watches for ever.
    pub(crate) async fn run(&self, client: &Client, seed: u64, health: &Health) {
        let mut feeds = self.feeds(client);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        if feeds.is_empty() {
            return pending().await;
        }
        let mut beat = interval(BEAT);
        loop {
            let next = poll_fn(|cx| {
                for (number, feed) in feeds.iter_mut().enumerate() {
                    if let Poll::Ready(events) = feed.watch.poll(cx, &mut || random.next_u64()) {
                        return Poll::Ready((number, events));
                    }
                }
                Poll::Pending
            });
            let (number, events) = tokio::select! {
                biased;
                next = next => next,
                now = beat.tick() => {
                    health.beats(LOOP);
                    let stores = self.stores();
                    let for_all = |feed: &&Feed| self.watched[feed.store].readers == Readers::AllCalls;
                    for Feed { store, part, watch } in feeds.iter().filter(for_all) {
                        watch.show_health((&stores[*store], *part), health, now);
                    }
                    continue;
                }
            };
            let Feed { store, part, watch } = &feeds[number];
            let mut stores = self.stores();
            let store = &mut stores[*store];
            for event in events {
                match event {
                    Event::Apply(object) if is_behind(store, &object) => {}
                    event @ (Event::Init
                    | Event::InitApply(_)
                    | Event::InitDone
                    | Event::Apply(_)
                    | Event::Delete(_)) => drop(store.take_in(*part, event)),
                }
            }
            watch.show_health((store, *part), health, Instant::now());
            drop(stores);
            self.changes
                .send_modify(|changes| *changes = changes.wrapping_add(1));
        }
    }

    fn feeds(&self, client: &Client) -> Vec<Feed> {
        let stores = self.stores();
        let mut feeds = Vec::new();
        for (number, (watched, store)) in self.watched.iter().zip(stores.iter()).enumerate() {
            let (fields, labels) = watched.selection.selectors();
            feeds.extend(Feed::for_store(client, (number, store), (&fields, &labels)));
        }
        feeds
    }

    fn watch_index(&self, kind: &Kind) -> Option<usize> {
        let mut watched = self.watched.iter();
        watched.position(|known| known.kind.shares_cache(kind))
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name of the loop in health reports.
const LOOP: &str = "watches";

/// Returns true if the store already has a newer version. Our own writes arrive both as responses
/// and through the watch.
fn is_behind(store: &Store, object: &Raw) -> bool {
    let meta = kube::Resource::meta(object);
    let known = store.get(&Name::from_meta(meta));
    known.is_some_and(|known| known.meta.uid == meta.uid && version(&known.meta) > version(meta))
}

fn version(meta: &kube::core::ObjectMeta) -> u128 {
    let version = meta.resource_version.as_deref();
    version.and_then(|v| v.parse().ok()).unwrap_or_default()
}
