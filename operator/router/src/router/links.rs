//! The links of the router: dialled links, sockets for other routers, and the exchange of
//! information with the network. Takes the links over from one document to the next: a link with an
//! unchanged entry is not touched. Independent of listeners and connectors of clients.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::cause;
use crate::config::{ConfigEntry, Desired, LinkConnector, LinkListener, SiteIdentity};
use crate::link::announcement::about::{About, Service, Side};
use crate::link::announcement::{Key, MAX_KEYS, MAX_ROUTING, Role, SiteId, instance};
use crate::link::node::Node;
use crate::link::session::LinkState;
use crate::link::socket::{Access, Remote, accept, keep};
use crate::plan::{Change, plan};
use crate::reach::Servers;
use crate::recurring::Recurring;
use crate::shared::Shared;
use crate::state::{OwnService, Status};
use crate::tcp;
use crate::tls::Slot;

/// How long until a socket is tried again that was not available: at first, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Time that links have to send their reason for ending.
const FAREWELL: Duration = Duration::from_secs(2);
/// Number of foreign claims to be this site, and the period, after which they cannot come from the
/// memory of an earlier start.
const CONTESTED: (usize, Duration) = (3, Duration::from_secs(20));
/// Upper bound on the size of all keys in an announcement: the rest is for links.
const KEYS: usize = MAX_ROUTING / 2;

/// Running links of a document.
#[derive(Default)]
pub(super) struct Links {
    own: Option<Own>,
    dialled: BTreeMap<String, Dialled>,
    sockets: BTreeMap<String, Socket>,
    /// Links that are being ended.
    ending: Vec<JoinHandle<()>>,
    last_instance: u64,
}

/// The router's part of the network.
struct Own {
    id: SiteId,
    edge: bool,
    node: Node,
    /// Identity of the site, which may change.
    identity: watch::Sender<SiteIdentity>,
    /// The names of the links that are dialled, by the site that they lead to.
    dials: watch::Sender<BTreeMap<SiteId, String>>,
    tasks: [JoinHandle<()>; 2],
    contest: Contest,
}

impl Drop for Own {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Record of claims by another router to be this site. It holds the times of the latest claims, as
/// many as matter.
#[derive(Default)]
struct Contest {
    seen: u64,
    times: VecDeque<Instant>,
}

struct Dialled {
    cost: watch::Sender<u32>,
    state: watch::Receiver<LinkState>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

struct Socket {
    cost: watch::Sender<u32>,
    status: watch::Receiver<Status>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// How a link is, for its entry.
#[derive(Default)]
pub(super) struct LinkStatus {
    pub(super) status: Status,
    pub(super) remote: Option<SiteId>,
    pub(super) note: Option<String>,
}

/// The same entries with the lowest cost, so that one that differs in its cost alone is the same.
fn but_for_cost<T: Clone>(
    entries: &BTreeMap<String, ConfigEntry<T>>,
    cost: fn(&mut T) -> &mut u32,
) -> BTreeMap<String, ConfigEntry<T>> {
    let mut entries = entries.clone();
    for entry in entries.values_mut() {
        if let Ok(wanted) = &mut entry.wanted {
            *cost(wanted) = 1;
        }
    }
    entries
}

fn gone<'a, T: Clone + PartialEq>(
    old: &'a BTreeMap<String, ConfigEntry<T>>,
    new: &'a BTreeMap<String, ConfigEntry<T>>,
    cost: fn(&mut T) -> &mut u32,
) -> Vec<String> {
    let (old, new) = (but_for_cost(old, cost), but_for_cost(new, cost));
    let changes = plan(&old, &new).into_iter();
    let gone = changes.filter(|(_, change)| matches!(change, Change::Replace | Change::Remove));
    gone.map(|(name, _)| name.to_owned()).collect()
}

impl Links {
    /// Takes the links of a document over from the previous one. `profile` returns the parts of a
    /// profile that a link needs. Without them no link is made, and an existing link ends if the
    /// document no longer has the profile.
    pub(super) fn change(
        &mut self,
        shared: &Arc<Shared>,
        old: &Desired,
        new: &Desired,
        profile: impl Fn(&str) -> Result<Arc<Slot>, String>,
    ) {
        self.ending.retain(|task| !task.is_finished());
        self.identify(shared, new);
        let Some(node) = self.own.as_ref().map(|own| own.node.clone()) else {
            return;
        };
        let gone_connectors = gone(&old.link_connectors, &new.link_connectors, |link| {
            &mut link.cost
        });
        gone_connectors.iter().for_each(|name| self.hang_up(name));
        let gone_listeners = gone(&old.link_listeners, &new.link_listeners, |link| {
            &mut link.cost
        });
        gone_listeners.iter().for_each(|name| self.close(name));
        let is_known = |profile: &String| new.profiles.contains_key(profile);
        for (name, entry) in &new.link_connectors {
            let Ok(link) = &entry.wanted else {
                continue;
            };
            match (profile(&link.profile), self.dialled.get(name)) {
                (_, Some(dialled)) if is_known(&link.profile) => {
                    set(&dialled.cost, link.cost);
                }
                (_, Some(_)) => self.hang_up(name),
                (Ok(slot), None) => {
                    let dialled = dial(shared, node.clone(), link, slot);
                    self.dialled.insert(name.clone(), dialled);
                }
                (Err(_), None) => {}
            }
        }
        for (name, entry) in &new.link_listeners {
            let Ok(link) = &entry.wanted else {
                continue;
            };
            match (profile(&link.profile), self.sockets.get(name)) {
                (_, Some(socket)) if is_known(&link.profile) => {
                    set(&socket.cost, link.cost);
                }
                (_, Some(_)) => self.close(name),
                (Ok(slot), None) => {
                    let socket = open(shared, node.clone(), name, link, slot);
                    self.sockets.insert(name.clone(), socket);
                }
                (Err(_), None) => {}
            }
        }
    }

