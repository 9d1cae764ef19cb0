//! The same schedules on another cluster. Each runs on the simulated cluster first, and the other
//! cluster must settle in the same worlds each time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::choose::{self, random_below};
use super::explore::{Explored, explore};
use super::fork::Forks;
use super::invariant::{Finding, Invariant};
use super::moves::{Move, Schedule};
use super::report::Failure;
use super::run::{Ask, From, Ran};
use super::workers::run_all;
use super::{Cluster, Core, Stop, Suite};

/// Faults on the line to any server that cost no more than a second of real time.
const LINE: [&str; 9] = [
    "crash-before",
    "crash-after",
    "lost",
    "409",
    "500",
    "503",
    "break",
    "end",
    "relist",
];
/// Interval of undisturbed schedules: one in this many.
const QUIET: usize = 4;
/// Some chosen schedules cannot run. This divisor determines how many spare ones are tried: one for
/// each this many.
const SPARE: usize = 2;
/// Number of failures after which further ones add no information.
const MOST_FAILURES: usize = 3;

/// Results of schedules on two clusters.
#[derive(Clone, Debug)]
pub struct Likeness {
    name: &'static str,
    /// All choices came from it.
    pub seed: u64,
    /// Every rule that was broken on either cluster.
    pub failures: Vec<Failure>,
    /// Schedules that were run on both, those without a fault included.
    pub schedules: usize,
    /// How often a run rested, and the other one rested in the same.
    pub rests: usize,
    /// How often each kind of fault was tried.
    pub faults: BTreeMap<String, usize>,
    /// How long the runs on the other cluster took.
    pub took: Duration,
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, seed, took) = (self.name, self.seed, self.took.as_secs_f64());
        writeln!(f, "{name} on another cluster: seed {seed}, {took:.1} s")?;
        let (schedules, rests) = (self.schedules, self.rests);
        writeln!(
            f,
            "  {schedules} schedules, {rests} settled states compared"
        )?;
        let faults = self.faults.iter().map(|(word, n)| format!("{word} {n}"));
        writeln!(f, "  {}", faults.collect::<Vec<_>>().join(", "))?;
        for failure in &self.failures {
            writeln!(f, "FAILED [{}] {}", failure.invariant, failure.text)?;
            writeln!(f, "  when: {}", failure.schedule)?;
            writeln!(f, "  as a line: {}", failure.line())?;
        }
        Ok(())
    }
}

impl Core {
    /// The same suite on another cluster, where time is not free.
    fn elsewhere(&self, cluster: Arc<dyn Cluster>) -> Self {
        Self {
            threads: cluster.at_once(),
            cluster,
            journal: false,
            stop: Stop::Never,
            calm: Duration::from_millis(300),
            soon: Duration::from_millis(50),
            ..self.again()
        }
    }

    /// Returns the same suite without seeded bugs.
    fn sound(&self) -> Self {
        Self {
            through: Arc::new(|client| client),
            running: Arc::new(|machine| machine),
            ..self.again()
        }
    }

    fn again(&self) -> Self {
        Self {
            name: self.name.clone(),
            ir: self.ir,
            machine: Arc::clone(&self.machine),
            make: Arc::clone(&self.make),
            outside: Arc::clone(&self.outside),
            has_outside: self.has_outside,
            naming: self.naming.clone(),
            limits: self.limits.clone(),
            definitions: self.definitions.clone(),
            fixtures: self.fixtures.clone(),
            promises: self.promises.clone(),
            beside: self.beside.clone(),
            never: self.never.clone(),
            threads: self.threads,
            cluster: Arc::clone(&self.cluster),
            through: Arc::clone(&self.through),
            running: Arc::clone(&self.running),
            witness: self.witness.clone(),
            forks: Forks::default(),
            seed: self.seed,
            depth: self.depth,
            single: self.single,
            several: self.several,
            journal: self.journal,
            stop: self.stop,
            quiet: self.quiet,
            calm: self.calm,
            deaf: self.deaf,
            soon: self.soon,
            patience: self.patience,
        }
    }
}

/// Settled worlds of schedules on the simulated cluster, and the findings there. Other clusters are
/// compared with it.
pub struct Baseline {
    core: Arc<Core>,
    here: Vec<(Schedule, Ran)>,
    found: Likeness,
}

/// Runs a choice of schedules on the simulated cluster, without seeded bugs.
pub(crate) fn run_baseline(core: Arc<Core>, most: usize) -> Result<Baseline, String> {
    let sound = Arc::new(core.sound());
    let explored = explore(&sound)?;
    let chosen = choice(&sound, &explored, most + most / SPARE);
    let mut found = Likeness {
        name: core.ir.name,
        seed: core.seed,
        failures: explored.failures,
        schedules: 0,
        rests: 0,
        faults: BTreeMap::new(),
        took: Duration::ZERO,
    };
    let here = simulated(&sound, chosen, most, &mut found)?;
    Ok(Baseline { core, here, found })
}

