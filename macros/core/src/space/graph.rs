//! The graph of a lifecycle: the movers of each world that is not settled, and the targets of their
//! moves. A move leads to a set of worlds. Equal sets are stored once, so the graph stays small
//! even if an effect may establish anything.

use std::collections::BTreeMap;

use crate::model::{Assign, Effect, EffectId, Lifecycle, Mode, VarId, Verb, Verdict};
use crate::space::policy::Choice;
use crate::space::promised::{Mover, Promised};
use crate::space::world::{Change, World};
use crate::space::{Class, Space};

/// Mover of a world, and the set of worlds that it may lead to.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub mover: Mover,
    /// Position of the set.
    pub to: usize,
}

/// All moves of all worlds.
#[derive(Debug, Default)]
pub struct Graph {
    moves: Vec<Move>,
    /// Index of the first move of each world.
    first: Vec<usize>,
    sets: Vec<Vec<u32>>,
    rest: Vec<bool>,
}

impl Graph {
    /// Returns the moves of every world that is not settled.
    pub fn new(space: &Space<'_>) -> Self {
        // A region that another asks is at rest only if nothing moves it any more. Otherwise the
        // other would meet changes without end.
        let promises = match space.lifecycle.is_asked {
            true => Promised::all(space.lifecycle),
            false => Vec::new(),
        };
        let is_moved = |index: usize| {
            let world = space.worlds.get(index);
            let leads_on = |set: &Vec<(VarId, usize)>| {
                let ends = space.worlds.reached(&forced(space.lifecycle, world, set));
                ends.iter().any(|end| *end as usize != index)
            };
            let mut due = promises.iter().filter(|promise| promise.holds(world));
            due.any(|promise| promise.sets.iter().any(leads_on))
        };
        let rests = |index: usize| {
            let is_state = matches!(space.classes[index], Class::State(_));
            space.is_at_rest(index) && !(is_state && is_moved(index))
        };
        Self::with_choices(space, &space.choices, rests)
    }

    /// Like `of`, for another trajectory: with its own choice in each world, and its own end.
    pub fn with_choices(
        space: &Space<'_>,
        choices: &[Choice],
        rests: impl Fn(usize) -> bool,
    ) -> Self {
        let mut builder = Builder {
            space,
            choices,
            promises: Promised::all(space.lifecycle),
            known: BTreeMap::new(),
            graph: Self::default(),
        };
        for index in space.worlds.indexes() {
            let first = builder.graph.moves.len();
            builder.graph.first.push(first);
            let rests = rests(index);
            builder.graph.rest.push(rests);
            if !rests {
                builder.add(index);
            }
        }
        let end = builder.graph.moves.len();
        builder.graph.first.push(end);
        builder.graph
    }

    /// Returns the moves of one world. Empty if it is settled.
    pub fn moves(&self, world: usize) -> &[Move] {
        &self.moves[self.first[world]..self.first[world + 1]]
    }

    /// The moves of all worlds.
    pub fn all(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the worlds that a move may lead to, ascending.
    pub fn ends(&self, one: Move) -> &[u32] {
        &self.sets[one.to]
    }

    /// How many different sets there are.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// One of the sets.
    pub fn set(&self, set: usize) -> &[u32] {
        &self.sets[set]
    }

    /// Returns true if a run ends in this world.
    pub fn is_at_rest(&self, world: usize) -> bool {
        self.rest[world]
    }
}

struct Builder<'a> {
    space: &'a Space<'a>,
    choices: &'a [Choice],
    promises: Vec<Promised<'a>>,
    known: BTreeMap<Change, usize>,
    graph: Graph,
}

