//! Generated suite of a lifecycle. From its declaration and a few fixtures, covers every reachable world and the faults that can
//! occur there. This module knows no lifecycle: it combines generic moves and faults, and `invariant` defines the rules.

mod acting;
mod armed;
mod beside;
mod choose;
pub(crate) mod claims;
mod cluster;
pub(crate) mod companion;
mod contract;
mod coverage;
mod early;
mod edits;
mod elsewhere;
mod explore;
pub(crate) mod external;
pub(crate) mod fixture;
mod fork;
mod harness;
mod intervals;
mod intrusion;
mod invariant;
mod judge;
mod keeper;
mod key;
mod leaves;
mod limits;
mod moves;
pub(crate) mod observer;
mod once;
mod ownership;
mod report;
mod rest;
mod run;
mod shrink;
pub(crate) mod site;
mod ticks;
mod told;
pub mod tools;
mod wanted;
mod wire;
mod workers;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Client;
use serde::Serialize;
use serde_json::Value;

pub use cluster::{Cluster, Later, Opened, Simulated};
pub use coverage::Coverage;
pub use elsewhere::{Baseline, Likeness};
pub use external::{ExternalSystem, NoExternalSystem};
pub use invariant::{Finding, Invariant};
pub use moves::{Edit, Fault, Move, Planned, Schedule};
pub use report::{Failure, Report};
pub use site::Site;

use crate::faults::{Faults, Line, Plan};
use crate::granted::names as names_of_rights;
use companion::Member;
use fixture::Fixture;
use fork::Forks;
use judge::Ends;
use lifecycle_runtime::controller::Passed;
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::operator::Naming;
use lifecycle_runtime::provider::Limit;
use lifecycle_simulator::server::Server;
use run::Ask;
use site::PromiseKeeper;

type Make = Arc<dyn Fn(&Arc<dyn ExternalSystem>, &Line) -> Arc<dyn Machine> + Send + Sync>;
pub(crate) type MakeOutside = Arc<dyn Fn() -> Arc<dyn ExternalSystem> + Send + Sync>;
type ClientLayer = Arc<dyn Fn(Client) -> Client + Send + Sync>;
type Running = Arc<dyn Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync>;
type Witness = Arc<dyn Fn(&Passed<'_>, &Server) + Send + Sync>;

/// How many failures are made short; there are seldom more causes.
const MOST_FAILURES: usize = 6;

/// Number of schedules that run between two checks for a broken rule that a caller waits for.
const AT_ONCE: usize = 32;

/// When no more faults are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Never,
    /// Once a caller has seen the rule broken that it waits for.
    At(Invariant),
    /// Once any rule is broken.
    AtFirst,
}

/// Everything that all runs share.
struct Core {
    name: String,
    ir: &'static Lifecycle,
    /// Machine for queries that do not depend on a run.
    machine: Arc<dyn Machine>,
    make: Make,
    outside: MakeOutside,
    /// True if the lifecycle uses a system outside Kubernetes.
    has_outside: bool,
    naming: Naming,
    definitions: Vec<Value>,
    fixtures: Vec<Fixture>,
    promises: Vec<(String, PromiseKeeper)>,
    /// Lifecycles that run beside it.
    beside: Vec<Member>,
    /// How much of its providers its processes may ask for.
    limits: Vec<(String, Limit)>,
    /// Items that no run can see, with reasons.
    never: Vec<(String, String)>,
    cluster: Arc<dyn Cluster>,
    through: ClientLayer,
    /// Machine that a process runs in place of the one that `make` returned.
    running: Running,
    /// Observer of each reconciliation, which also receives the whole state of the simulated server at that time.
    witness: Option<Witness>,
    /// The worlds that runs go on from.
    forks: Forks,
    seed: u64,
    depth: usize,
    single: usize,
    several: usize,
    threads: usize,
    journal: bool,
    stop: Stop,
    /// Quiet time after which a disturbed run counts as settled.
    quiet: Duration,
    /// Quiet time after which an undisturbed run counts as settled.
    calm: Duration,
    /// So much longer while polls are not answered: the last answer is good for a while.
    deaf: Duration,
    /// So soon everything is seen.
    soon: Duration,
    /// Time that another cluster may take to settle as the simulated one did.
    patience: Duration,
}

