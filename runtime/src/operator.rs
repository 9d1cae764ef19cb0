//! Operator as its `main` configures it: the lifecycles that run, their names, and the process that
//! may write.

mod definitions;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all, pending, try_join, try_join_all};
use kube::Client;
use tokio::sync::watch;

use crate::controller::{Controller, Counters, PollWaker, Settings, Trace, Wakes};
use crate::crds::Kinds;
pub use crate::error::Error;
use crate::health::Health;
use crate::lease::{Elector, Leadership, Until};
use crate::lifecycle::random::Randomness;
use crate::lifecycle::{Kind, Machine};
pub use crate::naming::Naming;
use crate::provider::{Limit, Providers};
use crate::service::{Context, Service};
use crate::shutdown::Shutdown;
use definitions::Definitions;
use lifecycle_client::clock::{Clock, SystemClock};
use lifecycle_client::names;

/// Default upper bound in bytes on objects that an operator reads of the kinds of its lifecycles.
pub const MAX_OBJECT_SIZE: usize = 256 << 10;

/// Runs lifecycles against one API server.
///
/// # Guarantees
/// All reads come from watches. Equal inputs, times and seeds give equal requests in equal order.
pub struct Operator {
    name: String,
    lifecycles: Vec<(Arc<dyn Machine>, Naming)>,
    services: Vec<Box<dyn Service>>,
    leadership: Option<Leadership>,
    definitions: Definitions,
    before_writing: Vec<BoxFuture<'static, ()>>,
    once_leading: Vec<BoxFuture<'static, ()>>,
    settings: Settings,
}

