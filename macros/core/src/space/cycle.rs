//! A round that a fair run can make for ever, short enough to be read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::VarId;
use crate::space::Space;
use crate::space::cause::Actor;
use crate::space::components::Loop;
use crate::space::graph::{Graph, Move};
use crate::space::policy::Choice;
use crate::space::promised::Mover;
use crate::space::witness;

/// From how many worlds of a loop the shortest round is looked for.
const STARTS: usize = 32;
/// How many moves of a round are printed.
const PRINTED: usize = 8;

/// A closed walk: each world with who moves it to the next; the last one moves to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round(pub Vec<(u32, Mover)>);

/// Returns a round within a loop in which no mover waits for ever.
pub fn round(graph: &Graph, one: &Loop) -> Round {
    let part = Part { graph, one };
    let starts = one.worlds.iter().take(STARTS);
    let shortest = starts
        .filter_map(|start| part.back_to(*start))
        .min_by_key(Vec::len);
    let mut walk = shortest.unwrap_or_default();
    for mover in part.movers() {
        if !part.content(&walk, mover) {
            walk.extend(part.detour(walk[0].0, mover));
        }
    }
    Round(walk)
}

impl Round {
    /// The round as text: the facts that change, and who changes them.
    pub fn describe(&self, space: &Space<'_>, choices: &[Choice]) -> String {
        let worlds = || {
            self.0
                .iter()
                .map(|(world, _)| space.worlds.get(*world as usize))
        };
        let Some(first) = worlds().next() else {
            return String::new();
        };
        let changes = |var: &VarId| worlds().any(|world| world.value(*var) != first.value(*var));
        let changing: Vec<VarId> = (0..space.lifecycle.vars.len())
            .map(VarId)
            .filter(changes)
            .collect();
        if changing.is_empty() {
            return "for the facts stay as they are".to_owned();
        }
        let facts = |world| witness::show(space.lifecycle, world, changing.iter().copied());
        let mut text = format!("`{}`", facts(first));
        let ends = worlds().skip(1).chain([first]);
        for ((world, mover), end) in self.0.iter().zip(ends).take(PRINTED) {
            let by = match (mover, choices[*world as usize].effect()) {
                (Mover::Effect, Some(effect)) => Actor::Effect(effect),
                (mover, _) => Actor::Other(*mover),
            };
            text += &format!(" -> `{}` ({})", facts(end), by.describe(space.lifecycle));
        }
        if self.0.len() > PRINTED {
            text += " -> ..";
        }
        text
    }
}

struct Part<'a> {
    graph: &'a Graph,
    one: &'a Loop,
}

impl Part<'_> {
    /// Returns the worlds that a move may lead to within the part. A promise that is kept changes
    /// something.
    fn ends(&self, world: u32, one: Move) -> impl Iterator<Item = u32> {
        let ends = self.graph.ends(one).iter().copied();
        let inside = ends.filter(|end| self.one.worlds.binary_search(end).is_ok());
        inside.filter(move |end| one.mover == Mover::Effect || *end != world)
    }

    fn movers(&self) -> BTreeSet<Mover> {
        let worlds = self.one.worlds.iter();
        let moves = worlds.flat_map(|world| self.graph.moves(*world as usize));
        moves
            .map(|one| one.mover)
            .filter(|mover| !mover.is_ranked())
            .collect()
    }

    fn enables(&self, world: u32, mover: Mover) -> bool {
        let moves = self.graph.moves(world as usize);
        moves.iter().any(|one| one.mover == mover)
    }

    /// Returns true if a round lets this mover move, or contains a world in which it is not
    /// enabled.
    fn content(&self, walk: &[(u32, Mover)], mover: Mover) -> bool {
        walk.iter()
            .any(|(world, by)| *by == mover || !self.enables(*world, mover))
    }

    /// From a world through one that makes this mover content, and back.
    fn detour(&self, from: u32, mover: Mover) -> Vec<(u32, Mover)> {
        let worlds = || self.one.worlds.iter().copied();
        if let Some(through) = worlds().find(|world| !self.enables(*world, mover)) {
            let mut walk = self.path(from, through);
            walk.extend(self.path(through, from));
            return walk;
        }
        let step = worlds().find_map(|world| {
            let mut moves = self.graph.moves(world as usize).iter();
            let one =
                moves.find(|one| one.mover == mover && self.ends(world, **one).next().is_some())?;
            Some((world, self.ends(world, *one).next()?))
        });
        let Some((world, end)) = step else {
            return Vec::new();
        };
        let mut walk = self.path(from, world);
        walk.push((world, mover));
        walk.extend(self.path(end, from));
        walk
    }

    /// The shortest way out of a world and back to it.
    fn back_to(&self, start: u32) -> Option<Vec<(u32, Mover)>> {
        trace(&self.search(start, start), start, start)
    }

    fn path(&self, from: u32, to: u32) -> Vec<(u32, Mover)> {
        if from == to {
            return Vec::new();
        }
        trace(&self.search(from, to), from, to).unwrap_or_default()
    }

    /// For each world that can be reached by at least one move, how it was reached first; stops at `goal`.
    fn search(&self, from: u32, goal: u32) -> BTreeMap<u32, (u32, Mover)> {
        let graph = self.graph;
        let mut before = BTreeMap::new();
        let mut followed = BTreeSet::new();
        let mut queue = VecDeque::from([from]);
        while let Some(world) = queue.pop_front() {
            for one in graph.moves(world as usize) {
                // A set that was followed once has nothing new, unless its first user may not move to itself.
                if one.mover.is_ranked() || (!followed.insert(one.to) && world != from) {
                    continue;
                }
                for end in self.ends(world, *one) {
                    if end == goal {
                        before.insert(end, (world, one.mover));
                        return before;
                    }
                    before.entry(end).or_insert_with(|| {
                        queue.push_back(end);
                        (world, one.mover)
                    });
                }
                if world == from {
                    followed.remove(&one.to);
                }
            }
        }
        before
    }
}

/// The way to a world, read backwards off a search; at least one move.
fn trace(before: &BTreeMap<u32, (u32, Mover)>, from: u32, to: u32) -> Option<Vec<(u32, Mover)>> {
    let mut path = vec![*before.get(&to)?];
    while let Some((world, _)) = path.last().copied()
        && world != from
    {
        path.push(*before.get(&world)?);
    }
    path.reverse();
    Some(path)
}