impl Baseline {
    /// Runs the same schedules on another cluster. The change to the suite applies only there.
    ///
    /// # Errors
    /// Behaves as [`Suite::run`]. Broken rules are not errors: they are in the returned value.
    pub fn on(
        &self,
        cluster: impl Cluster,
        change: impl FnOnce(Suite) -> Suite,
    ) -> Result<Likeness, String> {
        let suite = change(Suite {
            core: self.core.again(),
            problems: Vec::new(),
        });
        let there = Arc::new(suite.core.elsewhere(Arc::new(cluster)));
        let mut likeness = self.found.clone();
        let began = Instant::now();
        for part in self.here.chunks(there.threads.max(1)) {
            let work: Vec<_> = part
                .iter()
                .map(|(schedule, ran)| {
                    let ask = Ask {
                        from: From::Nothing,
                        told: Some(Arc::new(ran.rests.clone())),
                        ..Ask::default()
                    };
                    (schedule.clone(), ask)
                })
                .collect();
            for ((schedule, here), ran) in part.iter().zip(run_all(&there, &work)?) {
                likeness.take(schedule, here, &ran);
            }
            let enough = suite.core.is_enough(&likeness.failures);
            if enough || likeness.failures.len() >= MOST_FAILURES {
                break;
            }
        }
        likeness.took = began.elapsed();
        Ok(likeness)
    }
}

/// Returns the schedules that can run, with their settled worlds on the simulated cluster.
fn simulated(
    core: &Arc<Core>,
    chosen: Vec<Schedule>,
    most: usize,
    likeness: &mut Likeness,
) -> Result<Vec<(Schedule, Ran)>, String> {
    let ask = Ask {
        from: From::Nothing,
        keep_rests: true,
        ..Ask::default()
    };
    let work: Vec<_> = chosen.into_iter().map(|s| (s, ask.clone())).collect();
    let ran = run_all(core, &work)?;
    let pairs = work.into_iter().map(|(schedule, _)| schedule).zip(ran);
    let done: Vec<_> = pairs
        .filter(|(_, ran)| ran.possible && !ran.given_up)
        .take(most)
        .collect();
    for (schedule, ran) in &done {
        let failures = ran.findings.iter().map(|f| Failure::new(schedule, f));
        likeness.failures.extend(failures);
    }
    Ok(done)
}

impl Likeness {
    fn take(&mut self, schedule: &Schedule, here: &Ran, there: &Ran) {
        self.schedules += 1;
        self.rests += there.rests.len();
        for planned in &schedule.faults {
            let word = planned.fault.kind_name().to_owned();
            *self.faults.entry(word).or_default() += 1;
        }
        let mut findings = there.findings.clone();
        let is_known = !findings.is_empty();
        if !is_known && (!there.possible || there.given_up) {
            let text = "a schedule that is possible on the simulated cluster is not possible here";
            findings.push(Finding::new(Invariant::SameEnd, text));
        } else if !is_known && there.rests.len() != here.rests.len() {
            let (is, was) = (there.rests.len(), here.rests.len());
            let text = format!("it rested {is} times, and on the simulated cluster {was} times");
            findings.push(Finding::new(Invariant::SameEnd, text));
        }
        let failures = findings.iter().map(|f| Failure::new(schedule, f));
        self.failures.extend(failures);
    }
}

/// Schedules with one fault, evenly over the kinds of faults, and some without one.
fn choice(core: &Core, explored: &Explored, most: usize) -> Vec<Schedule> {
    let mut random = Pcg64Mcg::seed_from_u64(core.seed ^ 0x0065_6c73_6577);
    // A real cluster cannot skip time, so schedules that wait for time to pass are excluded.
    let is_free = |moves: &[Move]| moves.contains(&Move::Tick);
    let quiet = explored.edges.iter().map(|e| e.moves.clone());
    let mut quiet: Vec<_> = quiet.filter(|moves| !is_free(moves)).collect();
    let mut faulty = choose::of_lines(core, explored, &LINE, most).schedules;
    faulty.retain(|schedule| !is_free(&schedule.moves));
    let mut chosen = Vec::new();
    while chosen.len() < most && !(quiet.is_empty() && faulty.is_empty()) {
        let is_quiet = chosen.len() % QUIET == QUIET - 1 && !quiet.is_empty();
        if is_quiet || faulty.is_empty() {
            let at = random_below(&mut random, quiet.len());
            chosen.push(Schedule::quiet(quiet.swap_remove(at)));
        } else {
            let at = random_below(&mut random, faulty.len());
            chosen.push(faulty.swap_remove(at));
        }
    }
    chosen
}
