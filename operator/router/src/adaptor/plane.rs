//! The adaptor as a data plane: it takes configurations from a source, hands them to its loop, and keeps the state that the loop reports.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{MutexGuard, watch};

use super::Entity;
use super::certificates::Certificates;
use super::document::{Document, Loaded};
use super::network::Overview;
use super::report::{self, Reading};
use crate::boxed::BoxFuture;
use crate::config::proxies;
use crate::data_plane::DataPlane;
use crate::file;
use crate::metrics::{Metrics, count};
use crate::plain::plain;
use crate::snapshot::Snapshot;
use crate::state::{EntryReport, StateStore, Status};
use crate::tls::{Files, Slot};

/// Folder in which routers of the existing implementation expect the passwords of proxies.
const PROXIES: &str = "/etc/skupper-router-proxies";

/// The adaptor. Cheap to clone; all clones are one adaptor.
#[derive(Clone)]
pub struct Adaptor(Arc<Inner>);

struct Inner {
    state: StateStore,
    certificates: Certificates,
    proxies: Certificates,
    loaded: tokio::sync::Mutex<Loaded>,
    newest: watch::Sender<Option<Arc<Document>>>,
    errors: Mutex<Errors>,
    counts: Counts,
    network: Mutex<Arc<Overview>>,
    /// True once a configuration was taken or remembered.
    is_begun: AtomicBool,
}

/// Why the newest document is not applied.
#[derive(Debug, Default)]
struct Errors {
    /// As its source reports it.
    source: Option<String>,
    /// As the loop reports it.
    router: Option<String>,
}

/// Counters.
#[derive(Debug, Default)]
pub(super) struct Counts {
    applied: AtomicU64,
    refused: AtomicU64,
    is_connected: AtomicBool,
}

impl Counts {
    pub(super) fn applied(&self) {
        count(&self.applied);
    }

    pub(super) fn refused(&self) {
        count(&self.refused);
    }
}

impl Adaptor {
    /// An adaptor without a configuration, which writes certificates below this folder, and passwords where routers expect them.
    pub fn new(certificates: &Path) -> Self {
        Self::with_proxies(certificates, Path::new(PROXIES))
    }

    /// The same, which writes the passwords of proxies below the second folder.
    pub fn with_proxies(certificates: &Path, proxies: &Path) -> Self {
        Self::writing(Certificates::new(certificates), Certificates::new(proxies))
    }

    /// As [`Adaptor::with_proxies`], with private keys and passwords that every user may read.
    pub fn sharing_keys(certificates: &Path, proxies: &Path) -> Self {
        let [certificates, proxies] =
            [certificates, proxies].map(|folder| Certificates::new(folder).sharing_keys());
        Self::writing(certificates, proxies)
    }

    fn writing(certificates: Certificates, proxies: Certificates) -> Self {
        Self(Arc::new(Inner {
            state: StateStore::new(),
            certificates,
            proxies,
            loaded: tokio::sync::Mutex::default(),
            newest: watch::Sender::new(None),
            errors: Mutex::default(),
            counts: Counts::default(),
            network: Mutex::default(),
            is_begun: AtomicBool::new(false),
        }))
    }

    /// The newest configuration, and each that comes after it.
    pub(super) fn news(&self) -> watch::Receiver<Option<Arc<Document>>> {
        self.0.newest.subscribe()
    }

    /// The first configuration.
    pub(super) async fn first(&self) -> Arc<Document> {
        let mut news = self.news();
        loop {
            if let Some(document) = news.borrow_and_update().clone() {
                return document;
            }
            // The sender is as old as this adaptor.
            let _changed = news.changed().await;
        }
    }

    pub(super) fn certificates(&self) -> &Certificates {
        &self.0.certificates
    }

    /// The folder of the passwords of proxies.
    pub(super) fn proxies(&self) -> &Certificates {
        &self.0.proxies
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.0.counts
    }