impl Core {
    /// The paths of all objects of the lifecycle that there may be.
    fn subjects(&self) -> BTreeSet<String> {
        let subjects = self.fixtures.iter().filter(|f| f.subject);
        subjects.map(|f| f.path.clone()).collect()
    }

    /// Returns true if a move takes more than one request, so that a reconciliation may see half of it.
    fn takes_several(&self, m: &Move) -> bool {
        match m {
            Move::Seize(_)
            | Move::Control(_)
            | Move::Linger(_)
            | Move::Edit(_, _, Edit::RemoveByApply) => true,
            Move::Create(key) | Move::Replace(key) => {
                let fixture = self.fixtures.iter().find(|f| f.key == *key);
                fixture.is_some_and(|f| f.object.get("status").is_some())
            }
            Move::Delete(_)
            | Move::Edit(..)
            | Move::Intrude(..)
            | Move::Vanish(_)
            | Move::Loosen(_)
            | Move::Smudge(_)
            | Move::Keep(..)
            | Move::Fair
            | Move::Down
            | Move::Up
            | Move::Perturb(_)
            | Move::Restart
            | Move::Tick => false,
        }
    }

    /// Returns true if no more runs are needed.
    fn is_enough(&self, failures: &[Failure]) -> bool {
        match self.stop {
            Stop::Never => false,
            Stop::At(invariant) => failures.iter().any(|f| f.invariant == invariant),
            Stop::AtFirst => !failures.is_empty(),
        }
    }
}

/// The suite of one lifecycle, to be described and run.
///
/// # Flow
/// Visits every world that generic moves reach in a quiet run, and checks each step against the declaration. Then
/// disturbs the writes on the way, with one fault a run and with several together, and compares the ends.
///
/// # Guarantees
/// Equal suites with equal seeds do the same, on any number of threads.
pub struct Suite {
    core: Core,
    problems: Vec<String>,
}

impl Suite {
    /// The suite of a lifecycle that works on nothing but Kubernetes.
    pub fn for_machine<M: Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Self {
        let make: Make = Arc::new(move |_, _| Arc::new(machine()));
        let mut suite = Self::new(make, Arc::new(|| Arc::new(NoExternalSystem)));
        suite.core.has_outside = false;
        suite
    }

    /// Creates the suite of a lifecycle that also reads and changes a system outside Kubernetes. `machine` is created
    /// anew for each process, and reaches the system through the line of that process.
    pub fn outside<M: Machine, O: ExternalSystem + Clone>(
        outside: impl Fn() -> O + Send + Sync + 'static,
        machine: impl Fn(O, Line) -> M + Send + Sync + 'static,
    ) -> Self {
        let make: Make = Arc::new(move |outside, line| {
            let outside: &dyn Any = &**outside;
            let own = outside
                .downcast_ref::<O>()
                .expect("it was made by the other function");
            Arc::new(machine(own.clone(), line.clone()))
        });
        Self::new(make, Arc::new(move || Arc::new(outside())))
    }

