//! What we do in a world: the first enabled effect, after `claim` where it acquires; on deletion the undos, last acquired first, then `release`.

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
    /// Nothing is held any more: the finalizer goes.
    Release,
}

impl Choice {
    /// The effect that is run, or for the sake of which the object is claimed.
    pub fn effect(self) -> Option<EffectId> {
        match self {
            Self::Effect(effect) | Self::Claim(effect) => Some(effect),
            Self::Nothing | Self::Release => None,
        }
    }
}

/// Decides what is done where.
#[derive(Debug)]
pub struct Policy<'a> {
    permissions: &'a Permissions<'a>,
    effects: usize,
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
        let mut effects = (0..self.effects).map(EffectId);
        match effects.find(|effect| self.permissions.enabled(*effect, world)) {
            None => Choice::Nothing,
            Some(effect)
                if self.permissions.acquires(effect) && !self.permissions.claimed(world) =>
            {
                Choice::Claim(effect)
            }
            Some(effect) => Choice::Effect(effect),
        }
    }

    fn on_deletion(&self, world: World<'_>) -> Choice {
        let mut undos = self.undos.iter();
        // What was acquired last is given back first, also where that must wait.
        if let Some(undo) = undos.find(|undo| self.permissions.has_to_free(**undo, world)) {
            return if self.permissions.enabled(*undo, world) {
                Choice::Effect(*undo)
            } else {
                Choice::Nothing
            };
        }
        let is_free =
            |(var, held): &(VarId, crate::model::Held)| held.free.contains(world.value(*var));
        if self.held.iter().all(is_free) {
            Choice::Release
        } else {
            Choice::Nothing
        }
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
