//! Quiet runs: from which worlds one may come to others, and the shortest way there as text.

use std::collections::VecDeque;

use crate::model::{EffectId, VarId};
use crate::space::Space;
use crate::space::cause::Actor;
use crate::space::graph::Graph;
use crate::space::policy::Choice;
use crate::space::promised::Mover;
use crate::space::witness;

/// How many moves of a walk are printed.
const PRINTED: usize = 8;

/// All runs of one trajectory: its moves, and the choice in each world.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    pub space: &'a Space<'a>,
    pub graph: &'a Graph,
    pub choices: &'a [Choice],
}

/// A way through the worlds: each world with who moves it to the next, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    pub moves: Vec<(u32, Mover)>,
    pub end: u32,
}

/// Order of two effects in the runs of one trajectory.
#[derive(Debug)]
pub struct Order {
    /// Worlds in which the second effect runs and the first may run after it, ascending. Empty if
    /// it never does.
    pub broken: Vec<usize>,
    /// True if the second effect may run after the first.
    pub kept: bool,
}

impl<'a> Runs<'a> {
    /// Returns true if this effect is the choice in a world.
    pub fn runs_effect(&self, effect: EffectId, world: usize) -> bool {
        !self.graph.is_at_rest(world) && self.choices[world] == Choice::Effect(effect)
    }

    /// Returns the worlds that an effect leads to if it runs in this world and is not refused.
    pub fn accepted(&self, effect: EffectId, world: usize) -> impl Iterator<Item = u32> {
        let Runs { space, graph, .. } = *self;
        let refused = space.lifecycle.effects[effect.0].refused;
        let moves = graph.moves(world).iter();
        let ours = moves.filter(|one| one.mover == Mover::Effect);
        let ends = ours.flat_map(|one| graph.ends(*one)).copied();
        ends.filter(move |end| space.worlds.get(*end as usize).value(refused) == 0)
    }

    /// Returns the worlds in which an effect runs, and is not only refused.
    fn running(&self, effect: EffectId) -> Vec<usize> {
        let worlds = self.space.worlds.indexes();
        worlds
            .filter(|world| self.runs_effect(effect, *world))
            .collect()
    }

    /// Returns the order of two effects: the worlds in which the first may run after the second,
    /// and if the second may run after the first.
    pub fn order(&self, back: &Backwards, first: EffectId, then: EffectId) -> Order {
        let (firsts, thens) = (self.running(first), self.running(then));
        let free = |_: usize| false;
        let after = |effect: EffectId, from: &[usize], to: &[usize]| -> Vec<usize> {
            let leading = back.leading(self.graph, to, &free);
            let leads = |world: &usize| {
                let mut ends = self.accepted(effect, *world);
                ends.any(|end| leading[end as usize])
            };
            from.iter().copied().filter(leads).collect()
        };
        Order {
            broken: after(then, &thens, &firsts),
            kept: !after(first, &firsts, &thens).is_empty(),
        }
    }

    /// Returns the shortest way from any of some worlds to a goal that avoids the blocked worlds.
    pub fn walk(
        &self,
        from: impl IntoIterator<Item = u32>,
        goal: &dyn Fn(usize) -> bool,
        blocked: &dyn Fn(usize) -> bool,
    ) -> Option<Walk> {
        let graph = self.graph;
        let mut before: Vec<Option<(u32, Mover)>> = vec![None; self.choices.len()];
        let mut seen = vec![false; self.choices.len()];
        let mut followed = vec![false; graph.sets()];
        let mut queue = VecDeque::new();
        for world in from {
            if !std::mem::replace(&mut seen[world as usize], true) {
                queue.push_back(world);
            }
        }
        while let Some(world) = queue.pop_front() {
            if goal(world as usize) {
                return Some(traced(&before, world));
            }
            for one in graph.moves(world as usize) {
                if std::mem::replace(&mut followed[one.to], true) {
                    continue;
                }
                for &end in graph.ends(*one) {
                    let is_new = !std::mem::replace(&mut seen[end as usize], true);
                    if is_new && !blocked(end as usize) {
                        before[end as usize] = Some((world, one.mover));
                        queue.push_back(end);
                    }
                }
            }
        }
        None
    }

