//! The same schedules on another cluster: each is run on the simulated one first, and the other must come to rest where that did, each time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::choose::{self, below};
use super::explore::{Explored, explore};
use super::fork::Forks;
use super::invariant::{Finding, Invariant};
use super::moves::{Move, Schedule};
use super::report::Failure;
use super::run::{Ask, From, Ran};
use super::workers::run_all;
use super::{Cluster, Core, Stop, Suite};

/// What goes wrong on the line to any server without costing more than a second of real time.
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
/// Of so many schedules one is undisturbed.
const QUIET: usize = 4;
/// Some of those that were chosen cannot be done: so many more are tried, one of so many.
const SPARE: usize = 2;
/// After so many failures the rest would not say more.
const MOST_FAILURES: usize = 3;

/// What became of schedules on two clusters.
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
        writeln!(f, "  {schedules} schedules, {rests} rests compared")?;
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

    /// The same suite without what was planted.
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

/// Where schedules rest on the simulated cluster, and what was found there: other clusters are held against it.
pub struct Rests {
    core: Arc<Core>,
    here: Vec<(Schedule, Ran)>,
    found: Likeness,
}

/// Runs a choice of schedules on the simulated cluster, without what is planted.
pub(crate) fn rests(core: Arc<Core>, most: usize) -> Result<Rests, String> {
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
    Ok(Rests { core, here, found })
}

impl Rests {
    /// Runs the same schedules on another cluster; what is changed of the suite is changed there alone.
    ///
    /// # Errors
    /// As [`Suite::run`]. Broken rules are no errors: they are in what is returned.
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

/// Those of the schedules that can be done, with where they rest on the simulated cluster.
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
            let word = planned.fault.word().to_owned();
            *self.faults.entry(word).or_default() += 1;
        }
        let mut findings = there.findings.clone();
        let is_known = !findings.is_empty();
        if !is_known && (!there.possible || there.given_up) {
            let text = "what is possible on the simulated cluster is not possible here";
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
    // Where time is not free, nobody waits until it passes.
    let is_free = |moves: &[Move]| moves.contains(&Move::Tick);
    let quiet = explored.edges.iter().map(|e| e.moves.clone());
    let mut quiet: Vec<_> = quiet.filter(|moves| !is_free(moves)).collect();
    let mut faulty = choose::of_lines(core, explored, &LINE, most).schedules;
    faulty.retain(|schedule| !is_free(&schedule.moves));
    let mut chosen = Vec::new();
    while chosen.len() < most && !(quiet.is_empty() && faulty.is_empty()) {
        let is_quiet = chosen.len() % QUIET == QUIET - 1 && !quiet.is_empty();
        if is_quiet || faulty.is_empty() {
            let at = below(&mut random, quiet.len());
            chosen.push(Schedule::quiet(quiet.swap_remove(at)));
        } else {
            let at = below(&mut random, faulty.len());
            chosen.push(faulty.swap_remove(at));
        }
    }
    chosen
}
