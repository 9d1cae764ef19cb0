//! Cache of one call: objects by name, each read once and watched by name while the call waits.
//! Also holds the answers of probes, and the writes of the call that were rejected. Never lists.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{SelectAll, StreamExt};
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::cluster_access::ClusterAccess;
use super::publications::{Publication, SettledWrites};
use super::reading::{ObjectEvent, ObjectKey, ObjectWatch, get, get_and_watch, watch};
use super::snapshot::CallSnapshot;
use super::step_error::StepError;
use super::turn::CallTurn;
use crate::driver::cache_policy::Readers;
use lifecycle_runtime::cluster::index::IndexKey;
use lifecycle_runtime::cluster::observe::{Job, Plan, View, WriteId};
use lifecycle_runtime::cluster::store::{Keep, Name, Raw};
use lifecycle_runtime::lifecycle::Stored;
use lifecycle_runtime::machine::world::World;

/// Delay before a waiting call watches everything it has read. Before that, only existing watches
/// wake it.
const WATCH_ALL_AFTER: Duration = Duration::from_secs(2);

/// Cache of one call.
pub(super) struct CallCache<'a> {
    access: &'a ClusterAccess,
    reader: Readers,
    /// True if the call must end as soon as it would read outside the namespaces of the process.
    pub(super) stays_within: bool,
    objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
    /// Objects that were read from shared watches.
    shared: BTreeSet<ObjectKey>,
    /// Objects that are read from the API server when they are needed again, because the cached
    /// copy is stale or assumed.
    unverified: BTreeSet<ObjectKey>,
    probes: BTreeMap<(usize, String), Arc<dyn Any + Send + Sync>>,
    rejected: Vec<(usize, WriteId, String)>,
    settled: SettledWrites,
    /// This call has changed something, so that it is the first of its kind.
    has_written: bool,
    watched: BTreeSet<ObjectKey>,
    watches: SelectAll<ObjectWatch>,
    /// When it began to wait.
    waits_since: Option<Instant>,
    /// Its place in the line of a provider.
    pub(super) turn: CallTurn,
}

impl<'a> CallCache<'a> {
    pub(crate) fn new(access: &'a ClusterAccess) -> Self {
        Self {
            access,
            reader: Readers::AllCalls,
            stays_within: false,
            objects: BTreeMap::new(),
            shared: BTreeSet::new(),
            unverified: BTreeSet::new(),
            probes: BTreeMap::new(),
            rejected: Vec::new(),
            settled: BTreeSet::new(),
            has_written: false,
            watched: BTreeSet::new(),
            watches: SelectAll::new(),
            waits_since: None,
            turn: CallTurn::default(),
        }
    }

    /// Creates the cache of a call that repeats a publish call.
    pub(crate) fn repeating(access: &'a ClusterAccess, before: &Publication) -> Self {
        Self {
            reader: Readers::Repeats,
            objects: before.objects.clone(),
            settled: before.settled.clone(),
            ..Self::new(access)
        }
    }

    /// Returns the objects that a call that repeats this publish call may reuse. Returns `None` if
    /// any object is missing, because every call looks for missing objects again.
    pub(crate) fn into_publication(self, world: World) -> Option<Publication> {
        let mut objects = self.objects;
        let is_whole = objects.values().all(Option::is_some);
        objects.retain(|(kind, _), _| self.access.remembers_for_repeats[*kind]);
        is_whole.then(|| Publication::new(objects, self.settled, world))
    }

    /// Discards the objects from shared watches, which may be behind, so that requests read them
    /// from now on. Returns true if there were any.
    pub(crate) fn distrust_watches(&mut self) -> bool {
        let shared = std::mem::take(&mut self.shared);
        for key in &shared {
            self.objects.remove(key);
        }
        let any = !shared.is_empty();
        self.unverified.extend(shared);
        any
    }

    /// Reads the objects of an input by name.
    ///
    /// # Errors
    /// The API server does not answer, or forbids it.
    pub(crate) async fn fetch(
        &mut self,
        input: usize,
        keys: &BTreeSet<IndexKey>,
    ) -> Result<(), StepError> {
        let Some(kind) = self.access.kind_of_input[input] else {
            return Ok(());
        };
        for name in names(keys) {
            let key = (kind, name.clone());
            if !self.objects.contains_key(&key) {
                let found = self.read(&key).await?;
                self.objects.insert(key, found);
            }
        }
        Ok(())
    }

