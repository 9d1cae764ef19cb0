//! The builder of a process that serves volumes: which lifecycles, as which drivers, alone or beside the lifecycles of an operator.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use lifecycle_runtime::Machine;
use lifecycle_runtime::health::Health;
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
/// Beside the lifecycles of resources it runs by [`Operator::beside`](lifecycle_runtime::Operator::beside), else by itself:
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
        let naming = Naming::of(&self.operator, machine.ir().name);
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

    /// Where its parts report whether they are ready; one of its own unless set. Beside an operator, that of the operator counts.
    #[must_use]
    pub fn health(mut self, health: Health) -> Self {
        self.health = health;
        self
    }

    /// How much of a provider the volumes of the process ask for together: what a declaration names as `poll Type of cloud`. Without this there is no
    /// limit. Beside an operator, say it to the operator.
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

    /// The providers of the volumes, whose counts are readable while they are served.
    pub fn providers(&self) -> Providers {
        self.providers.clone()
    }

    /// Serves until the shutdown; calls that are under way then may end, for a while.
    ///
    /// # Errors
    /// There is nothing to serve, calls do not support something that a lifecycle declares, a socket cannot be listened at, or kubelet refuses a driver.
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

    /// What it would serve, for an [`InProcessDriver`](crate::in_process::InProcessDriver).
    pub fn into_served(self) -> Vec<ServedVolume> {
        self.volumes
    }

    async fn run(self, client: Option<Client>, shutdown: Shutdown) -> Result<(), Error> {
        if self.volumes.is_empty() {
            let operator = self.operator;
            return Err(Error::Idle { operator });
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
