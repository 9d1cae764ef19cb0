//! The router: takes a configuration over from the one before, so that only what changed is touched, and within one turn:
//! when `apply` returns, what must not be reachable has no socket any more.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::{Connector, Desired, Host, Listener};
use crate::metrics::Metrics;
use crate::names;
use crate::plan::{Change, plan};
use crate::routing::{Routes, Target};
use crate::serve::{Door, status};
use crate::source::Snapshot;
use crate::state::{Board, Entry, Sides, Status};
use crate::streams::Streams;
use crate::tcp;
use crate::tls::{Credentials, Profiles, Slot};

/// What does not come from the document.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where listeners without a host listen; absent for all addresses.
    pub bind_address: Option<IpAddr>,
    /// How long one server has to answer.
    pub connect_timeout: Duration,
    /// How long a client has for its TLS handshake.
    pub handshake_timeout: Duration,
    /// How many connections of clients may be open.
    pub most_streams: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bind_address: None,
            connect_timeout: Duration::from_secs(5),
            handshake_timeout: Duration::from_secs(10),
            most_streams: 16_384,
        }
    }
}

/// What the router and its connections share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) routes: Routes,
    pub(crate) streams: Arc<Streams>,
    pub(crate) board: Board,
    pub(crate) metrics: Metrics,
}

/// A router. Cheap to clone; all clones are one router.
#[derive(Clone)]
pub struct Router {
    shared: Arc<Shared>,
    applied: Arc<Mutex<Applied>>,
}

/// What is carried out.
#[derive(Default)]
struct Applied {
    desired: Desired,
    profiles: Profiles,
    targets: BTreeMap<String, Arc<Target>>,
    doors: BTreeMap<String, Open>,
    stopped: bool,
}

/// A listener whose key is reachable: its task has the socket, or tries to get it.
struct Open {
    task: JoinHandle<()>,
}

/// A listener that is about to accept, and its socket; without one its host is a name that is still to be resolved.
type Opened = (Arc<Door>, Option<Result<TcpListener, tcp::Error>>);

impl Open {
    /// Closes the socket. Its connections stay.
    async fn close(self) {
        self.task.abort();
        // When the task has ended the socket is closed; that it was aborted is no news.
        let _aborted = self.task.await;
    }
}

impl Router {
    /// A router that has no configuration yet.
    pub fn new(options: Options) -> Self {
        let shared = Shared {
            routes: Routes::default(),
            streams: Streams::new(options.most_streams),
            board: Board::new(),
            metrics: Metrics::default(),
            options,
        };
        Self {
            shared: Arc::new(shared),
            applied: Arc::default(),
        }
    }

    /// What it tells of itself.
    pub fn board(&self) -> &Board {
        &self.shared.board
    }

    /// Its counters as text for Prometheus.
    pub fn metrics(&self) -> String {
        self.shared.metrics.text(self.open())
    }

    /// How many connections of clients are open.
    pub fn open(&self) -> usize {
        self.shared.streams.count()
    }

    /// The credentials of a profile, for whoever serves something else with it; absent if no profile has the name.
    pub async fn profile(&self, name: &str) -> Option<Arc<Slot>> {
        let applied = self.applied.lock().await;
        applied.profiles.get(name).map(|kept| kept.slot.clone())
    }

    /// Carries out a configuration in the place of the one before.
    ///
    /// # Guarantees
    /// Connections over entries that did not change are not touched. Those over an entry that changed or went are aborted.
    /// A listener has its socket, or its state says why not, when this returns; but one whose host is a name has it a little later.
    pub async fn apply(&self, snapshot: Snapshot) {
        let mut applied = self.applied.lock().await;
        if !applied.stopped {
            applied.apply(&self.shared, snapshot).await;
        }
    }

    /// Says why the newest configuration cannot be carried out, or that it can. The one before stays.
    pub fn refuse(&self, error: Option<String>) {
        self.shared.board.update(|state| state.error = error);
    }

    /// Closes all sockets, waits this long for connections to end, and aborts the rest. Returns how many those were.
    pub async fn stop(&self, grace: Duration) -> usize {
        let (doors, targets) = {
            let mut applied = self.applied.lock().await;
            applied.stopped = true;
            let applied = &mut *applied;
            (std::mem::take(&mut applied.doors), applied.targets.clone())
        };
        for (name, open) in doors {
            open.close().await;
            self.shared.board.set("tcpListener", &name, Status::Idle);
        }
        let ended = timeout(grace, self.shared.streams.all_ended()).await;
        let aborted = match ended {
            Ok(()) => 0,
            Err(_) => self.shared.streams.abort_all(),
        };
        self.shared.streams.all_ended().await;
        targets.values().for_each(|target| target.gone.cancel());
        aborted
    }
}

