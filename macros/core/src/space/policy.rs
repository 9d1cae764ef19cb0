//! Policy for a world: the first enabled effect runs, after `claim` if it needs that. On deletion
//! the stages of the teardown run first, one after the other. Then the undos run, last acquired
//! first, and then `release`.

use crate::model::{EffectId, Lifecycle, VarId};
use crate::space::permission::Permissions;
use crate::space::world::World;

/// The one thing that we do in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    Nothing,
    Effect(EffectId),
    /// The finalizer first, for the sake of this effect.
    Claim(EffectId),
    /// The finalizer is added first, because a deletion requires work.
    Seize,
    /// Nothing is left to be done, or it is given up: the finalizer goes.
    Release,
}

impl Choice {
    /// Returns the effect that runs, or the effect that requires the claim on the object.
    pub fn effect(self) -> Option<EffectId> {
        match self {
            Self::Effect(effect) | Self::Claim(effect) => Some(effect),
            Self::Nothing | Self::Seize | Self::Release => None,
        }
    }
}

/// Decides the next operation in each world.
#[derive(Debug)]
pub struct Policy<'a> {
    permissions: &'a Permissions<'a>,
    effects: usize,
    steps: Vec<EffectId>,
    undos: Vec<EffectId>,
    held: Vec<(VarId, crate::model::FreeValues)>,
}

impl<'a> Policy<'a> {
    /// The policy of a lifecycle.
    pub fn new(lifecycle: &Lifecycle, permissions: &'a Permissions<'a>) -> Self {
        let mut undos = Vec::new();
        for (undo, _) in lifecycle
            .effects
            .iter()
            .rev()
            .filter_map(|effect| effect.undo)
        {
            if !undos.contains(&undo) {
                undos.push(undo);
            }
        }
        let held = lifecycle.vars.iter().enumerate();
        Self {
            permissions,
            effects: lifecycle.effects.len(),
            steps: lifecycle.steps.iter().map(|step| step.effect).collect(),
            undos,
            held: held
                .filter_map(|(var, declared)| Some((VarId(var), declared.held?)))
                .collect(),
        }
    }

    /// Returns the choice in a world.
    pub fn choose(&self, world: World<'_>) -> Choice {
        if self.permissions.deleting(world) {
            return self.on_deletion(world);
        }
        let unclaimed = !self.permissions.claimed(world) && !self.permissions.sets_aside(world);
        if unclaimed && self.permissions.is_due(world) {
            return Choice::Seize;
        }
        let mut effects = (0..self.effects).map(EffectId);
        match effects.find(|effect| self.permissions.enabled(*effect, world)) {
            None => Choice::Nothing,
            Some(effect) if self.permissions.claims(effect) && !self.permissions.claimed(world) => {
                Choice::Claim(effect)
            }
            Some(effect) => Choice::Effect(effect),
        }
    }

    fn on_deletion(&self, world: World<'_>) -> Choice {
        if !self.is_left(world) || self.gives_up(world) {
            return Choice::Release;
        }
        let step = self.permissions.open_step(world).map(|at| self.steps[at]);
        let mut undos = self.undos.iter().copied();
        // The last acquired fact is released first, even if this release must wait.
        let due = step.or_else(|| undos.find(|undo| self.permissions.has_to_free(*undo, world)));
        match due.filter(|effect| self.permissions.enabled(*effect, world)) {
            Some(effect) => Choice::Effect(effect),
            None => Choice::Nothing,
        }
    }

    /// Returns true if the object must stay for now: a stage of the teardown is open, or something
    /// is held.
    pub fn is_left(&self, world: World<'_>) -> bool {
        self.permissions.open_step(world).is_some() || !self.still_held(world).is_empty()
    }

    /// Returns true if the remainder is given up. A user who wants a deletion to wait wants nothing
    /// given up meanwhile.
    fn gives_up(&self, world: World<'_>) -> bool {
        self.permissions.abandons(world) && !self.permissions.holds_deletion(world)
    }

    /// The step that is not over here.
    pub fn open_step(&self, world: World<'_>) -> Option<EffectId> {
        let step = self.permissions.open_step(world);
        step.map(|at| self.steps[at])
    }

    /// Returns the stages of the teardown, in the order in which they run on deletion.
    pub fn steps(&self) -> &[EffectId] {
        &self.steps
    }

    /// Returns the undos, in the order in which they run on deletion.
    pub fn undos(&self) -> &[EffectId] {
        &self.undos
    }

    /// Returns the held facts that are not released here.
    pub fn still_held(&self, world: World<'_>) -> Vec<VarId> {
        let held = self.held.iter();
        held.filter(|(var, held)| !held.free.contains(world.value(*var)))
            .map(|(var, _)| *var)
            .collect()
    }
}
