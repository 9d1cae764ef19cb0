//! One trajectory: from every one of its worlds every quiet fair run settles, or a world is stuck,
//! or a part loops.

use std::collections::{BTreeMap, BTreeSet};

use crate::broken::Rule;
use crate::findings::Findings;
use crate::moves::{ExternalMove, Move};
use crate::worlds::{NodePlace, Worlds};

/// Mover of a world: the policy, the claim, or a promise by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mover {
    Claim,
    Us,
    Vow(usize),
}

/// The moves of one trajectory, and its errors.
#[derive(Debug, Default)]
pub(crate) struct MoveGraph {
    pub(crate) moves: BTreeMap<usize, BTreeMap<Mover, BTreeSet<usize>>>,
    pub(crate) stuck: Vec<usize>,
    /// Parts without a settled world in which a fair run can stay for ever.
    pub(crate) loops: Vec<BTreeSet<usize>>,
}

/// Returns true if a world in which nothing is done may stay unchanged.
pub(crate) fn rests_at(worlds: &Worlds<'_>, place: Option<NodePlace>) -> bool {
    let Some(NodePlace::State(state)) = place else {
        return true;
    };
    let state = &worlds.life.states[state];
    state.goal && !worlds.forgets(Rule::GoalRests)
        || state.wakes.is_some() && !worlds.forgets(Rule::WakesRests)
        || state.is_ignored() && !worlds.forgets(Rule::IgnoredRests)
}

/// Reports the declared promises for which no trajectory waits.
pub(crate) fn idle_promises<'m>(
    worlds: &Worlds<'_>,
    moves: impl Iterator<Item = &'m BTreeMap<Mover, BTreeSet<usize>>>,
    found: &mut Findings,
) {
    let kept: BTreeSet<Mover> = moves.flat_map(|moves| moves.keys().copied()).collect();
    for (number, promise) in worlds.life.promises.iter().enumerate() {
        if !kept.contains(&Mover::Vow(number)) {
            found.report("LC097", &promise.name);
        }
    }
}

impl MoveGraph {
    pub(crate) fn new(
        worlds: &Worlds<'_>,
        all: &[usize],
        policy: &[Option<Move>],
        rests: &dyn Fn(usize) -> bool,
        found: &mut Findings,
    ) -> Self {
        let vows = worlds.vows();
        let mut drive = Self::default();
        for &at in all {
            let moves = if rests(at) {
                BTreeMap::new()
            } else {
                moves(worlds, at, policy[at], &vows, found)
            };
            if moves.is_empty() && !rests(at) {
                drive.stuck.push(at);
            }
            drive.moves.insert(at, moves);
        }
        drive.find_loops(worlds, rests, &vows);
        drive
    }

    fn find_loops(
        &mut self,
        worlds: &Worlds<'_>,
        rests: &dyn Fn(usize) -> bool,
        vows: &[ExternalMove],
    ) {
        let ranked = |mover: &Mover| {
            matches!(mover, Mover::Vow(vow) if vows[*vow].again)
                && !worlds.forgets(Rule::SetsAreRanked)
        };
        let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (&at, moves) in self.moves.iter().filter(|(at, _)| !rests(**at)) {
            let ends = moves
                .iter()
                .filter(|(mover, _)| !ranked(mover))
                .flat_map(|(_, ends)| ends);
            next.insert(at, ends.copied().filter(|end| !rests(*end)).collect());
        }
        for part in parts(&next) {
            let inside = |at: &usize| {
                self.moves[at]
                    .values()
                    .flatten()
                    .any(|end| part.contains(end))
            };
            if !part.iter().any(inside) {
                continue;
            }
            let movers: BTreeSet<Mover> = part
                .iter()
                .flat_map(|at| self.moves[at].keys().copied())
                .collect();
            let patient = |mover: &Mover| {
                let waits = part.iter().any(|at| !self.moves[at].contains_key(mover));
                let stays = |at: &usize| {
                    self.moves[at]
                        .get(mover)
                        .into_iter()
                        .flatten()
                        .any(|end| part.contains(end))
                };
                waits || part.iter().any(stays)
            };
            let fair = movers.iter().filter(|mover| !ranked(mover)).all(patient);
            if fair || worlds.forgets(Rule::Fairness) {
                self.loops.push(part);
            }
        }
    }
}

fn moves(
    worlds: &Worlds<'_>,
    at: usize,
    policy: Option<Move>,
    vows: &[ExternalMove],
    found: &mut Findings,
) -> BTreeMap<Mover, BTreeSet<usize>> {
    let world = &worlds.all[at];
    let mut moves = BTreeMap::new();
    match policy {
        Some(Move::Claim(_)) => {
            let mut claimed = world.clone();
            claimed[worlds.claimed.expect("only what can be claimed is claimed")] = 1;
            moves.insert(
                Mover::Claim,
                worlds.all.get_index_of(&claimed).into_iter().collect(),
            );
        }
        Some(Move::Run(act)) => {
            moves.insert(Mover::Us, worlds.outcomes(&worlds.acts[act], world, found));
        }
        Some(Move::Release) | None => {}
    }
    for (number, vow) in vows.iter().enumerate() {
        moves.insert(Mover::Vow(number), worlds.promise_targets(vow, at));
    }
    moves.retain(|_, ends| !ends.is_empty());
    moves
}

/// The strongly connected parts of a graph: Kosaraju's two walks.
fn parts(next: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<BTreeSet<usize>> {
    let mut back: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (&at, ends) in next {
        for &end in ends {
            back.entry(end).or_default().insert(at);
        }
    }
    let mut seen = BTreeSet::new();
    let mut finished = Vec::new();
    for &start in next.keys() {
        walk(next, start, &mut seen, &mut finished);
    }
    let mut seen = BTreeSet::new();
    let mut parts = Vec::new();
    for &start in finished.iter().rev() {
        let mut part = Vec::new();
        walk(&back, start, &mut seen, &mut part);
        if !part.is_empty() {
            parts.push(part.into_iter().collect());
        }
    }
    parts
}

/// Visits unseen nodes depth first from `start`; each node is added when it is left.
fn walk(
    next: &BTreeMap<usize, BTreeSet<usize>>,
    start: usize,
    seen: &mut BTreeSet<usize>,
    left: &mut Vec<usize>,
) {
    if !seen.insert(start) {
        return;
    }
    let none = BTreeSet::new();
    let ends = |at: usize| next.get(&at).unwrap_or(&none).iter();
    let mut path = vec![(start, ends(start))];
    while let Some((at, ends_of)) = path.last_mut() {
        match ends_of.next() {
            None => {
                left.push(*at);
                path.pop();
            }
            Some(&end) => {
                if seen.insert(end) {
                    path.push((end, ends(end)));
                }
            }
        }
    }
}
