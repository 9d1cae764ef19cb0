//! Schedules that each disturb a volume's life in one way. They cover everything that can be
//! derived from an undisturbed life.

use std::fmt;
use std::time::Duration;

use super::deed::ManualOperation;
use super::life_outcome::LifeOutcome;
use super::step::Step;
use super::test_env::TestEnv;
use crate::faults::{Fault, FaultKind, FaultPoint, Plan};

/// A caller that gives up early.
const HASTY: Duration = Duration::from_secs(4);
/// As long as kubelet waits.
const PATIENT: Duration = Duration::from_secs(120);

/// Faults at a write of a lifecycle beside the driver. The process crashes, misses the answer, is
/// rejected, or is unreachable or frozen. The last two take longer than a caller waits that gives
/// up early.
const BESIDE: [FaultKind; 6] = [
    FaultKind::CrashAfter,
    FaultKind::Lost,
    FaultKind::Silent,
    FaultKind::Answer(503),
    FaultKind::Cut(Duration::from_secs(20)),
    FaultKind::Freeze(Duration::from_secs(20)),
];

/// One way to disturb a life.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// Faults between a process and its surroundings.
    pub(super) plan: Plan,
    /// Process of the plan: 0 for the driver's, else the id of a lifecycle that runs beside it.
    pub(super) of: usize,
    /// The caller gives up early, and tries again.
    pub(super) hasty: bool,
    /// Additional operations of the caller.
    pub(super) extra: Option<Extra>,
}

/// Calls that a caller makes besides.
#[derive(Clone, Debug)]
pub(super) enum Extra {
    /// It makes every call twice.
    Twice,
    /// Makes another call after this number of steps.
    Then(usize, Step),
    /// Makes two concurrent calls after this number of steps.
    AtOnce(usize, [Step; 2]),
    /// Performs an operation by hand after this number of steps.
    Deed(usize, ManualOperation),
}

impl Schedule {
    pub(super) fn undisturbed() -> Self {
        Self::default()
    }

    pub(super) fn limit(&self, is_first: bool) -> Duration {
        match self.hasty && is_first {
            true => HASTY,
            false => PATIENT,
        }
    }

    /// Returns the planned faults of one of the processes.
    pub(super) fn plan_of(&self, number: usize) -> Plan {
        match number == self.of {
            true => self.plan.clone(),
            false => Plan::default(),
        }
    }

    /// Returns a schedule for each fault at each write of the lifecycles that run beside the
    /// driver.
    fn for_companions(undisturbed: &LifeOutcome) -> Vec<Self> {
        let mut all = Vec::new();
        for (number, writes) in undisturbed.writes_beside.iter().enumerate() {
            let writes = u32::try_from(*writes).unwrap_or(u32::MAX);
            for write in 1..=writes {
                all.extend(BESIDE.map(|what| Self {
                    plan: Plan(vec![Fault {
                        at: FaultPoint::Write(write),
                        what,
                    }]),
                    of: number + 1,
                    ..Self::default()
                }));
            }
        }
        all
    }

    pub(super) fn all(env: &TestEnv<'_>, undisturbed: &LifeOutcome) -> Vec<Self> {
        let mut all = Vec::new();
        let mut planned = |at: FaultPoint, what: FaultKind, hasty: bool| {
            let plan = Plan(vec![Fault { at, what }]);
            all.push(Self {
                plan,
                hasty,
                ..Self::default()
            });
        };
        planned(FaultPoint::Request(1), FaultKind::CrashBefore, false);
        for n in 1..=undisturbed.writes {
            let at = FaultPoint::Write(n);
            for what in [FaultKind::CrashAfter, FaultKind::Lost] {
                planned(at, what, false);
            }
            if env.fixture.brief {
                continue;
            }
            for code in [503, 422] {
                planned(at, FaultKind::Answer(code), false);
            }
            planned(at, FaultKind::Silent, true);
        }
        for n in undisturbed
            .first_requests
            .iter()
            .filter(|_| !env.fixture.brief)
        {
            planned(FaultPoint::Request(*n), FaultKind::Timeout, true);
        }
        all.extend(Self::for_companions(undisturbed));
        let with = |extra| Self {
            extra: Some(extra),
            ..Self::default()
        };
        all.push(with(Extra::Twice));
        let (up, down) = (env.up(), env.down());
        let steps: Vec<Step> = [up.clone(), down.clone()].concat();
        for after in 1..=steps.len() {
            // A Pod that has unpublished the volume is not notified of a newly allocated port.
            let is_told = |deed: &&ManualOperation| {
                after <= up.len() || !matches!(deed, ManualOperation::Delete(_))
            };
            let deeds = undisturbed.deeds.iter().filter(is_told).cloned();
            all.extend(deeds.map(|deed| with(Extra::Deed(after, deed))));
        }
        // Twice at once, before it was done and when it is done already.
        for (number, step) in steps.iter().enumerate() {
            let both = [*step, *step];
            all.extend([number, number + 1].map(|after| with(Extra::AtOnce(after, both))));
        }
        if env.fixture.brief {
            return all;
        }
        let calls = [steps.clone(), vec![Step::Validate]].concat();
        for after in 0..=steps.len() {
            all.extend(calls.iter().map(|step| with(Extra::Then(after, *step))));
        }
        // By then, the create call no longer affects the remaining steps.
        for (number, one) in steps.iter().enumerate().skip(1) {
            let others = steps[number + 1..].iter();
            all.extend(others.map(|other| with(Extra::AtOnce(up.len(), [*one, *other]))));
        }
        all
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.extra {
            None if self.plan.0.is_empty() => f.write_str("undisturbed"),
            None if self.of > 0 => write!(f, "{} of number {} beside it", self.plan, self.of),
            None if self.hasty => write!(f, "{} and a deadline", self.plan),
            None => write!(f, "{}", self.plan),
            Some(Extra::Twice) => f.write_str("every call twice"),
            Some(Extra::Then(after, step)) => write!(f, "{step:?} after {after} steps"),
            Some(Extra::AtOnce(after, [one, other])) => {
                write!(f, "{one:?} and {other:?} at once after {after} steps")
            }
            Some(Extra::Deed(after, deed)) => write!(f, "{deed} after {after} steps"),
        }
    }
}
