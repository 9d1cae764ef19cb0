//! Companion lifecycles of a suite: each is a process of its own on the same cluster, perturbed and
//! observed as the main one. A promise that one of them claims is kept by that lifecycle, and not
//! by a function.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::external::ExternalSystem;
use super::fixture::written_kinds;
use super::observer::Observer;
use super::site::PromiseKeeper;
use super::wire::{Wire, WriteHistory};
use super::{Core, Make, MakeOutside, Running, Suite};
use crate::faults::{Faults, Plan, Process};
use crate::granted::Granted;
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::machine::ir::{Lifecycle, Promise};
use lifecycle_runtime::operator::{Naming, Operator};
use lifecycle_runtime::provider::Limit;
use lifecycle_runtime::shutdown::Shutdown;

/// A lifecycle that runs beside another.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) ir: &'static Lifecycle,
    pub(crate) machine: Arc<dyn Machine>,
    make: Make,
    running: Running,
    name: String,
    naming: Naming,
    pub(crate) promises: Vec<(String, PromiseKeeper)>,
    limits: Vec<(String, Limit)>,
}

/// Its processes in one run.
pub(crate) struct Companion {
    member: Member,
    pub(crate) observer: Arc<Observer>,
    pub(crate) wire: Arc<Wire>,
    faults: Faults,
    running: Option<JoinHandle<()>>,
    machine: Arc<Mutex<Option<Arc<dyn Machine>>>>,
}

impl Suite {
    /// Adds another lifecycle that runs beside this one, each in a process of its own. It brings
    /// its fixtures and the functions that keep its promises.
    ///
    /// # Guarantees
    /// A promise that one of them claims is kept by that lifecycle alone: the suite calls no
    /// function for it. Once all of them have settled, none of these promises is open, unless its
    /// keeper visibly waits for a person. Exploration covers the worlds of all lifecycles.
    /// Perturbations cover the writes of each, and the objects that each has written.
    #[must_use]
    pub fn together_with(mut self, other: Suite) -> Self {
        let mut core = other.core;
        self.problems.extend(other.problems);
        let name = |definition: &Value| definition["metadata"]["name"].clone();
        let known: Vec<Value> = self.core.definitions.iter().map(name).collect();
        let definitions = take(&mut core.definitions).into_iter();
        let definitions = definitions.filter(|one| !known.contains(&name(one)));
        self.core.definitions.extend(definitions);
        // Where both have one, it is the same.
        let own: Vec<_> = self.core.fixtures.iter().map(|f| f.key.clone()).collect();
        let fixtures = take(&mut core.fixtures).into_iter();
        let fixtures = fixtures.filter(|fixture| !own.contains(&fixture.key));
        self.core.fixtures.extend(fixtures);
        if !self.core.has_outside {
            self.core.outside = Arc::clone(&core.outside);
            self.core.has_outside = core.has_outside;
        }
        self.core.quiet = self.core.quiet.max(core.quiet);
        self.core.calm = self.core.calm.max(core.calm);
        self.core.deaf = self.core.deaf.max(core.deaf);
        let (member, beside) = Member::from_core(core);
        self.core.beside.push(member);
        self.core.beside.extend(beside);
        let kinds: Vec<_> = self.core.machines().filter_map(|m| m.subject()).collect();
        for fixture in &mut self.core.fixtures {
            fixture.subject = kinds.iter().any(|kind| fixture.is_of(kind));
        }
        self
    }
}

impl Suite {
    /// Returns the lifecycles that run under another suite: this one, and its companions.
    ///
    /// # Errors
    /// The suite is not well described.
    pub(crate) fn into_members(self) -> Result<(Vec<Member>, MakeOutside), String> {
        match self.problems.is_empty() {
            true => {
                let outside = Arc::clone(&self.core.outside);
                let (first, beside) = Member::from_core(self.core);
                let all = std::iter::once(first).chain(beside);
                Ok((all.collect(), outside))
            }
            false => Err(self.problems.join("; ")),
        }
    }
}

impl Member {
    fn from_core(core: Core) -> (Self, Vec<Self>) {
        let member = Self {
            ir: core.ir,
            machine: core.machine,
            make: core.make,
            running: core.running,
            name: core.name,
            naming: core.naming,
            promises: core.promises,
            limits: core.limits,
        };
        (member, core.beside)
    }
}

impl Core {
    /// Returns all lifecycles that run, starting with the one under test.
    pub(crate) fn machines(&self) -> impl Iterator<Item = &Arc<dyn Machine>> {
        let beside = self.beside.iter().map(|member| &member.machine);
        std::iter::once(&self.machine).chain(beside)
    }

