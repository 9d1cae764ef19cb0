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
pub use fixture::{Around, Fixture, Start, Written};
use life_outcome::LifeOutcome;
use schedule::Schedule;
use test_env::TestEnv;

use crate::resources::{self, Nothing};

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

/// What a suite found.
#[derive(Debug)]
pub struct Report {
    /// How many schedules ran.
    pub schedules: usize,
    /// What is wrong, each with its schedule.
    pub findings: Vec<String>,
    /// What was seen and what was not.
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
                outside: Arc::new(|| Arc::new(Nothing)),
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

    /// Lifecycles of resources that run beside the driver: those of another suite, each in a process of its own, with what keeps their promises.
    /// What there is in the cluster is what the fixtures of this suite say.
    ///
    /// # Guarantees
    /// A promise of a volume that one of them claims is kept by that one alone. Where all rest, none of these is open, unless whoever is to keep it
    /// visibly waits for a person. The writes of each are disturbed as the driver's are, and what each has written is edited and deleted by hand.
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

    /// Stops after so many findings; ten unless set.
    #[must_use]
    pub fn most_findings(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Runs so many schedules of each fixture, evenly over all kinds; all unless set.
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

    /// Every schedule that falls to one of the workers; all of them play the undisturbed one, for it says what there is to disturb.
    fn work(&self, fixture: &Fixture, worker: usize) -> Result<Worked, String> {
        let mut worked = Worked::default();
        let env = TestEnv::new(fixture, &self.start, &self.members)?;
        let calm = Schedule::undisturbed();
        let undisturbed = life::play(&env, &calm, &mut worked.coverage)?;
        if worker == 0 {
            worked.note(&env, &calm, &undisturbed, &undisturbed);
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
            worked.note(&env, schedule, &ended, &undisturbed);
        }
        Ok(worked)
    }
}

/// What one worker has done.
#[derive(Default)]
struct Worked {
    schedules: usize,
    findings: Vec<String>,
    coverage: RpcCoverage,
}

impl Worked {
    fn note(
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
