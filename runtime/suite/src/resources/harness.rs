//! Cluster, processes and fixtures of one run. Starts them, performs moves, and waits until
//! everything has settled.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use kube::core::ApiResource;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::Core;
use super::cluster::Opened;
use super::companion::Companion;
use super::external::ExternalSystem;
use super::fixture::written_kinds;
use super::fork::Fork;
use super::invariant::{Finding, Invariant};
use super::moves::Move;
use super::observer::Observer;
use super::once::{Creations, wants_others};
use super::rest::Rest;
use super::site;
use super::wire::{AwaitedWrite, LEASE, Operation, Wire, wanted_of};
use crate::faults::{Faults, Plan, Process};
use crate::granted::{Granted, LEASE_NAME};
use lifecycle_client::clock::Clock;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::operator::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::Server;
use lifecycle_simulator::world::Sweep;

/// Number of consecutive waits with activity after which a run counts as not settling.
const MOST_ROUNDS: usize = 60;
/// Number of consecutive sweeps after which removing and recreating objects counts as endless.
const MOST_SWEEPS: usize = 8;
/// Longer than the time after which a Lease is free for others.
const LEASE_IS_OVER: Duration = Duration::from_secs(35);

/// The cluster and the processes of one run.
pub(crate) struct Harness {
    pub(crate) core: Arc<Core>,
    pub(crate) admin: Client,
    pub(crate) wire: Arc<Wire>,
    pub(crate) observer: Arc<Observer>,
    /// Companion lifecycles that run beside it.
    pub(crate) companions: Vec<Companion>,
    pub(crate) faults: Faults,
    pub(crate) outside: Arc<dyn ExternalSystem>,
    pub(crate) findings: Vec<Finding>,
    /// The fixture at each path.
    pub(crate) present: BTreeMap<String, String>,
    /// Objects that another user created in place of ours.
    pub(crate) foreign: BTreeSet<String>,
    /// Objects of ours that another user keeps from being removed.
    pub(crate) lingering: BTreeSet<String>,
    pub(crate) is_down: bool,
    /// Something that was to happen around a write could not be done.
    pub(crate) deed_failed: bool,
    /// How many moves were done.
    pub(crate) moved: usize,
    /// Objects that a cluster removes by itself, and the number of moves and writes after which
    /// nothing was left to remove.
    sweep: Sweep,
    swept: Option<(usize, usize)>,
    /// Server that can be copied.
    pub(crate) server: Option<Server>,
    machine: Arc<Mutex<Option<Arc<dyn Machine>>>>,
    pub(crate) running: Option<JoinHandle<()>>,
    lease: bool,
    /// Quiet time after which everything counts as settled.
    quiet: Duration,
    /// True if operations outside Kubernetes are observed only after a while.
    late: bool,
    /// Settled worlds so far, if they are recorded.
    pub(crate) rests: Option<Vec<Rest>>,
    /// Worlds in which it should settle, in order, if another cluster has reported them.
    pub(crate) told: Option<VecDeque<Rest>>,
    /// True if the run did not settle in the expected world.
    pub(crate) is_astray: bool,
    /// Dropped when the run is over.
    pub(crate) held: Option<Box<dyn Any + Send>>,
}

impl Drop for Harness {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

impl Harness {
    /// Starts an operator in a cluster with the fixtures that are given, or in one where another run has ended.
    pub(crate) async fn open(
        core: &Arc<Core>,
        lease: bool,
        from: Option<&Fork>,
    ) -> Result<Self, String> {
        let opened = match from {
            Some(fork) => Opened::from(fork.server.copy()),
            None => core.cluster.open(core.seed, &core.definitions).await?,
        };
        let admin = opened.client;
        let sweep = core.machines().fold(Sweep::new(admin.clone()), sweep);
        let outside = from.and_then(|fork| fork.outside.copy());
        let outside = outside.unwrap_or_else(|| (core.outside)());
        let witness = core.witness.clone().zip(opened.server.clone());
        let observer = Observer::new(Arc::clone(&core.machine), Arc::clone(&outside));
        let observer = Arc::new(observer.with_witness(witness));
        let kinds = written_kinds(&*core.machine);
        let subject = core.machine.subject();
        let subject = subject.ok_or("the suite runs lifecycles of resources, not of volumes")?;
        let granted = Granted::for_machine(&*core.machine);
        let wire = Wire::new(
            admin.clone(),
            (kinds, subject),
            Arc::clone(&observer),
            granted,
        );
        let before = from.map_or(Duration::ZERO, |fork| fork.lasted);
        let origin = origin(core.cluster.is_simulated());
        let faults = Faults::after(before, Plan::default(), origin);
        if !core.journal {
            faults.without_journal();
        }
        let companions = core.beside.iter();
        let companions = companions.map(|m| Companion::new(m, &admin, &outside, (before, origin)));
        let companions = companions.collect::<Result<_, String>>()?;
        let mut stage = Self {
            core: Arc::clone(core),
            admin,
            wire: Arc::new(wire),
            observer,
            companions,
            faults,
            outside,
            findings: Vec::new(),
            present: BTreeMap::new(),
            foreign: BTreeSet::new(),
            lingering: BTreeSet::new(),
            is_down: false,
            deed_failed: false,
            moved: 0,
            sweep,
            swept: None,
            server: opened.server,
            machine: Arc::default(),
            running: None,
            lease,
            quiet: if lease { core.quiet } else { core.calm },
            late: false,
            rests: None,
            told: None,
            is_astray: false,
            held: opened.held,
        };
        stage.faulty(false);
        match from {
            Some(fork) => stage.go_on_from(fork),
            None => stage.found().await?,
        }
        stage.start();
        Ok(stage)
    }

