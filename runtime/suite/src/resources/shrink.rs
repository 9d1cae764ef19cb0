//! Makes a schedule that breaks a rule as short as it can be.

use std::sync::Arc;

use super::Core;
use super::judge::judged;
use super::moves::{Fault, Planned, Schedule};
use super::report::Failure;

/// How many shorter schedules are tried for all failures of a suite.
pub(crate) const MOST_RUNS: usize = 100;
/// How many for one of them.
const MOST_OF_ONE: usize = 30;

/// Returns the shortest schedule found that breaks the same rule, within the remaining number of
/// tries.
pub(crate) fn shrink(core: &Arc<Core>, failure: Failure, left: &mut usize) -> Failure {
    let mut shortest = failure;
    let mut own = MOST_OF_ONE;
    'again: loop {
        for schedule in shorter(&shortest.schedule) {
            if *left == 0 || own == 0 {
                return shortest;
            }
            *left -= 1;
            own -= 1;
            let Ok(found) = judged(core, &schedule) else {
                continue;
            };
            if let Some(same) = found
                .into_iter()
                .find(|f| f.invariant == shortest.invariant)
            {
                shortest = same;
                continue 'again;
            }
        }
        return shortest;
    }
}

/// Schedules that are a little shorter, the shortest first.
fn shorter(schedule: &Schedule) -> Vec<Schedule> {
    let mut all = Vec::new();
    for number in 0..schedule.moves.len() {
        let mut less = schedule.clone();
        less.moves.remove(number);
        if number < less.calm {
            less.calm -= 1;
        }
        all.push(less);
    }
    // A process can only lose a Lease that it held.
    let loses = |planned: &Planned| matches!(planned.fault, Fault::LoseLease);
    if schedule.lease && !schedule.faults.iter().any(loses) {
        let mut less = schedule.clone();
        less.lease = false;
        all.push(less);
    }
    for number in 0..schedule.faults.len() {
        let mut less = schedule.clone();
        less.faults.remove(number);
        all.push(less);
        let Planned { at, .. } = schedule.faults[number];
        if at > 1 {
            let mut sooner = schedule.clone();
            sooner.faults[number].at = at - 1;
            all.push(sooner);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::moves::{Fault, Move};
    use super::*;

    #[test]
    fn every_shorter_schedule_is_shorter() {
        let size = |s: &Schedule| {
            let faults: usize = s.faults.iter().map(|p| 1 + p.at).sum();
            s.moves.len() * 2 + faults + usize::from(s.lease)
        };
        let schedule = Schedule {
            moves: vec![Move::Create("A/a".to_owned()), Move::Restart],
            calm: 1,
            faults: vec![Planned {
                of: 0,
                at: 3,
                fault: Fault::LoseLease,
            }],
            lease: true,
        };
        let all = shorter(&schedule);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|s| s.lease));
        assert!(all.iter().all(|s| size(s) < size(&schedule)));
        assert!(all.iter().all(|s| s.calm <= s.moves.len()));
    }
}
