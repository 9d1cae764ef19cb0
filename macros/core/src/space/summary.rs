//! What generators, documents and comparisons ask of a lifecycle: how many worlds, a sample of each state, and what causes each edge.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::frames::Frames;
use crate::model::{Kind, Lifecycle, StateId, VarId};
use crate::space::cause::By;
use crate::space::drives::Drives;
use crate::space::enumeration::TooMany;
use crate::space::permission::Permissions;
use crate::space::world::World;
use crate::space::{Class, Space, waits};

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
                Kind::Resource => declared_edges(&Drives::of(&space)),
                Kind::Volume => BTreeMap::new(),
            },
        })
    }
}

/// Everything that generated code says of the worlds. A lifecycle with errors is generated without it.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// By state: a world of it, as the index of the value of each variable; `None` where the state has no world.
    pub samples: Vec<Option<Vec<usize>>>,
    /// The edges that are declared, with what causes each: of those from every state the ones that are caused.
    pub edges: BTreeMap<(StateId, StateId), BTreeSet<By>>,
    /// Where nothing but promises that others claim leads out of a world: its state, and those that are due there together.
    pub waits: BTreeSet<(StateId, Vec<usize>)>,
}

impl Shown {
    /// Looks at the worlds of a resource.
    pub fn of_resource(space: &Space<'_>, drives: &Drives) -> Self {
        let mut edges = declared_edges(drives);
        let transitions = space.lifecycle.transitions.as_ref();
        edges.retain(|(from, to), _| transitions.is_some_and(|all| all.declares(*from, *to)));
        Self {
            samples: samples_of(space),
            edges,
            waits: waits::of(space, &drives.graph),
        }
    }

    /// Looks at the worlds of a volume: nothing moves there but by calls.
    pub fn of_volume(space: &Space<'_>) -> Self {
        Self {
            samples: samples_of(space),
            ..Self::of_declared(space.lifecycle)
        }
    }

    /// What can be said without the worlds.
    pub fn of_declared(lifecycle: &Lifecycle) -> Self {
        let edges = lifecycle.transitions.iter().flat_map(|all| &all.edges);
        Self {
            samples: Vec::new(),
            edges: edges
                .map(|edge| ((edge.from, edge.to), BTreeSet::new()))
                .collect(),
            waits: BTreeSet::new(),
        }
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

fn declared_edges(drives: &Drives) -> BTreeMap<(StateId, StateId), BTreeSet<By>> {
    let caused = drives.caused.iter();
    let declared = caused.filter_map(|((from, to), cause)| match (*from, *to) {
        (Class::State(from), Class::State(to)) => Some(((from, to), cause.by.clone())),
        (Class::Deleting | Class::Refused | Class::Nowhere, _)
        | (_, Class::Deleting | Class::Refused | Class::Nowhere) => None,
    });
    declared.collect()
}
