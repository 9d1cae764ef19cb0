//! Findings of a suite: failures with their shortest schedules, and the coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::coverage::Coverage;
use super::invariant::{Finding, Invariant};
use super::moves::Schedule;
use lifecycle_runtime::machine::ir::Lifecycle;

/// A rule that was broken in a run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The rule.
    pub invariant: Invariant,
    /// Description of the observed violation.
    pub text: String,
    /// The run, made as short as it can be.
    pub schedule: Schedule,
}

impl Failure {
    pub(crate) fn new(schedule: &Schedule, finding: &Finding) -> Self {
        Self {
            invariant: finding.invariant,
            text: finding.text.clone(),
            schedule: schedule.clone(),
        }
    }

    /// Returns the input for `Suite::replay`.
    pub fn line(&self) -> String {
        serde_json::to_string(&self.schedule).unwrap_or_default()
    }
}

/// Work and findings of a suite.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) ir: &'static Lifecycle,
    /// All randomness came from it.
    pub seed: u64,
    /// Every broken rule, one failure a rule and state of affairs.
    pub failures: Vec<Failure>,
    /// Coverage of all runs.
    pub coverage: Coverage,
    /// Names that, according to the author, no run can show, each with the reason.
    pub(crate) never: Vec<(String, String)>,
    /// Names of the rights that are granted to it.
    pub(crate) rights: BTreeSet<String>,
    /// Number of worlds in which everything had settled.
    pub at_rest: usize,
    /// Runs of the exploration.
    pub walks: usize,
    /// Moves that the cluster did not allow.
    pub impossible: usize,
    /// Schedules with one fault that were run.
    pub single: usize,
    /// Total number of such schedules.
    pub single_of: usize,
    /// Schedules with several faults.
    pub several: usize,
    /// Schedules with a Lease.
    pub leases: usize,
    /// Ends that were compared with those of undisturbed runs.
    pub compared: usize,
    /// How often each kind of fault was tried.
    pub faults: BTreeMap<String, usize>,
    /// How many faults were at writes of lifecycles that ran beside it.
    pub beside: usize,
    /// How long it took.
    pub took: Duration,
    /// One number over the logs of all runs; zero if none were kept.
    pub digest: u64,
}

impl Report {
    /// Returns the names that the lifecycle declares or is granted and that no run has seen. Omits
    /// the names that the author excludes because no run can see them. Includes each excluded name
    /// that a run has seen.
    pub fn unseen(&self) -> Vec<String> {
        let mut unseen = self.coverage.unseen(self.ir);
        unseen.extend(self.rights.difference(&self.coverage.rights).cloned());
        let seen = self.never.iter().filter(|(name, _)| !unseen.contains(name));
        let seen = seen.map(|(name, why)| format!("{name} was seen, and is excluded: {why}"));
        let seen: Vec<_> = seen.collect();
        unseen.retain(|name| !self.never.iter().any(|(never, _)| never == name));
        unseen.extend(seen);
        unseen
    }

    /// The rules that were broken.
    pub fn broken(&self) -> Vec<Invariant> {
        let mut broken: Vec<_> = self.failures.iter().map(|f| f.invariant).collect();
        broken.sort();
        broken.dedup();
        broken
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, seed) = (self.ir.name, self.seed);
        writeln!(f, "{name}: seed {seed}, {:.1} s", self.took.as_secs_f64())?;
        writeln!(
            f,
            "  {} walks, {} settled worlds; faults: {} single of {}, {} several, {} with a Lease; {} ends compared; {} moves not possible",
            self.walks,
            self.at_rest,
            self.single,
            self.single_of,
            self.several,
            self.leases,
            self.compared,
            self.impossible
        )?;
        writeln!(f, "  {}", self.coverage.lines(self.ir).join(", "))?;
        let faults = self.faults.iter().map(|(word, n)| format!("{word} {n}"));
        writeln!(f, "  {}", faults.collect::<Vec<_>>().join(", "))?;
        if self.beside > 0 {
            writeln!(
                f,
                "  {} faults at writes of what runs beside it",
                self.beside
            )?;
        }
        match self.unseen().as_slice() {
            [] if self.never.is_empty() => {
                let rights = self.rights.len();
                writeln!(
                    f,
                    "  everything that is declared was seen, with {rights} rights, each of use"
                )?;
            }
            [] => writeln!(f, "  everything that can be was seen")?,
            unseen => writeln!(f, "  never seen: {}", unseen.join(", "))?,
        }
        for (name, why) in &self.never {
            writeln!(f, "  excluded: {name}: {why}")?;
        }
        for failure in &self.failures {
            writeln!(f, "FAILED [{}] {}", failure.invariant, failure.text)?;
            writeln!(f, "  when: {}", failure.schedule)?;
            writeln!(f, "  replay: {}", failure.line())?;
        }
        Ok(())
    }
}
