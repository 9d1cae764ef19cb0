//! Reads of a look: objects by name and by list, each requested once, with the rights of the
//! caller. Reports an object that may not be read by name. Independent of states and status.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use kube::core::params::GetParams;
use kube::core::{ObjectList, Request as Path};
use lifecycle_client::{kube::one_line, names};
use lifecycle_runtime::cluster::index::{Finder, IndexKey};
use lifecycle_runtime::cluster::observe::{View, WriteId};
use lifecycle_runtime::cluster::store::{Keep, Name, Raw};
use lifecycle_runtime::lifecycle::random::Seed;
use lifecycle_runtime::lifecycle::{Kind, Machine, Stored};
use lifecycle_runtime::machine::ir::Lookup;
use lifecycle_runtime::operator::MAX_OBJECT_SIZE;

use crate::explain::explained::Explained;
use crate::explain::explanation::Unread;
use crate::explain::reported::Reported;

/// Number of names from which a whole namespace is listed instead.
const MANY: usize = 4;

/// Reason why no explanation is possible.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be read: {why}")]
pub struct Unreadable {
    what: String,
    why: String,
}

impl Unreadable {
    pub(crate) fn new(what: &str, why: &str) -> Self {
        Self {
            what: what.to_owned(),
            why: why.to_owned(),
        }
    }
}

/// Objects of one kind that were read.
struct Shelf {
    kind: Kind,
    objects: BTreeMap<Name, Option<Arc<Stored>>>,
    /// Namespaces, or all of them, and label selectors.
    lists: BTreeSet<(Option<String>, String)>,
}

/// Objects that a look has read so far.
pub(crate) struct Fetched<'a> {
    client: &'a Client,
    machine: &'a dyn Machine,
    pub(crate) kinds: Vec<Option<Kind>>,
    pub(crate) finders: Vec<Option<Finder>>,
    shelves: Vec<Shelf>,
    shelf_of: Vec<Option<usize>>,
    closed: BTreeSet<(usize, IndexKey)>,
    pub(crate) unread: Vec<Unread>,
    /// Objects that a reconciliation requested by name and that were not looked up before.
    missed: Mutex<BTreeSet<(usize, Name)>>,
    now: Timestamp,
    /// The namespace of the object.
    inside: Option<String>,
}

/// Interpretation of a reply.
enum Answer<T> {
    Here(T),
    /// The object does not exist.
    Nothing,
    /// It may not be read, or is not served.
    Closed(String),
}

impl<'a> Fetched<'a> {
    pub(crate) fn new(
        client: &'a Client,
        of: &'a Explained,
        (subject, inside): (&Kind, Option<String>),
        now: Timestamp,
    ) -> Self {
        let ir = of.ir();
        let mut fetched = Self {
            client,
            machine: &*of.machine,
            kinds: Vec::new(),
            finders: Vec::new(),
            shelves: Vec::new(),
            shelf_of: Vec::new(),
            closed: BTreeSet::new(),
            unread: Vec::new(),
            missed: Mutex::default(),
            now,
            inside,
        };
        for (number, input) in ir.inputs.iter().enumerate() {
            let kind = of.machine.kind(number);
            let finder = kind.as_ref().map(|kind| Finder {
                input,
                number,
                by_namespace: kind.namespaced && subject.namespaced,
                namespaced: kind.namespaced,
            });
            let shelf = kind.as_ref().map(|kind| fetched.shelf(kind));
            fetched.kinds.push(kind);
            fetched.finders.push(finder);
            fetched.shelf_of.push(shelf);
        }
        fetched
    }

    fn shelf(&mut self, kind: &Kind) -> usize {
        let known = self.shelves.iter().position(|s| s.kind.shares_cache(kind));
        known.unwrap_or_else(|| {
            self.shelves.push(Shelf {
                kind: kind.clone(),
                objects: BTreeMap::new(),
                lists: BTreeSet::new(),
            });
            self.shelves.len() - 1
        })
    }

    /// Reads the objects that an input looks up.
    pub(crate) async fn fetch(
        &mut self,
        input: usize,
        keys: &BTreeSet<IndexKey>,
    ) -> Result<(), Unreadable> {
        let unknown: Vec<IndexKey> = keys
            .iter()
            .filter(|key| !self.has(input, key))
            .cloned()
            .collect();
        let mut named: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for key in &unknown {
            if let IndexKey::Named(name) = key {
                *named.entry(name.namespace.clone()).or_default() += 1;
            }
        }
        for (namespace, _) in named.into_iter().filter(|(_, many)| *many >= MANY) {
            // Who may not list reads them one by one.
            let _closed = self.list(input, namespace, String::new()).await?;
        }
        for key in unknown {
            if self.has(input, &key) {
                continue;
            }
            let closed = match &key {
                IndexKey::Named(name) => self.get(input, name).await?,
                IndexKey::Of(namespace, values) => {
                    let selector = self.selector(input, values);
                    let namespace = self.scope(input, namespace);
                    self.list(input, namespace, selector).await?
                }
            };
            if let Some(unread) = closed {
                self.closed.insert((input, key));
                if !self.unread.contains(&unread) {
                    self.unread.push(unread);
                }
            }
        }
        Ok(())
    }

