//! What an operator runs beside its lifecycles in the same process, such as servers of volumes. Knows none of them.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use kube::Client;

use crate::error::Error;
use crate::health::Health;
use crate::provider::Providers;
use crate::shutdown::Shutdown;

/// What an operator gives to a service.
#[derive(Clone)]
pub struct Context {
    /// Of the API server; `None` where there is none.
    pub client: Option<Client>,
    /// What all jitter comes from.
    pub seed: u64,
    /// When to stop.
    pub shutdown: Shutdown,
    /// Where its parts say whether they are ready.
    pub health: Health,
    /// How much of each provider may be asked for, together with the lifecycles.
    pub providers: Providers,
    /// The namespaces whose objects are read; all if there are none.
    pub namespaces: BTreeSet<String>,
}

/// A service that has bound what it listens at, and serves until it is told to stop.
pub type Serving = BoxFuture<'static, Result<(), Error>>;

/// Something that an operator runs beside its lifecycles.
pub trait Service: Send + 'static {
    /// Binds what it listens at, so that what cannot be served fails before anything runs.
    ///
    /// # Errors
    /// It cannot be served.
    fn prepare(self: Box<Self>, context: Context) -> BoxFuture<'static, Result<Serving, Error>>;
}
