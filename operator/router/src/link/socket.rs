//! Links over sockets: a link that is dialled again and again until it is dropped, and a socket
//! that accepts other routers. A client that only connects never keeps others out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::advice;
use super::announcement::{Key, SiteId};
use super::cost::Cost;
use super::ended::Ended;
use super::node::Node;
use super::security;
use super::session::{HELLO, LinkState, Side, Terms};
use crate::cause;
use crate::config::Host;
use crate::tcp;
use crate::tls::Slot;

/// How long the first pause before dialling again is, and the longest.
pub(super) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(100), Duration::from_secs(3));
/// Minimum duration of a link after which it is dialled again at once.
pub(super) const LASTED: Duration = Duration::from_secs(10);
/// Interval of the checks that a link that makes this one needless still exists.
const LOOK: Duration = Duration::from_millis(500);
/// Time that links have to send their reason for ending when a socket is given up.
const FAREWELL: Duration = Duration::from_secs(1);
/// Upper bounds on connections with an unknown other side: in total, and from one address.
const UNKNOWN: usize = 128;
const UNKNOWN_OF_SOURCE: usize = 16;
/// How long accepting pauses when there are no more files.
const NO_FILES: Duration = Duration::from_millis(100);

/// Address of a router of another site.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its host.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Profile with the certificate that is presented and the authority that verifies the router.
    pub profile: Arc<Slot>,
    /// True if the certificate of the router must be valid for the host.
    pub verify_hostname: bool,
    /// Cost of the link.
    pub cost: Cost,
    /// The keys that streams over it may have; absent for all.
    pub allowed: Option<Arc<BTreeSet<Key>>>,
}

/// Keeps a link to a router of another site until it is stopped. Records the state of the link in
/// `state`.
pub async fn keep(
    node: Node,
    remote: Remote,
    state: watch::Sender<LinkState>,
    stop: CancellationToken,
) {
    let mut pause = PAUSES.0;
    while !stop.is_cancelled() {
        let began = Instant::now();
        let why = match once(&node, &remote, &state, &stop).await {
            Ok(other) => {
                state.send_replace(LinkState::Beside(other.clone()));
                while node.is_linked(&other) && !stop.is_cancelled() {
                    sleep(LOOK).await;
                }
                continue;
            }
            Err(why) => why,
        };
        if stop.is_cancelled() {
            return;
        }
        if began.elapsed() >= LASTED {
            pause = PAUSES.0;
        }
        let down = LinkState::Down(why.clone());
        if *state.borrow() != down {
            tracing::info!(host = %remote.host, port = remote.port, "no link: {why}");
        }
        state.send_if_modified(|state| std::mem::replace(state, down.clone()) != down);
        tokio::select! {
            () = sleep(pause) => {}
            () = stop.cancelled() => {}
        }
        pause = (2 * pause).min(PAUSES.1);
    }
}

/// Runs the link once. Returns the other link to the same site that makes this one needless, or the
/// reason why the link is down.
async fn once(
    node: &Node,
    remote: &Remote,
    state: &watch::Sender<LinkState>,
    stop: &CancellationToken,
) -> Result<SiteId, String> {
    let dialled = tokio::select! {
        dialled = timeout(HELLO, dial(remote)) => dialled,
        () = stop.cancelled() => return Err(Ended::Stopped.to_string()),
    };
    let late = "it does not answer: check `host` and `port`, and that nothing on the way drops connections";
    let (stream, identity) = dialled.map_err(|_| late.to_owned())??;
    let terms = Terms {
        cost: remote.cost.clone(),
        allowed: remote.allowed.clone(),
        identity,
        report: Some(state.clone()),
        stop: stop.clone(),
        ..Terms::default()
    };
    let ended = node.link(stream, Side::Dial, &terms).await;
    let peer = terms
        .peer
        .get()
        .filter(|peer| ended.is_needless(node.site()) && node.is_linked(peer));
    peer.cloned().ok_or_else(|| advice::explained(&ended))
}

type Dialled = (tokio_rustls::client::TlsStream<TcpStream>, Option<SiteId>);

