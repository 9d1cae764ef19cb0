//! The loop of the adaptor: writes certificates, compares the router with the newest document,
//! sends the necessary requests, and reads back the state of the entries. It is one task. Every
//! failure is reported and retried. It deletes nothing from the router when it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::amqp::{self, Client, Error};
use super::certificates::{self, Certificates, Written};
use super::changes::Operation;
use super::document::{Document, Key};
use super::observed::{Observed, Rows};
use super::plan::{Current, Plan};
use super::plane::{Adaptor, seconds};
use super::refusals::Refusals;
use super::report::Reading;
use super::sockets::{self, Sockets};
use super::{Attributes, Entity};
use crate::recurring::Recurring;
use crate::state::Status;
use crate::{cause, file};

/// The pause after the first failure of a connection, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Number of consecutive failures that may be a restart of the router. After more failures its
/// entries are reported as failed.
const MAX_FAILURES: u32 = 5;

/// Number of consecutive failures after which a connection that is not lost is established again.
const MAX_OF_CONNECTION: u32 = 3;

/// Number of consecutive readings in which a listener may have no socket although its key has a
/// connector: the router is about to open it.
const MAX_READINGS: u32 = 5;

/// The settings of the adaptor.
#[derive(Clone, Debug)]
pub struct Options {
    /// The management agent of the router.
    pub agent: amqp::Options,
    /// How often the router is read while nothing changes.
    pub interval: Duration,
}

impl Adaptor {
    /// Keeps a router at the newest configuration, without end. Dropped, it leaves the router as it is.
    pub async fn run(&self, options: Options) -> Infallible {
        let news = self.news();
        let keeper = Loop::new(self.clone(), options);
        keeper.run(news).await
    }
}

/// The loop.
struct Loop {
    adaptor: Adaptor,
    options: Options,
    certificates: Certificates,
    /// The passwords of proxies.
    proxies: Certificates,
    client: Option<Client>,
    refusals: Refusals,
    sockets: Sockets,
    /// Failures in a row.
    failures: u32,
    trouble: Recurring,
    /// Listeners without a socket though their key has a connector, and in how many readings.
    closed: BTreeMap<String, u32>,
    /// The configuration after which unused files were removed.
    swept: Option<Arc<Document>>,
}

impl Loop {
    fn new(adaptor: Adaptor, options: Options) -> Self {
        Self {
            certificates: adaptor.certificates().clone(),
            proxies: adaptor.proxies().clone(),
            adaptor,
            options,
            client: None,
            refusals: Refusals::default(),
            sockets: Sockets::default(),
            failures: 0,
            trouble: Recurring::default(),
            closed: BTreeMap::new(),
            swept: None,
        }
    }

    /// Keeps the router at the newest document, without end.
    async fn run(mut self, mut news: watch::Receiver<Option<Arc<Document>>>) -> Infallible {
        loop {
            let document = news.borrow_and_update().clone();
            let pause = match document {
                Some(document) => self.turn(&document).await,
                None => PAUSE.1,
            };
            // Late or not, the next turn comes; the sender is as old as the adaptor.
            let _changed = timeout(pause, news.changed()).await;
        }
    }

    /// One comparison. Returns the pause until the next.
    async fn turn(&mut self, document: &Arc<Document>) -> Duration {
        match self.converge(document).await {
            Ok(()) => {
                self.failures = 0;
                if self.trouble.worked() {
                    tracing::info!("the router can be configured again");
                }
                self.adaptor.set_trouble(None);
                self.options.interval
            }
            Err(error) => {
                let why = cause::chain(&error);
                if self.trouble.failed(&why) {
                    tracing::warn!("{}", crate::plain::plain(&why));
                }
                self.adaptor.set_trouble(Some(why.clone()));
                let doubled = PAUSE.0.saturating_mul(1 << self.failures.min(16));
                self.failures = self.failures.saturating_add(1);
                if error.is_lost() || self.failures.is_multiple_of(MAX_OF_CONNECTION) {
                    self.client = None;
                }
                if self.failures > MAX_FAILURES {
                    self.adaptor.fail_entries(&why);
                }
                doubled.min(PAUSE.1)
            }
        }
    }

