//! The builder of a process that serves volumes: which lifecycles, as which drivers, alone or beside the lifecycles of an operator.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use lifecycle_runtime::Machine;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::names;
use lifecycle_runtime::operator::{self, Naming};
use lifecycle_runtime::provider::{Limit, Providers};
use lifecycle_runtime::service::{Context, Service, Serving};
use lifecycle_runtime::shutdown::Shutdown;

use crate::driver::Driver;
use crate::error::Error;
use crate::served_volume::ServedVolume;
use crate::server::prepare;

/// Serves volume lifecycles, each as one process of a driver.
///
/// Beside the lifecycles of resources it runs by [`Operator::with_service`](lifecycle_runtime::Operator::with_service), else by itself:
///
/// ```
#[doc = include_str!("volumes/example.rs")]
/// ```
pub struct Volumes {
    operator: String,
    volumes: Vec<ServedVolume>,
    seed: u64,
    health: Health,
    providers: Providers,
    namespaces: BTreeSet<String>,
}

impl Volumes {
    /// Volumes of an operator, by its qualified name: `listeners.stackable.tech`.
    pub fn new(operator: impl Into<String>) -> Self {
        Self {
            operator: operator.into(),
            volumes: Vec::new(),
            seed: RandomState::new().build_hasher().finish(),
            health: Health::default(),
            providers: Providers::default(),
            namespaces: BTreeSet::new(),
        }
    }

    /// Serves a volume lifecycle as one process of a driver, under names made of those of operator and lifecycle.
    #[must_use]
    pub fn serve(self, machine: impl Machine, driver: Driver) -> Self {
        let naming = Naming::new(&self.operator, machine.ir().name);
        self.serve_as(machine, naming, driver)
    }

    /// Serves a volume lifecycle under given names.
    #[must_use]
    pub fn serve_as(mut self, machine: impl Machine, naming: Naming, driver: Driver) -> Self {
        self.volumes.push(ServedVolume {
            machine: Arc::new(machine),
            naming,
            driver,
        });
        self
    }

    /// Seeds all jitter; random unless set. Beside an operator, the seed of the operator counts.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the health registry to which its parts report readiness. Unless set, it has a registry
    /// of its own. Beside an operator, the operator's registry takes precedence.
    #[must_use]
    pub fn health(mut self, health: Health) -> Self {
        self.health = health;
        self
    }

    /// Sets the joint limit on requests of the process's volumes to a provider, as named by `poll
    /// Type of cloud` in a declaration. The default is no limit. Beside an operator, set the limit
    /// on the operator.
    #[must_use]
    pub fn provider(self, name: &str, limit: Limit) -> Self {
        self.providers.limit(name, limit);
        self
    }

    /// Makes volumes for claims in these namespaces alone, and watches no other: a Role in each is enough then. None: all namespaces. Beside an operator,
    /// those of the operator count.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the providers of the volumes. Their counts are readable during serving.
    pub fn providers(&self) -> Providers {
        self.providers.clone()
    }

    /// Serves until the shutdown; calls that are under way then may end, for a while.
    ///
    /// # Errors
    /// Returns an error if there is nothing to serve or calls do not support a declared feature.
    /// Also returns one if a socket cannot listen, or the kubelet refuses a driver.
    pub async fn start(self, client: Client, shutdown: Shutdown) -> Result<(), Error> {
        self.run(Some(client), shutdown).await
    }

    /// Serves volumes that have nothing to do with a cluster.
    ///
    /// # Errors
    /// As `start`; a lifecycle that observes objects of a cluster is not supported.
    pub async fn start_without_cluster(self, shutdown: Shutdown) -> Result<(), Error> {
        self.run(None, shutdown).await
    }

    /// Returns the volumes that it would serve, for an
    /// [`InProcessDriver`](crate::in_process::InProcessDriver).
    pub fn into_served(self) -> Vec<ServedVolume> {
        self.volumes
    }

    async fn run(self, client: Option<Client>, shutdown: Shutdown) -> Result<(), Error> {
        if self.volumes.is_empty() {
            let operator = self.operator;
            return Err(Error::Idle { operator });
        }
        if let Some(served) = names::describe_served(&self.namespaces) {
            tracing::info!("{served}");
        }
        let (seed, health) = (self.seed, self.health);
        let context = Context {
            client,
            seed,
            shutdown,
            health: health.clone(),
            providers: self.providers,
            namespaces: self.namespaces,
        };
        let servers = prepare(self.volumes, &context).await?;
        context.providers.check().map_err(Error::Provider)?;
        health.started();
        servers.run(context).await
    }
}

impl Service for Volumes {
    fn prepare(
        self: Box<Self>,
        context: Context,
    ) -> BoxFuture<'static, Result<Serving, operator::Error>> {
        async move {
            self.providers.add_to(&context.providers);
            let servers = prepare(self.volumes, &context).await?;
            let serving = servers.run(context).map(|ended| Ok(ended?));
            Ok(serving.boxed())
        }
        .boxed()
    }
}

#[cfg(test)]
#[allow(
    dead_code,
    reason = "the documentation shows it: that it compiles is the point"
)]
mod example;
