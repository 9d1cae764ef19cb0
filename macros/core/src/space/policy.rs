//! What we do in a world: the first enabled effect, after `claim` where it needs that; on deletion the steps of the teardown, one after the other, then the
//! undos, last acquired first, then `release`.

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
    /// The finalizer first, for something is to be done when the object goes.
    Seize,
    /// Nothing is left to be done, or it is given up: the finalizer goes.
    Release,
}

impl Choice {
    /// The effect that is run, or for the sake of which the object is claimed.
    pub fn effect(self) -> Option<EffectId> {
        match self {
            Self::Effect(effect) | Self::Claim(effect) => Some(effect),
            Self::Nothing | Self::Seize | Self::Release => None,
        }
    }
}

/// Decides what is done where.
#[derive(Debug)]
pub struct Policy<'a> {
    permissions: &'a Permissions<'a>,
    effects: usize,
    steps: Vec<EffectId>,
    undos: Vec<EffectId>,
    held: Vec<(VarId, crate::model::Held)>,
}

impl<'a> Policy<'a> {
    /// The policy of a lifecycle.
    pub fn of(lifecycle: &Lifecycle, permissions: &'a Permissions<'a>) -> Self {
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

    /// What is done in a world.
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
        // What was acquired last is given back first, also where that must wait.
        let due = step.or_else(|| undos.find(|undo| self.permissions.has_to_free(*undo, world)));
        match due.filter(|effect| self.permissions.enabled(*effect, world)) {
            Some(effect) => Choice::Effect(effect),
            None => Choice::Nothing,
        }
    }

    /// Whether the object cannot go yet: a step is not over, or something is held.
    pub fn is_left(&self, world: World<'_>) -> bool {
        self.permissions.open_step(world).is_some() || !self.still_held(world).is_empty()
    }

    /// Whether that is given up. Who wants a deletion to wait wants nothing given up meanwhile.
    fn gives_up(&self, world: World<'_>) -> bool {
        self.permissions.abandons(world) && !self.permissions.holds_deletion(world)
    }

    /// The step that is not over here.
    pub fn open_step(&self, world: World<'_>) -> Option<EffectId> {
        let step = self.permissions.open_step(world);
        step.map(|at| self.steps[at])
    }

    /// The steps, in the order in which they run on deletion.
    pub fn steps(&self) -> &[EffectId] {
        &self.steps
    }

    /// The undos, in the order in which they run on deletion.
    pub fn undos(&self) -> &[EffectId] {
        &self.undos
    }

    /// The held facts that are not given back here.
    pub fn still_held(&self, world: World<'_>) -> Vec<VarId> {
        let held = self.held.iter();
        held.filter(|(var, held)| !held.free.contains(world.value(*var)))
            .map(|(var, _)| *var)
            .collect()
    }
}
