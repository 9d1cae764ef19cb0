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
                Kind::Resource => declared_edges(&space),
                Kind::Volume => BTreeMap::new(),
            },
        })
    }
}

/// What generated code shows of the worlds: without it a lifecycle is still generated, for it has findings then.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// By state: a world of it, as the index of the value of each variable; `None` where the state has no world, or the lifecycle too many.
    pub samples: Vec<Option<Vec<usize>>>,
    /// The edges that are declared: of those from every state the ones that are caused.
    pub edges: BTreeSet<(StateId, StateId)>,
    /// Where nothing but promises that others claim leads out of a world: its state, and those that are due there together.
    pub waits: BTreeSet<(StateId, Vec<usize>)>,
}

impl Shown {
    /// Looks at the worlds, and at what moves between them only if that is needed.
    pub fn of(lifecycle: &Lifecycle) -> Self {
        let frames = Frames::of(lifecycle);
        let permissions = Permissions::of(lifecycle);
        let Ok(space) = Space::of(lifecycle, &frames, &permissions) else {
            return Self::of_declared(lifecycle);
        };
        let mut shown = Self {
            samples: samples_of(&space),
            ..Self::of_declared(lifecycle)
        };
        let transitions = lifecycle.transitions.as_ref();
        if let Some(all) = transitions.filter(|all| !all.anywhere.is_empty()) {
            let caused = declared_edges(&space).into_keys();
            let anywhere = caused.filter(|(_, to)| all.is_entered_anywhere(*to));
            shown.edges.extend(anywhere);
        }
        if lifecycle.kind == Kind::Resource {
            shown.waits = waits::of(&space);
        }
        shown
    }

    /// What can be said without the worlds.
    pub fn of_declared(lifecycle: &Lifecycle) -> Self {
        let edges = lifecycle.transitions.iter().flat_map(|all| &all.edges);
        Self {
            samples: Vec::new(),
            edges: edges.map(|edge| (edge.from, edge.to)).collect(),
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

fn declared_edges(space: &Space<'_>) -> BTreeMap<(StateId, StateId), BTreeSet<By>> {
    let caused = Drives::of(space).caused.into_iter();
    let declared = caused.filter_map(|((from, to), cause)| match (from, to) {
        (Class::State(from), Class::State(to)) => Some(((from, to), cause.by)),
        (Class::Deleting | Class::Refused | Class::Nowhere, _)
        | (_, Class::Deleting | Class::Refused | Class::Nowhere) => None,
    });
    declared.collect()
}
