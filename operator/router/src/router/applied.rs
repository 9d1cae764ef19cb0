//! The applied configuration and its running parts: targets, sockets, and the profiles that both
//! need. Decides the fate of each part when another configuration comes. Independent of sources and
//! the API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::addresses;
use super::links::{LinkStatus, Links, announced};
use super::sites;
use crate::accept_loop::{AcceptLoop, status};
use crate::config::{Connector, Desired, Host, Listener};
use crate::health;
use crate::hosts::HostWatch;
use crate::keys::{KeyChoice, Keys};
use crate::link::node::View;
use crate::names;
use crate::plan::{Change, plan};
use crate::routing::Target;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::state::{EntryReport, LinkReport, Status};
use crate::tcp;
use crate::tls::{Credentials, Profiles, Slot};

/// Applied configuration.
#[derive(Default)]
pub(super) struct Applied {
    desired: Arc<Desired>,
    profiles: Profiles,
    targets: BTreeMap<String, Arc<Target>>,
    loops: BTreeMap<String, AcceptTask>,
    /// Of listeners that wait for a connector.
    hosts: BTreeMap<String, HostWatch>,
    links: Links,
    /// Profiles with an expired certificate that was already logged.
    expired: BTreeSet<String>,
    stopped: bool,
}

/// Listener whose key is reachable: its task has the socket, or tries to get it.
pub(super) struct AcceptTask {
    task: JoinHandle<()>,
    keys: Arc<KeyChoice>,
}

/// A listener that is about to accept, and its socket; without one its host is a name that is still to be resolved.
type NewLoop = (Arc<AcceptLoop>, Option<Result<TcpListener, tcp::Error>>);

impl AcceptTask {
    /// Closes the socket. Its connections stay.
    pub(super) async fn close(self) {
        self.task.abort();
        // When the task has ended the socket is closed; that it was aborted is no news.
        let _aborted = self.task.await;
    }
}

impl Applied {
    /// The credentials of a profile; absent if no profile has the name.
    pub(super) fn slot(&self, name: &str) -> Option<Arc<Slot>> {
        let loaded = self.profiles.get(name);
        loaded.map(|loaded| loaded.slot.clone())
    }

    /// Loads profiles that worked before, and does nothing else: while their files are no good, handshakes use these.
    pub(super) fn remember(&mut self, snapshot: &Snapshot) {
        self.profiles
            .update(&snapshot.desired.profiles, &snapshot.files);
    }

    /// Stops applying configurations. Returns everything that is still open: the listeners by name,
    /// the targets, and the links.
    pub(super) fn stop(&mut self) -> (BTreeMap<String, AcceptTask>, Vec<Arc<Target>>, Links) {
        self.stopped = true;
        self.hosts.clear();
        let targets = self.targets.values().cloned().collect();
        let loops = std::mem::take(&mut self.loops);
        (loops, targets, std::mem::take(&mut self.links))
    }

    /// Takes a configuration over from the one before, unless all was stopped.
    pub(super) async fn apply(&mut self, shared: &Arc<Shared>, snapshot: Snapshot) {
        if self.stopped {
            return;
        }
        let Snapshot {
            hash,
            desired,
            files,
            ..
        } = snapshot;
        self.profiles.update(&desired.profiles, &files);
        self.change_targets(shared, &desired);
        self.change_links(shared, &desired);
        let desired = Arc::new(desired);
        self.serve(shared, &desired, Some(hash)).await;
        self.desired = desired;
    }

    /// Applies the consequences of a change of the network or of a link.
    pub(super) async fn refresh(&mut self, shared: &Arc<Shared>) {
        if !self.stopped {
            let desired = self.desired.clone();
            self.serve(shared, &desired, None).await;
        }
    }

    /// Returns true if a certificate has expired since the state was written.
    pub(super) fn is_overtaken(&self) -> bool {
        !self.stopped && self.expired != self.expired_at(seconds())
    }

    fn expired_at(&self, now: i64) -> BTreeSet<String> {
        let all = self.profiles.all();
        let expired = all.filter(|(_, loaded)| loaded.is_expired(now));
        expired.map(|(name, _)| name.to_owned()).collect()
    }