    async fn read(&mut self, key: &ObjectKey) -> Result<Option<Arc<Stored>>, StepError> {
        let (access, (number, name)) = (self.access, key);
        let Some(client) = &access.client else {
            return Ok(None);
        };
        let kind = &access.kinds[*number];
        if let Some(outside) = access.outside(kind, name).filter(|_| self.stays_within) {
            return Err(StepError::Final(outside));
        }
        let known = access.shared_watches.get(kind, name, self.reader);
        if let Some(known) = known.filter(|_| !self.unverified.contains(key)) {
            self.shared.insert(key.clone());
            return Ok(Some(known));
        }
        // Who repeats hardly ever waits.
        let may_wait = self.reader == Readers::AllCalls;
        let watches = may_wait && access.watches_on_read[*number] && !self.watched.contains(key);
        if watches && !access.cannot_watch_on_read.load(Ordering::Relaxed) {
            if let Some((found, watch)) = get_and_watch(client, kind, key).await? {
                self.watched.insert(key.clone());
                self.watches.push(watch);
                return Ok(found);
            }
            access.cannot_watch_on_read.store(true, Ordering::Relaxed);
        }
        get(client, kind, name).await
    }

    /// Returns the objects that the next call may take as read, with the watches on them.
    pub(crate) fn into_snapshot(self) -> CallSnapshot {
        let (shared, watched) = (self.shared, self.watched);
        let mut objects = self.objects;
        // Absence holds only for as long as it is watched.
        objects.retain(|key, known| {
            let is_current = known.is_some() || watched.contains(key);
            self.access.reuses_after_stage[key.0] && is_current && !shared.contains(key)
        });
        CallSnapshot {
            objects,
            watched,
            watches: self.watches,
        }
    }

    /// Restores the objects that the previous call has just read.
    pub(crate) fn restore(&mut self, snapshot: CallSnapshot) {
        self.objects.extend(snapshot.objects);
        self.watched.extend(snapshot.watched);
        self.watches = snapshot.watches;
        while let Some(Some((key, event))) = self.watches.next().now_or_never() {
            self.handle(key, event);
        }
    }

    /// Assumes that objects owned by the volume are absent, without reading them, if this call has
    /// just begun to create objects. Returns true if it does. A write then creates an object only
    /// if it is absent, and reads it otherwise.
    pub(crate) fn assume_absent(&mut self, input: usize, keys: &BTreeSet<IndexKey>) -> bool {
        let Some(kind) = self.access.kind_of_input[input].filter(|_| self.has_written) else {
            return false;
        };
        let unread: Vec<ObjectKey> = names(keys).map(|name| (kind, name.clone())).collect();
        if unread.iter().any(|key| self.unverified.contains(key)) {
            return false;
        }
        for key in unread {
            self.unverified.insert(key.clone());
            self.objects.entry(key).or_insert(None);
        }
        true
    }

    /// Records the result of a probe.
    pub(crate) fn probed(&mut self, input: usize, key: String, answer: Arc<dyn Any + Send + Sync>) {
        self.probes.insert((input, key), answer);
    }

    /// Forgets the answers of probes, which may have changed. They are probed again.
    pub(crate) fn forget_probes(&mut self) {
        self.probes.clear();
    }