    fn new(make: Make, outside: MakeOutside) -> Self {
        let line = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH).line(false);
        let machine = make(&outside(), &line);
        let ir = machine.ir();
        let name = "suite.lifecycle".to_owned();
        let mut suite = Self {
            core: Core {
                naming: Naming::new(&name, ir.name),
                name,
                ir,
                machine,
                make,
                outside,
                has_outside: true,
                definitions: Vec::new(),
                fixtures: Vec::new(),
                promises: Vec::new(),
                beside: Vec::new(),
                limits: Vec::new(),
                never: Vec::new(),
                cluster: Arc::new(Simulated::default()),
                through: Arc::new(|client| client),
                running: Arc::new(|machine| machine),
                witness: None,
                forks: Forks::default(),
                seed: 1,
                depth: 4,
                single: 500,
                several: 50,
                threads: std::thread::available_parallelism().map_or(1, usize::from),
                journal: false,
                stop: Stop::Never,
                quiet: Duration::ZERO,
                calm: Duration::ZERO,
                deaf: Duration::ZERO,
                soon: Duration::from_millis(1),
                patience: Duration::from_secs(120),
            },
            problems: Vec::new(),
        };
        suite.core.wait_for_polls();
        suite
    }

    /// A CustomResourceDefinition that the cluster serves.
    #[must_use]
    pub fn define(mut self, definition: &impl Serialize) -> Self {
        match serde_json::to_value(definition) {
            Ok(definition) => self.core.definitions.push(definition),
            Err(error) => self.problems.push(error.to_string()),
        }
        self
    }

    /// Fixtures: YAML documents, each an object with a `variant` and perhaps `given: true` beside it.
    #[must_use]
    pub fn fixtures(mut self, yaml: &str) -> Self {
        match fixture::parse(yaml, &*self.core.machine) {
            Ok(fixtures) => {
                self.core.fixtures.extend(fixtures);
                self.core.wait_for_polls();
            }
            Err(problem) => self.problems.push(problem),
        }
        self
    }

    /// Registers the function that keeps a promise. The suite calls it with every object that the
    /// promise is made to, and it returns true if it changed anything.
    #[must_use]
    pub fn promise<F>(
        mut self,
        name: &str,
        keep: impl Fn(Site) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = kube::Result<bool>> + Send + 'static,
    {
        if !self.core.ir.promises.iter().any(|p| p.name == name) {
            self.problems
                .push(format!("the lifecycle declares no promise `{name}`"));
        }
        let keeper: PromiseKeeper = Arc::new(move |site| Box::pin(keep(site)));
        self.core.promises.push((name.to_owned(), keeper));
        self
    }

    /// Excludes an item that the lifecycle declares and no run can show. The arguments are the name that [`Report::unseen`] gives
    /// it, and the reason: `.never("transition Draining -> Taken", "two people act within one pass")`. An excluded item that a
    /// run shows after all is listed among the unseen.
    #[must_use]
    pub fn never(mut self, name: &str, why: &str) -> Self {
        let mut all = Coverage::default().unseen(self.core.ir);
        all.extend(names_of_rights(&*self.core.machine));
        if !all.iter().any(|one| one == name) {
            self.problems
                .push(format!("{name} cannot be excluded: there is no such item"));
        }
        if why.trim().is_empty() {
            self.problems
                .push(format!("{name} is excluded without a reason: add one"));
        }
        self.core.never.push((name.to_owned(), why.to_owned()));
        self
    }

    /// Sets the names of the operator and of the objects that it writes, for lifecycles that depend on them.
    #[must_use]
    pub fn named(mut self, operator: &str, naming: Naming) -> Self {
        self.core.name = operator.to_owned();
        self.core.naming = naming;
        self
    }

    /// Inserts a layer between the operator and everything that observes it.
    #[must_use]
    pub fn through(mut self, layer: impl Fn(Client) -> Client + Send + Sync + 'static) -> Self {
        self.core.through = Arc::new(layer);
        self
    }

    /// Replaces the machine that processes run, for a seeded bug. The lifecycle stays the reference
    /// that they are checked against.
    #[must_use]
    pub fn running(
        mut self,
        change: impl Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync + 'static,
    ) -> Self {
        self.core.running = Arc::new(change);
        self
    }

    /// Registers an observer of each reconciliation of the lifecycle, with the whole state of the
    /// simulated server at that time. It must be quick, and must not change anything.
    #[must_use]
    pub fn witness(mut self, sees: impl Fn(&Passed<'_>, &Server) + Send + Sync + 'static) -> Self {
        self.core.witness = Some(Arc::new(sees));
        self
    }

    /// Sets the seed of all randomness; 1 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.core.seed = seed;
        self
    }

    /// Sets the number of consecutive moves in the exploration. The default is 4.
    #[must_use]
    pub fn depth(mut self, moves: usize) -> Self {
        self.core.depth = moves;
        self
    }

    /// Sets the number of schedules with a single fault and with several faults. The defaults are 500 and 50.
    #[must_use]
    pub fn faults(mut self, single: usize, several: usize) -> Self {
        self.core.single = single;
        self.core.several = several;
        self
    }

    /// Sets the number of threads. The default is the number of processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.core.threads = threads.max(1);
        self
    }

    /// Keeps the log of each run, for [`Report::digest`].
    #[must_use]
    pub fn journal(mut self) -> Self {
        self.core.journal = true;
        self
    }

    /// Tries no faults any more once this rule is broken.
    #[must_use]
    pub fn stop_at(mut self, invariant: Invariant) -> Self {
        self.core.stop = Stop::At(invariant);
        self
    }

    /// Stops trying faults once any rule is broken, and does not shorten the schedule that broke it.
    #[must_use]
    pub fn stop_at_first(mut self) -> Self {
        self.core.stop = Stop::AtFirst;
        self
    }

    /// Sets the time that another cluster may take to settle as the simulated one did. The default is two minutes.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.core.patience = patience;
        self
    }

    /// The description of the lifecycle.
    pub fn ir(&self) -> &'static Lifecycle {
        self.core.ir
    }

    fn ready(self) -> Result<Arc<Core>, String> {
        let mut problems = self.problems;
        let core = self.core;
        if !core.fixtures.iter().any(|f| f.subject) {
            problems.push(format!(
                "a fixture of a {} is missing: add one",
                core.ir.name
            ));
        }
        problems.extend(core.unkept());
        let mut keys: Vec<_> = core.fixtures.iter().map(|f| &f.key).collect();
        keys.sort();
        if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            problems.push(format!("there are two fixtures {}", twice[0]));
        }
        if problems.is_empty() {
            Ok(Arc::new(core))
        } else {
            Err(problems.join("; "))
        }
    }

    /// Runs it all.
    ///
    /// # Errors
    /// The description is not complete, or no cluster is available. Broken rules are no errors: they are in the report.
    pub fn run(self) -> Result<Report, String> {
        run_all(&self.ready()?)
    }

    /// Runs a seeded choice of schedules on the simulated cluster and then on another one: crash points, lost replies, failures, broken watches, and every move of the exploration.
    ///
    /// # Guarantees
    /// Whenever a run settles, it waits until the worlds and all objects are as on the simulated
    /// cluster. Values that a server chooses freely are exempt. After that, no more writes follow.
    /// Changes by [`Suite::through`] and [`Suite::running`] apply to the other cluster alone.
    ///
    /// # Errors
    /// Behaves as `run`. Broken rules are not errors: they are in the returned value.
    pub fn same_on(self, cluster: impl Cluster, schedules: usize) -> Result<Likeness, String> {
        self.baseline(schedules)?.on(cluster, |suite| suite)
    }

    /// The first half of [`Suite::same_on`], for several clusters or several changes of the suite.
    ///
    /// # Errors
    /// As `run`.
    pub fn baseline(self, schedules: usize) -> Result<Baseline, String> {
        elsewhere::run_baseline(self.ready()?, schedules)
    }

    /// Runs one schedule again, as a report prints it. Returns its failures, and the log of its requests and answers.
    ///
    /// # Errors
    /// The line is no schedule, or as `run`.
    pub fn replay(mut self, line: &str) -> Result<(Vec<Failure>, String), String> {
        self.core.journal = true;
        let core = self.ready()?;
        let schedule: Schedule =
            serde_json::from_str(line).map_err(|e| format!("this is no schedule: {e}"))?;
        let failures = judge::judged(&core, &schedule)?;
        let ran = workers::run_schedule(&core, &schedule, Ask::default())?;
        Ok((failures, ran.journal))
    }
}

