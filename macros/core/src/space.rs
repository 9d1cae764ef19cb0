//! State space of a lifecycle: its worlds, the state of each, our choice in each, and the movers
//! between them. Also finds the places at which a run can get stuck or go round. Decides nothing
//! about right and wrong, because that is the part of the rules. Produces no text but that of
//! witnesses.

pub mod altered;
pub mod calls;
pub mod cause;
pub mod components;
pub mod cycle;
mod decisive;
pub mod drives;
pub mod enumeration;
pub mod explored;
pub mod graph;
pub mod permission;
pub mod policy;
pub mod promised;
pub mod runs;
pub mod summary;
pub mod waits;
pub mod witness;
pub mod world;
pub mod worlds;

use std::collections::BTreeSet;

use crate::model::frames::{Dependency, Frames};
use crate::model::{
    AskedRegion, ConditionId, EffectId, Kind, Lifecycle, Origin, Source, State, StateId, Use, VarId,
};
use crate::space::enumeration::{TooMany, enumerate};
use crate::space::permission::Permissions;
use crate::space::policy::{Choice, Policy};
use crate::space::world::{Change, World};
use crate::space::worlds::Worlds;

/// The state of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Implicit: the object has a deletion timestamp.
    Deleting,
    /// Implicit: a write was refused and no state mentions that.
    Refused,
    State(StateId),
    /// A state of the root, in which a region that is checked by itself rests.
    Closed,
    /// No state matches.
    Nowhere,
}

impl AskedRegion {
    /// Returns true if the region is in a goal. It stays there.
    pub fn is_done(&self, world: World<'_>) -> bool {
        world.is_asked(self.state) && self.goals.contains(&world.value(self.state))
    }
}

/// A variable that reads something that changes.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub var: VarId,
    /// True if it is a verdict that moves between `Stale` and `Current` at most.
    pub is_only_compared: bool,
}

/// All worlds of a lifecycle, with everything that follows from each alone.
#[derive(Debug)]
pub struct Space<'a> {
    pub lifecycle: &'a Lifecycle,
    pub frames: &'a Frames,
    pub permissions: &'a Permissions<'a>,
    pub worlds: Worlds,
    pub policy: Policy<'a>,
    /// By world.
    pub classes: Vec<Class>,
    /// By world.
    pub choices: Vec<Choice>,
    /// Refusals that the declared states do not mention.
    unmentioned: Vec<VarId>,
}

impl<'a> Space<'a> {
    /// Enumerates and classifies the worlds.
    ///
    /// # Errors
    /// If there are too many.
    pub fn build(
        lifecycle: &'a Lifecycle,
        frames: &'a Frames,
        permissions: &'a Permissions<'a>,
    ) -> Result<Self, TooMany> {
        let mut space = Self {
            lifecycle,
            frames,
            permissions,
            worlds: enumerate(lifecycle, permissions)?,
            policy: Policy::new(lifecycle, permissions),
            classes: Vec::new(),
            choices: Vec::new(),
            unmentioned: unmentioned(lifecycle),
        };
        let worlds = || space.worlds.indexes().map(|index| space.worlds.get(index));
        space.classes = worlds().map(|world| space.classify(world)).collect();
        let worlds = || space.worlds.indexes().map(|index| space.worlds.get(index));
        let choose = |(world, class): (World<'_>, &Class)| match class {
            Class::Closed => Choice::Nothing,
            Class::Deleting | Class::Refused | Class::State(_) | Class::Nowhere => {
                space.policy.choose(world)
            }
        };
        space.choices = worlds().zip(&space.classes).map(choose).collect();
        Ok(space)
    }

    /// The state of a world: the implicit ones, then the first that fits.
    pub fn classify(&self, world: World<'_>) -> Class {
        if self.permissions.deleting(world) {
            return Class::Deleting;
        }
        let mut closed = self.lifecycle.closed.iter();
        if closed.any(|state| world.holds(&state.when)) {
            return Class::Closed;
        }
        if self.unmentioned.iter().any(|var| world.value(*var) == 1) {
            return Class::Refused;
        }
        let mut states = self.lifecycle.states.iter();
        states
            .position(|state| world.holds(&state.when))
            .map_or(Class::Nowhere, |state| Class::State(StateId(state)))
    }

    /// Returns the worlds in which the object is not being deleted, and a region does not rest.
    pub fn live(&self) -> impl Iterator<Item = usize> {
        let worlds = self.worlds.indexes();
        worlds.filter(|index| !matches!(self.classes[*index], Class::Deleting | Class::Closed))
    }

    /// Returns the worlds in which a condition is written anew.
    pub fn reporting_worlds(&self, condition: ConditionId) -> impl Iterator<Item = usize> {
        let worlds = self.worlds.indexes();
        worlds.filter(move |world| self.reports_condition(self.classes[*world], condition))
    }

