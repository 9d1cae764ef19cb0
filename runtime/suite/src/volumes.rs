//! The suite of a driver of volumes, from its lifecycles and a handful of fixtures: it makes, stages, publishes and takes back a volume, disturbed
//! in every way by crashes, lost answers, deadlines, repetitions and calls out of order, on paused time and without sockets.

mod apply;
mod beside;
mod coverage;
mod deed;
mod fixture;
mod invariants;
mod life;
mod life_outcome;
mod process;
mod schedule;
mod schedule_env;
mod snapshot;
mod step;
mod test_env;

use std::fmt;
use std::sync::Arc;
use std::thread;

use beside::Members;
use coverage::RpcCoverage;
pub use fixture::{Background, Fixture, Start, Written};
use life_outcome::LifeOutcome;
use schedule::Schedule;
use test_env::TestEnv;

use crate::resources::{self, NoExternalSystem};

/// Schedules know nothing of each other.
const WORKERS: usize = 2;

/// The suite of a driver.
pub struct Suite {
    name: String,
    start: Start,
    fixtures: Vec<Fixture>,
    members: Members,
    problems: Vec<String>,
    most: usize,
    budget: usize,
}

/// Findings of a suite.
#[derive(Debug)]
pub struct Report {
    /// How many schedules ran.
    pub schedules: usize,
    /// Findings, each with its schedule.
    pub findings: Vec<String>,
    /// Report of the items that were seen and that were not.
    pub coverage: String,
}

impl Suite {
    /// A suite without a fixture.
    pub fn new(name: impl Into<String>, start: Start) -> Self {
        Self {
            name: name.into(),
            start,
            fixtures: Vec::new(),
            members: Members {
                all: Vec::new(),
                outside: Arc::new(|| Arc::new(NoExternalSystem)),
            },
            problems: Vec::new(),
            most: 10,
            budget: usize::MAX,
        }
    }

    /// One more fixture.
    #[must_use]
    pub fn fixture(mut self, fixture: Fixture) -> Self {
        self.fixtures.push(fixture);
        self
    }

    /// Adds lifecycles of resources that run beside the driver. They come from another suite. Each
    /// runs in a process of its own, together with the code that keeps its promises. The fixtures
    /// of this suite define the contents of the cluster.
    ///
    /// # Guarantees
    /// If one of them claims a promise of a volume, it alone keeps that promise. When all have
    /// settled, no such promise is open, unless its keeper visibly waits for a person. The suite
    /// disturbs the writes of each lifecycle like the writes of the driver. It also edits and
    /// deletes by hand the objects that each lifecycle has written.
    #[must_use]
    pub fn together_with(mut self, other: resources::Suite) -> Self {
        match other.into_members() {
            Ok((members, outside)) => {
                self.members.all.extend(members);
                self.members.outside = outside;
            }
            Err(problem) => self.problems.push(problem),
        }
        self
    }

    /// Sets the number of findings after which the run stops. The default is ten.
    #[must_use]
    pub fn most_findings(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Sets the number of schedules of each fixture, spread evenly over all kinds. The default is
    /// all.
    #[must_use]
    pub fn budget(mut self, schedules: usize) -> Self {
        self.budget = schedules.max(1);
        self
    }

    /// Runs the schedules of every fixture.
    ///
    /// # Errors
    /// A fixture cannot be set up, or does not end well when nothing disturbs it; or a suite beside it is not well described.
    pub fn run(&self) -> Result<Report, String> {
        if !self.problems.is_empty() {
            return Err(self.problems.join("; "));
        }
        let mut coverage = RpcCoverage::default();
        let mut report = Report {
            schedules: 0,
            findings: Vec::new(),
            coverage: String::new(),
        };
        for fixture in &self.fixtures {
            let workers = thread::scope(|scope| {
                let works = |number| move || self.work(fixture, number);
                let all: Vec<_> = (0..WORKERS).map(|n| scope.spawn(works(n))).collect();
                let joined = all.into_iter().map(thread::ScopedJoinHandle::join);
                joined.collect::<Vec<_>>()
            });
            for worked in workers {
                let worked = worked.map_err(|_| "a worker ended unexpectedly".to_owned())??;
                report.schedules += worked.schedules;
                report.findings.extend(worked.findings);
                coverage.add(worked.coverage);
            }
        }
        report.findings.truncate(self.most);
        let first = self.fixtures.first();
        let first = first.ok_or_else(|| format!("{} has no fixture", self.name))?;
        let env = TestEnv::new(first, &self.start, &self.members)?;
        report.coverage = coverage.report(&self.name, &env);
        Ok(report)
    }

    /// Runs every schedule assigned to one worker. Each worker also runs the undisturbed schedule,
    /// because it determines which steps can be disturbed.
    fn work(&self, fixture: &Fixture, worker: usize) -> Result<Worked, String> {
        let mut worked = Worked::default();
        let env = TestEnv::new(fixture, &self.start, &self.members)?;
        let calm = Schedule::undisturbed();
        let undisturbed = life::play(&env, &calm, &mut worked.coverage)?;
        if worker == 0 {
            worked.record(&env, &calm, &undisturbed, &undisturbed);
        }
        let all = Schedule::all(&env, &undisturbed);
        let budget = self.budget.min(all.len());
        let chosen = (0..budget).map(|number| &all[number * all.len() / budget]);
        let chosen: Vec<_> = chosen.collect();
        for schedule in chosen.iter().skip(worker).step_by(WORKERS) {
            if worked.findings.len() >= self.most {
                break;
            }
            let ended = life::play(&env, schedule, &mut worked.coverage)?;
            worked.record(&env, schedule, &ended, &undisturbed);
        }
        Ok(worked)
    }
}

/// Work of one worker.
#[derive(Default)]
struct Worked {
    schedules: usize,
    findings: Vec<String>,
    coverage: RpcCoverage,
}

impl Worked {
    fn record(
        &mut self,
        env: &TestEnv<'_>,
        schedule: &Schedule,
        ended: &LifeOutcome,
        against: &LifeOutcome,
    ) {
        self.schedules += 1;
        let name = env.fixture.name;
        let found = invariants::findings(env, ended, against).into_iter();
        let found = found.map(|finding| format!("{name}, {schedule}: {finding}"));
        self.findings.extend(found);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}{} schedules", self.coverage, self.schedules)?;
        for finding in &self.findings {
            writeln!(f, "FOUND {finding}")?;
        }
        Ok(())
    }
}
