//! The generated suite of a lifecycle: from its declaration and a handful of fixtures, every world that can be reached, and everything that can go wrong there.
//! Knows no lifecycle: what may happen is generic moves and faults, what must hold is in `invariant`.

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
pub use elsewhere::{Likeness, Rests};
pub use external::{ExternalSystem, Nothing};
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
use site::Keeper;

type Make = Arc<dyn Fn(&Arc<dyn ExternalSystem>, &Line) -> Arc<dyn Machine> + Send + Sync>;
pub(crate) type MakeOutside = Arc<dyn Fn() -> Arc<dyn ExternalSystem> + Send + Sync>;
type Through = Arc<dyn Fn(Client) -> Client + Send + Sync>;
type Running = Arc<dyn Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync>;
type Witness = Arc<dyn Fn(&Passed<'_>, &Server) + Send + Sync>;

/// How many failures are made short; there are seldom more causes.
const MOST_FAILURES: usize = 6;

/// So many schedules are run before it is looked whether a rule was broken that a caller waits for.
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
    /// For what does not depend on a run.
    machine: Arc<dyn Machine>,
    make: Make,
    outside: MakeOutside,
    /// Whether there is anything outside Kubernetes.
    has_outside: bool,
    naming: Naming,
    definitions: Vec<Value>,
    fixtures: Vec<Fixture>,
    promises: Vec<(String, Keeper)>,
    /// Lifecycles that run beside it.
    beside: Vec<Member>,
    /// How much of its providers its processes may ask for.
    limits: Vec<(String, Limit)>,
    /// What no run can see, and why.
    never: Vec<(String, String)>,
    cluster: Arc<dyn Cluster>,
    through: Through,
    /// What a process runs in place of what `make` gave.
    running: Running,
    /// Who is told of each pass, with all that the simulated server has then.
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
    /// So long nothing happens if all is at rest after something went wrong.
    quiet: Duration,
    /// So long if nothing did.
    calm: Duration,
    /// So much longer while polls are not answered: the last answer is good for a while.
    deaf: Duration,
    /// So soon everything is seen.
    soon: Duration,
    /// So long another cluster may take to come to where the simulated one was.
    patience: Duration,
}

impl Core {
    /// The paths of all objects of the lifecycle that there may be.
    fn subjects(&self) -> BTreeSet<String> {
        let subjects = self.fixtures.iter().filter(|f| f.subject);
        subjects.map(|f| f.path.clone()).collect()
    }

    /// Whether a move is more than one request, so that a pass may see half of it.
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

    /// Whether nothing more is to be tried.
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
/// Every world that generic moves reach is visited in a quiet run, and each of its steps is held against the declaration.
/// Then writes on the way are disturbed, one fault a run and several together, and the ends are compared.
///
/// # Guarantees
/// Equal suites with equal seeds do the same, on any number of threads.
pub struct Suite {
    core: Core,
    problems: Vec<String>,
}

impl Suite {
    /// The suite of a lifecycle that works on nothing but Kubernetes.
    pub fn of<M: Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Self {
        let make: Make = Arc::new(move |_, _| Arc::new(machine()));
        let mut suite = Self::new(make, Arc::new(|| Arc::new(Nothing)));
        suite.core.has_outside = false;
        suite
    }

    /// The suite of a lifecycle that asks and changes something outside Kubernetes as well: `machine` is made anew for each process, and reaches it through the line of that process.
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
                naming: Naming::of(&name, ir.name),
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

