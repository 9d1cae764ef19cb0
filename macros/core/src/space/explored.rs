//! The worlds of a lifecycle with their trajectories, for the rules about convergence. Explored
//! once for all rules.

use std::collections::BTreeSet;

use proc_macro2::Span;

use crate::model::{Condition, ConditionId, ConditionStatus, Promise, StateId, VarId};
use crate::space::components::Loop;
use crate::space::drives::Drives;
use crate::space::graph::forced;
use crate::space::policy::Choice;
use crate::space::promised::Promised;
use crate::space::runs::Runs;
use crate::space::world::World;
use crate::space::{Class, Space};

/// The worlds and the trajectories of a lifecycle.
#[derive(Debug)]
pub struct Explored<'a> {
    pub space: &'a Space<'a>,
    pub drives: &'a Drives,
}

/// The first condition of the roll-up that is required and left out, else the first that is not
/// True.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmet {
    Nothing,
    Condition {
        condition: ConditionId,
        clause: usize,
    },
}

impl<'a> Explored<'a> {
    /// The quiet runs of the object.
    pub fn runs(&self) -> Runs<'a> {
        Runs {
            space: self.space,
            graph: &self.drives.graph,
            choices: &self.space.choices,
        }
    }

    /// Returns the loops of the live trajectory, without those of the deletion.
    pub fn live_loops(&self) -> impl Iterator<Item = &Loop> {
        let live = |one: &&Loop| self.space.classes[one.worlds[0] as usize] != Class::Deleting;
        self.drives.loops.iter().filter(live)
    }

    /// The live worlds of a state.
    pub fn worlds_of(&self, class: Class) -> impl Iterator<Item = usize> {
        let worlds = self.space.live();
        worlds.filter(move |world| self.space.classes[*world] == class)
    }

    /// Returns the facts that the predicate of a state queries. Empty for an implicit state.
    pub fn vars_of(&self, class: Class) -> BTreeSet<VarId> {
        match class {
            Class::State(StateId(state)) => self.space.lifecycle.states[state].when.vars(),
            Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere => BTreeSet::new(),
        }
    }

    /// The name of a state, or of the lifecycle where the state is implicit.
    pub fn span_of(&self, class: Class) -> Span {
        match class {
            Class::State(StateId(state)) => self.space.lifecycle.states[state].name.span(),
            Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere => {
                self.space.lifecycle.name.span()
            }
        }
    }

    /// Returns the worlds of a state in which we have no effect left to run.
    pub fn idle_in(&self, state: StateId) -> Vec<usize> {
        let worlds = self.worlds_of(Class::State(state));
        worlds
            .filter(|world| self.space.choices[*world] == Choice::Nothing)
            .collect()
    }

    /// Returns the first declared promise that would lead from a settled world of one state into
    /// such a class, if a settled object waited for promises.
    pub fn idly_promised(&self, from: Class, leads: impl Fn(Class) -> bool) -> Option<&'a Promise> {
        let space = self.space;
        let resting: Vec<World<'_>> = self
            .worlds_of(from)
            .filter(|world| space.is_at_rest(*world))
            .map(|world| space.worlds.get(world))
            .collect();
        let would_lead = |world: World<'_>, set: &Vec<(VarId, usize)>| {
            let ends = space.worlds.reached(&forced(space.lifecycle, world, set));
            ends.iter().any(|end| leads(space.classes[*end as usize]))
        };
        let promises = Promised::all(space.lifecycle).into_iter();
        // Declared ones come first.
        let mut promises = space.lifecycle.promises.iter().zip(promises);
        let found = promises.find(|(_, promise)| {
            let mut due = resting.iter().filter(|world| promise.holds(**world));
            due.any(|world| promise.sets.iter().any(|set| would_lead(*world, set)))
        });
        found.map(|(declared, _)| declared)
    }

    /// Returns the state, and the unmet condition, of a world with a declared state in which
    /// nothing is left for us to do. Returns `None` without a roll-up, and if no status is written.
    pub fn unmet_when_idle(&self, world: usize) -> Option<(StateId, Unmet)> {
        let space = self.space;
        let Class::State(state) = space.classes[world] else {
            return None;
        };
        if space.choices[world] != Choice::Nothing || !space.rolls_up(space.classes[world]) {
            return None;
        }
        let mut unmet = None;
        for id in &space.lifecycle.ready.as_ref()?.from {
            let condition = &space.lifecycle.conditions[id.0];
            let clause = clause_of(condition, space.worlds.get(world))?;
            let found = Unmet::Condition {
                condition: *id,
                clause,
            };
            match condition.clauses[clause].status {
                ConditionStatus::Absent => return Some((state, found)),
                ConditionStatus::False | ConditionStatus::Unknown => {
                    unmet.get_or_insert(found);
                }
                ConditionStatus::True | ConditionStatus::Omit => {}
            }
        }
        Some((state, unmet.unwrap_or(Unmet::Nothing)))
    }
}

/// The clause of a condition that applies in a world.
pub fn clause_of(condition: &Condition, world: World<'_>) -> Option<usize> {
    let mut clauses = condition.clauses.iter();
    clauses.position(|clause| clause.when.as_ref().is_none_or(|when| world.holds(when)))
}