    /// Returns true if a condition is written anew in a state. No condition is written if another
    /// controller manages the object. While the object is suspended, a condition is written only if
    /// it reads only the facts that decide the suspension. Nothing else is observed then, and keeps
    /// its last status.
    pub fn reports_condition(&self, class: Class, condition: ConditionId) -> bool {
        let Class::State(state) = class else {
            return !matches!(class, Class::Deleting | Class::Closed);
        };
        let state = &self.lifecycle.states[state.0];
        if state.is_suspended() {
            return self.lifecycle.is_said_while_suspended(condition);
        }
        !state.is_ignored()
    }

    /// Returns true if the roll-up of the conditions is written in a state.
    pub fn rolls_up(&self, class: Class) -> bool {
        match class {
            Class::Deleting | Class::Closed => false,
            Class::State(state) => !self.lifecycle.states[state.0].is_set_aside(),
            Class::Refused | Class::Nowhere => true,
        }
    }

    /// Returns the worlds in which the object is being deleted.
    pub fn deleting(&self) -> impl Iterator<Item = usize> {
        let worlds = self.worlds.indexes();
        worlds.filter(|index| self.classes[*index] == Class::Deleting)
    }

    /// Returns true if the run of a world ends there. It ends if nothing is enabled and that is
    /// intended. On deletion it ends if the finalizer is removed, or if a cleanup was refused.
    pub fn is_at_rest(&self, index: usize) -> bool {
        if self.classes[index] == Class::Deleting {
            let world = self.worlds.get(index);
            let refused =
                |effect: &EffectId| world.value(self.lifecycle.effects[effect.0].refused) == 1;
            let waits = self.permissions.holds_deletion(world);
            return self.choices[index] == Choice::Release
                || waits && self.choices[index] == Choice::Nothing
                || self.policy.undos().iter().any(refused)
                || self.policy.steps().iter().any(refused);
        }
        self.choices[index] == Choice::Nothing
            && match self.classes[index] {
                Class::State(state) => {
                    let state = &self.lifecycle.states[state.0];
                    state.goal || self.is_waiting(state, index) || state.is_set_aside()
                }
                Class::Deleting | Class::Refused | Class::Closed => true,
                Class::Nowhere => false,
            }
    }

    /// Returns true if a state waits for something that may still change. A region in its goal
    /// stays there.
    fn is_waiting(&self, state: &State, index: usize) -> bool {
        let world = self.worlds.get(index);
        let may_change = |wakes: &Use| match wakes.source {
            Source::Input(input) => match &self.lifecycle.inputs[input.0].region {
                Some(region) => !region.is_done(world),
                None => true,
            },
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => true,
        };
        state.wakes.iter().flatten().any(may_change)
    }

    /// Lets a variable have each value that it may have after a write of this effect.
    pub fn touch(&self, change: &mut Change, effect: EffectId, var: VarId) {
        let (effect, lifecycle) = (&self.lifecycle.effects[effect.0], self.lifecycle);
        let is_only_compared = self.frames.is_only_compared_by(var, effect, lifecycle);
        let reader = Reader {
            var,
            is_only_compared,
        };
        self.widen(change, reader);
    }

    /// Returns the variables that read one of these places.
    pub fn readers(&self, places: &BTreeSet<Dependency>) -> Vec<Reader> {
        let vars = (0..self.lifecycle.vars.len()).map(VarId);
        let reads = |var: &VarId| !self.frames.reads(*var).is_disjoint(places);
        vars.filter(reads)
            .map(|var| Reader {
                var,
                is_only_compared: self.frames.is_only_compared(var, places),
            })
            .collect()
    }

    /// Returns the worlds that a change of what these variables read may lead to.
    pub fn changed(&self, world: World<'_>, readers: &[Reader]) -> Change {
        let mut change = Change::from(world, self.lifecycle);
        for reader in readers {
            self.widen(&mut change, *reader);
        }
        change
    }

    fn widen(&self, change: &mut Change, reader: Reader) {
        match reader.is_only_compared {
            true => change.compare(reader.var, self.worlds.compared[reader.var.0]),
            false => change.free(reader.var),
        }
    }

    /// The first world of a state: a sample for generated assertions and documents.
    pub fn sample(&self, state: StateId) -> Option<World<'_>> {
        let index = self
            .classes
            .iter()
            .position(|class| *class == Class::State(state))?;
        Some(self.worlds.get(index))
    }

    /// The name of a state, implicit ones included.
    pub fn class_name(&self, class: Class) -> String {
        match class {
            Class::Deleting => "Deleting".to_owned(),
            Class::Refused => "Refused".to_owned(),
            Class::State(state) => self.lifecycle.states[state.0].name.to_string(),
            Class::Closed => "a state of the root".to_owned(),
            Class::Nowhere => "no state".to_owned(),
        }
    }
}

fn unmentioned(lifecycle: &Lifecycle) -> Vec<VarId> {
    if lifecycle.kind == Kind::Volume {
        return Vec::new();
    }
    let states = lifecycle.all_states();
    let mentioned: BTreeSet<VarId> = states.flat_map(|state| state.when.vars()).collect();
    (0..lifecycle.vars.len())
        .map(VarId)
        .filter(|var| matches!(lifecycle.vars[var.0].origin, Origin::Refused(_)))
        .filter(|var| !mentioned.contains(var))
        .collect()
}
