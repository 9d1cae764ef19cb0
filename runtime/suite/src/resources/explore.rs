//! Breadth-first exploration by generic moves from an empty cluster: the settled worlds that are
//! reached, and the shortest way to each.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Core;
use super::coverage::Coverage;
use super::invariant::{Finding, Invariant};
use super::key::WorldsKey;
use super::moves::{Move, Schedule};
use super::report::Failure;
use super::run::{Ask, Ran, Share};
use super::workers::run_all;

/// Interval at which a step is made by a process that has lived through the whole way: one in this
/// many.
const EVERY: usize = 6;

/// Interval at which the run waits for a resync: after one in this many steps.
const LONG: usize = 48;

/// One move from a settled world, as it went undisturbed.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) moves: Vec<Move>,
    /// Share of the writes of each lifecycle, the one of the suite first.
    pub(crate) shares: Vec<Share>,
    pub(crate) wrote: Vec<String>,
    pub(crate) end: WorldsKey,
}

impl Edge {
    /// How much all of them wrote.
    pub(crate) fn sent(&self) -> usize {
        self.shares.iter().map(|share| share.sent).sum()
    }
}

/// Results of the exploration.
#[derive(Default)]
pub(crate) struct Explored {
    /// Settled worlds, each with its way.
    pub(crate) worlds: BTreeMap<WorldsKey, Vec<Move>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) coverage: Coverage,
    pub(crate) failures: Vec<Failure>,
    pub(crate) runs: usize,
    pub(crate) digest: Vec<u64>,
    /// Moves that the cluster did not allow.
    pub(crate) impossible: usize,
}

/// Explores up to the depth that the suite allows.
pub(crate) fn explore(core: &Arc<Core>) -> Result<Explored, String> {
    let mut explored = Explored::default();
    let mut frontier: Vec<(Vec<Move>, WorldsKey, Vec<Move>)> = Vec::new();
    let root = vec![(Schedule::default(), turn_options(0, &Arc::default(), None))];
    for ran in run_all(core, &root)? {
        explored.take(&Schedule::default(), &ran);
        core.forks.keep(&[], ran.fork);
        explored.worlds.insert(ran.rest.clone(), Vec::new());
        frontier.push((Vec::new(), ran.rest, ran.moves));
    }
    for _ in 0..core.depth {
        if core.is_enough(&explored.failures) {
            break;
        }
        let known: Arc<BTreeSet<WorldsKey>> = Arc::new(explored.worlds.keys().cloned().collect());
        let steps = frontier.drain(..).flat_map(|(way, rest, moves)| {
            moves
                .into_iter()
                .map(move |m| ([way.clone(), vec![m]].concat(), rest.clone()))
        });
        let work: Vec<_> = steps
            .enumerate()
            .map(|(turn, (way, rest))| {
                let schedule = if turn.is_multiple_of(EVERY) {
                    Schedule::quiet(way)
                } else {
                    Schedule::step(way)
                };
                (schedule, turn_options(turn, &known, Some(rest)))
            })
            .collect();
        let ran = run_all(core, &work)?;
        for ((schedule, _), ran) in work.into_iter().zip(ran) {
            explored.take(&schedule, &ran);
            if !ran.possible {
                explored.impossible += 1;
                continue;
            }
            explored.same_rest(core, &schedule, &ran);
            explored.edges.push(Edge {
                moves: schedule.moves.clone(),
                shares: ran.shares,
                wrote: ran.wrote,
                end: ran.end,
            });
            if let Entry::Vacant(unseen) = explored.worlds.entry(ran.rest.clone()) {
                if schedule.goes_on() {
                    core.forks.keep(&schedule.moves, ran.fork);
                }
                unseen.insert(schedule.moves.clone());
                frontier.push((schedule.moves, ran.rest, ran.moves));
            }
        }
    }
    Ok(explored)
}

fn turn_options(turn: usize, known: &Arc<BTreeSet<WorldsKey>>, before: Option<WorldsKey>) -> Ask {
    Ask {
        moves: Some(turn),
        long: turn.is_multiple_of(LONG),
        known: Arc::clone(known),
        before,
        ..Ask::default()
    }
}

impl Explored {
    /// Checks that a move without effect on the world does not change it.
    fn same_rest(&mut self, core: &Core, schedule: &Schedule, ran: &Ran) {
        let Some((Move::Smudge(_) | Move::Restart, way)) = schedule.moves.split_last() else {
            return;
        };
        let before = self
            .worlds
            .iter()
            .find(|(_, known)| known.as_slice() == way);
        if let Some((before, _)) = before.filter(|(before, _)| **before != ran.rest) {
            let (was, is) = (before.describe(&core.irs()), ran.rest.describe(&core.irs()));
            let text = format!("it settled in {was}; after the last move it settles in {is}");
            let finding = Finding::new(Invariant::SameEnd, text);
            self.failures.push(Failure::new(schedule, &finding));
        }
    }

    fn take(&mut self, schedule: &Schedule, ran: &Ran) {
        self.runs += 1;
        self.coverage.add(ran.coverage.clone());
        self.digest.push(ran.digest);
        for finding in &ran.findings {
            self.failures.push(Failure::new(schedule, finding));
        }
    }
}