impl Operator {
    /// An operator without lifecycles, by its qualified name: `listeners.stackable.tech`.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            settings: Settings::new(&name),
            name,
            lifecycles: Vec::new(),
            services: Vec::new(),
            leadership: None,
            definitions: Definitions::default(),
            before_writing: Vec::new(),
            once_leading: Vec::new(),
        }
    }

    /// Runs a lifecycle under names made of those of operator and lifecycle.
    #[must_use]
    pub fn run(self, machine: impl Machine) -> Self {
        let naming = Naming::new(&self.name, machine.ir().name);
        self.run_as(machine, naming)
    }

    /// Runs a lifecycle under given names.
    #[must_use]
    pub fn run_as(self, machine: impl Machine, naming: Naming) -> Self {
        self.run_shared(Arc::new(machine), naming)
    }

    /// Runs a lifecycle that others hold as well, under given names.
    #[must_use]
    pub fn run_shared(mut self, machine: Arc<dyn Machine>, naming: Naming) -> Self {
        self.lifecycles.push((machine, naming));
        self
    }

    /// Runs another in the place of each lifecycle, under the names of that one: one that notes, or leaves something out.
    #[must_use]
    pub fn instead(mut self, of: impl Fn(Arc<dyn Machine>) -> Arc<dyn Machine>) -> Self {
        let lifecycles = self.lifecycles.into_iter();
        self.lifecycles = lifecycles.map(|(one, naming)| (of(one), naming)).collect();
        self
    }

    /// Returns the lifecycles of the operator, in the order of their addition. Texts, rights and
    /// pictures are derived from them.
    pub fn machines(&self) -> impl Iterator<Item = &Arc<dyn Machine>> {
        self.lifecycles.iter().map(|(machine, _)| machine)
    }

    /// The same, each with the names under which it runs.
    pub fn lifecycles(&self) -> impl Iterator<Item = (&Arc<dyn Machine>, &Naming)> {
        self.lifecycles
            .iter()
            .map(|(machine, naming)| (machine, naming))
    }

    /// Runs a service in the same process: it begins before the lifecycles, and ends with them.
    #[must_use]
    pub fn with_service(mut self, service: impl Service) -> Self {
        self.services.push(Box::new(service));
        self
    }

    /// Writes only while it holds a Lease; without this it always writes.
    #[must_use]
    pub fn leadership(mut self, leadership: Leadership) -> Self {
        self.leadership = Some(leadership);
        self
    }

    /// Begins only when these kinds are served. With `maintain` it installs and updates their definitions: before it writes anything else, and with a
    /// Lease only while it holds that. A replica that waits for its Lease uses those that are served.
    #[must_use]
    pub fn definitions(mut self, kinds: Kinds, maintain: bool) -> Self {
        self.definitions.add(kinds, maintain);
        self
    }

    /// Runs this once as soon as the process may write, and lets no lifecycle write before it has ended: so it may not wait without end. It pauses while the
    /// process does not lead, and is dropped where the operator ends.
    #[must_use]
    pub fn before_writing(mut self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        self.before_writing.push(Box::pin(task));
        self
    }

    /// Runs a task once beside the lifecycles, as soon as the process may write, for example to
    /// initialize a cluster. The task is dropped when the operator ends.
    #[must_use]
    pub fn once_leading(mut self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        self.once_leading.push(Box::pin(task));
        self
    }

    /// Reconciles only the objects of these namespaces, and watches no others. A Role in each is
    /// then sufficient. Cluster-scoped kinds are still watched. If none is given, all namespaces
    /// are watched.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.settings.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum number of concurrent writes. The default is 16.
    #[must_use]
    pub fn concurrency(mut self, writes: usize) -> Self {
        self.settings.concurrency = writes.max(1);
        self
    }

    /// Sets the maximum size in bytes, as JSON, of the objects of its lifecycles, 262,144 by
    /// default. A larger object is `Ready: False`, `Undecodable`, and does not affect the others. A
    /// parsed object may take forty times as much memory as its bytes.
    #[must_use]
    pub fn max_object_size(mut self, bytes: usize) -> Self {
        self.settings.largest = bytes;
        self
    }

    /// Sets the seed of all jitter; random by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Seeds the source of minted values; the operating system is the default. Everybody who knows
    /// the seed also knows the values: a seed is for tests.
    #[must_use]
    pub fn randomness(mut self, seed: u64) -> Self {
        self.settings.randomness = Randomness::Seeded(seed);
        self
    }

    /// Sets the `reportingInstance` of events. The default is the host's name.
    #[must_use]
    pub fn instance(mut self, instance: impl Into<String>) -> Self {
        self.settings.instance = instance.into();
        self
    }

    /// Sets the wall clock for statuses and events.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// Sets an observer that receives every reconciliation and every write.
    #[must_use]
    pub fn trace(mut self, trace: Arc<dyn Trace>) -> Self {
        self.settings.trace = Some(trace);
        self
    }

    /// Returns a waker for a webhook or a queue. While the operator runs, it reports that the
    /// subject of polls with this name has changed, in any lifecycle.
    pub fn waker(&self, poll: &str) -> PollWaker {
        self.settings.wakes.waker(poll)
    }

    /// Sets the joint limit on requests to a provider, as named by `poll Type of cloud` in a
    /// declaration. It covers the operator's lifecycles and the services beside them. The default
    /// is no limit.
    #[must_use]
    pub fn provider(self, name: &str, limit: Limit) -> Self {
        self.settings.providers.limit(name, limit);
        self
    }

    /// Returns the providers of the operator. Their counts are readable while the operator runs.
    pub fn providers(&self) -> Providers {
        self.settings.providers.clone()
    }

    /// Returns the kinds of the operator's objects, in the order in which their lifecycles were
    /// added.
    pub fn subjects(&self) -> Vec<Kind> {
        let machines = self.lifecycles.iter();
        machines
            .filter_map(|(machine, _)| machine.subject())
            .collect()
    }

    /// Returns the counters of the operator; readable while it runs.
    pub fn counters(&self) -> Counters {
        self.settings.counters.clone()
    }

    /// Sets the health registry in which the operator's parts report that they are ready. By
    /// default the operator has its own.
    #[must_use]
    pub fn health(mut self, health: Health) -> Self {
        self.settings.health = health;
        self
    }

    /// Runs until shutdown is requested. Then drops the requests in flight, releases the Lease
    /// within two seconds, lets the services end, and returns.
    ///
    /// # Errors
    /// Returns an error if there is nothing to run, or this driver does not implement what a
    /// lifecycle declares. The same holds if a limit is set for a provider that nothing names, or a
    /// service cannot run. An unreachable API server is not an error: the operator waits for it.
    pub async fn start(mut self, client: Client, mut shutdown: Shutdown) -> Result<(), Error> {
        if self.lifecycles.is_empty() && self.services.is_empty() {
            let operator = self.name;
            return Err(Error::Idle { operator });
        }
        self.settings.health.publish(self.counters());
        if let Some(served) = names::describe_served(&self.settings.namespaces) {
            tracing::info!("{served}");
        }
        let mut election = self.election(&client);
        if !self.definitions.is_empty() {
            let is_told_to_stop = tokio::select! {
                biased;
                () = shutdown.wait() => true,
                () = self.served(&client, election.as_mut()) => false,
            };
            if is_told_to_stop {
                if let Some((elector, _)) = election {
                    elector.release().await;
                }
                return Ok(());
            }
        }
        let mut serving = Vec::new();
        for service in std::mem::take(&mut self.services) {
            let context = self.context(&client, &shutdown);
            serving.push(service.prepare(context).await?);
        }
        let serving = try_join_all(serving);
        if self.lifecycles.is_empty() {
            self.settings.providers.check()?;
            self.settings.health.started();
            return serving.await.map(drop);
        }
        let running = self.reconcile(client, shutdown, election);
        try_join(serving, running).await.map(drop)
    }

    /// The election of this process; none without a Lease, or where nothing writes.
    fn election(&mut self, client: &Client) -> Option<Election> {
        let leadership = self.leadership.take();
        let who = leadership.filter(|_| !self.lifecycles.is_empty())?;
        let lease = Some(who.name.clone());
        self.settings.counters.update(|counts| counts.lease = lease);
        let clock = Arc::clone(&self.settings.clock);
        let health = self.settings.health.clone();
        Some(Elector::new(client.clone(), who, clock, health))
    }

    /// Returns once the kinds are served.
    async fn served(&mut self, client: &Client, election: Option<&mut Election>) {
        let health = self.settings.health.clone();
        match election {
            Some((elector, until)) if self.definitions.are_due() => tokio::select! {
                biased;
                () = elector.keep() => {}
                () = self.definitions.served(client, &health, Some(until.clone())) => {}
            },
            Some(_) | None => self.definitions.served(client, &health, None).await,
        }
    }

    fn context(&self, client: &Client, shutdown: &Shutdown) -> Context {
        Context {
            client: Some(client.clone()),
            seed: self.settings.seed,
            shutdown: shutdown.clone(),
            health: self.settings.health.clone(),
            providers: self.settings.providers.clone(),
            namespaces: self.settings.namespaces.clone(),
        }
    }

    async fn reconcile(
        self,
        client: Client,
        shutdown: Shutdown,
        election: Option<Election>,
    ) -> Result<(), Error> {
        let health = self.settings.health.clone();
        let providers = self.settings.providers.clone();
        let controller = Controller::new(client.clone(), self.lifecycles, self.settings)?;
        providers.check()?;
        health.started();
        let first = join_all(self.before_writing).map(drop);
        let tasks = join_all(self.once_leading);
        let Some((mut elector, until)) = election else {
            let mut until = shutdown.clone();
            tokio::select! {
                biased;
                () = until.wait() => return Ok(()),
                () = first => {}
            }
            tokio::select! {
                biased;
                () = controller.run(shutdown, None) => {}
                () = async { tasks.await; pending().await } => {}
            }
            return Ok(());
        };
        let (until, relay) = match self.definitions.are_due() {
            true => {
                let (permit, permitted) = watch::channel(None);
                let relay = self.definitions.relay(client, until, permit);
                (permitted, relay.boxed())
            }
            false => (until, pending().boxed()),
        };
        let (permit, permitted) = watch::channel(None);
        let hold = definitions::hold(Box::pin(first), until, permit);
        let until = permitted;
        let mut leading = until.clone();
        let tasks = async {
            if leading.wait_for(Option::is_some).await.is_ok() {
                tasks.await;
            }
            pending().await
        };
        // One task for all: who drops it stops all, and a run can be replayed.
        tokio::select! {
            biased;
            () = elector.keep() => {}
            () = relay => {}
            () = hold => {}
            () = controller.run(shutdown, Some(until)) => {}
            () = tasks => {}
        }
        elector.release().await;
        Ok(())
    }
}

/// The elector, and until when this process may write.
type Election = (Elector, watch::Receiver<Until>);

impl Settings {
    pub(crate) fn new(operator: &str) -> Self {
        Self {
            namespaces: BTreeSet::new(),
            instance: std::env::var("HOSTNAME").unwrap_or_else(|_| operator.to_owned()),
            concurrency: 16,
            largest: MAX_OBJECT_SIZE,
            seed: RandomState::new().build_hasher().finish(),
            randomness: Randomness::System,
            clock: Arc::new(SystemClock),
            counters: Counters::default(),
            wakes: Wakes::default(),
            providers: Providers::default(),
            health: Health::default(),
            trace: None,
        }
    }
}