    async fn converge(&mut self, document: &Arc<Document>) -> Result<(), Error> {
        let written = self.write(document).await;
        let unloaded = unloaded(document, &written);
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(&self.options.agent).await?,
        };
        let done = self.apply(document, &mut client, &written, &unloaded).await;
        // A client remains usable for the next request after an unanswered one.
        self.client = Some(client);
        done
    }

    /// Writes the files of profiles, and the passwords of proxies.
    async fn write(&self, document: &Document) -> AllWritten {
        let (certificates, folders) = (self.certificates.clone(), document.folders.clone());
        let (proxies, passwords) = (self.proxies.clone(), document.passwords.clone());
        let late = || {
            let path = crate::plain::path(self.certificates.root());
            tracing::warn!(path, "writing certificates takes long");
        };
        let write = move || AllWritten {
            profiles: certificates.write(&folders),
            proxies: proxies.write(&passwords),
        };
        file::run_blocking(write, late).await
    }

    async fn apply(
        &mut self,
        document: &Arc<Document>,
        client: &mut Client,
        written: &AllWritten,
        unloaded: &BTreeSet<Key>,
    ) -> Result<(), Error> {
        let mut current = current(client).await?;
        let closed = sockets::closed(document, &current);
        let cause = |key: &Key| cause_of(document, key);
        let anew = self.sockets.due(closed, Instant::now(), cause);
        current.anew = anew.keys().cloned().collect();
        let mut unwritten = unwritten(document, written);
        unwritten.extend(document.misnumbered());
        let all = Plan::new(document, &current, &unwritten, unloaded);
        self.refusals.keep(&all.open(), cause);
        let mut blocked = self.blocked(document, &unwritten);
        let mut plan = Plan::new(document, &current, &blocked, unloaded);
        if !plan.operations.is_empty() {
            self.send(document, client, &plan.operations).await?;
            self.swept = None;
            current = self::current(client).await?;
            // This includes the entries that were refused just now.
            blocked = self.blocked(document, &unwritten);
            plan = Plan::new(document, &current, &blocked, unloaded);
        }
        let observed = observed(client, &current).await?;
        // Of several reasons the last one is reported.
        let mut failed = self.closed(document, &observed);
        // The router may not have tried yet.
        failed.extend(anew.into_iter().filter(|((entity, name), _)| {
            let entry = observed.entry(*entity, name);
            entry.is_some_and(|entry| entry.status == Status::Idle)
        }));
        failed.extend(blocked);
        let refused = self.refusals.messages();
        failed.extend(refused.map(|(key, why)| (key.clone(), why.to_owned())));
        failed.extend(plan.failed);
        self.report(document, &failed, &current, &observed).await;
        self.sweep(document, &current).await;
        Ok(())
    }

    /// The entries that are not tried now, with the reasons.
    fn blocked(
        &self,
        document: &Document,
        unwritten: &BTreeMap<Key, String>,
    ) -> BTreeMap<Key, String> {
        let now = Instant::now();
        let mut blocked = self.refusals.blocked(now, |key| cause_of(document, key));
        blocked.extend(unwritten.clone());
        blocked
    }

    /// Returns listeners that wrongly have no socket and for which the router reports no reason.
    fn closed(&mut self, document: &Document, observed: &Observed) -> BTreeMap<Key, String> {
        let before = std::mem::take(&mut self.closed);
        let mut failed = BTreeMap::new();
        for (name, key) in waiting(document, observed) {
            let readings = before
                .get(name)
                .map_or(1, |before| before.saturating_add(1));
            self.closed.insert(name.to_owned(), readings);
            if readings > MAX_READINGS {
                let why = format!(
                    "the router has no socket for it, though routing key `{key}` has a connector, and gives no reason: see the log of the router"
                );
                failed.insert((Entity::TcpListener, name.to_owned()), why);
            }
        }
        failed
    }

    /// Sends requests. A refused request does not affect other entities. The remaining requests for
    /// its entity are postponed, and so are requests that name that entity.
    async fn send(
        &mut self,
        document: &Document,
        client: &mut Client,
        operations: &[Operation],
    ) -> Result<(), Error> {
        let mut refused: BTreeSet<(Entity, &str)> = BTreeSet::new();
        for operation in operations {
            let subject = operation.subject();
            if refused.contains(&subject) || names(operation, &refused) {
                refused.insert(subject);
                continue;
            }
            let key = (subject.0, subject.1.to_owned());
            match client.apply(operation).await {
                Ok(()) => {
                    tracing::info!("{}", crate::plain::plain(&operation.to_string()));
                    self.adaptor.counts().applied();
                    self.refusals.accepted(&key);
                    self.loaded(document, operation);
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => {
                    let why = cause::chain(&error);
                    tracing::warn!("{}", crate::plain::plain(&why));
                    self.adaptor.counts().refused();
                    let cause = cause_of(document, &key);
                    self.refusals.add(key.clone(), why, cause, Instant::now());
                    if is_half_done(operation, &error) {
                        self.refusals.mark_kept(&key);
                    }
                    refused.insert(subject);
                    if matches!(error, Error::Late { .. }) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes the mark of new files that the router has loaded by now.
    fn loaded(&self, document: &Document, operation: &Operation) {
        if matches!(operation, Operation::Delete { .. }) {
            return;
        }
        let (root, folder) = match operation.subject() {
            (Entity::SslProfile, name) => (&self.certificates, document.folder_of.get(name)),
            (Entity::ProxyProfile, name) => {
                let folder = document.passwords.get_key_value(name);
                (&self.proxies, folder.map(|(folder, _)| folder))
            }
            (
                Entity::Connector
                | Entity::Listener
                | Entity::TcpListener
                | Entity::TcpConnector
                | Entity::ListenerAddress,
                _,
            ) => return,
        };
        let Some(folder) = folder else {
            return;
        };
        if let Err(error) = root.loaded(folder) {
            tracing::warn!(%error, folder, "cannot note that the router has loaded new files");
        }
    }

    async fn report(
        &self,
        document: &Document,
        failed: &BTreeMap<Key, String>,
        current: &Current,
        observed: &Observed,
    ) {
        let loaded = self.adaptor.loaded().await;
        let network = self.adaptor.network();
        let reading = Reading {
            document,
            failed,
            current,
            observed,
            loaded: &loaded,
            network: &network,
            now: seconds(),
        };
        self.adaptor.write(&reading);
    }

    /// Removes files that neither the document nor the router names any more.
    async fn sweep(&mut self, document: &Arc<Document>, current: &Current) {
        if self
            .swept
            .as_ref()
            .is_some_and(|swept| Arc::ptr_eq(swept, document))
        {
            return;
        }
        let mut used: BTreeSet<String> = document.folders.keys().cloned().collect();
        used.extend(folders(
            current.rows(Entity::SslProfile),
            self.certificates.root(),
        ));
        let mut passwords: BTreeSet<String> = document.passwords.keys().cloned().collect();
        passwords.extend(proxies(current.rows(Entity::ProxyProfile)));
        let (certificates, proxies) = (self.certificates.clone(), self.proxies.clone());
        let late = || tracing::warn!("removing certificates takes long");
        let sweep = move || {
            let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
            let swept = [certificates.sweep(&used), proxies.sweep(&passwords)];
            let failed = swept.into_iter().filter_map(Result::err);
            failed.filter(|error| !missing(error)).collect::<Vec<_>>()
        };
        let failed = file::run_blocking(sweep, late).await;
        for error in &failed {
            tracing::warn!(%error, "cannot remove certificates that are not used any more");
        }
        if failed.is_empty() {
            self.swept = Some(document.clone());
        }
    }
}

/// True if the router keeps values though it refused them: it stores them first, and the part that acts on them fails.
fn is_half_done(operation: &Operation, error: &Error) -> bool {
    let is_update = matches!(operation, Operation::Update { .. });
    is_update && matches!(error, Error::Refused { code: 500, .. })
}

/// Returns true if the operation creates an entity that names one of these.
fn names(operation: &Operation, refused: &BTreeSet<(Entity, &str)>) -> bool {
    match operation {
        Operation::Create {
            entity, attributes, ..
        } => entity.references().iter().any(|(attribute, of)| {
            let name = attributes.get(*attribute);
            let name = name.and_then(serde_json::Value::as_str);
            name.is_some_and(|name| refused.contains(&(*of, name)))
        }),
        Operation::Delete { .. } | Operation::Update { .. } => false,
    }
}

/// All entities of the router that the adaptor manages.
async fn current(client: &mut Client) -> Result<Current, Error> {
    let mut current = Current::default();
    for entity in Entity::ALL {
        let rows = client.query(entity.name()).await?;
        current.rows.insert(entity, rows);
    }
    Ok(current)
}

async fn observed(client: &mut Client, current: &Current) -> Result<Observed, Error> {
    let rows = Rows {
        tcp_listeners: current.rows(Entity::TcpListener).to_vec(),
        tcp_connectors: current.rows(Entity::TcpConnector).to_vec(),
        connectors: current.rows(Entity::Connector).to_vec(),
        addresses: client.query("router.address").await?,
        connections: client.query("connection").await?,
    };
    Ok(Observed::from_rows(&rows))
}

/// Returns listeners without a socket whose key has a connector, with that key.
fn waiting<'a>(
    document: &'a Document,
    observed: &Observed,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    document.items.iter().filter_map(|item| {
        let key = item.attributes.get("address")?.as_str()?;
        let entry = observed.entry(item.entity, &item.name)?;
        let is_closed = item.entity == Entity::TcpListener && entry.status == Status::Idle;
        let counts = observed.addresses.get(key)?;
        (is_closed && counts.is_reachable()).then_some((item.name.as_str(), key))
    })
}

/// Returns a digest of the documents and files that a refusal is about.
fn cause_of(document: &Document, (entity, name): &Key) -> String {
    if *entity == Entity::ProxyProfile {
        let password = document.passwords.get(name).map(certificates::digest);
        return format!("{} {}", document.hash, password.unwrap_or_default());
    }
    let mut items = document.items.iter();
    let item = items.find(|item| item.entity == *entity && item.name == *name);
    let profile = match (entity, item) {
        (Entity::SslProfile, _) => Some(name.as_str()),
        (_, Some(item)) => item
            .attributes
            .get("sslProfile")
            .and_then(serde_json::Value::as_str),
        (_, None) => None,
    };
    let material = profile.and_then(|profile| document.material.get(profile));
    let material = material.map_or("", String::as_str);
    format!("{} {material}", document.hash)
}

/// The outcome of writing all files.
struct AllWritten {
    profiles: Written,
    proxies: Written,
}

/// Returns the profiles and proxies whose files the router has not loaded.
fn unloaded(document: &Document, written: &AllWritten) -> BTreeSet<Key> {
    let all = document.folder_of.iter();
    let named = all.filter(|(_, folder)| written.profiles.unloaded.contains(*folder));
    let profiles = named.map(|(name, _)| (Entity::SslProfile, name.clone()));
    let proxies = written.proxies.unloaded.iter();
    let proxies = proxies.map(|name| (Entity::ProxyProfile, name.clone()));
    profiles.chain(proxies).collect()
}

/// Returns the profiles and proxies whose files cannot be written, with the reasons.
fn unwritten(document: &Document, written: &AllWritten) -> BTreeMap<Key, String> {
    let all = document.folder_of.iter();
    let profiles = all.filter_map(|(name, folder)| {
        let why = written.profiles.failed.get(folder)?;
        Some(((Entity::SslProfile, name.clone()), why.clone()))
    });
    let proxies = written.proxies.failed.iter();
    let proxies = proxies.map(|(name, why)| ((Entity::ProxyProfile, name.clone()), why.clone()));
    profiles.chain(proxies).collect()
}

/// The proxies of the router that have a password.
fn proxies(rows: &[Attributes]) -> impl Iterator<Item = String> {
    let named = rows.iter().filter(|row| row.contains_key("password"));
    named.filter_map(|row| Some(row.get("name")?.as_str()?.to_owned()))
}

/// The folders of profiles of the router.
fn folders(rows: &[Attributes], root: &std::path::Path) -> BTreeSet<String> {
    let names = ["caCertFile", "certFile", "privateKeyFile"];
    let paths = rows.iter().flat_map(|row| {
        let paths = names.iter().filter_map(|name| row.get(*name)?.as_str());
        paths.map(std::path::Path::new)
    });
    let folders = paths.filter_map(|path| {
        let inside = path.strip_prefix(root).ok()?;
        let folder = inside.components().next()?;
        Some(folder.as_os_str().to_str()?.to_owned())
    });
    folders.collect()
}
