//! The router. It takes over from the previous configuration, so that only changed entries are
//! touched. It does so within one turn: when `apply` returns, everything that must not be reachable
//! has no socket any more.

mod addresses;
mod applied;
mod links;
mod sites;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::boxed::BoxFuture;
pub use crate::options::Options;
use crate::plain::plain;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::state::{StateStore, Status};
use crate::tls::Slot;
use applied::Applied;
#[cfg(feature = "adaptor")]
pub(crate) use sites::own as own_site;

/// Interval of the checks that streams of other sites have ended.
const LOOK: Duration = Duration::from_millis(20);

/// A router. Cheap to clone; all clones are one router.
#[derive(Clone)]
pub struct Router {
    shared: Arc<Shared>,
    applied: Arc<Mutex<Applied>>,
    /// True if the router already follows the network.
    follows: Arc<AtomicBool>,
}

impl Router {
    /// A router that has no configuration yet.
    pub fn new(options: Options) -> Self {
        Self {
            shared: Arc::new(Shared::new(options)),
            applied: Arc::default(),
            follows: Arc::default(),
        }
    }

    /// Returns the state that the router reports.
    pub fn state(&self) -> &StateStore {
        &self.shared.state
    }

    /// Its counters as text for Prometheus.
    pub fn metrics(&self) -> String {
        let metrics = &self.shared.metrics;
        metrics.text(self.open()) + &metrics.links(self.shared.node().as_ref())
    }

    /// How many connections of clients are open.
    pub fn open(&self) -> usize {
        self.shared.streams.count()
    }

    /// Returns the credentials of a profile, for other servers that use it; `None` if no profile
    /// has the name.
    pub async fn profile(&self, name: &str) -> Option<Arc<Slot>> {
        self.applied.lock().await.slot(name)
    }

    /// Applies a configuration in the place of the one before, and logs that and the faults of its document.
    ///
    /// # Guarantees
    /// Connections over unchanged entries are not touched. Connections over a changed or removed
    /// entry are aborted. When this returns, a listener has its socket, or its state contains the
    /// reason; a listener whose host is a name gets its socket a little later. A link with an
    /// unchanged entry is not touched, and a link with only a changed cost goes on.
    pub fn apply(&self, snapshot: Snapshot) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.follows.swap(true, Ordering::Relaxed) {
                let (shared, applied) = (self.shared.clone(), Arc::downgrade(&self.applied));
                tokio::spawn(follow(Arc::downgrade(&shared), applied));
            }
            for fault in &snapshot.desired.faults {
                tracing::warn!("{}", plain(fault));
            }
            let configuration = snapshot.hash.clone();
            self.applied
                .lock()
                .await
                .apply(&self.shared, snapshot)
                .await;
            tracing::info!(configuration, "configuration applied");
        })
    }

    /// Learns which files of profiles were good, before the first configuration is applied. Nothing is served yet; but where the files of
    /// that configuration are no good, handshakes use these, as if it had come after them.
    pub fn remember(&self, good: Snapshot) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.applied.lock().await.remember(&good) })
    }

    /// Reports why the newest configuration cannot be applied, or that it can. The previous
    /// configuration stays.
    pub fn refuse(&self, error: Option<String>) {
        self.shared.state.update(|state| state.error = error);
    }

    /// Closes all sockets, waits up to `grace` for connections to end, and aborts the rest. Returns
    /// the number of aborted connections.
    pub fn stop(&self, grace: Duration) -> BoxFuture<'_, usize> {
        Box::pin(async move {
            let (loops, targets, mut links) = self.applied.lock().await.stop();
            for (name, accepting) in loops {
                accepting.close().await;
                self.shared.state.set("tcpListener", &name, Status::Idle);
            }
            let streams = &self.shared.streams;
            let ended = async { tokio::join!(streams.all_ended(), self.links_are_idle()) };
            let aborted = match timeout(grace, ended).await {
                Ok(_) => 0,
                Err(_) => streams.abort_all(),
            };
            streams.all_ended().await;
            targets.iter().for_each(|target| target.gone.cancel());
            links.stop(&self.shared).await;
            aborted
        })
    }

    /// Announces to other sites that this site has no keys any more, and waits until no stream goes
    /// over a link.
    async fn links_are_idle(&self) {
        let Some(node) = self.shared.node() else {
            return;
        };
        if let Err(error) = node.set_keys(std::collections::BTreeSet::new()) {
            tracing::debug!(%error, "keys could not be withdrawn");
        }
        let open = || {
            node.peers()
                .iter()
                .map(|peer| peer.traffic.open)
                .sum::<u64>()
        };
        while open() > 0 {
            sleep(LOOK).await;
        }
    }
}

/// Follows changes of the network until the router is gone. It waits while a configuration is being
/// applied.
async fn follow(shared: Weak<Shared>, applied: Weak<Mutex<Applied>>) {
    loop {
        // A router without owners has no changes to follow, so the weak reference is checked now
        // and then.
        let Some(now) = shared.upgrade() else {
            return;
        };
        let changed = timeout(Duration::from_secs(60), now.changed.notified()).await;
        let Some(applied) = applied.upgrade() else {
            return;
        };
        let mut applied = applied.lock().await;
        if changed.is_ok() || applied.is_overtaken() {
            applied.refresh(&now).await;
        }
    }
}
