//! One router's part of a network: its links, its knowledge, and streams that come, go and pass
//! through. [`Local`] decides the destination of a key at this router. Independent of sockets and
//! certificates.

pub mod counts;
mod passage;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

use super::announcement::about::About;
use super::announcement::{self, Announcement, Key, MAX_LINKS, Role, SiteId, Version};
use super::ended::Ended;
use super::frame::control::{Frame, Hello};
use super::hello::Refused;
use super::mux::{self, Side};
use super::network::{Message, Network, Violation};
use super::routes::Routes;
use super::stream::LinkStream;
use crate::relay::Endpoint;
use counts::{LinkCounts, LinkTraffic, Refusals};

/// Ways are computed at most this often while much changes.
const PAUSE: Duration = Duration::from_millis(20);

/// A stream to a server of this site.
pub type Server = Box<dyn Endpoint + Send>;

impl Endpoint for Server {
    fn broken(&self) -> bool {
        (**self).broken()
    }

    fn settle(&self) {
        (**self).settle();
    }
}

/// Access to the servers behind the keys of this site.
pub trait Local: Send + Sync + 'static {
    /// Connects to a server of a key, within a time of its own.
    fn connect<'a>(
        &'a self,
        key: &'a Key,
    ) -> Pin<Box<dyn Future<Output = io::Result<Server>> + Send + 'a>>;
}

/// Number of messages sent on all links, in frames.
#[derive(Debug, Default)]
pub struct FrameCounts {
    /// Signs of life.
    pub alive: AtomicU64,
    /// Announcements of sites about themselves.
    pub announcements: AtomicU64,
    /// That such a thing arrived.
    pub acknowledgements: AtomicU64,
}

/// A router of a network. Clones are the same one.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    site: SiteId,
    instance: u64,
    role: Role,
    local: Box<dyn Local>,
    began: Instant,
    state: Mutex<State>,
    ways: watch::Sender<Arc<Routes>>,
    news: watch::Sender<u64>,
    /// Something has changed.
    changed: Notify,
    said: FrameCounts,
    refusals: Refusals,
}

struct State {
    network: Network,
    links: BTreeMap<SiteId, Link>,
    /// Traffic over links that are gone, to sites that may come again.
    past: BTreeMap<SiteId, LinkTraffic>,
    next: u64,
}

/// Costs of a link for both its ends: the higher counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Costs {
    pub(super) ours: u32,
    pub(super) theirs: u32,
}

impl Costs {
    fn agreed(self) -> u32 {
        self.ours.max(self.theirs)
    }
}

/// Link in use, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The site at its other end.
    pub site: SiteId,
    /// Cost of the link.
    pub cost: u32,
    /// Traffic over this link and over earlier links to the same site.
    pub traffic: LinkTraffic,
}

/// The network as a site knows it at one time.
#[derive(Clone, Debug)]
pub struct View {
    /// Announcement of the site about itself.
    pub own: Arc<Announcement>,
    /// Announcements of the sites that have a route, by name.
    pub sites: Vec<Arc<Announcement>>,
    /// The ways.
    pub ways: Arc<Routes>,
    /// The keys that streams may have over the links to these sites; over others all.
    pub allowed: BTreeMap<SiteId, Arc<BTreeSet<Key>>>,
}

impl View {
    /// Returns true if streams of a key may go to a site over the existing route.
    pub fn allows(&self, site: &SiteId, key: &Key) -> bool {
        let way = self.ways.sites.get(site);
        let allowed = way.and_then(|way| self.allowed.get(&way.next));
        allowed.is_none_or(|allowed| allowed.contains(key))
    }
}

/// Link that is about to be used.
pub(super) struct NewLink {
    pub(super) side: Side,
    /// True if the certificate of the other side is that of its site alone.
    pub(super) is_named: bool,
    /// Channel for requests to open streams.
    pub(super) ask: mpsc::Sender<mux::Open>,
    pub(super) costs: Costs,
    pub(super) allowed: Option<Arc<BTreeSet<Key>>>,
    pub(super) counts: Arc<LinkCounts>,
}

/// A link as its node sees it.
struct Link {
    number: u64,
    instance: u64,
    cut: mpsc::Sender<Ended>,
    wake: Arc<Notify>,
    new: NewLink,
}

impl Link {
    fn allows(&self, key: &Key) -> bool {
        let allowed = self.new.allowed.as_ref();
        allowed.is_none_or(|allowed| allowed.contains(key))
    }
}

impl Node {
    /// Of a site without links. `instance` is higher than that of every earlier start.
    ///
    /// # Panics
    /// Panics if called without a runtime: the node has a task of its own, which ends with the last
    /// clone.
    pub fn new(site: SiteId, instance: u64, role: Role, local: impl Local) -> Self {
        let network = Network::new(site.clone(), instance, role);
        let (ways, _) = watch::channel(network.routes().clone());
        let inner = Arc::new(Inner {
            site,
            instance,
            role,
            local: Box::new(local),
            began: Instant::now(),
            state: Mutex::new(State {
                network,
                links: BTreeMap::new(),
                past: BTreeMap::new(),
                next: 0,
            }),
            ways,
            news: watch::Sender::new(0),
            changed: Notify::new(),
            said: FrameCounts::default(),
            refusals: Refusals::default(),
        });
        tokio::spawn(keep(Arc::downgrade(&inner)));
        Self(inner)
    }