    /// Returns true if anything was probed. No watch reports changes of probed values.
    pub(crate) fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }

    /// Takes in the object that a write returned.
    pub(crate) fn wrote(&mut self, kind: usize, plan: &Plan, object: Value) {
        self.has_written = true;
        if let Some((uid, desired, live)) = plan.altered_fields(&object) {
            self.settled.insert((plan.name.clone(), uid, desired, live));
        }
        if plan.job == Job::Delete {
            self.forget(kind, &plan.name);
            return;
        }
        let key = (kind, plan.name.clone());
        let kind = &self.access.kinds[kind];
        let raw = Raw::new(object);
        self.access.shared_watches.wrote(kind, raw.clone());
        self.objects
            .insert(key, Some(Arc::new(raw.stored(kind, Keep::Whole))));
    }

    /// Forgets the object, because the cached copy is stale. It is read again.
    pub(crate) fn forget(&mut self, kind: usize, name: &Name) {
        let key = (kind, name.clone());
        self.objects.remove(&key);
        if self.shared.remove(&key) {
            self.unverified.insert(key);
        }
    }

    /// This very write was rejected.
    pub(crate) fn rejected(&mut self, effect: usize, write: WriteId, message: String) {
        self.rejected.push((effect, write, message));
    }

    /// Waits until something that this call knows changes.
    pub(crate) async fn changed(&mut self) {
        let Some(client) = &self.access.client else {
            return pending().await;
        };
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        let watch_all_at = since + WATCH_ALL_AFTER;
        let mut shared = self.access.shared_watches.changes();
        // An object that changed since it was read wakes the call at once.
        if self.refresh() {
            return;
        }
        let mut watch_all = self.watches.is_empty();
        loop {
            if watch_all {
                self.watch_all(client);
            }
            tokio::select! {
                biased;
                Some((key, event)) = self.watches.next(), if !self.watches.is_empty() => {
                    if self.handle(key, event) {
                        return;
                    }
                }
                Ok(()) = shared.changed() => {
                    if self.refresh() {
                        return;
                    }
                }
                () = sleep_until(watch_all_at), if !watch_all => watch_all = true,
            }
        }
    }

    fn watch_all(&mut self, client: &Client) {
        for (key, known) in &self.objects {
            if !self.shared.contains(key) && self.watched.insert(key.clone()) {
                let version = known.as_ref().and_then(|o| o.meta.resource_version.clone());
                let kind = self.access.kinds[key.0].clone();
                let version = version.unwrap_or_default();
                self.watches
                    .push(watch(client.clone(), kind, key.clone(), version));
            }
        }
    }

    /// Refreshes the objects that come from shared watches. Returns true if anything changed.
    fn refresh(&mut self) -> bool {
        let mut changed = false;
        for key in self.shared.clone() {
            let kind = &self.access.kinds[key.0];
            let Some(found) = self.access.shared_watches.get(kind, &key.1, self.reader) else {
                // It is gone, or no longer selected: only the API server knows.
                self.shared.remove(&key);
                self.objects.remove(&key);
                changed = true;
                continue;
            };
            let known = self.objects.get(&key).and_then(Option::as_ref);
            if known.is_none_or(|known| version(known) < version(&found)) {
                self.objects.insert(key, Some(found));
                changed = true;
            }
        }
        changed
    }

    /// Handles an event of a watch. Returns true if anything changed.
    fn handle(&mut self, key: ObjectKey, event: ObjectEvent) -> bool {
        match event {
            ObjectEvent::Applied(_) if !self.objects.contains_key(&key) => return false,
            ObjectEvent::Applied(raw) => {
                let stored = raw.stored(&self.access.kinds[key.0], Keep::Whole);
                let known = self.objects.get(&key).and_then(Option::as_ref);
                if known.is_some_and(|known| version(known) >= version(&stored)) {
                    return false;
                }
                self.objects.insert(key, Some(Arc::new(stored)));
            }
            ObjectEvent::Deleted => {
                // A new one of this name may be there already.
                self.objects.remove(&key);
            }
            ObjectEvent::Ended => {
                self.watched.remove(&key);
                self.objects.remove(&key);
            }
        }
        true
    }
}

fn version(object: &Stored) -> u128 {
    let version = object.meta.resource_version.as_deref();
    version.and_then(|v| v.parse().ok()).unwrap_or_default()
}

fn names(keys: &BTreeSet<IndexKey>) -> impl Iterator<Item = &Name> {
    keys.iter().filter_map(|key| match key {
        IndexKey::Named(name) => Some(name),
        IndexKey::Of(..) => None,
    })
}

impl View for CallCache<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>> {
        let found = names(keys).filter_map(|name| self.get(input, name));
        found.collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        let key = (self.access.kind_of_input[input]?, name.clone());
        self.objects.get(&key)?.clone()
    }

    fn knows(&self, input: usize, keys: &BTreeSet<IndexKey>) -> bool {
        let Some(kind) = self.access.kind_of_input[input] else {
            return true;
        };
        names(keys).all(|name| self.objects.contains_key(&(kind, name.clone())))
    }

    fn probed(&self, input: usize, key: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        self.probes.get(&(input, key.to_owned())).cloned()
    }

    fn answer(&self, _: usize, _: &str) -> Result<Arc<dyn Any + Send + Sync>, String> {
        Err("a volume polls nothing".to_owned())
    }

    fn answer_version(&self, _: usize, _: &str) -> u64 {
        0
    }

    fn refusal(&self, effect: usize, write: &WriteId) -> Option<String> {
        let mut rejected = self.rejected.iter();
        let rejected = rejected.find(|(of, id, _)| *of == effect && id == write);
        rejected.map(|(_, _, message)| message.clone())
    }

    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool {
        let known = (name.clone(), uid.to_owned(), desired, live);
        self.settled.contains(&known)
    }
}