    /// Takes on the identity of the site in the document, if the document has links. A change of
    /// site drops all links of the previous one.
    fn identify(&mut self, shared: &Arc<Shared>, desired: &Desired) {
        let has_links = !desired.link_connectors.is_empty() || !desired.link_listeners.is_empty();
        let id = desired.site.id.as_deref().and_then(SiteId::new);
        let wanted = id.filter(|_| has_links);
        let edge = desired.site.edge;
        if let Some(own) = &mut self.own {
            if wanted.as_ref() == Some(&own.id) && own.edge == edge {
                own.identity.send_if_modified(|identity| {
                    let differs = *identity != desired.site;
                    identity.clone_from(&desired.site);
                    differs
                });
                return;
            }
            for name in self.dialled.keys().cloned().collect::<Vec<_>>() {
                self.hang_up(&name);
            }
            for name in self.sockets.keys().cloned().collect::<Vec<_>>() {
                self.close(&name);
            }
            self.own = None;
            shared.set_node(None);
        }
        let Some(id) = wanted else {
            return;
        };
        self.last_instance = instance(SystemTime::now(), self.last_instance);
        let role = if edge { Role::Edge } else { Role::Interior };
        let servers = Servers(Arc::downgrade(shared));
        let node = Node::new(id.clone(), self.last_instance, role, servers);
        shared.set_node(Some(node.clone()));
        let identity = watch::Sender::new(desired.site.clone());
        let dials = watch::Sender::new(BTreeMap::new());
        let telling = announce_site(
            Arc::downgrade(shared),
            node.clone(),
            identity.subscribe(),
            dials.subscribe(),
        );
        let listening = listen(Arc::downgrade(shared), node.news());
        self.own = Some(Own {
            id,
            edge,
            node,
            identity,
            dials,
            tasks: [tokio::spawn(telling), tokio::spawn(listening)],
            contest: Contest::default(),
        });
    }