    pub(crate) fn irs(&self) -> Vec<&'static Lifecycle> {
        self.machines().map(|machine| machine.ir()).collect()
    }

    /// Returns the lifecycle that keeps a promise, if one of them claims it.
    pub(crate) fn claimed(&self, promise: &Promise) -> Option<usize> {
        let claim = promise.claim.as_ref()?;
        let mut machines = self.machines();
        machines.position(|machine| machine.ir().path == claim.keeper)
    }

    /// Returns the functions that keep the promises of one lifecycle, by name.
    pub(crate) fn kept_by(&self, member: usize) -> &[(String, PromiseKeeper)] {
        match member.checked_sub(1) {
            None => &self.promises,
            Some(n) => &self.beside[n].promises,
        }
    }

    /// How a promise is called where several lifecycles run: `follows`, and of one beside it `Listener.follows`.
    pub(crate) fn called(&self, member: usize, promise: &Promise) -> String {
        match member {
            0 => promise.name.to_owned(),
            _ => format!("{}.{}", self.beside[member - 1].ir.name, promise.name),
        }
    }

    /// Reports promises without a keeper.
    pub(crate) fn unkept(&self) -> Vec<String> {
        let mut unkept = Vec::new();
        for (member, ir) in self.irs().into_iter().enumerate() {
            let has = |promise: &&Promise| {
                let mut kept = self.kept_by(member).iter();
                self.claimed(promise).is_some() || kept.any(|(name, _)| name == promise.name)
            };
            let open = ir.promises.iter().filter(|promise| !has(promise));
            unkept.extend(open.map(|promise| {
                format!(
                    "nothing keeps the promise `{}`",
                    self.called(member, promise)
                )
            }));
        }
        unkept
    }
}

impl Companion {
    pub(crate) fn new(
        member: &Member,
        admin: &Client,
        outside: &Arc<dyn ExternalSystem>,
        (before, origin): (Duration, Timestamp),
    ) -> Result<Self, String> {
        let machine = &member.machine;
        let observer = Arc::new(Observer::new(Arc::clone(machine), Arc::clone(outside)));
        let subject = machine.subject();
        let subject = subject.ok_or("only lifecycles of resources run beside another")?;
        let kinds = written_kinds(&**machine);
        let granted = Granted::for_machine(&*member.machine);
        let wire = Wire::new(
            admin.clone(),
            (kinds, subject),
            Arc::clone(&observer),
            granted,
        );
        let faults = Faults::after(before, Plan::default(), origin);
        faults.without_journal();
        Ok(Self {
            member: member.clone(),
            observer,
            wire: Arc::new(wire),
            faults,
            running: None,
            machine: Arc::default(),
        })
    }

    pub(crate) fn start(&mut self, seed: u64, admin: &Client, outside: &Arc<dyn ExternalSystem>) {
        let (observer, wire) = (Arc::clone(&self.observer), Arc::clone(&self.wire));
        let (member, outside) = (self.member.clone(), Arc::clone(outside));
        let latest = Arc::clone(&self.machine);
        let start = move |process: Process| {
            observer.starts();
            let machine = (member.make)(&outside, &process.line);
            *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&machine));
            let operator = Operator::new(member.name.clone())
                .run_shared((member.running)(machine), member.naming.clone())
                .seed(seed)
                .randomness(seed ^ observer.started() << 32)
                .instance("generated-suite")
                .clock(process.faults.clone())
                .trace(Arc::clone(&observer) as Arc<_>);
            let operator = Core::limited(operator, &member.limits);
            let client = wire.client(&process.client, None);
            async move {
                let (trigger, shutdown) = Shutdown::pair();
                if let Err(error) = operator.start(client, shutdown).await {
                    tracing::error!("{error}");
                }
                drop(trigger);
            }
        };
        let (faults, admin) = (self.faults.clone(), admin.clone());
        self.running = Some(tokio::spawn(async move { faults.run(&admin, start).await }));
    }

    /// Returns the faults that break its requests, and the wire that holds its writes.
    pub(crate) fn lines(&self) -> (&Faults, &Arc<Wire>) {
        (&self.faults, &self.wire)
    }

    pub(crate) async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await.is_err();
        }
    }

    /// The lifecycle as its newest process runs it.
    pub(crate) fn machine(&self) -> Option<Arc<dyn Machine>> {
        let machine = self.machine.lock();
        machine.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the state that outlives its processes.
    pub(crate) fn past(&self) -> (WriteHistory, BTreeMap<String, bool>) {
        (self.wire.past(), self.observer.uids())
    }

    pub(crate) fn go_on_from(&self, (past, uids): (WriteHistory, BTreeMap<String, bool>)) {
        self.wire.go_on_from(past);
        self.observer.go_on_from(uids);
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}