    /// Creates the initial objects. An object that every cluster has, such as the namespace
    /// `default`, becomes the first variant among its fixtures, or the given one.
    async fn found(&mut self) -> Result<(), String> {
        let core = Arc::clone(&self.core);
        let (given, others): (Vec<_>, Vec<_>) = core.fixtures.iter().partition(|f| f.given);
        for fixture in given.into_iter().chain(others) {
            if self.present.contains_key(&fixture.path) {
                continue;
            }
            let there = site::get(&self.admin, &fixture.path).await;
            let there = there.map_err(|e| format!("{} cannot be read: {e}", fixture.key))?;
            let made = match there {
                Some(_) => site::replace(&self.admin, &fixture.path, &fixture.object).await,
                None if fixture.given => {
                    site::create(&self.admin, &fixture.collection, &fixture.object).await
                }
                None => continue,
            };
            made.map_err(|e| format!("{} cannot be created: {e}", fixture.key))?;
            let (path, key) = (fixture.path.clone(), fixture.key.clone());
            self.present.insert(path, key);
        }
        Ok(())
    }

    fn start(&mut self) {
        let core = Arc::clone(&self.core);
        for companion in &mut self.companions {
            companion.start(core.seed, &self.admin, &self.outside);
        }
        self.observer.starts();
        let (core, wire) = (Arc::clone(&self.core), Arc::clone(&self.wire));
        let (observer, outside) = (Arc::clone(&self.observer), Arc::clone(&self.outside));
        let (latest, lease) = (Arc::clone(&self.machine), self.lease);
        let start = move |process: Process| {
            if !process.is_second {
                observer.starts();
            }
            let machine = (core.make)(&outside, &process.line);
            *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&machine));
            let operator = Operator::new(core.name.clone())
                .run_shared((core.running)(machine), core.naming.clone())
                .seed(core.seed)
                .randomness(core.seed ^ observer.started() << 32)
                .instance("generated-suite")
                .clock(process.faults.clone())
                .trace(Arc::clone(&observer) as Arc<_>);
            let identity = lease.then(|| format!("process-{}", process.faults.starts()));
            let mut operator = Core::limited(operator, &core.limits);
            if let Some(identity) = identity.clone() {
                operator = operator.leadership(Leadership {
                    namespace: "default".to_owned(),
                    name: LEASE_NAME.to_owned(),
                    identity,
                });
            }
            let client = (core.through)(wire.client(&process.client, identity));
            async move {
                let (trigger, shutdown) = Shutdown::pair();
                let ended = operator.start(client, shutdown).await;
                if let Err(error) = ended {
                    tracing::error!("{error}");
                }
                drop(trigger);
            }
        };
        let (faults, admin) = (self.faults.clone(), self.admin.clone());
        self.running = Some(tokio::spawn(async move { faults.run(&admin, start).await }));
    }

    /// Ends the process as a signal that cannot be caught would, and starts another.
    pub(crate) async fn restart(&mut self) {
        for companion in &mut self.companions {
            companion.end().await;
        }
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await.is_err();
        }
        self.start();
    }

    /// Starts or stops faults: failed and late requests. If time is not free, events always come
    /// late.
    pub(crate) fn faulty(&mut self, faulty: bool) {
        let simulated = self.core.cluster.is_simulated();
        // Where others write as well, no step is this lifecycle's alone.
        let crowded = !self.companions.is_empty();
        self.observers(|one| one.faulty(faulty || !simulated || crowded));
        self.quiet = if faulty || self.lease {
            self.core.quiet
        } else {
            self.core.calm
        };
    }

    /// The lifecycle as the newest process runs it.
    pub(crate) fn machine(&self) -> Option<Arc<dyn Machine>> {
        let machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        machine.clone()
    }

    pub(crate) fn find(&mut self, invariant: Invariant, text: impl Into<String>) {
        self.findings.push(Finding::new(invariant, text));
    }

    pub(crate) fn activity(&self) -> (u64, usize) {
        let beside = self.companions.iter().map(|one| one.observer.passes());
        let passes = self.observer.passes() + beside.sum::<u64>();
        (passes, self.all_writes())
    }

    /// A copy of all that outlives the process; nothing if something of it cannot be copied.
    pub(crate) fn fork(&self) -> Option<Fork> {
        let live = self.server.as_ref()?;
        let server = live.copy();
        server.set_clock(live.now());
        Some(Fork {
            server,
            outside: self.outside.copy()?,
            lasted: self.faults.elapsed(),
            journal: self.faults.journal(),
            present: self.present.clone(),
            foreign: self.foreign.clone(),
            lingering: self.lingering.clone(),
            is_down: self.is_down,
            past: self.wire.past(),
            uids: self.observer.uids(),
            beside: self.companions.iter().map(Companion::past).collect(),
        })
    }

    /// Restores the state from which a new run continues.
    fn go_on_from(&mut self, fork: &Fork) {
        self.present = fork.present.clone();
        self.foreign = fork.foreign.clone();
        self.lingering = fork.lingering.clone();
        self.is_down = fork.is_down;
        self.wire.go_on_from(fork.past.clone());
        self.observer.go_on_from(fork.uids.clone());
        for (companion, past) in self.companions.iter().zip(&fork.beside) {
            companion.go_on_from(past.clone());
        }
        self.swept = Some((self.moved, self.all_writes()));
    }

    /// Returns the current settled world.
    pub(crate) async fn current_rest(&self) -> Rest {
        let objects = self.objects().await;
        Rest::new(self.key().await, objects)
    }

    /// Returns the given and written objects that exist.
    pub(crate) async fn objects(&self) -> BTreeMap<String, Value> {
        let mut objects = BTreeMap::new();
        for path in self.paths() {
            if let Ok(Some(object)) = site::get(&self.admin, &path).await {
                objects.insert(path, object);
            }
        }
        objects
    }

    /// Waits until everything has settled, including the garbage collection of the cluster. Runs
    /// the operations that were planned around writes.
    pub(crate) async fn settle(&mut self) {
        for _ in 0..MOST_SWEEPS {
            self.wires(|wire| wire.mark_rested());
            if self.told.is_some() {
                self.settle_as_told().await;
            } else {
                self.settle_quietly().await;
            }
            if std::mem::take(&mut self.late) {
                self.adversary(false);
            }
            if self.rests.is_some() && !self.is_astray {
                let rest = self.current_rest().await;
                self.rests.iter_mut().for_each(|all| all.push(rest.clone()));
            }
            if !self.takes_away().await {
                return;
            }
        }
        let text = "the cluster takes away what is written, again and again";
        self.find(Invariant::NoHotLoop, text);
    }

    /// Waits until nothing happens for a while.
    async fn settle_quietly(&mut self) {
        let mut rounds = 0;
        let deaf = if self.is_down {
            self.core.deaf
        } else {
            Duration::ZERO
        };
        let quiet = self.quiet + deaf;
        loop {
            let before = self.activity();
            let wires = self.all_wires();
            let wanted = tokio::select! {
                biased;
                wanted = wanted_of(&wires) => Some(wanted),
                () = sleep(quiet) => None,
            };
            if let Some(wanted) = wanted {
                self.grant(wanted).await;
            } else if self.activity() == before {
                break;
            }
            rounds += 1;
            if rounds > MOST_ROUNDS || self.is_hot() {
                let text = "it works on and on although nothing happens to the cluster";
                self.find(Invariant::NoHotLoop, text);
                break;
            }
        }
    }

    pub(crate) async fn grant(&mut self, wanted: AwaitedWrite) {
        match &wanted.what {
            Operation::Move(m) => {
                self.deed_failed |= !self.perform(m, Some(&wanted.body)).await;
            }
            Operation::LoseLease => self.lose_lease().await,
        }
        // An error means that the write was given up meanwhile.
        let _ = wanted.done.send(()).is_ok();
    }

    /// Cuts our process off from the Lease, lets another process take it, and makes work.
    async fn lose_lease(&mut self) {
        self.wire.cut_lease(true);
        sleep(LEASE_IS_OVER).await;
        if let Ok(Some(mut lease)) = site::get(&self.admin, LEASE).await {
            lease["spec"]["holderIdentity"] = json!("another");
            let _ = site::put(&self.admin, LEASE, &lease).await.is_ok();
        }
        self.work().await;
        sleep(LEASE_IS_OVER).await;
        self.wire.cut_lease(false);
    }

    /// Makes work for the leader that leads back to the settled state.
    async fn work(&mut self) {
        let ir = self.core.ir;
        let is_goal = |class| matches!(class, Class::State(state) if ir.states[state].goal);
        let at_goal = self
            .observer
            .last()
            .values()
            .all(|last| is_goal(last.class));
        if at_goal {
            // Skips objects that another user made and we wrote a part of, and objects that are
            // made once: no lifecycle would make them again.
            let wrote = self.wire.wrote().into_keys();
            let again =
                |path: &String| !self.present.contains_key(path) && !self.core.is_made_once(path);
            let wrote: Vec<String> = wrote.filter(again).collect();
            for path in wrote {
                let _ = self.remove(&path).await.is_ok();
            }
        }
        for path in self.core.subjects() {
            let _ = self.act(&Move::Smudge(path), None).await.is_ok();
        }
    }

    /// Performs a move while no write of ours arrives. Returns true if the move was possible.
    pub(crate) async fn perform(&mut self, m: &Move, pending: Option<&Value>) -> bool {
        if self.is_astray {
            return false;
        }
        self.moved += 1;
        if wants_others(m) {
            self.wires(|wire| wire.update_creations(Creations::forget));
        }
        match m {
            Move::Restart => {
                self.restart().await;
                return true;
            }
            Move::Tick => return self.tick().await,
            Move::Down | Move::Up | Move::Perturb(_) => return self.perturb(m),
            Move::Create(_)
            | Move::Replace(_)
            | Move::Delete(_)
            | Move::Seize(_)
            | Move::Control(_)
            | Move::Edit(..)
            | Move::Intrude(..)
            | Move::Vanish(_)
            | Move::Linger(_)
            | Move::Loosen(_)
            | Move::Smudge(_)
            | Move::Keep(..)
            | Move::Fair => {}
        }
        let is_promise = matches!(m, Move::Keep(..) | Move::Loosen(_));
        self.wires(|wire| wire.hold());
        if !is_promise {
            self.adversary(true);
        }
        let done = self.act(m, pending).await;
        // All effects of the move are observed before any write of ours arrives.
        sleep(self.core.soon).await;
        if !is_promise && !self.late {
            self.adversary(false);
        }
        if self.core.takes_several(m) {
            self.observers(|one| one.disturb());
        }
        self.wires(|wire| wire.release());
        match done {
            Ok(done) => done,
            Err(error) => {
                tracing::debug!("{m} is not possible: {error}");
                false
            }
        }
    }

    fn perturb(&mut self, m: &Move) -> bool {
        match m {
            Move::Up => {
                self.is_down = false;
                self.outside.answer(true)
            }
            Move::Down => {
                self.late = true;
                self.adversary(true);
                self.is_down = true;
                self.outside.answer(false)
            }
            Move::Perturb(what) => {
                self.late = true;
                self.adversary(true);
                self.outside.perturb(what);
                true
            }
            Move::Create(_)
            | Move::Replace(_)
            | Move::Delete(_)
            | Move::Seize(_)
            | Move::Control(_)
            | Move::Edit(..)
            | Move::Intrude(..)
            | Move::Vanish(_)
            | Move::Linger(_)
            | Move::Loosen(_)
            | Move::Smudge(_)
            | Move::Keep(..)
            | Move::Fair
            | Move::Restart
            | Move::Tick => false,
        }
    }

    /// Removes objects as a cluster with controllers would. Unused claims go, and so do objects
    /// without an owner, or with one that they cannot have. Returns true if there was such an
    /// object.
    async fn takes_away(&mut self) -> bool {
        let now = (self.moved, self.all_writes());
        if self.is_astray || self.swept == Some(now) {
            return false;
        }
        self.adversary(true);
        let took = self.sweep.take_away().await;
        if took {
            sleep(self.core.soon).await;
        }
        self.adversary(false);
        self.swept = (!took).then_some(now);
        took
    }
}

/// Extends a sweep to all kinds that a lifecycle sees.
fn sweep(sweep: Sweep, machine: &Arc<dyn Machine>) -> Sweep {
    let inputs = 0..machine.ir().inputs.len();
    let kinds = inputs.filter_map(|input| machine.kind(input));
    let kinds = kinds.chain(machine.subject());
    kinds.fold(sweep, |sweep, kind| {
        let resource = ApiResource {
            api_version: kind.api_version(),
            group: kind.group,
            version: kind.version,
            kind: kind.kind,
            plural: kind.plural,
        };
        sweep.over(&resource, kind.namespaced)
    })
}

/// The wall clock of a run begins here.
fn origin(simulated: bool) -> Timestamp {
    if simulated {
        Timestamp::from_second(1_767_225_600).expect("a moment of 2026")
    } else {
        Timestamp::now()
    }
}