impl Applied {
    async fn apply(&mut self, shared: &Arc<Shared>, snapshot: Snapshot) {
        let Snapshot {
            hash,
            desired,
            files,
        } = snapshot;
        self.profiles.update(&desired.profiles, &files);
        self.change_targets(shared, &desired);
        let usable = self.usable(&desired);
        shared.routes.set(usable.cloned());
        self.close_doors(shared, &desired).await;
        let opened = self.listen(shared, &desired).await;
        let keys = self.keys(&desired);
        shared
            .metrics
            .keep(|name| desired.listeners.contains_key(name));
        shared.board.update(|state| {
            let before = std::mem::take(&mut state.entries);
            state.entries = self.entries(&desired, &opened, &before);
            state.router.clone_from(&desired.router);
            state.configuration = Some(hash);
            state.error = None;
            state.faults.clone_from(&desired.faults);
            state.keys = keys;
        });
        // Only now, for what the tasks say of their entries must find these.
        for (name, (door, first)) in opened {
            let task = tokio::spawn(door.keep(first));
            self.doors.insert(name, Open { task });
        }
        self.desired = desired;
    }

    /// Ends targets whose entry went or changed, and makes those that are new or have become usable.
    fn change_targets(&mut self, shared: &Arc<Shared>, desired: &Desired) {
        for (name, change) in plan(&self.desired.connectors, &desired.connectors) {
            if matches!(change, Change::Replace | Change::Remove)
                && let Some(target) = self.targets.remove(name)
            {
                target.gone.cancel();
                let aborted = shared.streams.abort_target(&target);
                tracing::info!(connector = name, aborted, "connector withdrawn");
            }
        }
        let is_known = |profile: &String| desired.profiles.contains_key(profile);
        for (name, entry) in &desired.connectors {
            let Ok(connector) = &entry.wanted else {
                continue;
            };
            match self.profile_of_connector(connector) {
                // What is open over it goes on, as it does when certificates are renewed; nothing new goes to it.
                Err(_) if connector.profile.as_ref().is_some_and(is_known) => {}
                // The document does not say any more how it is to be spoken to.
                Err(_) => {
                    if let Some(target) = self.targets.remove(name) {
                        target.gone.cancel();
                        shared.streams.abort_target(&target);
                    }
                }
                Ok(profile) if !self.targets.contains_key(name) => {
                    let target = Arc::new(Target::new(name, connector, profile));
                    if matches!(target.host, Host::Name(_)) {
                        tokio::spawn(names::watch(shared.clone(), target.clone()));
                    }
                    self.targets.insert(name.clone(), target);
                }
                Ok(_) => {}
            }
        }
    }

    /// The targets whose servers can be spoken to as their entry demands.
    fn usable<'a>(&'a self, desired: &'a Desired) -> impl Iterator<Item = &'a Arc<Target>> {
        self.targets.iter().filter_map(|(name, target)| {
            let connector = desired.connectors.get(name)?.wanted.as_ref().ok()?;
            self.profile_of_connector(connector)
                .is_ok()
                .then_some(target)
        })
    }

    /// Closes sockets whose entry went or changed, with their connections, and sockets whose key has no target, without.
    async fn close_doors(&mut self, shared: &Shared, desired: &Desired) {
        for (name, change) in plan(&self.desired.listeners, &desired.listeners) {
            if matches!(change, Change::Replace | Change::Remove) {
                if let Some(open) = self.doors.remove(name) {
                    open.close().await;
                }
                let aborted = shared.streams.abort_listener(name);
                tracing::info!(listener = name, aborted, "listener withdrawn");
            }
        }
        for (name, entry) in &desired.listeners {
            let stays = entry.wanted.as_ref().is_ok_and(|listener| {
                let reachable = shared.routes.reachable(&listener.key);
                reachable && self.profile_of_listener(listener).is_ok()
            });
            if !stays && let Some(open) = self.doors.remove(name) {
                open.close().await;
            }
        }
    }

    /// Listens for listeners that have no socket yet and should.
    async fn listen(&self, shared: &Arc<Shared>, desired: &Desired) -> BTreeMap<String, Opened> {
        let mut opened = BTreeMap::new();
        for (name, entry) in &desired.listeners {
            let listener = match &entry.wanted {
                Ok(listener) if !self.doors.contains_key(name) => listener,
                Ok(_) | Err(_) => continue,
            };
            if !shared.routes.reachable(&listener.key) {
                continue;
            }
            let Ok(profile) = self.profile_of_listener(listener) else {
                continue;
            };
            let door = Arc::new(Door {
                name: name.as_str().into(),
                listener: listener.clone(),
                profile,
                counts: shared.metrics.of(name),
                shared: shared.clone(),
            });
            // A name may take its time to resolve, and nothing else waits for that.
            let first = match &listener.host {
                Some(Host::Name(_)) => None,
                Some(Host::Address(_)) | None => Some(door.listen().await),
            };
            opened.insert(name.clone(), (door, first));
        }
        opened
    }

