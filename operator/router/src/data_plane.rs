//! The border between sources and the HTTP interface on one side and, on the other, the program that a document configures: the router of
//! this process, or the adaptor beside another one. Knows neither.

use std::sync::Arc;

use crate::boxed::BoxFuture;
use crate::router::Router;
use crate::snapshot::Snapshot;
use crate::state::StateStore;
use crate::tls::Slot;

/// Takes configurations, and reports how they do.
pub trait DataPlane: Send + Sync + 'static {
    /// The state that it reports.
    fn state(&self) -> &StateStore;

    /// Its counters as text for Prometheus.
    fn metrics(&self) -> String;

    /// The credentials of a profile, for a server of something else with it; absent if no profile has the name.
    fn profile<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Arc<Slot>>>;

    /// Takes a configuration in the place of the one before.
    fn apply(&self, snapshot: Snapshot) -> BoxFuture<'_, ()>;

    /// Learns which files of profiles were good, before the first configuration.
    fn remember(&self, good: Snapshot) -> BoxFuture<'_, ()>;

    /// True if it dials through proxies, and so needs their passwords.
    fn has_proxies(&self) -> bool {
        false
    }

    /// Reports why the newest configuration cannot be read, or that it can. The one before stays.
    fn refuse(&self, error: Option<String>);
}

impl DataPlane for Router {
    fn state(&self) -> &StateStore {
        self.state()
    }

    fn metrics(&self) -> String {
        self.metrics()
    }

    fn profile<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Arc<Slot>>> {
        Box::pin(self.profile(name))
    }

    fn apply(&self, snapshot: Snapshot) -> BoxFuture<'_, ()> {
        self.apply(snapshot)
    }

    fn remember(&self, good: Snapshot) -> BoxFuture<'_, ()> {
        self.remember(good)
    }

    fn refuse(&self, error: Option<String>) {
        self.refuse(error);
    }
}