    fn hang_up(&mut self, name: &str) {
        if let Some(dialled) = self.dialled.remove(name) {
            dialled.stop.cancel();
            self.ending.push(dialled.task);
            tracing::info!(connector = name, "link withdrawn");
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(socket) = self.sockets.remove(name) {
            socket.stop.cancel();
            self.ending.push(socket.task);
            tracing::info!(listener = name, "socket of links withdrawn");
        }
    }

    /// Ends all links, and waits until the other ends were notified.
    pub(super) async fn stop(&mut self, shared: &Shared) {
        let names: Vec<String> = self.dialled.keys().cloned().collect();
        names.iter().for_each(|name| self.hang_up(name));
        let names: Vec<String> = self.sockets.keys().cloned().collect();
        names.iter().for_each(|name| self.close(name));
        let ending = async {
            for task in self.ending.drain(..) {
                // The task has no result besides its end.
                drop(task.await);
            }
        };
        if timeout(FAREWELL, ending).await.is_err() {
            tracing::debug!("links were not ended in time");
        }
        self.own = None;
        shared.set_node(None);
    }

    /// The router's part of the network.
    pub(super) fn node(&self) -> Option<&Node> {
        self.own.as_ref().map(|own| &own.node)
    }

    /// Reports the name and the destination of each link in use.
    pub(super) fn name_dials(&self) {
        let Some(own) = &self.own else {
            return;
        };
        let up = self
            .dialled
            .iter()
            .filter_map(|(name, dialled)| match &*dialled.state.borrow() {
                LinkState::Up(site) => Some((site.clone(), name.clone())),
                LinkState::Connecting | LinkState::Beside(_) | LinkState::Down(_) => None,
            });
        let up = up.collect();
        own.dials.send_if_modified(|dials| {
            let differs = *dials != up;
            *dials = up;
            differs
        });
    }

    /// How a link is that is dialled; absent if none is.
    pub(super) fn dialled(&self, name: &str) -> Option<LinkStatus> {
        let state = self.dialled.get(name)?.state.borrow().clone();
        Some(match state {
            LinkState::Connecting => LinkStatus::default(),
            LinkState::Up(site) => LinkStatus {
                status: Status::Up,
                remote: Some(site),
                note: None,
            },
            LinkState::Beside(site) => LinkStatus {
                status: Status::Up,
                note: Some(format!(
                    "another link to site {site} is in use, and this one in reserve"
                )),
                remote: Some(site),
            },
            LinkState::Down(why) => LinkStatus {
                status: Status::Failed(why),
                ..LinkStatus::default()
            },
        })
    }

    /// Returns the status of a socket for links; `None` if it does not exist.
    pub(super) fn socket(&self, name: &str) -> Option<Status> {
        let status = self.sockets.get(name)?.status.borrow().clone();
        Some(status)
    }

    /// Returns the error of the network as a whole.
    pub(super) fn faults(&mut self, shared: &Arc<Shared>) -> Option<String> {
        let own = self.own.as_mut()?;
        let is_contested = own.contest.observe(own.node.contested(), shared);
        is_contested.then(|| {
            format!(
                "another router of this network also claims to be site {}: give each site its own id and certificates",
                own.id
            )
        })
    }
}

impl Contest {
    fn observe(&mut self, contested: u64, shared: &Arc<Shared>) -> bool {
        let now = Instant::now();
        let (most, time) = CONTESTED;
        let news = contested.saturating_sub(self.seen).min(most as u64);
        self.seen = contested;
        for _ in 0..news {
            self.times.push_back(now);
        }
        while self.times.len() > most {
            self.times.pop_front();
        }
        if news > 0 {
            // The end of the claims must be noticed as well.
            let shared = Arc::downgrade(shared);
            tokio::spawn(async move {
                sleep(time).await;
                poke(&shared);
            });
        }
        let first = self.times.front();
        self.times.len() == most && first.is_some_and(|first| now.duration_since(*first) < time)
    }
}

fn set(cost: &watch::Sender<u32>, wanted: u32) {
    cost.send_if_modified(|cost| std::mem::replace(cost, wanted) != wanted);
}

fn allowed(keys: Option<&BTreeSet<String>>) -> Option<Arc<BTreeSet<Key>>> {
    let keys = keys?.iter().filter_map(|key| Key::new(key));
    Some(Arc::new(keys.collect()))
}

fn dial(shared: &Arc<Shared>, node: Node, link: &LinkConnector, profile: Arc<Slot>) -> Dialled {
    let (cost, costs) = watch::channel(link.cost);
    let remote = Remote {
        host: link.host.clone(),
        port: link.port,
        profile,
        verify_hostname: link.verify_hostname,
        cost: costs.into(),
        allowed: allowed(link.allowed_keys.as_ref()),
    };
    let (report, state) = watch::channel(LinkState::Connecting);
    let mut seen = report.subscribe();
    let (stop, shared) = (CancellationToken::new(), Arc::downgrade(shared));
    let stopped = stop.clone();
    let task = tokio::spawn(async move {
        let telling = async { while seen.changed().await.is_ok() && poke(&shared) {} };
        tokio::join!(keep(node, remote, report, stopped), telling);
    });
    Dialled {
        cost,
        state,
        stop,
        task,
    }
}

/// Triggers a new evaluation of the network. Returns false if the router is gone.
fn poke(shared: &Weak<Shared>) -> bool {
    let shared = shared.upgrade();
    shared.is_some_and(|shared| {
        shared.changed.notify_one();
        true
    })
}

fn open(
    shared: &Arc<Shared>,
    node: Node,
    name: &str,
    link: &LinkListener,
    profile: Arc<Slot>,
) -> Socket {
    let (cost, costs) = watch::channel(link.cost);
    let stop = CancellationToken::new();
    let access = Access {
        profile,
        cost: costs.into(),
        allowed: allowed(link.allowed_keys.as_ref()),
        stop: stop.clone(),
        refused: shared.metrics.links_refused.clone(),
    };
    let (report, status) = watch::channel(Status::Idle);
    let own = shared.options.bind_address;
    let (link, name, shared) = (link.clone(), name.to_owned(), Arc::downgrade(shared));
    let task = tokio::spawn(async move {
        let (mut pause, longest) = AGAIN;
        // The one that had the port before may be about to go.
        let mut is_doubtful = true;
        let mut trouble = Recurring::default();
        loop {
            match tcp::listen(link.host.as_ref(), own, link.port).await {
                Ok(socket) => {
                    if trouble.worked() {
                        tracing::info!(listener = name, "listening for links again");
                    }
                    report.send_replace(Status::Up);
                    poke(&shared);
                    return accept(node, socket, access).await;
                }
                Err(_) if is_doubtful => is_doubtful = false,
                Err(error) => {
                    let why = cause::chain(&error);
                    if trouble.failed(&why) {
                        tracing::warn!(listener = name, "{why}; trying again");
                    }
                    report.send_replace(Status::Failed(why));
                    poke(&shared);
                }
            }
            tokio::select! {
                () = sleep(pause) => {}
                () = access.stop.cancelled() => return,
            }
            pause = (pause * 2).min(longest);
        }
    });
    Socket {
        cost,
        status,
        stop,
        task,
    }
}

/// Triggers a new evaluation whenever the paths may have changed.
async fn listen(shared: Weak<Shared>, mut news: watch::Receiver<u64>) {
    while news.changed().await.is_ok() && poke(&shared) {}
}

/// Announces the name and the services of this site to the network whenever they change.
async fn announce_site(
    shared: Weak<Shared>,
    node: Node,
    mut identity: watch::Receiver<SiteIdentity>,
    mut dials: watch::Receiver<BTreeMap<SiteId, String>>,
) {
    let Some(mut revisions) = shared.upgrade().map(|shared| shared.state.revisions()) else {
        return;
    };
    let mut told = None;
    loop {
        let Some(services) = shared.upgrade().map(|shared| shared.state.services()) else {
            return;
        };
        let identity_now = identity.borrow_and_update().clone();
        let dials_now = dials.borrow_and_update().clone();
        let (about, has_cut) = build_about(&identity_now, dials_now, &services).fitted();
        if told.as_ref() != Some(&about) {
            if has_cut {
                tracing::warn!(
                    "the announcement of this site is too long; some names are left out"
                );
            }
            if let Err(error) = node.set_about(about.clone()) {
                tracing::warn!("this site cannot be announced to other sites: {error}");
            }
            told = Some(about);
        }
        let changed = tokio::select! {
            changed = revisions.changed() => changed,
            changed = identity.changed() => changed,
            changed = dials.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
    }
}

fn build_about(
    identity: &SiteIdentity,
    dials: BTreeMap<SiteId, String>,
    services: &BTreeMap<String, OwnService>,
) -> About {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let there = services
        .iter()
        .filter(|(_, own)| own.connectors + own.listeners.len() > 0);
    let services = there.filter_map(|(key, own)| {
        let mut connectors = Side::from_names(own.hosts.iter().cloned());
        connectors.count = u16::try_from(own.connectors).unwrap_or(u16::MAX);
        let listeners = Side::from_names(own.listeners.iter().cloned());
        let service = Service {
            connectors,
            listeners,
        };
        Some((Key::new(key)?, service))
    });
    About {
        name: text(&identity.name),
        namespace: text(&identity.namespace),
        platform: text(&identity.platform),
        version: text(&identity.version),
        dials,
        services: services.collect(),
    }
}

/// Returns as many of these keys as can be announced to other sites, and the number of the
/// remaining ones.
pub(super) fn announced(keys: Vec<String>) -> (BTreeSet<Key>, usize) {
    let all = keys.len();
    let (mut told, mut size) = (BTreeSet::new(), 0);
    for key in keys.iter().filter_map(|key| Key::new(key)) {
        size += key.as_str().len() + 4;
        if size > KEYS || told.len() >= MAX_KEYS {
            break;
        }
        told.insert(key);
    }
    let left = all - told.len();
    (told, left)
}