    /// Reads the objects that a reconciliation missed. Returns true if there were any.
    pub(crate) async fn fetch_missed(&mut self) -> Result<bool, Unreadable> {
        let missed =
            std::mem::take(&mut *self.missed.lock().unwrap_or_else(PoisonError::into_inner));
        for (input, name) in &missed {
            let keys = BTreeSet::from([IndexKey::Named(name.clone())]);
            self.fetch(*input, &keys).await?;
        }
        Ok(!missed.is_empty())
    }

    /// Returns the namespace of a lookup. An object that is found by its owner is in the owner's
    /// namespace.
    fn scope(&self, input: usize, namespace: &Option<String>) -> Option<String> {
        let finder = self.finders[input].as_ref();
        let by_owner = finder.filter(|f| f.input.lookup == Lookup::Owner && f.by_namespace);
        match by_owner {
            Some(_) => self.inside.clone(),
            None => namespace.clone(),
        }
    }

    fn selector(&self, input: usize, values: &[String]) -> String {
        let Some(finder) = &self.finders[input] else {
            return String::new();
        };
        match finder.input.lookup {
            Lookup::Labels(labels) => {
                let pairs = labels.iter().zip(values).map(|(l, v)| format!("{l}={v}"));
                pairs.collect::<Vec<_>>().join(",")
            }
            // The label that they carry, or all of a namespace.
            Lookup::Refs => values.first().cloned().unwrap_or_default(),
            Lookup::Name(_)
            | Lookup::Names
            | Lookup::Owner
            | Lookup::Namespace
            | Lookup::Ref
            | Lookup::Equal
            | Lookup::Key => String::new(),
        }
    }

    fn has(&self, input: usize, key: &IndexKey) -> bool {
        let Some(shelf) = self.shelf_of[input].map(|shelf| &self.shelves[shelf]) else {
            return true;
        };
        if self.closed.contains(&(input, key.clone())) {
            return true;
        }
        let listed = |namespace: &Option<String>, selector: &str| {
            let all =
                |of: &Option<String>| shelf.lists.contains(&(of.clone(), selector.to_owned()));
            all(namespace) || all(&None)
        };
        match key {
            IndexKey::Named(name) => {
                shelf.objects.contains_key(name) || listed(&name.namespace, "")
            }
            IndexKey::Of(namespace, values) => {
                let namespace = &self.scope(input, namespace);
                listed(namespace, "") || listed(namespace, &self.selector(input, values))
            }
        }
    }

    async fn get(&mut self, input: usize, name: &Name) -> Result<Option<Unread>, Unreadable> {
        let Some(number) = self.shelf_of[input] else {
            return Ok(None);
        };
        let kind = self.shelves[number].kind.clone();
        let found = match read(self.client, &kind, name).await? {
            Answer::Here(raw) => Some(Arc::new(raw.stored(&kind, Keep::Whole))),
            Answer::Nothing => None,
            Answer::Closed(why) => {
                let unread = Unread {
                    input: self.name_of(input),
                    verb: "get".to_owned(),
                    resource: resource(&kind),
                    namespace: name.namespace.clone(),
                    name: Some(name.name.clone()),
                    why,
                };
                return Ok(Some(unread));
            }
        };
        self.shelves[number].objects.insert(name.clone(), found);
        Ok(None)
    }

    async fn list(
        &mut self,
        input: usize,
        namespace: Option<String>,
        selector: String,
    ) -> Result<Option<Unread>, Unreadable> {
        let Some(number) = self.shelf_of[input] else {
            return Ok(None);
        };
        let kind = self.shelves[number].kind.clone();
        match all(self.client, &kind, (namespace.as_deref(), &selector)).await? {
            Answer::Here(objects) => {
                let shelf = &mut self.shelves[number];
                for object in objects {
                    shelf
                        .objects
                        .insert(Name::from_meta(&object.meta), Some(object));
                }
                shelf.lists.insert((namespace, selector));
                Ok(None)
            }
            Answer::Nothing => Ok(None),
            Answer::Closed(why) => Ok(Some(Unread {
                input: self.name_of(input),
                verb: "list".to_owned(),
                resource: resource(&kind),
                namespace,
                name: None,
                why,
            })),
        }
    }

    fn name_of(&self, input: usize) -> String {
        self.machine.ir().inputs[input].name.to_owned()
    }

    /// Returns the inputs with an object that may not be read.
    pub(crate) fn closed_inputs(&self) -> BTreeSet<usize> {
        self.closed.iter().map(|(input, _)| *input).collect()
    }
}

/// `services`, `listeners.skupper.io`.
pub(crate) fn resource(kind: &Kind) -> String {
    match kind.group.as_str() {
        "" => kind.plural.clone(),
        group => format!("{}.{group}", kind.plural),
    }
}

