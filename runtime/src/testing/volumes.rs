//! The suite of a driver of volumes, from its lifecycles and a handful of fixtures: it makes, stages, publishes and takes back a volume, disturbed
//! in every way by crashes, lost answers, deadlines, repetitions and calls out of order, on paused time and without sockets.

mod judge;
mod process;
mod schedule;
mod seen;
mod site;
mod snapshot;
mod story;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use futures::future::BoxFuture;
use kube::Client;
use lifecycle_proto::csi;
use serde_json::Value;

use crate::lifecycle::CreatedVolume;
use crate::operator::Operator;
use schedule::Schedule;
use seen::Seen;
use site::Ground;
use story::Ended;

/// Schedules know nothing of each other.
const WORKERS: usize = 2;

/// Starts the processes of a driver that works in a folder; they are asked without their sockets.
pub type Start = Arc<dyn Fn(&Path) -> Vec<Operator> + Send + Sync>;
/// What others do in the cluster meanwhile, such as the controller that gives addresses.
pub type Around = Arc<dyn Fn(Client) -> BoxFuture<'static, ()> + Send + Sync>;
/// What external-provisioner writes down of a volume that was made.
pub type Written = Arc<dyn Fn(&CreatedVolume) -> Vec<Value> + Send + Sync>;

/// One volume and its Pods, and what is around them.
#[derive(Clone)]
pub struct Fixture {
    /// Its name in findings.
    pub name: &'static str,
    /// Definitions, classes, nodes: what stays.
    pub stays: Vec<Value>,
    /// What the volume is for: the claim and the Pods. It is deleted at the end.
    pub goes: Vec<Value>,
    /// What is somebody else's and may never be touched.
    pub others: Vec<Value>,
    /// Files of others by their path in the folder.
    pub files: BTreeMap<String, String>,
    /// Folders in which the driver keeps what is its own.
    pub own: Vec<String>,
    /// How the volume is asked for.
    pub create: csi::CreateVolumeRequest,
    /// What external-provisioner writes down of it.
    pub written: Written,
    /// What each Pod's publish is told besides.
    pub pods: Vec<BTreeMap<String, String>>,
    /// What others do.
    pub around: Option<Around>,
    /// Only crashes and lost answers, and every call twice: for one more way through what another fixture goes through wholly.
    pub brief: bool,
}

/// The suite of a driver.
pub struct Suite {
    name: String,
    start: Start,
    fixtures: Vec<Fixture>,
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

    /// Stops after so many findings; ten unless told.
    #[must_use]
    pub fn most_findings(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Runs so many schedules of each fixture, evenly over all sorts; all unless told.
    #[must_use]
    pub fn budget(mut self, schedules: usize) -> Self {
        self.budget = schedules.max(1);
        self
    }

    /// Runs the schedules of every fixture.
    ///
    /// # Errors
    /// A fixture cannot be set up, or does not end well when nothing disturbs it.
    pub fn run(&self) -> Result<Report, String> {
        let mut seen = Seen::default();
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
                seen.add(worked.seen);
            }
        }
        report.findings.truncate(self.most);
        let first = self.fixtures.first();
        let first = first.ok_or_else(|| format!("{} has no fixture", self.name))?;
        let ground = Ground::new(first, &self.start)?;
        report.coverage = seen.told(&self.name, &ground);
        Ok(report)
    }

    /// Every schedule that falls to one of the workers; all of them play the undisturbed one, for it says what there is to disturb.
    fn work(&self, fixture: &Fixture, worker: usize) -> Result<Worked, String> {
        let mut worked = Worked::default();
        let ground = Ground::new(fixture, &self.start)?;
        let calm = Schedule::undisturbed();
        let undisturbed = story::play(&ground, &calm, &mut worked.seen)?;
        if worker == 0 {
            worked.note(&ground, &calm, &undisturbed, &undisturbed);
        }
        let all = Schedule::all(&ground, &undisturbed);
        let budget = self.budget.min(all.len());
        let chosen = (0..budget).map(|number| &all[number * all.len() / budget]);
        let chosen: Vec<_> = chosen.collect();
        for schedule in chosen.iter().skip(worker).step_by(WORKERS) {
            if worked.findings.len() >= self.most {
                break;
            }
            let ended = story::play(&ground, schedule, &mut worked.seen)?;
            worked.note(&ground, schedule, &ended, &undisturbed);
        }
        Ok(worked)
    }
}

/// What one worker has done.
#[derive(Default)]
struct Worked {
    schedules: usize,
    findings: Vec<String>,
    seen: Seen,
}

impl Worked {
    fn note(&mut self, ground: &Ground<'_>, schedule: &Schedule, ended: &Ended, against: &Ended) {
        self.schedules += 1;
        let name = ground.fixture.name;
        let found = judge::findings(ground, ended, against).into_iter();
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