    /// The site.
    pub fn site(&self) -> &SiteId {
        &self.0.site
    }

    /// Returns true if both are the same node.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Sets the keys of this site.
    ///
    /// # Errors
    /// They are too many; then nothing changes.
    pub fn set_keys(&self, keys: BTreeSet<Key>) -> Result<(), announcement::Error> {
        let mut state = self.0.state();
        state.network.set_keys(keys, self.0.now())?;
        self.0.tick(&mut state);
        Ok(())
    }

    /// Sets the name and the further information about this site.
    ///
    /// # Errors
    /// It is too much; then nothing changes.
    pub fn set_about(&self, about: About) -> Result<(), announcement::Error> {
        let mut state = self.0.state();
        state.network.set_about(about, self.0.now())?;
        self.0.tick(&mut state);
        Ok(())
    }

    /// The network as it is known now.
    pub fn view(&self) -> View {
        let state = self.0.state();
        View {
            own: state.network.shared(),
            sites: state.network.reachable().cloned().collect(),
            ways: state.network.routes().clone(),
            allowed: state
                .links
                .iter()
                .filter_map(|(site, link)| Some((site.clone(), link.new.allowed.clone()?)))
                .collect(),
        }
    }

    /// Another number whenever the view may have changed.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.0.news.subscribe()
    }

    /// The ways from here, and every change of them.
    pub fn routes(&self) -> watch::Receiver<Arc<Routes>> {
        self.0.ways.subscribe()
    }

    /// The sites that there are links to.
    pub fn links(&self) -> Vec<SiteId> {
        self.0.state().links.keys().cloned().collect()
    }

    /// Returns true if a link to the site exists.
    pub fn is_linked(&self, site: &SiteId) -> bool {
        self.0.state().links.contains_key(site)
    }

    /// The links in use.
    pub fn peers(&self) -> Vec<Peer> {
        let state = self.0.state();
        let peers = state.links.iter().map(|(site, link)| Peer {
            site: site.clone(),
            cost: link.new.costs.agreed(),
            traffic: state.past.get(site).copied().unwrap_or_default() + link.new.counts.now(),
        });
        peers.collect()
    }

    /// Streams of neighbours that did not get there.
    pub fn refusals(&self) -> &Refusals {
        &self.0.refusals
    }

    /// How often another claimed to be this site.
    pub fn contested(&self) -> u64 {
        self.0.state().network.contested()
    }

    /// Returns the counts of messages on all links.
    pub fn frame_counts(&self) -> &FrameCounts {
        &self.0.said
    }

    /// Ends the link to a site, if one exists.
    pub fn stop(&self, site: &SiteId) {
        let state = self.0.state();
        if let Some(link) = state.links.get(site) {
            // If it is being ended already, that is as good.
            drop(link.cut.try_send(Ended::Stopped));
        }
    }

    /// Returns the instance of this router, and its role for others.
    pub(super) fn identity(&self) -> (u64, Role) {
        (self.0.instance, self.0.role)
    }

    /// Takes a link into use, in place of one to an earlier start of the same site.
    pub(super) fn register(
        &self,
        peer: &Hello,
        new: NewLink,
    ) -> Result<(Registered, mpsc::Receiver<Ended>), Refused> {
        let mut state = self.0.state();
        let site = peer.site.clone();
        match state.links.get(&site) {
            None if state.links.len() >= MAX_LINKS => return Err(Refused::TooMany),
            // A link with a certificate that any linking site may hold never replaces a link with
            // a site's own certificate.
            Some(old) if old.new.is_named && !new.is_named => {
                return Err(Refused::Nameless(site));
            }
            // Two routers of one site would take turns for ever.
            Some(old) if old.instance > peer.instance => {
                return Err(Refused::OlderTwin(site));
            }
            // One stays: of two that were dialled at once from both ends the one that the site of the lower name dialled, at both ends.
            Some(old) if old.instance == peer.instance => {
                let is_lower = self.0.site < site;
                if old.new.side == new.side || is_lower == (old.new.side == Side::Dial) {
                    return Err(Refused::Linked(site));
                }
            }
            _ => {}
        }
        let (cut, cutting) = mpsc::channel(1);
        let wake = Arc::new(Notify::new());
        let number = state.next;
        state.next += 1;
        let cost = new.costs.agreed();
        let link = Link {
            number,
            instance: peer.instance,
            cut,
            wake: wake.clone(),
            new,
        };
        if let Some(old) = state.links.insert(site.clone(), link) {
            state.keep_counts(&site, &old);
            drop(old.cut.try_send(Ended::Replaced));
        }
        let now = self.0.now();
        state.network.link_up(&site, peer.role, cost, now);
        self.0.tick(&mut state);
        let node = self.0.clone();
        let registered = Registered {
            node,
            site,
            number,
            wake,
        };
        Ok((registered, cutting))
    }
}

