//! What one call knows: objects by name, each read once and watched by name while it waits; answers of probes; and what was said to its writes.
//! Never lists.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{SelectAll, StreamExt};
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::caller::Trouble;
use super::reading::{At, News, Watching, follow, get, watch};
use super::standing::Standing;
use crate::cluster::index::Key;
use crate::cluster::observe::{Job, Plan, View, WriteId};
use crate::cluster::store::{Name, Raw};
use crate::lifecycle::{Kind, Stored};

/// A call that waits is woken by what it follows; everything else is watched only if that takes longer than this.
const OTHERS_AFTER: Duration = Duration::from_secs(2);

/// How the calls of one lifecycle reach their objects.
pub(crate) struct Access {
    pub(super) client: Option<Client>,
    /// Each kind once.
    pub(super) kinds: Vec<Kind>,
    /// The kind of each input that has one.
    pub(super) stores: Vec<Option<usize>>,
    pub(super) standing: Arc<Standing>,
    /// Whether a kind is followed from the first look on.
    pub(super) follows: Vec<bool>,
    /// Whether what staging read of a kind holds for the publishing right after it.
    pub(super) lasts: Vec<bool>,
    /// The server does not tell of absence by a watch.
    pub(super) cannot_follow: AtomicBool,
}

/// What one call knew at its end, and what it followed.
#[derive(Default)]
pub(crate) struct Kept {
    objects: BTreeMap<At, Option<Arc<Stored>>>,
    watched: BTreeSet<At>,
    watches: SelectAll<Watching>,
}

