//! What one call knows: objects by name, fetched once each and watched by name while it waits; answers of probes; and what was said to its writes.
//! Never lists.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{SelectAll, StreamExt};
use futures::{Stream, stream};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::Request as Path;
use kube::core::params::GetParams;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::caller::Trouble;
use crate::cluster::index::Key;
use crate::cluster::observe::{Job, Plan, View, WriteId};
use crate::cluster::store::{Name, Raw};
use crate::kube::one_line;
use crate::lifecycle::{Kind, Stored};

/// How long a read may take.
const LONGEST_READ: Duration = Duration::from_secs(10);
/// After this a watch that ended is begun anew.
const PAUSE: Duration = Duration::from_secs(1);

/// An object by the number of its kind and its name.
type At = (usize, Name);

/// What a watch saw.
enum News {
    There(Box<Raw>),
    Gone,
    /// Nobody knows any more.
    Lost,
}

type Watching = Pin<Box<dyn Stream<Item = (At, News)> + Send>>;

/// What one call knows.
pub(crate) struct Cells<'a> {
    client: Option<&'a Client>,
    kinds: &'a [Kind],
    /// The kind of each input that has one.
    stores: &'a [Option<usize>],
    objects: BTreeMap<At, Option<Arc<Stored>>>,
    probes: BTreeMap<(usize, String), Arc<dyn Any + Send + Sync>>,
    refusals: Vec<(usize, WriteId, String)>,
    settled: BTreeSet<(Name, String, u64, u64)>,
    watched: BTreeSet<At>,
    watches: SelectAll<Watching>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(
        client: Option<&'a Client>,
        kinds: &'a [Kind],
        stores: &'a [Option<usize>],
    ) -> Self {
        Self {
            client,
            kinds,
            stores,
            objects: BTreeMap::new(),
            probes: BTreeMap::new(),
            refusals: Vec::new(),
            settled: BTreeSet::new(),
            watched: BTreeSet::new(),
            watches: SelectAll::new(),
        }
    }

    /// Fetches what an input looks for.
    ///
    /// # Errors
    /// The API server does not answer, or does not let us.
    pub(crate) async fn fetch(
        &mut self,
        input: usize,
        keys: &BTreeSet<Key>,
    ) -> Result<(), Trouble> {
        let (Some(store), Some(client)) = (self.stores[input], self.client) else {
            return Ok(());
        };
        for name in names(keys) {
            let at = (store, name.clone());
            if !self.objects.contains_key(&at) {
                let found = get(client, &self.kinds[store], name).await?;
                self.objects.insert(at, found);
            }
        }
        Ok(())
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
        if let Some((uid, desired, live)) = plan.kept(&object) {
            self.settled.insert((plan.name.clone(), uid, desired, live));
        }
        if plan.job == Job::Delete {
            self.forget(store, &plan.name);
            return;
        }
        let stored = Raw::new(object).stored(&self.kinds[store], true);
        let at = (store, plan.name.clone());
        self.objects.insert(at, Some(Arc::new(stored)));
    }

    /// The object is not what it was: it is fetched again.
    pub(crate) fn forget(&mut self, store: usize, name: &Name) {
        self.objects.remove(&(store, name.clone()));
    }

    /// This very write was refused.
    pub(crate) fn refused(&mut self, effect: usize, write: WriteId, sentence: String) {
        self.refusals.push((effect, write, sentence));
    }

    /// Waits until something that this call knows changes.
    pub(crate) async fn changed(&mut self) {
        self.watch();
        loop {
            let Some((at, news)) = self.watches.next().await else {
                return std::future::pending().await;
            };
            if self.take(at, news) {
                return;
            }
        }
    }

    fn watch(&mut self) {
        let Some(client) = self.client else {
            return;
        };
        for (at, known) in &self.objects {
            if self.watched.insert(at.clone()) {
                let version = known.as_ref().and_then(|o| o.meta.resource_version.clone());
                let kind = self.kinds[at.0].clone();
                let watch = watch(
                    client.clone(),
                    kind,
                    at.clone(),
                    version.unwrap_or_default(),
                );
                self.watches.push(watch);
            }
        }
    }

    /// Says whether it is news.
    fn take(&mut self, at: At, news: News) -> bool {
        match news {
            News::There(raw) => {
                let stored = raw.stored(&self.kinds[at.0], true);
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

async fn get(client: &Client, kind: &Kind, name: &Name) -> Result<Option<Arc<Stored>>, Trouble> {
    let path = Path::new(kind.path(name.namespace.as_deref()));
    let object = name.of_kind(kind);
    let request = path.get(&name.name, &GetParams::default());
    // A name that makes no path is the name of nothing.
    let Ok(request) = request else {
        return Ok(None);
    };
    match timeout(LONGEST_READ, client.request::<Raw>(request)).await {
        Ok(Ok(raw)) => Ok(Some(Arc::new(raw.stored(kind, true)))),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(None),
        Ok(Err(error)) => {
            let why = format!("{object} cannot be read: {}", one_line(&error));
            Err(Trouble::Later(why, None))
        }
        Err(_) => {
            let why = format!("{object} cannot be read: the API server does not answer");
            Err(Trouble::Later(why, None))
        }
    }
}

/// Follows one object from a version on, or from nothing.
fn watch(client: Client, kind: Kind, at: At, version: String) -> Watching {
    let from = at.clone();
    let events = stream::once(async move {
        let (_, name) = &from;
        let path = Path::new(kind.path(name.namespace.as_deref()));
        let only = WatchParams::default().fields(&format!("metadata.name={}", name.name));
        let request = path
            .watch(&only, &version)
            .map_err(kube::Error::BuildRequest);
        let events = match request {
            Ok(request) => client.request_events::<Raw>(request).await,
            Err(error) => Err(error),
        };
        let at = from.clone();
        match events {
            Ok(events) => events
                .take_while(|event| std::future::ready(!is_end(event)))
                .filter_map(move |event| std::future::ready(news(event)))
                .map(move |news| (at.clone(), news))
                .boxed(),
            Err(error) => {
                tracing::debug!(kind = ?kind, "cannot be watched: {}", one_line(&error));
                stream::empty().boxed()
            }
        }
    });
    let lost = stream::once(async move {
        sleep(PAUSE).await;
        (at, News::Lost)
    });
    events.flatten().chain(lost).boxed()
}

fn is_end(event: &kube::Result<WatchEvent<Raw>>) -> bool {
    matches!(event, Err(_) | Ok(WatchEvent::Error(_)))
}

fn news(event: kube::Result<WatchEvent<Raw>>) -> Option<News> {
    match event {
        Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)) => Some(News::There(Box::new(raw))),
        Ok(WatchEvent::Deleted(_)) => Some(News::Gone),
        Ok(WatchEvent::Bookmark(_) | WatchEvent::Error(_)) | Err(_) => None,
    }
}

impl View for Cells<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<Key>) -> Vec<Arc<Stored>> {
        let found = names(keys).filter_map(|name| self.get(input, name));
        found.collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        let at = (self.stores[input]?, name.clone());
        self.objects.get(&at)?.clone()
    }

    fn knows(&self, input: usize, keys: &BTreeSet<Key>) -> bool {
        let Some(store) = self.stores[input] else {
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