    pub(super) async fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.0.loaded.lock().await
    }

    /// Stores the summary of the records of the network for the next report.
    pub(super) fn set_network(&self, overview: Overview) {
        *self.0.network.lock().expect("no holder panics") = Arc::new(overview);
    }

    /// The records of the network, summed up.
    pub(super) fn network(&self) -> Arc<Overview> {
        self.0.network.lock().expect("no holder panics").clone()
    }

    /// Takes over the report of a comparison.
    pub(super) fn write(&self, reading: &Reading<'_>) {
        self.0
            .state
            .update_all(|state, surroundings| reading.write(state, surroundings));
    }

    /// Learns why the router cannot be configured, or that it can.
    pub(super) fn set_trouble(&self, why: Option<String>) {
        let is_connected = why.is_none();
        self.0
            .counts
            .is_connected
            .store(is_connected, Ordering::Relaxed);
        self.set_errors(|errors| errors.router = why);
    }

    /// Reports all entries of the router as failed, and that nothing is reached through them.
    pub(super) fn fail_entries(&self, why: &str) {
        self.0.state.update_all(|state, surroundings| {
            for link in surroundings.own.iter_mut().flat_map(|own| &mut own.links) {
                link.operational = false;
            }
            for connectors in surroundings.connectors.values_mut() {
                *connectors = 0;
            }
            surroundings.keys.clear();
            let entries = state.entries.iter_mut();
            for entry in entries.filter(|entry| entry.entity != Entity::SslProfile.name()) {
                entry.status = Status::Failed(why.to_owned());
                entry.container = None;
            }
        });
    }

    fn set_errors(&self, change: impl FnOnce(&mut Errors)) {
        let mut errors = self.0.errors.lock().expect("no holder panics");
        change(&mut errors);
        let texts: Vec<String> = [&errors.source, &errors.router]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let error = (!texts.is_empty()).then(|| texts.join("; "));
        self.0.state.update(|state| state.error = error);
    }

    async fn take(&self, snapshot: Snapshot) {
        for fault in &snapshot.desired.faults {
            tracing::warn!("{}", plain(fault));
        }
        if !self.0.is_begun.swap(true, Ordering::Relaxed) {
            let written = self.written(&snapshot).await;
            self.0.loaded.lock().await.update(&written);
        }
        let mut loaded = self.0.loaded.lock().await;
        loaded.update(&snapshot);
        let roots = (self.0.certificates.root(), self.0.proxies.root());
        let document = Document::new(&snapshot, &loaded, roots);
        let now = seconds();
        let profiles: Vec<EntryReport> = document
            .items
            .iter()
            .filter(|item| item.entity == Entity::SslProfile)
            .map(|item| report::profile(item, &loaded, now))
            .collect();
        self.0.state.update(|state| {
            let entity = Entity::SslProfile.name();
            state.entries.retain(|entry| entry.entity != entity);
            state.entries.extend(profiles);
        });
        let configuration = document.hash.clone();
        self.0.newest.send_replace(Some(Arc::new(document)));
        tracing::info!(configuration, "configuration taken");
    }

    /// The snapshot with the files that an earlier run wrote: where those of the source are no good, the router goes on with these.
    async fn written(&self, snapshot: &Snapshot) -> Snapshot {
        let certificates = self.0.certificates.clone();
        let profiles = snapshot.desired.profiles.values();
        let profiles: Vec<_> = profiles
            .filter_map(|entry| entry.wanted.as_ref().ok().cloned())
            .collect();
        let (folder, names) = (self.0.proxies.clone(), snapshot.desired.proxies.clone());
        let read = move || -> Files {
            let files = profiles.iter().map(|profile| certificates.read(profile));
            let passwords = names.iter().map(|name| proxies::file(name));
            let passwords = passwords.map(|path| (path.clone(), folder.read_file(&path)));
            files.flatten().chain(passwords).collect()
        };
        let late = || tracing::warn!("reading certificates takes long");
        Snapshot {
            files: file::run_blocking(read, late).await,
            ..snapshot.clone()
        }
    }
}

impl DataPlane for Adaptor {
    fn state(&self) -> &StateStore {
        &self.0.state
    }

    fn metrics(&self) -> String {
        let counts = &self.0.counts;
        let mut text = String::new();
        let connected = u64::from(counts.is_connected.load(Ordering::Relaxed));
        let applied = counts.applied.load(Ordering::Relaxed);
        let refused = counts.refused.load(Ordering::Relaxed);
        let rows = [
            (
                "adaptor_connected",
                "gauge",
                "1 while the router can be configured",
                connected,
            ),
            (
                "adaptor_requests_applied_total",
                "counter",
                "Requests that the router applied",
                applied,
            ),
            (
                "adaptor_requests_failed_total",
                "counter",
                "Requests that the router refused or did not answer",
                refused,
            ),
        ];
        for (name, kind, help, value) in rows {
            write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"
            )
            .expect("a String can be written to");
        }
        let loaded = self.0.loaded.try_lock();
        let ends = loaded.map_or_else(|_| None, |loaded| Some(loaded.ends()));
        text + &Metrics::certificates(&ends.unwrap_or_default())
    }

    fn profile<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Arc<Slot>>> {
        Box::pin(async move {
            let loaded = self.0.loaded.lock().await;
            loaded
                .profiles
                .get(name)
                .map(|profile| profile.slot.clone())
        })
    }

    fn apply(&self, snapshot: Snapshot) -> BoxFuture<'_, ()> {
        Box::pin(self.take(snapshot))
    }

    fn remember(&self, good: Snapshot) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.is_begun.store(true, Ordering::Relaxed);
            self.0.loaded.lock().await.update(&good);
        })
    }

    fn has_proxies(&self) -> bool {
        true
    }

    fn refuse(&self, error: Option<String>) {
        self.set_errors(|errors| errors.source = error);
    }
}

/// The time in seconds since 1970: certificates end by the clock of the machine.
pub(super) fn seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}