    /// Logs each certificate once that is over, and once that is good again.
    fn watch_expiry(&mut self, shared: &Shared, now: i64) {
        let expired = self.expired_at(now);
        for name in expired.difference(&self.expired) {
            let why = self.profiles.get(name).and_then(|one| one.trouble(now));
            tracing::warn!(profile = &**name, "{}", why.unwrap_or_default());
        }
        for name in self.expired.difference(&expired) {
            tracing::info!(profile = &**name, "its certificate is good again, or gone");
        }
        self.expired = expired;
        let all = self.profiles.all();
        let ends =
            all.filter_map(|(name, one)| Some((name.to_owned(), one.expiry.as_ref()?.seconds)));
        shared.metrics.set_certificates(ends.collect());
    }

    fn change_links(&mut self, shared: &Arc<Shared>, desired: &Desired) {
        let mut links = std::mem::take(&mut self.links);
        links.change(shared, &self.desired, desired, |name| {
            self.profile_of_link(name)
        });
        self.links = links;
    }

    /// Opens sockets where clients can be served, and reports every entry in the state. `hash` is
    /// that of a new document.
    async fn serve(&mut self, shared: &Arc<Shared>, desired: &Arc<Desired>, hash: Option<String>) {
        let now = seconds();
        self.watch_expiry(shared, now);
        let usable = self.usable(desired);
        shared.routes.set(usable.cloned());
        let left = self.announce(shared);
        let view = self.links.node().map(|node| node.view());
        let offers = view.as_ref().map(|view| sites::offers(view, desired));
        let offers = offers.unwrap_or_default();
        shared.routes.set_sites(self.links.node(), offers);
        self.close_loops(shared, desired).await;
        let opened = self.listen(shared, desired).await;
        let waiting = self.waiting(desired, &opened);
        self.hosts.retain(|name, watch| {
            waiting.contains_key(name) && watch.is_of(&desired.listeners[name].hash)
        });
        shared
            .metrics
            .keep(|name| desired.listeners.contains_key(name));
        self.links.name_dials();
        let contested = self.links.faults(shared);
        let own_links = self.own_links(desired, view.as_ref());
        shared.state.update_all(|state, surroundings| {
            let before = std::mem::take(&mut state.entries);
            state.entries = self.entries(desired, &opened, (&before, now));
            let reachable = |key: &str| shared.routes.reachable(key);
            state.entries.extend(addresses::entries(desired, reachable));
            let links = self.link_entries(desired, view.as_ref());
            state.entries.extend(links);
            state.router.clone_from(&desired.router);
            if hash.is_some() {
                state.configuration = hash;
                state.error = None;
            }
            state.faults.clone_from(&desired.faults);
            state.faults.extend(left);
            state.faults.extend(contested);
            surroundings.connectors = self.connectors(desired);
            surroundings.own = sites::own(&desired.site, own_links);
            surroundings.others = view.as_ref().map(sites::others).unwrap_or_default();
            surroundings.keys = view.as_ref().map(sites::keys).unwrap_or_default();
        });
        // The tasks start only now, because they must find the entries on which they report.
        for (name, (accepting, first)) in opened {
            let keys = accepting.keys.clone();
            let task = tokio::spawn(accepting.keep(first));
            self.loops.insert(name, AcceptTask { task, keys });
        }
        for (name, at) in waiting {
            let hash = &desired.listeners[&name].hash;
            let watch = self.hosts.entry(name);
            watch.or_insert_with_key(|name| HostWatch::start(shared, name, hash, at));
        }
    }

    /// Announces to other sites the keys for which this site has servers. Reports the number of
    /// keys that exceed the bound.
    fn announce(&self, shared: &Shared) -> Option<String> {
        let node = self.links.node()?;
        let (keys, left) = announced(shared.routes.served());
        let told = keys.len();
        if let Err(error) = node.set_keys(keys) {
            return Some(format!(
                "the routing keys of this site cannot be announced to other sites: {error}"
            ));
        }
        (left > 0).then(|| {
            format!("other sites reach {told} of the routing keys of this site: the other the other {left} are too many or too long")
        })
    }