/// What one call knows.
pub(crate) struct Cells<'a> {
    access: &'a Access,
    objects: BTreeMap<At, Option<Arc<Stored>>>,
    /// What is read from a standing watch.
    standing: BTreeSet<At>,
    /// What is read from the API server if it has to be known again: what is known of it is old, or assumed.
    doubted: BTreeSet<At>,
    probes: BTreeMap<(usize, String), Arc<dyn Any + Send + Sync>>,
    refusals: Vec<(usize, WriteId, String)>,
    settled: BTreeSet<(Name, String, u64, u64)>,
    /// This call has changed something, so that it is the first of its kind.
    has_written: bool,
    watched: BTreeSet<At>,
    watches: SelectAll<Watching>,
    /// When it began to wait.
    waits_since: Option<Instant>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(access: &'a Access) -> Self {
        Self {
            access,
            objects: BTreeMap::new(),
            standing: BTreeSet::new(),
            doubted: BTreeSet::new(),
            probes: BTreeMap::new(),
            refusals: Vec::new(),
            settled: BTreeSet::new(),
            has_written: false,
            watched: BTreeSet::new(),
            watches: SelectAll::new(),
            waits_since: None,
        }
    }

    /// Reads what an input looks for.
    ///
    /// # Errors
    /// The API server does not answer, or does not let us.
    pub(crate) async fn fetch(
        &mut self,
        input: usize,
        keys: &BTreeSet<Key>,
    ) -> Result<(), Trouble> {
        let Some(store) = self.access.stores[input] else {
            return Ok(());
        };
        for name in names(keys) {
            let at = (store, name.clone());
            if !self.objects.contains_key(&at) {
                let found = self.read(&at).await?;
                self.objects.insert(at, found);
            }
        }
        Ok(())
    }

    async fn read(&mut self, at: &At) -> Result<Option<Arc<Stored>>, Trouble> {
        let (access, (store, name)) = (self.access, at);
        let Some(client) = &access.client else {
            return Ok(None);
        };
        let kind = &access.kinds[*store];
        let known = access.standing.get(kind, name);
        if let Some(known) = known.filter(|_| !self.doubted.contains(at)) {
            self.standing.insert(at.clone());
            return Ok(Some(known));
        }
        let follows = access.follows[*store] && !self.watched.contains(at);
        if follows && !access.cannot_follow.load(Ordering::Relaxed) {
            if let Some((found, watching)) = follow(client, kind, at).await? {
                self.watched.insert(at.clone());
                self.watches.push(watching);
                return Ok(found);
            }
            access.cannot_follow.store(true, Ordering::Relaxed);
        }
        get(client, kind, name).await
    }

    /// What the call after this one may take as read: what is followed goes on being followed.
    pub(crate) fn kept(self) -> Kept {
        let (standing, watched) = (self.standing, self.watched);
        let mut objects = self.objects;
        // That something was not there is true only for as long as somebody looks.
        objects.retain(|at, known| {
            let looked_at = known.is_some() || watched.contains(at);
            self.access.lasts[at.0] && looked_at && !standing.contains(at)
        });
        Kept {
            objects,
            watched,
            watches: self.watches,
        }
    }

    /// Takes as read what the call before this one has just read.
    pub(crate) fn recall(&mut self, kept: Kept) {
        self.objects.extend(kept.objects);
        self.watched.extend(kept.watched);
        self.watches = kept.watches;
        while let Some(Some((at, news))) = self.watches.next().now_or_never() {
            self.take(at, news);
        }
    }

    /// Takes what is ours to make as absent without asking, where this call has just begun to make things; says whether it does.
    /// What is made then is only made if it is absent, and otherwise read.
    pub(crate) fn assume_absent(&mut self, input: usize, keys: &BTreeSet<Key>) -> bool {
        let Some(store) = self.access.stores[input].filter(|_| self.has_written) else {
            return false;
        };
        let unread: Vec<At> = names(keys).map(|name| (store, name.clone())).collect();
        if unread.iter().any(|at| self.doubted.contains(at)) {
            return false;
        }
        for at in unread {
            self.doubted.insert(at.clone());
            self.objects.entry(at).or_insert(None);
        }
        true
    }

    /// Notes what a probe found.
    pub(crate) fn probed(&mut self, input: usize, key: String, answer: Arc<dyn Any + Send + Sync>) {
        self.probes.insert((input, key), answer);
    }

    /// What is local may have changed: it is probed again.
    pub(crate) fn forget_probes(&mut self) {
        self.probes.clear();
    }

    /// Whether anything local was asked, which no watch tells of.
    pub(crate) fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }

    /// Takes in what a write left behind.
    pub(crate) fn wrote(&mut self, store: usize, plan: &Plan, object: Value) {
        self.has_written = true;
        if let Some((uid, desired, live)) = plan.kept(&object) {
            self.settled.insert((plan.name.clone(), uid, desired, live));
        }
        if plan.job == Job::Delete {
            self.forget(store, &plan.name);
            return;
        }
        let kind = &self.access.kinds[store];
        let raw = Raw::new(object);
        self.access.standing.wrote(kind, raw.clone());
        let at = (store, plan.name.clone());
        self.objects
            .insert(at, Some(Arc::new(raw.stored(kind, true))));
    }

    /// The object is not what it was: it is read again.
    pub(crate) fn forget(&mut self, store: usize, name: &Name) {
        let at = (store, name.clone());
        self.objects.remove(&at);
        if self.standing.remove(&at) {
            self.doubted.insert(at);
        }
    }

    /// This very write was refused.
    pub(crate) fn refused(&mut self, effect: usize, write: WriteId, sentence: String) {
        self.refusals.push((effect, write, sentence));
    }

    /// Waits until something that this call knows changes.
    pub(crate) async fn changed(&mut self) {
        let Some(client) = &self.access.client else {
            return pending().await;
        };
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        let others = since + OTHERS_AFTER;
        let mut news = self.access.standing.news();
        // What changed since it was read wakes at once.
        if self.refresh() {
            return;
        }
        let mut all = self.watches.is_empty();
        loop {
            if all {
                self.watch(client);
            }
            tokio::select! {
                biased;
                Some((at, news)) = self.watches.next(), if !self.watches.is_empty() => {
                    if self.take(at, news) {
                        return;
                    }
                }
                Ok(()) = news.changed() => {
                    if self.refresh() {
                        return;
                    }
                }
                () = sleep_until(others), if !all => all = true,
            }
        }
    }

    fn watch(&mut self, client: &Client) {
        for (at, known) in &self.objects {
            if !self.standing.contains(at) && self.watched.insert(at.clone()) {
                let version = known.as_ref().and_then(|o| o.meta.resource_version.clone());
                let kind = self.access.kinds[at.0].clone();
                let version = version.unwrap_or_default();
                self.watches
                    .push(watch(client.clone(), kind, at.clone(), version));
            }
        }
    }

    /// Takes in what standing watches know by now; says whether it is news.
    fn refresh(&mut self) -> bool {
        let mut changed = false;
        for at in self.standing.clone() {
            let kind = &self.access.kinds[at.0];
            let Some(found) = self.access.standing.get(kind, &at.1) else {
                // It is gone, or chosen no more: only the API server knows.
                self.standing.remove(&at);
                self.objects.remove(&at);
                changed = true;
                continue;
            };
            let known = self.objects.get(&at).and_then(Option::as_ref);
            if known.is_none_or(|known| version(known) < version(&found)) {
                self.objects.insert(at, Some(found));
                changed = true;
            }
        }
        changed
    }

    /// Says whether it is news.
    fn take(&mut self, at: At, news: News) -> bool {
        match news {
            News::There(_) if !self.objects.contains_key(&at) => return false,
            News::There(raw) => {
                let stored = raw.stored(&self.access.kinds[at.0], true);
                let known = self.objects.get(&at).and_then(Option::as_ref);
                if known.is_some_and(|known| version(known) >= version(&stored)) {
                    return false;
                }
                self.objects.insert(at, Some(Arc::new(stored)));
            }
            News::Gone => {
                // A new one of this name may be there already.
                self.objects.remove(&at);
            }
            News::Lost => {
                self.watched.remove(&at);
                self.objects.remove(&at);
            }
        }
        true
    }
}

fn version(object: &Stored) -> u128 {
    let version = object.meta.resource_version.as_deref();
    version.and_then(|v| v.parse().ok()).unwrap_or_default()
}

fn names(keys: &BTreeSet<Key>) -> impl Iterator<Item = &Name> {
    keys.iter().filter_map(|key| match key {
        Key::Named(name) => Some(name),
        Key::Of(..) => None,
    })
}

impl View for Cells<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<Key>) -> Vec<Arc<Stored>> {
        let found = names(keys).filter_map(|name| self.get(input, name));
        found.collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        let at = (self.access.stores[input]?, name.clone());
        self.objects.get(&at)?.clone()
    }

    fn knows(&self, input: usize, keys: &BTreeSet<Key>) -> bool {
        let Some(store) = self.access.stores[input] else {
            return true;
        };
        names(keys).all(|name| self.objects.contains_key(&(store, name.clone())))
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
        let mut refusals = self.refusals.iter();
        let refused = refusals.find(|(of, id, _)| *of == effect && id == write);
        refused.map(|(_, _, sentence)| sentence.clone())
    }

    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool {
        let known = (name.clone(), uid.to_owned(), desired, live);
        self.settled.contains(&known)
    }
}
