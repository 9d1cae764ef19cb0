//! Holds the ends of disturbed runs against those of undisturbed ones, which are run once each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Core;
use super::invariant::{Finding, Invariant};
use super::key::WorldsKey;
use super::moves::{Move, Schedule};
use super::report::Failure;
use super::run::{Ask, From, Ran};
use super::workers::{run_all, run_schedule};

/// The ends of undisturbed runs, by their moves; nothing where a move was not possible.
pub(crate) type Ends = BTreeMap<Vec<Move>, Option<WorldsKey>>;

/// Returns the undisturbed runs whose ends a disturbed one may match. An operation of another user
/// during the run may also come before or after it.
pub(crate) fn undisturbed(core: &Core, schedule: &Schedule) -> Vec<Vec<Move>> {
    let lasting: Vec<_> = schedule.lasting().collect();
    let (calm, rest) = schedule
        .moves
        .split_at(schedule.calm.min(schedule.moves.len()));
    let after = [calm, rest, &lasting].concat();
    let before = [calm, &lasting, rest].concat();
    if lasting.is_empty() {
        vec![after]
    } else {
        let mut all = vec![after, before];
        all.extend(instead(core, calm, rest, &lasting));
        all
    }
}

/// Returns the run in which an object that is replaced before it is observed is the replacement
/// from the start.
fn instead(core: &Core, calm: &[Move], rest: &[Move], lasting: &[Move]) -> Option<Vec<Move>> {
    let path = |key: &String| {
        let found = core.fixtures.iter().find(|f| f.key == *key);
        found.map(|f| &f.path)
    };
    let (last, way) = rest.split_last()?;
    let [Move::Replace(other)] = lasting else {
        return None;
    };
    let is_same = |key: &String| path(key) == path(other);
    let made = matches!(last, Move::Create(key) if is_same(key));
    let replaced = matches!(last, Move::Replace(key) if is_same(key));
    let instead = match (made, replaced) {
        (true, _) => Move::Create(other.clone()),
        (false, true) => Move::Replace(other.clone()),
        (false, false) => return None,
    };
    Some([calm, way, &[instead]].concat())
}

/// Runs the undisturbed runs that are missing for the comparison. Another one runs only if the end
/// differs from the earlier ones.
pub(crate) fn complete(
    core: &Arc<Core>,
    ends: &mut Ends,
    runs: &[(&Schedule, &Ran)],
) -> Result<usize, String> {
    let mut count = 0;
    for turn in 0..3 {
        let unlike = |(schedule, ran): &&(&Schedule, &Ran)| {
            let mut known = undisturbed(core, schedule).into_iter().take(turn);
            let is_end = |moves| ends.get(&moves).and_then(Option::as_ref) == Some(&ran.end);
            ran.possible && !ran.given_up && !known.any(is_end)
        };
        let wanted = runs.iter().filter(unlike);
        let wanted =
            wanted.filter_map(|(schedule, _)| undisturbed(core, schedule).into_iter().nth(turn));
        let missing: BTreeSet<_> = wanted.filter(|moves| !ends.contains_key(moves)).collect();
        let work: Vec<_> = missing
            .iter()
            .map(|moves| {
                let ask = Ask {
                    from: From::Longest,
                    end_only: true,
                    ..Ask::default()
                };
                (Schedule::quiet(moves.clone()), ask)
            })
            .collect();
        let ran = run_all(core, &work)?;
        count += ran.len();
        for (moves, ran) in missing.into_iter().zip(ran) {
            ends.insert(moves, ran.possible.then_some(ran.end));
        }
    }
    Ok(count)
}

/// Compares the end of a perturbed run with the unperturbed one. Returns true if a comparison was
/// possible, and the finding if they differ.
pub(crate) fn compare(
    core: &Core,
    ends: &Ends,
    schedule: &Schedule,
    ran: &Ran,
) -> (bool, Option<Finding>) {
    if !ran.possible || ran.given_up {
        return (false, None);
    }
    let expected = undisturbed(core, schedule).into_iter();
    let expected: Vec<&WorldsKey> = expected
        .filter_map(|moves| ends.get(&moves)?.as_ref())
        .collect();
    if expected.is_empty() {
        return (false, None);
    }
    let irs = core.irs();
    let is_like = |one: &&WorldsKey| one.managed(&irs) == ran.end.managed(&irs);
    if expected.iter().any(is_like) {
        return (true, None);
    }
    let (is, was) = (
        ran.end.describe(&core.irs()),
        expected[0].describe(&core.irs()),
    );
    let text = format!("it ends in {is}; undisturbed it ends in {was}");
    (true, Some(Finding::new(Invariant::SameEnd, text)))
}

/// Runs one schedule and everything that it is compared with.
pub(crate) fn judged(core: &Arc<Core>, schedule: &Schedule) -> Result<Vec<Failure>, String> {
    let ran = run_schedule(core, schedule, Ask::default())?;
    let mut findings = ran.findings.clone();
    if !schedule.faults.is_empty() {
        let mut ends = Ends::new();
        complete(core, &mut ends, &[(schedule, &ran)])?;
        findings.extend(compare(core, &ends, schedule, &ran).1);
    }
    let failures = findings.iter();
    Ok(failures.map(|f| Failure::new(schedule, f)).collect())
}