impl Builder<'_> {
    fn add(&mut self, index: usize) {
        let space = self.space;
        let world = space.worlds.get(index);
        match self.choices[index] {
            Choice::Effect(effect) => {
                for change in outcomes(space, effect, world) {
                    self.add_move(index, Mover::Effect, change);
                }
            }
            Choice::Claim(_) | Choice::Seize => {
                let claim = space
                    .permissions
                    .claim()
                    .expect("only what can be claimed is claimed");
                let change = forced(space.lifecycle, world, &[(claim, 1)]);
                self.add_move(index, Mover::Claim, change);
            }
            Choice::Nothing | Choice::Release => {}
        }
        let mut kept = Vec::new();
        for promise in self.promises.iter().filter(|promise| promise.holds(world)) {
            for set in &promise.sets {
                kept.push((promise.mover, forced(space.lifecycle, world, set)));
            }
        }
        for (mover, change) in kept {
            self.add_move(index, mover, change);
        }
    }

    fn add_move(&mut self, from: usize, mover: Mover, change: Change) {
        let set = match self.known.get(&change) {
            Some(set) => *set,
            None => {
                self.graph.sets.push(self.space.worlds.reached(&change));
                let set = self.graph.sets.len() - 1;
                self.known.insert(change, set);
                set
            }
        };
        // A promise that leaves everything as it is was not kept.
        let nowhere = match self.graph.sets[set].as_slice() {
            [] => true,
            [only] => mover != Mover::Effect && *only as usize == from,
            _ => false,
        };
        if !nowhere {
            self.graph.moves.push(Move { mover, to: set });
        }
    }
}

/// Returns the possible outcomes of an effect: each alternative of `sets` with any value for the
/// other variables that read its target. If only the builder of an object reads it, the verdict on
/// the object keeps to `Stale` and `Current`. A further outcome is a refusal.
fn outcomes(space: &Space<'_>, effect: EffectId, world: World<'_>) -> Vec<Change> {
    let lifecycle = space.lifecycle;
    let declared = &lifecycle.effects[effect.0];
    let mut all = Vec::new();
    for alternative in declared.outcomes_from(lifecycle, world) {
        let mut change = Change::from(world, lifecycle);
        for var in space.frames.affected(effect) {
            space.touch(&mut change, effect, *var);
        }
        for assign in alternative {
            change.force(assign.var, assign.value);
        }
        // A fact that only we acquire does not appear by itself.
        for (var, held) in lifecycle.vars.iter().enumerate() {
            let var = VarId(var);
            let is_set = declared
                .sets
                .iter()
                .flatten()
                .any(|assign| assign.var == var);
            if !is_set
                && held
                    .held
                    .is_some_and(|held| held.free.contains(world.value(var)))
            {
                change.stay_free(var);
            }
        }
        all.push(change);
    }
    let written = lifecycle.inputs[declared.target.0].mode;
    if declared.verb != Verb::Delete && !matches!(written, Mode::Record | Mode::Noted) {
        all.push(forced(lifecycle, world, &[(declared.refused, 1)]));
    }
    all
}

impl Effect {
    /// Returns the alternatives that are possible from a world. An optional object that is missing
    /// where it is wanted is created, so that nothing is deleted.
    fn outcomes_from<'a>(
        &'a self,
        lifecycle: &'a Lifecycle,
        world: World<'a>,
    ) -> impl Iterator<Item = &'a Vec<Assign>> {
        let target = &lifecycle.inputs[self.target.0];
        let var = target.var.filter(|_| target.only_if.is_some());
        let is = |var: VarId, value: usize, verdict: Verdict| {
            lifecycle.vars[var.0].verdict(value) == Some(verdict)
        };
        let created = var.filter(|var| is(*var, world.value(*var), Verdict::Absent));
        let deletes = move |alternative: &Vec<Assign>| {
            let mut all = alternative.iter();
            all.any(|one| Some(one.var) == created && is(one.var, one.value, Verdict::Terminating))
        };
        let all = self.sets.iter();
        all.filter(move |alternative| !deletes(alternative))
    }
}

/// Nothing changes but these.
pub fn forced(lifecycle: &Lifecycle, world: World<'_>, values: &[(VarId, usize)]) -> Change {
    let mut change = Change::from(world, lifecycle);
    for (var, value) in values {
        change.force(*var, *value);
    }
    change
}