impl State {
    /// Keeps the counters of a link that is gone. The number of remembered sites without a link is
    /// bounded.
    fn keep_counts(&mut self, site: &SiteId, link: &Link) {
        let past = self.past.entry(site.clone()).or_default();
        *past = *past + link.new.counts.now();
        past.open = 0;
        if self.past.len() > MAX_LINKS {
            let links = &self.links;
            self.past.retain(|site, _| links.contains_key(site));
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of a node panics")
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Performs due work, notifies tasks that wait for paths, and wakes every link to send its
    /// messages.
    fn tick(&self, state: &mut State) {
        state.network.tick(self.now());
        let routes = state.network.routes();
        self.ways.send_if_modified(|ways| {
            let is_new = !Arc::ptr_eq(ways, routes);
            ways.clone_from(routes);
            is_new
        });
        let revision = state.network.revision();
        self.news.send_if_modified(|news| {
            let is_new = *news != revision;
            *news = revision;
            is_new
        });
        for link in state.links.values() {
            link.wake.notify_one();
        }
        self.changed.notify_one();
    }
}

/// Performs due work until the node is gone.
async fn keep(node: Weak<Inner>) {
    loop {
        let Some(inner) = node.upgrade() else {
            return;
        };
        let due = inner.state().network.wake_at();
        let now = inner.now();
        if due.is_some_and(|due| due <= now) {
            inner.tick(&mut inner.state());
            drop(inner);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        // The node may be gone before something changes, so this task holds only a weak reference
        // and checks it now and then.
        let pause = due.map_or(Duration::from_secs(60), |due| due - now);
        let changed = inner.changed.notified();
        tokio::select! {
            () = changed => {}
            () = tokio::time::sleep(pause.min(Duration::from_secs(60))) => {}
        }
    }
}

/// A link that is in use, for its session.
pub(super) struct Registered {
    node: Arc<Inner>,
    site: SiteId,
    number: u64,
    wake: Arc<Notify>,
}

impl Registered {
    /// Returns the notification of possible new messages.
    pub(super) fn wake(&self) -> &Arc<Notify> {
        &self.wake
    }

    /// The state, unless another link has taken the place of this one.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.node.state();
        let link = state.links.get(&self.site);
        link.is_some_and(|link| link.number == self.number)
            .then_some(state)
    }

    /// The other router announced something.
    pub(super) fn announced(&self, announcement: Arc<Announcement>) -> Result<(), Violation> {
        let Some(mut state) = self.state() else {
            return Ok(());
        };
        let now = self.node.now();
        state.network.receive(&self.site, announcement, now)?;
        self.wake.notify_one();
        self.node.changed.notify_one();
        Ok(())
    }

    /// The other router has something.
    pub(super) fn acknowledged(&self, origin: &SiteId, version: Version) {
        if let Some(mut state) = self.state() {
            state.network.acknowledged(&self.site, origin, version);
            self.wake.notify_one();
        }
    }

    /// Applies a change of the link's cost for one of its ends.
    pub(super) fn costs(&self, change: impl FnOnce(&mut Costs)) {
        let Some(mut state) = self.state() else {
            return;
        };
        if let Some(link) = state.links.get_mut(&self.site) {
            change(&mut link.new.costs);
            let agreed = link.new.costs.agreed();
            state.network.set_cost(&self.site, agreed, self.node.now());
            self.node.tick(&mut state);
        }
    }

    /// Returns the messages to send to the other router.
    pub(super) fn messages(&self) -> Vec<Frame> {
        let Some(mut state) = self.state() else {
            return Vec::new();
        };
        let messages = state.network.messages(&self.site, self.node.now());
        let frames = messages.into_iter().map(|message| match message {
            Message::Announce(announcement) => Frame::Announce(announcement),
            Message::Acknowledge(origin, version) => Frame::Acknowledge(origin, version),
        });
        frames.collect()
    }

    /// Counts a frame that was sent.
    pub(super) fn count_frame(&self, frame: &Frame) {
        let said = &self.node.said;
        let count = match frame {
            Frame::Alive => &said.alive,
            Frame::Announce(_) => &said.announcements,
            Frame::Acknowledge(..) => &said.acknowledgements,
            Frame::Hello(_) | Frame::Goodbye(_) | Frame::Cost(_) => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a stream that the other router opened.
    pub(super) fn serve(&self, stream: LinkStream) {
        let node = Node(self.node.clone());
        tokio::spawn(passage::serve(node, self.site.clone(), stream));
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.node.state();
        let link = state.links.get(&self.site);
        if link.is_some_and(|link| link.number == self.number) {
            if let Some(old) = state.links.remove(&self.site) {
                state.keep_counts(&self.site, &old);
            }
            state.network.link_down(&self.site, self.node.now());
            self.node.tick(&mut state);
        }
    }
}

#[cfg(test)]
mod tests;