    /// What keeps a promise: called with every object that it is made to; says whether it changed anything.
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
            self.problems.push(format!("there is no promise `{name}`"));
        }
        let keeper: Keeper = Arc::new(move |site| Box::pin(keep(site)));
        self.core.promises.push((name.to_owned(), keeper));
        self
    }

    /// Something that the lifecycle declares and no run can show, by the name that [`Report::unseen`] gives it, and why it cannot:
    /// `.never("transition Draining -> Taken", "two people act within one pass")`. What a run shows after all is among the unseen.
    #[must_use]
    pub fn never(mut self, name: &str, why: &str) -> Self {
        let mut all = Coverage::default().unseen(self.core.ir);
        all.extend(names_of_rights(&*self.core.machine));
        if !all.iter().any(|one| one == name) {
            self.problems
                .push(format!("there is no {name} that could be excluded"));
        }
        if why.trim().is_empty() {
            self.problems
                .push(format!("{name} is excluded and nothing says why"));
        }
        self.core.never.push((name.to_owned(), why.to_owned()));
        self
    }

    /// Names of an operator and of what it writes, where they matter.
    #[must_use]
    pub fn named(mut self, operator: &str, naming: Naming) -> Self {
        self.core.name = operator.to_owned();
        self.core.naming = naming;
        self
    }

    /// What stands between the operator and everything that looks at it.
    #[must_use]
    pub fn through(mut self, layer: impl Fn(Client) -> Client + Send + Sync + 'static) -> Self {
        self.core.through = Arc::new(layer);
        self
    }

    /// What processes run in place of the lifecycle, which stays what they are held against: a mistake that is planted.
    #[must_use]
    pub fn running(
        mut self,
        change: impl Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync + 'static,
    ) -> Self {
        self.core.running = Arc::new(change);
        self
    }

    /// Who is told of each pass of the lifecycle, with all that the simulated server has then: quickly, and without changing anything.
    #[must_use]
    pub fn witness(mut self, sees: impl Fn(&Passed<'_>, &Server) + Send + Sync + 'static) -> Self {
        self.core.witness = Some(Arc::new(sees));
        self
    }

    /// What all randomness comes from; 1 unless told.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.core.seed = seed;
        self
    }

    /// How many moves the exploration makes in a row; 4 unless told.
    #[must_use]
    pub fn depth(mut self, moves: usize) -> Self {
        self.core.depth = moves;
        self
    }

    /// How many schedules with a single fault are run, and how many with several; 500 and 50 unless told.
    #[must_use]
    pub fn faults(mut self, single: usize, several: usize) -> Self {
        self.core.single = single;
        self.core.several = several;
        self
    }

    /// On how many threads; as many as there are processors unless told.
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

    /// Tries no faults any more once any rule is broken, and does not make what broke it short.
    #[must_use]
    pub fn stop_at_first(mut self) -> Self {
        self.core.stop = Stop::AtFirst;
        self
    }

    /// How long another cluster may take to come to rest where the simulated one did; two minutes unless told.
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
            problems.push(format!("there is no fixture of a {}", core.ir.name));
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
    /// At every rest it is waited until the worlds and all objects are as they were on the simulated cluster, apart from what a server chooses freely; then nothing is written any more.
    /// What [`Suite::through`] and [`Suite::running`] change is changed on the other cluster alone.
    ///
    /// # Errors
    /// As `run`. Broken rules are no errors: they are in what is returned.
    pub fn same_on(self, cluster: impl Cluster, schedules: usize) -> Result<Likeness, String> {
        self.rests(schedules)?.on(cluster, |suite| suite)
    }

    /// The first half of [`Suite::same_on`], for several clusters or several changes of the suite.
    ///
    /// # Errors
    /// As `run`.
    pub fn rests(self, schedules: usize) -> Result<Rests, String> {
        elsewhere::rests(self.ready()?, schedules)
    }

    /// Runs one schedule again, as a report prints it: what is wrong with it, and the log of its requests and answers.
    ///
    /// # Errors
    /// The line is no schedule, or as `run`.
    pub fn replay(mut self, line: &str) -> Result<(Vec<Failure>, String), String> {
        self.core.journal = true;
        let core = self.ready()?;
        let schedule: Schedule =
            serde_json::from_str(line).map_err(|e| format!("this is no schedule: {e}"))?;
        let failures = judge::judged(&core, &schedule)?;
        let ran = workers::one(&core, &schedule, Ask::default())?;
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

/// Runs schedules in which something goes wrong, and compares their ends.
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
            let word = planned.fault.word().to_owned();
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
