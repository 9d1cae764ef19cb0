//! What tools read of any object whose lifecycle says `kstatus;`: names that `kstatus` gave them, and which of them is told where. Pure.

use super::ir::{ConditionStatus, Lifecycle, Phase};
use super::policy::{Class, Decision};
use super::project::Projected;

/// Field of the status: the generation that it is about.
pub const OBSERVED_GENERATION: &str = "observedGeneration";

/// Types of the conditions, of which at most one is written, and only as True.
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
    /// The condition that tells it, in the words of `Ready` where that is not True.
    #[must_use]
    pub fn told(self, ready: Option<&Projected>, state: (&str, String)) -> Option<Projected> {
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
    /// How far an object is, by its phase. Only what is Ready and at rest is done.
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

    /// The types of all conditions that it may tell, `Ready` included.
    pub fn condition_types(&self) -> Vec<&'static str> {
        let declared = self.conditions.iter().map(|c| c.name).chain(["Ready"]);
        let of_tools = TYPES.into_iter().filter(|_| self.kstatus);
        declared.chain(of_tools).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::Machine;

    fn ready(status: ConditionStatus) -> Projected {
        Projected {
            name: "Ready",
            status,
            reason: "NoClass".to_owned(),
            message: "there is no class".to_owned(),
            event: String::new(),
        }
    }

    #[test]
    fn only_what_is_ready_and_at_rest_is_done() {
        let machine = crate::cluster::fixture::maker();
        let ir = machine.ir();
        let state = |phase: Phase| {
            let found = ir.states.iter().position(|state| state.phase == phase);
            Class::State(found.expect("it has such a state"))
        };
        let (rest, work) = (Decision::Rest, Decision::Effect(0));
        let table = [
            (state(Phase::Ready), rest, false, Progress::Done),
            (state(Phase::Ready), Decision::Claim, false, Progress::Reconciling),
            (state(Phase::Pending), work, false, Progress::Reconciling),
            (state(Phase::Pending), rest, false, Progress::Reconciling),
            (state(Phase::Pending), rest, true, Progress::Stalled),
            (state(Phase::Error), rest, false, Progress::Stalled),
            (Class::Deleting, Decision::Release, false, Progress::Reconciling),
            (Class::Refused { effect: 0 }, rest, false, Progress::Stalled),
            (Class::Contradiction, rest, false, Progress::Stalled),
        ];
        for (class, next, is_overdue, expected) in table {
            let found = ir.progress(class, next, is_overdue);
            assert_eq!(found, expected, "{class:?} {next:?} {is_overdue}");
        }
    }

    #[test]
    fn it_is_told_in_the_words_of_ready_and_else_by_the_name_of_the_state() {
        let told = |progress: Progress, ready: Option<&Projected>| {
            let told = progress.told(ready, ("Making", "it is made".to_owned()))?;
            Some((told.name, told.reason, told.message))
        };
        let unmet = ready(ConditionStatus::Unknown);
        let said = ("Stalled", "NoClass".to_owned(), "there is no class".to_owned());
        assert_eq!(told(Progress::Stalled, Some(&unmet)), Some(said));
        let state = || ("Reconciling", "Making".to_owned(), "it is made".to_owned());
        let met = ready(ConditionStatus::True);
        assert_eq!(told(Progress::Reconciling, Some(&met)), Some(state()));
        assert_eq!(told(Progress::Reconciling, None), Some(state()));
        assert_eq!(told(Progress::Done, Some(&unmet)), None);
    }
}