    /// Ends targets whose entry was removed or changed, and creates targets that are new or have
    /// become usable.
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
                // Not by a change of its own: a listener has come to where it leads.
                if let Some(target) = self.targets.remove(name) {
                    target.gone.cancel();
                    shared.streams.abort_target(&target);
                }
                continue;
            };
            match self.profile_of_connector(connector) {
                // Streams that are open over it go on, as they do when certificates are renewed,
                // but no new stream goes to it.
                Err(_) if connector.profile.as_ref().is_some_and(is_known) => {}
                // The document no longer states how to connect to the target.
                Err(_) => {
                    if let Some(target) = self.targets.remove(name) {
                        target.gone.cancel();
                        shared.streams.abort_target(&target);
                    }
                }
                Ok(profile) if !self.targets.contains_key(name) => {
                    let target = Arc::new(Target::new(name, connector, profile));
                    if matches!(connector.host, Host::Name(_)) {
                        tokio::spawn(names::watch(shared.clone(), target.clone()));
                    }
                    // Kubernetes reports the readiness of a Pod.
                    if !connector.has_pod {
                        tokio::spawn(health::watch(shared.clone(), target.clone()));
                    }
                    self.targets.insert(name.clone(), target);
                }
                Ok(_) => {}
            }
        }
    }

    /// Returns the targets with servers that can be reached as their entry demands.
    fn usable<'a>(&'a self, desired: &'a Desired) -> impl Iterator<Item = &'a Arc<Target>> {
        self.targets.iter().filter_map(|(name, target)| {
            let connector = desired.connectors.get(name)?.wanted.as_ref().ok()?;
            self.profile_of_connector(connector)
                .is_ok()
                .then_some(target)
        })
    }

    /// Closes sockets whose entry was removed or changed, with their connections. Closes sockets
    /// whose keys have no target without ending connections. An added or removed key closes no
    /// socket.
    async fn close_loops(&mut self, shared: &Shared, desired: &Desired) {
        for (name, change) in plan(&self.desired.listeners, &desired.listeners) {
            if matches!(change, Change::Replace | Change::Remove) {
                if let Some(accepting) = self.loops.remove(name) {
                    accepting.close().await;
                }
                let aborted = shared.streams.abort_listener(name);
                tracing::info!(listener = name, aborted, "listener withdrawn");
            }
        }
        for (name, entry) in &desired.listeners {
            let stays = entry.wanted.as_ref().ok().filter(|listener| {
                is_reachable(shared, listener) && self.profile_of_listener(listener).is_ok()
            });
            match (stays, self.loops.get(name)) {
                (Some(listener), Some(accepting)) => accepting.keys.set(&listener.keys),
                (None, Some(_)) => {
                    if let Some(accepting) = self.loops.remove(name) {
                        accepting.close().await;
                    }
                }
                (_, None) => {}
            }
        }
    }

    /// Listens for listeners that have no socket yet and should.
    async fn listen(&self, shared: &Arc<Shared>, desired: &Desired) -> BTreeMap<String, NewLoop> {
        let mut opened = BTreeMap::new();
        for (name, entry) in &desired.listeners {
            let listener = match &entry.wanted {
                Ok(listener) if !self.loops.contains_key(name) => listener,
                Ok(_) | Err(_) => continue,
            };
            if !is_reachable(shared, listener) {
                continue;
            }
            let Ok(profile) = self.profile_of_listener(listener) else {
                continue;
            };
            let accepting = Arc::new(AcceptLoop {
                name: name.as_str().into(),
                listener: listener.clone(),
                keys: Arc::new(KeyChoice::new(listener.keys.clone())),
                profile,
                counts: shared.metrics.listener_counts(name),
                shared: shared.clone(),
            });
            // A name may take its time to resolve, and nothing else waits for that.
            let first = match &listener.host {
                Some(Host::Name(_)) => None,
                Some(Host::Address(_)) | None => Some(accepting.listen().await),
            };
            opened.insert(name.clone(), (accepting, first));
        }
        opened
    }

    /// Listeners at a host of their own that wait for a connector, and where they will listen.
    fn waiting(
        &self,
        desired: &Desired,
        opened: &BTreeMap<String, NewLoop>,
    ) -> BTreeMap<String, (Host, u16)> {
        let all = desired.listeners.iter().filter_map(|(name, entry)| {
            let listener = entry.wanted.as_ref().ok()?;
            let has_socket = self.loops.contains_key(name) || opened.contains_key(name);
            let waits = !has_socket && self.profile_of_listener(listener).is_ok();
            let host = listener.host.clone().filter(|_| waits)?;
            Some((name.clone(), (host, listener.port)))
        });
        all.collect()
    }

    fn entries(
        &self,
        desired: &Desired,
        opened: &BTreeMap<String, NewLoop>,
        (before, now): (&[EntryReport], i64),
    ) -> Vec<EntryReport> {
        let before: BTreeMap<(&str, &str), &EntryReport> = before
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
                    Ok(_) => match (opened.get(name), self.loops.contains_key(name)) {
                        (Some((_, first)), _) => first.as_ref().map_or(Status::Idle, status),
                        (None, true) => {
                            old(entity, name).map_or(Status::Idle, |old| old.status.clone())
                        }
                        (None, false) if self.hosts.contains_key(name) => {
                            old(entity, name).map_or(Status::Idle, |old| old.status.clone())
                        }
                        (None, false) => Status::Idle,
                    },
                },
            };
            let key = match entry.wanted.as_ref().map(|listener| &listener.keys) {
                Ok(Keys::One(key)) => Some(key.to_string()),
                // Each has an entry of its own.
                Ok(Keys::Priority(_) | Keys::Weighted(_)) | Err(_) => None,
            };
            (entity, name, (key, None), &entry.hash, status)
        });
        let connectors = desired.connectors.iter().map(|(name, entry)| {
            let usable = match &entry.wanted {
                Err(wrong) => Err(wrong.to_string()),
                Ok(connector) => self.profile_of_connector(connector).and_then(|_| {
                    let fault = self.targets.get(name).and_then(|target| target.fault());
                    fault.map_or(Ok(()), Err)
                }),
            };
            let status = usable.map_or_else(Status::Failed, |()| Status::Up);
            let wanted = entry.wanted.as_ref().ok();
            let key = wanted.map(|connector| connector.key.clone());
            let host = wanted.map(|connector| connector.host.to_string());
            ("tcpConnector", name, (key, host), &entry.hash, status)
        });
        let profiles = desired.profiles.iter().map(|(name, entry)| {
            let wrong = self
                .profiles
                .get(name)
                .and_then(|loaded| loaded.trouble(now));
            let status = wrong.map_or(Status::Up, Status::Failed);
            ("sslProfile", name, (None, None), &entry.hash, status)
        });
        let all = listeners.chain(connectors).chain(profiles);
        all.map(|(entity, name, (key, host), hash, status)| EntryReport {
            // The note that connections left on a server stays until another connection changes
            // it, or the server is another one.
            note: old(entity, name)
                .filter(|old| old.hash == *hash)
                .and_then(|old| old.note.clone()),
            material: (entity == "sslProfile")
                .then(|| self.profiles.get(name)?.material.clone())
                .flatten(),
            entity: entity.into(),
            name: name.clone(),
            key,
            host,
            hash: hash.clone(),
            status,
            ..EntryReport::default()
        })
        .collect()
    }

    /// Returns the reports of links, and of the sockets for links of other sites.
    fn link_entries(&self, desired: &Desired, view: Option<&View>) -> Vec<EntryReport> {
        let report = |entity: &'static str, name: &String, hash: &String, link: LinkStatus| {
            let called = link.remote.as_ref().zip(view);
            let called = called.and_then(|(site, view)| sites::name_of(view, site));
            EntryReport {
                entity: entity.into(),
                name: name.clone(),
                hash: hash.clone(),
                status: link.status,
                note: link.note,
                remote_site_id: link.remote.as_ref().map(ToString::to_string),
                remote_site_name: called.map(str::to_owned),
                ..EntryReport::default()
            }
        };
        let connectors = desired.link_connectors.iter().map(|(name, entry)| {
            let link = match &entry.wanted {
                Err(wrong) => failed(wrong.to_string()),
                Ok(link) => self.dialled(name, &link.profile),
            };
            report("connector", name, &entry.hash, link)
        });
        let listeners = desired.link_listeners.iter().map(|(name, entry)| {
            let link = match &entry.wanted {
                Err(wrong) => failed(wrong.to_string()),
                Ok(link) => match (self.links.socket(name), self.profile_of_link(&link.profile)) {
                    (Some(Status::Failed(why)), _) | (_, Err(why)) => failed(why),
                    (Some(status), Ok(_)) => LinkStatus {
                        status,
                        ..LinkStatus::default()
                    },
                    (None, Ok(_)) => LinkStatus::default(),
                },
            };
            report("listener", name, &entry.hash, link)
        });
        connectors.chain(listeners).collect()
    }

    /// Returns the status of a link. A link in use stays up, whatever happened to its profile.
    fn dialled(&self, name: &str, profile: &str) -> LinkStatus {
        match (self.links.dialled(name), self.profile_of_link(profile)) {
            (Some(link), _) if link.status == Status::Up => link,
            (_, Err(why)) => failed(why),
            (link, Ok(_)) => link.unwrap_or_default(),
        }
    }

    /// The links of this site in the picture of the network.
    fn own_links(&self, desired: &Desired, view: Option<&View>) -> Vec<LinkReport> {
        let peers = self.links.node().map(|node| node.peers());
        let peers = peers.unwrap_or_default();
        let dialled = desired.link_connectors.iter().filter_map(|(name, entry)| {
            let wanted = entry.wanted.as_ref().ok()?;
            let link = self.dialled(name, &wanted.profile);
            let remote = link.remote.as_ref();
            let called = remote.zip(view);
            let called = called.and_then(|(site, view)| sites::name_of(view, site));
            let agreed = remote.and_then(|site| sites::cost(&peers, site));
            Some(LinkReport {
                name: name.clone(),
                remote_site_id: remote.map(ToString::to_string).unwrap_or_default(),
                remote_site_name: called.unwrap_or_default().to_owned(),
                cost: agreed.unwrap_or(wanted.cost),
                operational: link.status == Status::Up,
            })
        });
        dialled.collect()
    }

    /// How many connectors connections can go to, of each key that is named.
    fn connectors(&self, desired: &Desired) -> BTreeMap<String, usize> {
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for listener in desired.listeners.values().flat_map(|entry| &entry.wanted) {
            for key in listener.keys.all() {
                keys.entry(key.to_string()).or_default();
            }
        }
        for (name, entry) in &desired.connectors {
            if let Ok(connector) = &entry.wanted {
                let is_usable =
                    self.targets.contains_key(name) && self.profile_of_connector(connector).is_ok();
                *keys.entry(connector.key.clone()).or_default() += usize::from(is_usable);
            }
        }
        keys
    }

    /// The profile of a link, or why it cannot be used.
    fn profile_of_link(&self, name: &str) -> Result<Arc<Slot>, String> {
        let slot = self.profile(Some(name), |credentials| {
            (!credentials.can_link()).then_some(
                "is not enough for a link: it needs caCertFile, certFile and privateKeyFile, which are ca.crt, tls.crt and tls.key of a Secret",
            )
        })?;
        slot.ok_or_else(|| format!("sslProfile `{name}` does not exist"))
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
        let Some(loaded) = self.profiles.get(name) else {
            return Err(format!("sslProfile `{name}` does not exist"));
        };
        match (loaded.slot.now(), &loaded.wrong) {
            (Some(credentials), _) => match lacks(&credentials) {
                None => Ok(Some(loaded.slot.clone())),
                Some(what) => Err(format!("sslProfile `{name}` {what}")),
            },
            (None, Some(wrong)) if loaded.is_gone => Err(wrong.clone()),
            (None, Some(wrong)) => Err(format!("sslProfile `{name}`: {wrong}")),
            (None, None) => Err(format!("sslProfile `{name}` has no files yet")),
        }
    }
}

fn is_reachable(shared: &Shared, listener: &Listener) -> bool {
    listener.keys.all().any(|key| shared.routes.reachable(key))
}

/// The time in seconds since 1970: certificates end by the clock of the machine.
fn seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}

fn failed(why: String) -> LinkStatus {
    LinkStatus {
        status: Status::Failed(why),
        ..LinkStatus::default()
    }
}