fn run_all(core: &Arc<Core>) -> Result<Report, String> {
    let began = Instant::now();
    let explored = explore::explore(core)?;
    let go_on = !core.is_enough(&explored.failures);
    let single = choose::single(core, &explored, go_on);
    let several = choose::several(core, &explored, go_on);
    let leases = choose::leases(core, &explored, go_on);
    let mut report = Report {
        ir: core.ir,
        seed: core.seed,
        at_rest: explored.worlds.len(),
        walks: explored.runs,
        impossible: explored.impossible,
        single: single.schedules.len(),
        single_of: single.of,
        several: several.len(),
        leases: leases.len(),
        compared: 0,
        faults: BTreeMap::new(),
        beside: 0,
        failures: explored.failures.clone(),
        coverage: explored.coverage.clone(),
        never: core.never.clone(),
        rights: names_of_rights(&*core.machine),
        took: Duration::ZERO,
        digest: 0,
    };
    let mut hasher = DefaultHasher::new();
    explored.digest.hash(&mut hasher);
    let mut ends: Ends = explored
        .edges
        .iter()
        .map(|edge| (edge.moves.clone(), Some(edge.end.clone())))
        .collect();
    let schedules = [single.schedules, several, leases].concat();
    let at_once = if core.stop == Stop::Never {
        schedules.len()
    } else {
        AT_ONCE
    };
    for schedules in schedules.chunks(at_once.max(1)) {
        disturb(core, schedules, &mut ends, &mut report, &mut hasher)?;
        if core.is_enough(&report.failures) {
            break;
        }
    }
    report.failures = short(core, report.failures);
    report.took = began.elapsed();
    report.digest = if core.journal { hasher.finish() } else { 0 };
    Ok(report)
}

