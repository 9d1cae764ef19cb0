//! What generators, documents and comparisons ask of a lifecycle: how many worlds, a sample of each state, and what causes each edge.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::frames::Frames;
use crate::model::{Kind, Lifecycle, StateId, VarId};
use crate::space::cause::By;
use crate::space::drives::Drives;
use crate::space::enumeration::TooMany;
use crate::space::permission::Permissions;
use crate::space::world::World;
use crate::space::{Class, Space};

/// Numbers of one lifecycle.
#[derive(Clone, Debug)]
pub struct Summary {
    pub worlds: usize,
    /// By state: a world of it, as the index of the value of each variable. `None` where the state has no world.
    pub samples: Vec<Option<Vec<usize>>>,
    /// The edges between declared states, with what causes each. Empty for a volume, which is driven by calls.
    pub edges: BTreeMap<(StateId, StateId), BTreeSet<By>>,
}

impl Summary {
    /// Explores a lifecycle, with everything that moves in it.
    ///
    /// # Errors
    /// If it has too many worlds.
    pub fn of(lifecycle: &Lifecycle) -> Result<Self, TooMany> {
        let frames = Frames::of(lifecycle);
        let permissions = Permissions::of(lifecycle);
        let space = Space::of(lifecycle, &frames, &permissions)?;
        Ok(Self {
            worlds: space.worlds.len(),
            samples: samples_of(&space),
            edges: match lifecycle.kind {
                Kind::Resource => declared_edges(&space),
                Kind::Volume => BTreeMap::new(),
            },
        })
    }
}

/// By state: a world of it, as the index of the value of each variable; `None` where the state has no world, or the lifecycle too many.
pub fn samples(lifecycle: &Lifecycle) -> Vec<Option<Vec<usize>>> {
    let frames = Frames::of(lifecycle);
    let permissions = Permissions::of(lifecycle);
    match Space::of(lifecycle, &frames, &permissions) {
        Ok(space) => samples_of(&space),
        Err(_) => lifecycle.states.iter().map(|_| None).collect(),
    }
}

fn samples_of(space: &Space<'_>) -> Vec<Option<Vec<usize>>> {
    let values = |world: World<'_>| {
        let vars = (0..space.lifecycle.vars.len()).map(VarId);
        vars.map(|var| world.value(var)).collect()
    };
    let states = (0..space.lifecycle.states.len()).map(StateId);
    states
        .map(|state| space.sample(state).map(values))
        .collect()
}

fn declared_edges(space: &Space<'_>) -> BTreeMap<(StateId, StateId), BTreeSet<By>> {
    let caused = Drives::of(space).caused.into_iter();
    let declared = caused.filter_map(|((from, to), cause)| match (from, to) {
        (Class::State(from), Class::State(to)) => Some(((from, to), cause.by)),
        (Class::Deleting | Class::Refused | Class::Nowhere, _)
        | (_, Class::Deleting | Class::Refused | Class::Nowhere) => None,
    });
    declared.collect()
}