/// One object, whole; unless it is larger than an operator reads, and no operator with another limit has reported of it.
pub(crate) async fn object(
    client: &Client,
    kind: &Kind,
    name: &Name,
) -> Result<Result<Option<Arc<Stored>>, String>, Unreadable> {
    Ok(match read(client, kind, name).await? {
        Answer::Here(raw) => {
            let whole = raw.clone().stored(kind, Keep::Whole);
            let reported = Reported::from_object(&whole);
            let is_read = reported
                .get("Ready")
                .is_some_and(|ready| ready.reason != "Undecodable");
            let stored = match is_read {
                true => whole,
                false => raw.limit_size(MAX_OBJECT_SIZE).stored(kind, Keep::Whole),
            };
            Ok(Some(Arc::new(stored)))
        }
        Answer::Nothing => Ok(None),
        Answer::Closed(why) => Err(why),
    })
}

async fn read(client: &Client, kind: &Kind, name: &Name) -> Result<Answer<Raw>, Unreadable> {
    let namespace = name.namespace.as_deref().filter(|_| kind.namespaced);
    let namespace = namespace.map(names::of_namespace).transpose();
    let last = names::of_object(&kind.group, &kind.kind, &name.name);
    // A name that makes no path is the name of nothing.
    let (Ok(namespace), Ok(last)) = (namespace, last) else {
        return Ok(Answer::Nothing);
    };
    let path = Path::new(kind.path(namespace.as_deref()));
    let Ok(request) = path.get(&last, &GetParams::default()) else {
        return Ok(Answer::Nothing);
    };
    let answered = client.request::<Raw>(request).await;
    let what = || name.of_kind(kind).to_string();
    taken(answered, what)
}

async fn all(
    client: &Client,
    kind: &Kind,
    (namespace, selector): (Option<&str>, &str),
) -> Result<Answer<Vec<Arc<Stored>>>, Unreadable> {
    let Ok(inside) = namespace.map(names::of_namespace).transpose() else {
        return Ok(Answer::Nothing);
    };
    let mut params = ListParams::default();
    if !selector.is_empty() {
        params = params.labels(selector);
    }
    let what = || match namespace {
        Some(namespace) => format!("{} of namespace `{namespace}`", kind.plural),
        None => kind.plural.clone(),
    };
    let request = Path::new(kind.path(inside.as_deref())).list(&params);
    let request = request.map_err(|error| Unreadable {
        what: what(),
        why: error.to_string(),
    })?;
    let answered = client.request::<ObjectList<Raw>>(request).await;
    taken(answered, what).map(|answer| match answer {
        Answer::Here(list) => {
            let stored = list
                .items
                .into_iter()
                .map(|raw| raw.stored(kind, Keep::Whole));
            Answer::Here(stored.map(Arc::new).collect())
        }
        Answer::Nothing => Answer::Nothing,
        Answer::Closed(why) => Answer::Closed(why),
    })
}

fn taken<T>(answered: kube::Result<T>, what: impl Fn() -> String) -> Result<Answer<T>, Unreadable> {
    match answered {
        Ok(here) => Ok(Answer::Here(here)),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            Ok(Answer::Closed("the right is missing".to_owned()))
        }
        Err(kube::Error::Api(status)) if status.code == 404 => {
            // A path that is not served has no details.
            let is_served = status.details.as_ref().is_some_and(|d| !d.kind.is_empty());
            Ok(match is_served {
                true => Answer::Nothing,
                false => Answer::Closed("the API server does not serve it".to_owned()),
            })
        }
        Err(error) => Err(Unreadable {
            what: what(),
            why: one_line(&error),
        }),
    }
}

impl View for Fetched<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>> {
        let (Some(shelf), Some(finder)) = (self.shelf_of[input], &self.finders[input]) else {
            return Vec::new();
        };
        let objects = self.shelves[shelf].objects.values().flatten();
        let fits = |object: &&Arc<Stored>| {
            let mut found = finder.keys_of(self.machine, object).into_iter();
            found.any(|key| keys.contains(&key))
        };
        objects.filter(fits).cloned().collect()
    }

    fn knows(&self, input: usize, keys: &BTreeSet<IndexKey>) -> bool {
        keys.iter().all(|key| self.has(input, key))
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        let shelf = &self.shelves[self.shelf_of[input]?];
        let key = IndexKey::Named(name.clone());
        if !self.has(input, &key) {
            let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
            missed.insert((input, name.clone()));
        }
        shelf.objects.get(name)?.clone()
    }

    fn answer(&self, input: usize, _: &str) -> Result<Arc<dyn Any + Send + Sync>, String> {
        let name = self.machine.ir().inputs[input].name;
        Err(format!("`{name}` is not queried from here"))
    }

    fn answer_version(&self, _: usize, _: &str) -> u64 {
        0
    }

    fn now(&self) -> Option<Timestamp> {
        Some(self.now)
    }

    fn seed(&self) -> Option<Seed> {
        Some(Seed::of_looks())
    }

    fn refusal(&self, _: usize, _: &WriteId) -> Option<String> {
        None
    }

    fn is_settled(&self, _: &Name, _: &str, _: u64, _: u64) -> bool {
        false
    }
}