/// Runs schedules with faults, and compares their ends.
fn disturb(
    core: &Arc<Core>,
    schedules: &[Schedule],
    ends: &mut Ends,
    report: &mut Report,
    hasher: &mut DefaultHasher,
) -> Result<(), String> {
    let work: Vec<_> = schedules
        .iter()
        .map(|s| (s.clone(), Ask::default()))
        .collect();
    let ran = workers::run_all(core, &work)?;
    let pairs: Vec<_> = schedules.iter().zip(&ran).collect();
    report.walks += judge::complete(core, ends, &pairs)?;
    for (schedule, ran) in pairs {
        for planned in &schedule.faults {
            let word = planned.fault.kind_name().to_owned();
            *report.faults.entry(word).or_default() += 1;
            report.beside += usize::from(planned.of > 0);
        }
        ran.digest.hash(hasher);
        let (could, finding) = judge::compare(core, ends, schedule, ran);
        report.compared += usize::from(could);
        let findings = ran.findings.iter().chain(&finding);
        let failures = findings.map(|f| Failure::new(schedule, f));
        report.failures.extend(failures);
        report.coverage.add(ran.coverage.clone());
    }
    Ok(())
}

/// One failure a rule, the shortest first, made short.
fn short(core: &Arc<Core>, mut failures: Vec<Failure>) -> Vec<Failure> {
    failures.sort_by_key(|f| f.schedule.moves.len() + 2 * f.schedule.faults.len());
    let mut seen = BTreeSet::new();
    failures.retain(|failure| seen.insert(failure.invariant));
    match core.stop {
        Stop::AtFirst => return failures,
        Stop::At(invariant) if core.is_enough(&failures) => {
            failures.retain(|f| f.invariant == invariant);
        }
        Stop::At(_) | Stop::Never => {}
    }
    let many = failures.split_off(failures.len().min(MOST_FAILURES));
    let mut left = shrink::MOST_RUNS;
    let shrunk = failures
        .into_iter()
        .map(|f| shrink::shrink(core, f, &mut left));
    shrunk.chain(many).collect()
}
