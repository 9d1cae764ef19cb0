//! Registration of a driver with kubelet. If kubelet has not registered the driver, or no longer
//! lists it, the socket is created anew, which kubelet notices.

use std::collections::BTreeSet;
use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::storage::v1::CSINode;
use lifecycle_proto::registration::registration_server::RegistrationServer;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::kept_socket::SocketHandle;
use super::registration::{RegistrationService, RegistrationStatus};
use super::services::SocketServices;
use crate::call::shared_watches::SharedWatches;
use crate::driver::KubeletRegistration;
use crate::driver::cache_policy::{Readers, Selection, WatchedKind};
use crate::driver::plugin::Plugin;
use crate::error::Error;
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lifecycle::Kind;

/// Grace period for an unlisted driver. The kubelet writes the CSINode before it reports the
/// registration, and our watch may lag for a moment.
const UNLISTED: Duration = Duration::from_secs(5);
/// kubelet may be starting; or it has missed the socket.
const UNREGISTERED: Duration = Duration::from_secs(60);

/// A driver that kubelet is to register.
pub(super) struct PendingRegistration {
    driver: String,
    /// `None` before kubelet has reported.
    status: watch::Receiver<Option<RegistrationStatus>>,
    pub(super) csi_node: Option<Arc<WatchedCsiNode>>,
}

/// CSINode of this node, in which the kubelet lists its registered drivers.
pub(super) struct WatchedCsiNode {
    pub(super) watches: SharedWatches,
    kind: Kind,
    name: Name,
}

/// The socket at which kubelet finds a driver that listens at an endpoint.
pub(super) fn registration(
    plugin: &Plugin,
    kubelet: &KubeletRegistration,
    endpoint: &Path,
) -> (SocketServices, PendingRegistration) {
    let endpoint = kubelet.endpoint.as_deref().unwrap_or(endpoint);
    let service = RegistrationService::new(&plugin.name, endpoint);
    let status = Arc::clone(&service.status);
    let pending = PendingRegistration {
        driver: plugin.name.clone(),
        status: status.subscribe(),
        csi_node: kubelet.csi_node.as_deref().map(WatchedCsiNode::named),
    };
    let path = kubelet.folder.join(format!("{}-reg.sock", plugin.name));
    let mut socket = SocketServices::new(path, plugin.clone());
    socket.add(RegistrationServer::new(service));
    // The kubelet's earlier reply concerned the previous socket.
    socket.before_making = Some(Arc::new(move || {
        status.send_replace(None);
    }));
    (socket, pending)
}

impl WatchedCsiNode {
    fn named(node: &str) -> Arc<Self> {
        let kind = Kind::for_type::<CSINode>();
        let watched = WatchedKind {
            kind: kind.clone(),
            selection: Selection::Fields(format!("metadata.name={node}")),
            readers: Readers::AllCalls,
        };
        Arc::new(Self {
            watches: SharedWatches::new(vec![watched], &BTreeSet::new()),
            kind,
            name: Name {
                namespace: None,
                name: node.to_owned(),
            },
        })
    }

    /// Returns true if a driver is listed, or `None` while that is unknown.
    fn lists(&self, driver: &str) -> Option<bool> {
        if !self.watches.are_synced() {
            return None;
        }
        let known = self.watches.get(&self.kind, &self.name, Readers::AllCalls);
        let raw = known.and_then(|known| known.raw.clone());
        let drivers = raw.as_deref().and_then(|raw| raw.pointer("/spec/drivers"));
        let mut drivers = drivers.and_then(Value::as_array).into_iter().flatten();
        Some(drivers.any(|listed| listed["name"] == driver))
    }
}

impl PendingRegistration {
    /// Returns the name of the registration in health reports.
    pub(super) fn part(&self) -> String {
        format!("registration of {}", self.driver)
    }

    /// Why kubelet does not know the driver as things are.
    fn missing(&self, is_reported: bool, socket: &SocketHandle) -> Option<String> {
        let lost = socket.state.borrow().clone().err();
        let unlisted = || {
            let node = self.csi_node.as_ref()?;
            let is_gone = node.lists(&self.driver) == Some(false);
            let why = || {
                format!(
                    "CSINode `{}` does not list the driver: registering it with kubelet again",
                    node.name
                )
            };
            is_gone.then(why)
        };
        let unreported = || {
            let why = "kubelet has not registered the driver yet: see to it that kubelet runs and watches the folder of its socket";
            (!is_reported).then(|| why.to_owned())
        };
        lost.or_else(unreported).or_else(unlisted)
    }

    /// Ends only if kubelet refuses the driver.
    ///
    /// # Errors
    /// It does.
    pub(super) async fn keep(
        mut self,
        mut socket: SocketHandle,
        health: &Health,
    ) -> Result<(), Error> {
        // Holds the kubelet's earlier report, if any, and the time since the entry is missing.
        let mut since: Option<(bool, Instant)> = None;
        let mut csi_node = self.csi_node.as_ref().map(|node| node.watches.changes());
        loop {
            let reported = self.status.borrow_and_update().clone();
            if let Some(Err(why)) = reported {
                let driver = self.driver;
                return Err(Error::Unregistered { driver, why });
            }
            let is_reported = reported.is_some();
            let missing = self.missing(is_reported, &socket);
            match &missing {
                None => health.works(&self.part()),
                Some(why) => health.waits(self.part(), why),
            }
            let began = since.filter(|(was_reported, _)| *was_reported == is_reported);
            since = missing
                .is_some()
                .then(|| began.unwrap_or((is_reported, Instant::now())));
            let patience = if is_reported { UNLISTED } else { UNREGISTERED };
            let again = since.map(|(_, since)| since + patience);
            tokio::select! {
                changed = self.status.changed() => if changed.is_err() {
                    return Ok(());
                },
                Ok(()) = socket.state.changed() => {}
                () = wait_for_change(&mut csi_node) => {}
                () = sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => {
                    let why = missing.unwrap_or_default();
                    tracing::warn!(driver = self.driver, "the socket of the registration is made anew: {why}");
                    socket.remake.notify_one();
                    since = Some((is_reported, Instant::now()));
                }
            }
        }
    }
}

/// Waits until a watch reports a change.
async fn wait_for_change(watch: &mut Option<watch::Receiver<u64>>) {
    if let Some(watch) = watch
        && watch.changed().await.is_ok()
    {
        return;
    }
    pending().await
}
