//! One run's cluster, processes and fixtures: starts them, does moves, waits until all is at rest.

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
use super::once::{Made, wants_others};
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

/// Activity in so many waits in a row is no rest.
const MOST_ROUNDS: usize = 60;
/// What is taken away and made anew so often in a row is so for ever.
const MOST_SWEEPS: usize = 8;
/// Longer than the time after which a Lease is free for others.
const LEASE_IS_OVER: Duration = Duration::from_secs(35);

/// The cluster and the processes of one run.
pub(crate) struct Harness {
    pub(crate) core: Arc<Core>,
    pub(crate) admin: Client,
    pub(crate) wire: Arc<Wire>,
    pub(crate) observer: Arc<Observer>,
    /// What runs beside it.
    pub(crate) companions: Vec<Companion>,
    pub(crate) faults: Faults,
    pub(crate) outside: Arc<dyn ExternalSystem>,
    pub(crate) findings: Vec<Finding>,
    /// The fixture at each path.
    pub(crate) present: BTreeMap<String, String>,
    /// Objects that somebody made where ours were.
    pub(crate) foreign: BTreeSet<String>,
    /// Objects of ours that somebody keeps from going.
    pub(crate) lingering: BTreeSet<String>,
    pub(crate) is_down: bool,
    /// Something that was to happen around a write could not be done.
    pub(crate) deed_failed: bool,
    /// How many moves were done.
    pub(crate) moved: usize,
    /// What a cluster takes away by itself, and after how many moves and writes nothing was left to take.
    sweep: Sweep,
    swept: Option<(usize, usize)>,
    /// What can be copied.
    pub(crate) server: Option<Server>,
    machine: Arc<Mutex<Option<Arc<dyn Machine>>>>,
    pub(crate) running: Option<JoinHandle<()>>,
    lease: bool,
    /// So long nothing happens if all is at rest.
    quiet: Duration,
    /// What is done outside is seen only after a while.
    late: bool,
    /// Where it has rested, if that is to be kept.
    pub(crate) rests: Option<Vec<Rest>>,
    /// Where it is to rest, one after the other, if another cluster has told.
    pub(crate) told: Option<VecDeque<Rest>>,
    /// It did not come to where it was to rest.
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
        let observer = Arc::new(observer.beside(witness));
        let kinds = written_kinds(&*core.machine);
        let subject = core.machine.subject();
        let subject = subject.ok_or("the suite runs lifecycles of resources, not of volumes")?;
        let granted = Granted::of(&*core.machine);
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

    /// Creates what is there from the start. What every cluster has, such as the namespace `default`, becomes the first variant that it has a
    /// fixture of, or the one that is given.
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

    /// From here on requests fail or come late, or no longer do. Where time is not free, events always come late.
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

    /// What a new run goes on from.
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

    /// Where it is now.
    pub(crate) async fn rest(&self) -> Rest {
        let objects = self.objects().await;
        Rest::of(self.key().await, objects)
    }

    /// What was given and what was written, as far as it is there.
    pub(crate) async fn objects(&self) -> BTreeMap<String, Value> {
        let mut objects = BTreeMap::new();
        for path in self.paths() {
            if let Ok(Some(object)) = site::get(&self.admin, &path).await {
                objects.insert(path, object);
            }
        }
        objects
    }

    /// Waits until all is at rest, also with what a cluster takes away by itself; lets happen what was planned around writes.
    pub(crate) async fn settle(&mut self) {
        for _ in 0..MOST_SWEEPS {
            self.wires(|wire| wire.rests());
            if self.told.is_some() {
                self.settle_as_told().await;
            } else {
                self.settle_quietly().await;
            }
            if std::mem::take(&mut self.late) {
                self.adversary(false);
            }
            if self.rests.is_some() && !self.is_astray {
                let rest = self.rest().await;
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

    /// While our process cannot reach the Lease, another takes it, and there is work to do.
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

    /// Makes work for whoever leads, that leads back to where all was.
    async fn work(&mut self) {
        let ir = self.core.ir;
        let is_goal = |class| matches!(class, Class::State(state) if ir.states[state].goal);
        let at_goal = self
            .observer
            .last()
            .values()
            .all(|last| is_goal(last.class));
        if at_goal {
            // Not what another user made and we wrote a part of, nor what is made once: nobody would make it again.
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

    /// Does a move while no write of ours arrives; whether it was possible.
    pub(crate) async fn perform(&mut self, m: &Move, pending: Option<&Value>) -> bool {
        if self.is_astray {
            return false;
        }
        self.moved += 1;
        if wants_others(m) {
            self.wires(|wire| wire.made(Made::forget));
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
        // Everything that was seen of it is seen before any write of ours arrives.
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

    /// What a cluster without controllers does not do: claims that nobody uses go, and so does what has no owner any more, or none that it can
    /// have; whether there was such a thing.
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

/// What a cluster takes away of all that a lifecycle sees, too.
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
