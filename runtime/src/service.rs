//! Services that an operator runs beside its lifecycles in the same process, such as servers of
//! volumes. Knows none of them.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use kube::Client;

use crate::error::Error;
use crate::health::Health;
use crate::provider::Providers;
use crate::shutdown::Shutdown;

/// Context that an operator gives to a service.
#[derive(Clone)]
pub struct Context {
    /// Client of the API server; `None` if there is none.
    pub client: Option<Client>,
    /// Seed of all jitter.
    pub seed: u64,
    /// When to stop.
    pub shutdown: Shutdown,
    /// Health registry in which the service's parts report that they are ready.
    pub health: Health,
    /// Limits of each provider, shared with the lifecycles.
    pub providers: Providers,
    /// Namespaces whose objects are read; empty means all.
    pub namespaces: BTreeSet<String>,
}

/// A service that has bound its listeners and serves until shutdown.
pub type Serving = BoxFuture<'static, Result<(), Error>>;

/// Something that an operator runs beside its lifecycles.
pub trait Service: Send + 'static {
    /// Binds the service's listeners, so that a bind failure is reported before anything runs.
    ///
    /// # Errors
    /// It cannot be served.
    fn prepare(self: Box<Self>, context: Context) -> BoxFuture<'static, Result<Serving, Error>>;
}
