//! What disturbs a volume's life, one schedule each: everything that can be made of what an undisturbed life took.

use std::fmt;
use std::time::Duration;

use super::deed::Deed;
use super::life_outcome::LifeOutcome;
use super::step::Step;
use super::test_env::TestEnv;
use crate::faults::{At, Fault, Plan, What};

/// A caller that gives up early.
const HASTY: Duration = Duration::from_secs(4);
/// As long as kubelet waits.
const PATIENT: Duration = Duration::from_secs(120);

/// What goes wrong at a write of a lifecycle beside: it is gone, does not hear the answer, is not let in, or is out of reach or asleep for longer than a
/// caller who gives up early.
const BESIDE: [What; 6] = [
    What::CrashAfter,
    What::Lost,
    What::Silent,
    What::Answer(503),
    What::Cut(Duration::from_secs(20)),
    What::Freeze(Duration::from_secs(20)),
];

/// One way to disturb a life.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// What goes wrong between a process and what is around it.
    pub(super) plan: Plan,
    /// Whose process that is: 0 for the driver's, else the number of a lifecycle that runs beside it.
    pub(super) of: usize,
    /// The caller gives up early, and tries again.
    pub(super) hasty: bool,
    /// What the caller does besides.
    pub(super) extra: Option<Extra>,
}

/// Calls that a caller makes besides.
#[derive(Clone, Debug)]
pub(super) enum Extra {
    /// It makes every call twice.
    Twice,
    /// After so many steps it makes another call.
    Then(usize, Step),
    /// After so many steps it makes two calls at once.
    AtOnce(usize, [Step; 2]),
    /// After so many steps somebody does something by hand.
    Deed(usize, Deed),
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

    /// What goes wrong for one of the processes.
    pub(super) fn plan_of(&self, number: usize) -> Plan {
        match number == self.of {
            true => self.plan.clone(),
            false => Plan::default(),
        }
    }

    /// What goes wrong at each write of those that run beside the driver.
    fn beside(undisturbed: &LifeOutcome) -> Vec<Self> {
        let mut all = Vec::new();
        for (number, writes) in undisturbed.writes_beside.iter().enumerate() {
            let writes = u32::try_from(*writes).unwrap_or(u32::MAX);
            for write in 1..=writes {
                all.extend(BESIDE.map(|what| Self {
                    plan: Plan(vec![Fault {
                        at: At::Write(write),
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
        let mut planned = |at: At, what: What, hasty: bool| {
            let plan = Plan(vec![Fault { at, what }]);
            all.push(Self {
                plan,
                hasty,
                ..Self::default()
            });
        };
        planned(At::Request(1), What::CrashBefore, false);
        for n in 1..=undisturbed.writes {
            let at = At::Write(n);
            for what in [What::CrashAfter, What::Lost] {
                planned(at, what, false);
            }
            if env.fixture.brief {
                continue;
            }
            for code in [503, 422] {
                planned(at, What::Answer(code), false);
            }
            planned(at, What::Silent, true);
        }
        for n in undisturbed
            .first_requests
            .iter()
            .filter(|_| !env.fixture.brief)
        {
            planned(At::Request(*n), What::Timeout, true);
        }
        all.extend(Self::beside(undisturbed));
        let with = |extra| Self {
            extra: Some(extra),
            ..Self::default()
        };
        all.push(with(Extra::Twice));
        let (up, down) = (env.up(), env.down());
        let steps: Vec<Step> = [up.clone(), down.clone()].concat();
        for after in 1..=steps.len() {
            // A Pod that has given the volume back is not told of a port that is allocated anew.
            let is_told = |deed: &&Deed| after <= up.len() || !matches!(deed, Deed::Delete(_));
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
        // What creates has nothing to do with the rest by then.
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