    fn entries(
        &self,
        desired: &Desired,
        opened: &BTreeMap<String, Opened>,
        before: &[Entry],
    ) -> Vec<Entry> {
        let before: BTreeMap<(&str, &str), &Entry> = before
            .iter()
            .map(|old| ((&*old.entity, old.name.as_str()), old))
            .collect();
        let old = |entity: &'static str, name: &str| before.get(&(entity, name)).copied();
        let listeners = desired.listeners.iter().map(|(name, entry)| {
            let entity = "tcpListener";
            let status = match &entry.wanted {
                Err(wrong) => Status::Failed(wrong.to_string()),
                Ok(listener) => match self.profile_of_listener(listener) {
                    Err(why) => Status::Failed(why),
                    Ok(_) => match (opened.get(name), self.doors.contains_key(name)) {
                        (Some((_, first)), _) => first.as_ref().map_or(Status::Idle, status),
                        (None, true) => {
                            old(entity, name).map_or(Status::Idle, |old| old.status.clone())
                        }
                        (None, false) => Status::Idle,
                    },
                },
            };
            (entity, name, &entry.hash, status)
        });
        let connectors = desired.connectors.iter().map(|(name, entry)| {
            let usable = match &entry.wanted {
                Err(wrong) => Err(wrong.to_string()),
                Ok(connector) => self.profile_of_connector(connector).and_then(|_| {
                    let unknown = self.targets.get(name).and_then(|target| target.unknown());
                    unknown.map_or(Ok(()), Err)
                }),
            };
            let status = usable.map_or_else(Status::Failed, |()| Status::Up);
            ("tcpConnector", name, &entry.hash, status)
        });
        let profiles = desired.profiles.iter().map(|(name, entry)| {
            let wrong = self.profiles.get(name).and_then(|kept| kept.wrong.clone());
            let status = wrong.map_or(Status::Up, Status::Failed);
            ("sslProfile", name, &entry.hash, status)
        });
        let all = listeners.chain(connectors).chain(profiles);
        all.map(|(entity, name, hash, status)| Entry {
            // What connections said of a server stays until one says otherwise, or it is another.
            note: old(entity, name)
                .filter(|old| old.hash == *hash)
                .and_then(|old| old.note.clone()),
            material: (entity == "sslProfile")
                .then(|| self.profiles.get(name)?.material.clone())
                .flatten(),
            entity: entity.into(),
            name: name.clone(),
            hash: hash.clone(),
            status,
        })
        .collect()
    }

    fn keys(&self, desired: &Desired) -> BTreeMap<String, Sides> {
        let mut keys: BTreeMap<String, Sides> = BTreeMap::new();
        for listener in desired.listeners.values().flat_map(|entry| &entry.wanted) {
            keys.entry(listener.key.clone()).or_default().listeners += 1;
        }
        for (name, entry) in &desired.connectors {
            if let Ok(connector) = &entry.wanted {
                let sides = keys.entry(connector.key.clone()).or_default();
                let is_usable =
                    self.targets.contains_key(name) && self.profile_of_connector(connector).is_ok();
                sides.connectors += usize::from(is_usable);
            }
        }
        keys
    }

    /// The profile of a listener, if it names one, or why it cannot be used.
    fn profile_of_listener(&self, listener: &Listener) -> Result<Option<Arc<Slot>>, String> {
        let required = listener.require_client_certificate;
        self.profile(listener.profile.as_deref(), |credentials| {
            if credentials.server(required).is_some() {
                None
            } else if credentials.server(false).is_some() {
                Some("has no authority to verify clients with")
            } else {
                Some("has no certificate")
            }
        })
    }

    /// The profile of a connector, if it names one, or why it cannot be used.
    fn profile_of_connector(&self, connector: &Connector) -> Result<Option<Arc<Slot>>, String> {
        let verify = connector.verify_hostname;
        self.profile(connector.profile.as_deref(), |credentials| {
            let usable = credentials.client(verify).is_some();
            (!usable).then_some("has no authority to verify servers with")
        })
    }

    fn profile(
        &self,
        name: Option<&str>,
        lacks: impl FnOnce(&Credentials) -> Option<&'static str>,
    ) -> Result<Option<Arc<Slot>>, String> {
        let Some(name) = name else {
            return Ok(None);
        };
        let Some(kept) = self.profiles.get(name) else {
            return Err(format!("sslProfile `{name}` does not exist"));
        };
        match (kept.slot.now(), &kept.wrong) {
            (Some(credentials), _) => match lacks(&credentials) {
                None => Ok(Some(kept.slot.clone())),
                Some(what) => Err(format!("sslProfile `{name}` {what}")),
            },
            (None, Some(wrong)) if kept.is_gone => Err(wrong.clone()),
            (None, Some(wrong)) => Err(format!("sslProfile `{name}`: {wrong}")),
            (None, None) => Err(format!("sslProfile `{name}` has no files yet")),
        }
    }
}