    /// Returns a walk as text: the changed facts, and the mover of each change. `None` if no change
    /// is visible.
    pub fn describe(&self, walk: &Walk) -> Option<String> {
        let worlds: Vec<u32> = walk
            .moves
            .iter()
            .map(|(world, _)| *world)
            .chain([walk.end])
            .collect();
        let at = |world: u32| self.space.worlds.get(world as usize);
        let first = at(worlds[0]);
        let changes = |var: &VarId| {
            let mut all = worlds.iter();
            all.any(|world| at(*world).value(*var) != first.value(*var))
        };
        let vars = (0..self.space.lifecycle.vars.len()).map(VarId);
        let changing: Vec<VarId> = vars.filter(changes).collect();
        if changing.is_empty() {
            return None;
        }
        let facts =
            |world| witness::show(self.space.lifecycle, at(world), changing.iter().copied());
        let arrow = |((world, mover), end): (&(u32, Mover), &u32)| {
            let by = self.by(*world, *mover).describe(self.space.lifecycle);
            format!(" -> `{}` ({by})", facts(*end))
        };
        let arrows: Vec<String> = walk.moves.iter().zip(&worlds[1..]).map(arrow).collect();
        let mut text = format!("`{}`", facts(worlds[0]));
        if arrows.len() > PRINTED {
            text += &arrows[..PRINTED - 2].concat();
            text += " -> ..";
            text += &arrows[arrows.len() - 1..].concat();
        } else {
            text += &arrows.concat();
        }
        Some(text)
    }

    fn by(&self, world: u32, mover: Mover) -> Actor {
        match (mover, self.choices[world as usize].effect()) {
            (Mover::Effect, Some(effect)) => Actor::Effect(effect),
            (mover, _) => Actor::Other(mover),
        }
    }
}

fn traced(before: &[Option<(u32, Mover)>], end: u32) -> Walk {
    let mut moves = Vec::new();
    let mut at = end;
    while let Some((world, mover)) = before[at as usize] {
        moves.push((world, mover));
        at = world;
    }
    moves.reverse();
    Walk { moves, end }
}

/// Predecessors of each world, computed once for all queries about a graph.
pub struct Backwards {
    /// The sets that a world is in.
    sets: Lists,
    /// The worlds from which a move leads to a set.
    movers: Lists,
}

impl Backwards {
    pub fn from_graph(graph: &Graph, worlds: usize) -> Self {
        let ends = |set| graph.set(set).iter().map(|end| *end as usize);
        let tos = |world| graph.moves(world).iter().map(|one| one.to);
        Self {
            sets: Lists::turned(worlds, graph.sets(), ends),
            movers: Lists::turned(graph.sets(), worlds, tos),
        }
    }

    /// Returns true for each world from which a run may reach one of the goals without passing a
    /// blocked world.
    pub fn leading(
        &self,
        graph: &Graph,
        goals: &[usize],
        blocked: &dyn Fn(usize) -> bool,
    ) -> Vec<bool> {
        let mut leading = vec![false; self.sets.len()];
        let mut followed = vec![false; graph.sets()];
        let mut open = Vec::new();
        for &goal in goals {
            leading[goal] = true;
            open.push(goal);
        }
        while let Some(world) = open.pop() {
            for &set in self.sets.get(world) {
                if std::mem::replace(&mut followed[set as usize], true) {
                    continue;
                }
                for &from in self.movers.get(set as usize) {
                    let from = from as usize;
                    if !leading[from] && !blocked(from) {
                        leading[from] = true;
                        open.push(from);
                    }
                }
            }
        }
        leading
    }
}

/// A list of numbers for each of some numbers.
struct Lists {
    first: Vec<usize>,
    all: Vec<u32>,
}

impl Lists {
    /// Returns for each of `count` ids the `others` with a list that contains it.
    fn turned<I: Iterator<Item = usize>>(
        count: usize,
        others: usize,
        list: impl Fn(usize) -> I,
    ) -> Self {
        let mut first = vec![0; count + 1];
        for other in 0..others {
            list(other).for_each(|number| first[number + 1] += 1);
        }
        for number in 0..count {
            first[number + 1] += first[number];
        }
        let mut next = first.clone();
        let mut all = vec![0; first[count]];
        for other in 0..others {
            for number in list(other) {
                all[next[number]] = u32::try_from(other).expect("bounded by the limit of worlds");
                next[number] += 1;
            }
        }
        Self { first, all }
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn get(&self, number: usize) -> &[u32] {
        &self.all[self.first[number]..self.first[number + 1]]
    }
}