async fn dial(remote: &Remote) -> Result<Dialled, String> {
    let name = match &remote.host {
        Host::Address(address) => ServerName::from(*address),
        Host::Name(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
            .map_err(|_| format!("`{name}` is no name of a server"))?,
    };
    let addresses = remote.host.resolve(remote.port).await;
    let addresses = addresses.map_err(|error| {
        let host = &remote.host;
        format!("its host cannot be resolved: {error}; check that `{host}` is spelled well and known to the DNS here")
    })?;
    let stream = tcp::connect(&addresses).await;
    let stream = stream.map_err(|error: io::Error| {
        let (host, port, why) = (&remote.host, remote.port, advice::explained(&error));
        format!("it cannot be connected to at {host} port {port}: {why}")
    })?;
    // The last message must be delivered; streams themselves distinguish an abort from an end.
    tcp::settle(&stream);
    let secured = security::dial(stream, name, &remote.profile, remote.verify_hostname).await;
    secured.map_err(|error| advice::explained(&error))
}

/// How routers of other sites are taken in at a socket.
#[derive(Clone, Debug)]
pub struct Access {
    /// Profile with the certificate that is presented and the authority that verifies the other
    /// routers.
    pub profile: Arc<Slot>,
    /// Minimum cost of their links.
    pub cost: Cost,
    /// The keys that streams over them may have; absent for all.
    pub allowed: Option<Arc<BTreeSet<Key>>>,
    /// Ends all this.
    pub stop: CancellationToken,
    /// Counts those that were not taken in.
    pub refused: Arc<AtomicU64>,
}

impl Access {
    /// With the certificate and the authority of a profile.
    pub fn new(profile: Arc<Slot>) -> Self {
        Self {
            profile,
            cost: Cost::default(),
            allowed: None,
            stop: CancellationToken::new(),
            refused: Arc::default(),
        }
    }
}

/// Accepts routers of other sites until it is stopped. When it is dropped their links end, too, but
/// without notice.
pub async fn accept(node: Node, listener: TcpListener, access: Access) {
    let unknown = Arc::new(Unknown::default());
    let mut links = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = access.stop.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = links.join_next() => continue,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a link could not be accepted");
                sleep(NO_FILES).await;
                continue;
            }
        };
        if let Some(place) = Unknown::enter(&unknown, from) {
            links.spawn(take_in(node.clone(), stream, from, access.clone(), place));
        } else {
            access.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
    drop(listener);
    let farewells = async { while links.join_next().await.is_some() {} };
    if timeout(FAREWELL, farewells).await.is_err() {
        tracing::debug!("links were not ended in time");
    }
}

async fn take_in(
    node: Node,
    stream: TcpStream,
    from: SocketAddr,
    access: Access,
    place: UnknownPermit,
) {
    if tcp::accepted(&stream).is_err() {
        return;
    }
    tcp::settle(&stream);
    let refuse = || access.refused.fetch_add(1, Ordering::Relaxed);
    match timeout(HELLO, security::accept(stream, &access.profile)).await {
        Err(_) => {
            refuse();
            tracing::debug!(%from, "a handshake of a link was not finished in time");
        }
        Ok(Err(error)) => {
            refuse();
            tracing::debug!(%from, "a link was refused: {}", cause::chain(&error));
        }
        Ok(Ok((stream, site))) => {
            drop(place);
            let terms = Terms {
                cost: access.cost.clone(),
                allowed: access.allowed.clone(),
                identity: site.clone(),
                stop: access.stop.clone(),
                ..Terms::default()
            };
            let ended = node.link(stream, Side::Accept, &terms).await;
            let site = site.as_ref().map_or("any", SiteId::as_str);
            if matches!(ended, Ended::Refused(_) | Ended::CutOff(_)) {
                refuse();
            }
            let why = cause::chain(&ended);
            if matches!(ended, Ended::CutOff(_)) {
                tracing::warn!(%from, site, "a link ended: {why}");
            } else {
                tracing::info!(%from, site, "a link ended: {why}");
            }
        }
    }
}

/// How many are not known yet, by address.
#[derive(Debug, Default)]
struct Unknown(Mutex<BTreeMap<IpAddr, usize>>);

/// One of them.
struct UnknownPermit(Arc<Unknown>, IpAddr);

impl Unknown {
    fn enter(this: &Arc<Self>, from: SocketAddr) -> Option<UnknownPermit> {
        let mut all = this.0.lock().expect("no holder panics");
        let count: usize = all.values().sum();
        let of_source = all.entry(from.ip()).or_default();
        if count >= UNKNOWN || *of_source >= UNKNOWN_OF_SOURCE {
            return None;
        }
        *of_source += 1;
        Some(UnknownPermit(this.clone(), from.ip()))
    }
}

impl Drop for UnknownPermit {
    fn drop(&mut self) {
        let mut all = self.0.0.lock().expect("no holder panics");
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}
