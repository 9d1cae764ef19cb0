//! Summary of a lifecycle for generators, documents and comparisons: the number of worlds, a sample
//! of each state, and the causes of each edge.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::frames::Frames;
use crate::model::{Kind, Lifecycle, StateId, VarId};
use crate::space::cause::Actor;
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
    /// Edges between declared states, with the cause of each. Empty for a volume, in which calls
    /// make every change.
    pub edges: BTreeMap<(StateId, StateId), BTreeSet<Actor>>,
}

impl Summary {
    /// Explores a lifecycle, with everything that moves in it.
    ///
    /// # Errors
    /// If it has too many worlds.
    pub fn explore(lifecycle: &Lifecycle) -> Result<Self, TooMany> {
        let frames = Frames::new(lifecycle);
        let permissions = Permissions::new(lifecycle);
        let space = Space::build(lifecycle, &frames, &permissions)?;
        Ok(Self {
            worlds: space.worlds.len(),
            samples: samples_of(&space),
            edges: match lifecycle.kind {
                Kind::Resource => declared_edges(&Drives::explore(&space)),
                Kind::Volume => BTreeMap::new(),
            },
        })
    }
}

/// Everything in generated code that depends on the worlds. A lifecycle with errors is generated
/// without it.
#[derive(Clone, Debug, Default)]
pub struct WorldReport {
    /// By state: a world of it, as the index of the value of each variable; `None` where the state has no world.
    pub samples: Vec<Option<Vec<usize>>>,
    /// Declared edges, with the cause of each. An edge from every state is listed for the sources
    /// that have a cause.
    pub edges: BTreeMap<(StateId, StateId), BTreeSet<Actor>>,
    /// State of each world that only promises claimed by others lead out of, and the promises that
    /// are due there together.
    pub waits: BTreeSet<(StateId, Vec<usize>)>,
}

impl WorldReport {
    /// Summarizes the worlds of a resource.
    pub fn of_resource(space: &Space<'_>, drives: &Drives) -> Self {
        let mut edges = declared_edges(drives);
        let transitions = space.lifecycle.transitions.as_ref();
        edges.retain(|(from, to), _| transitions.is_some_and(|all| all.declares(*from, *to)));
        Self {
            samples: samples_of(space),
            edges,
            waits: waits::find_waits(space, &drives.graph),
        }
    }

    /// Summarizes the worlds of a volume, in which only calls make changes.
    pub fn of_volume(space: &Space<'_>) -> Self {
        Self {
            samples: samples_of(space),
            ..Self::of_declared(space.lifecycle)
        }
    }

    /// Returns the summary of nothing yet, to which parts are added.
    pub(crate) fn for_states(states: usize) -> Self {
        Self {
            samples: vec![None; states],
            ..Self::default()
        }
    }

    /// Returns the parts of the summary that need no worlds.
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

fn declared_edges(drives: &Drives) -> BTreeMap<(StateId, StateId), BTreeSet<Actor>> {
    let caused = drives.caused.iter();
    let declared = caused.filter_map(|((from, to), cause)| match (*from, *to) {
        (Class::State(from), Class::State(to)) => Some(((from, to), cause.by.clone())),
        (Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere, _)
        | (_, Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere) => None,
    });
    declared.collect()
}
