//! Status fields that tools read of any object whose lifecycle declares `kstatus;`. It holds the
//! names that `kstatus` gives them, and the cases in which each is reported. Pure.

use super::ir::{ConditionStatus, Lifecycle, Phase};
use super::policy::{Class, Decision};
use super::project::Projected;

/// Field of the status: the generation that it is about.
pub const OBSERVED_GENERATION: &str = "observedGeneration";

/// Types of the conditions. At most one of them is written, and only as True.
pub const TYPES: [&str; 2] = ["Reconciling", "Stalled"];

/// How far an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// As wanted, with nothing left to do.
    Done,
    /// On its way, or left alone for a while: wait.
    Reconciling,
    /// It does not get there by itself, or has taken too long.
    Stalled,
}

impl Progress {
    /// Returns the condition that reports the progress, in the words of `Ready` if that is not
    /// True.
    #[must_use]
    pub fn condition(self, ready: Option<&Projected>, state: (&str, String)) -> Option<Projected> {
        let name = match self {
            Self::Done => return None,
            Self::Reconciling => TYPES[0],
            Self::Stalled => TYPES[1],
        };
        let unmet = ready.filter(|ready| ready.status != ConditionStatus::True);
        let (reason, message) = match unmet {
            Some(ready) => (ready.reason.clone(), ready.message.clone()),
            None => (state.0.to_owned(), state.1),
        };
        Some(Projected {
            name,
            status: ConditionStatus::True,
            event: reason.clone(),
            reason,
            message,
        })
    }
}

impl Lifecycle {
    /// Returns the progress of an object by its phase. Only a Ready and settled object is done.
    #[must_use]
    pub fn progress(&self, class: Class, next: Decision, is_overdue: bool) -> Progress {
        match (self.phase(class), next) {
            (Phase::Error, _) => Progress::Stalled,
            (Phase::Pending, _) if is_overdue => Progress::Stalled,
            (Phase::Pending | Phase::Suspended, _) => Progress::Reconciling,
            (Phase::Ready, Decision::Rest) | (Phase::Ignored, _) => Progress::Done,
            (Phase::Ready, Decision::Claim | Decision::Effect(_) | Decision::Release) => {
                Progress::Reconciling
            }
        }
    }

    /// Returns the types of all conditions that the lifecycle may report, including `Ready`.
    pub fn condition_types(&self) -> Vec<&'static str> {
        let declared = self.conditions.iter().map(|c| c.name).chain(["Ready"]);
        let of_tools = TYPES.into_iter().filter(|_| self.kstatus);
        declared.chain(of_tools).collect()
    }
}
