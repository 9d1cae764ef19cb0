//! The trajectories of a resource, its life and its deletion: where they get stuck, where they can
//! repeat, and which edges they cause.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::EffectId;
use crate::space::cause::{Actor, Cause};
use crate::space::components::{Loop, loops};
use crate::space::cycle::round;
use crate::space::graph::Graph;
use crate::space::promised::Mover;
use crate::space::{Class, Space};

/// Everything that the rules about convergence ask.
#[derive(Debug)]
pub struct Drives {
    pub graph: Graph,
    /// Worlds that are not settled and that no mover leaves, ascending.
    pub stuck: Vec<usize>,
    /// Parts in which a fair run can repeat for ever; each is in life or on deletion.
    pub loops: Vec<Loop>,
    /// Edges between states, implicit ones included, with the cause of each.
    pub caused: BTreeMap<(Class, Class), Cause>,
}

impl Drives {
    /// Explores both trajectories.
    pub fn explore(space: &Space<'_>) -> Self {
        let graph = Graph::new(space);
        let stuck = |world: &usize| !graph.is_at_rest(*world) && graph.moves(*world).is_empty();
        Self {
            stuck: space.worlds.indexes().filter(stuck).collect(),
            loops: loops(&graph, space.worlds.len()),
            caused: caused(space, &graph),
            graph,
        }
    }

    /// The effects that keep a loop going, in order of declaration.
    pub fn effects_within(&self, space: &Space<'_>, one: &Loop) -> BTreeSet<EffectId> {
        let within = |world: &u32| {
            let moves = self.graph.moves(*world as usize).iter();
            let mut ours = moves.filter(|one| one.mover == Mover::Effect);
            ours.any(|ours| {
                let mut ends = self.graph.ends(*ours).iter();
                ends.any(|end| one.worlds.binary_search(end).is_ok())
            })
        };
        let worlds = one.worlds.iter().filter(|world| within(world));
        worlds
            .filter_map(|world| space.choices[*world as usize].effect())
            .collect()
    }

    /// A round within one of the loops, as text.
    pub fn describe(&self, space: &Space<'_>, one: &Loop) -> String {
        round(&self.graph, one).describe(space, &space.choices)
    }
}

fn caused(space: &Space<'_>, graph: &Graph) -> BTreeMap<(Class, Class), Cause> {
    let classes = |set: usize| {
        let ends = graph.set(set).iter();
        ends.map(|end| space.classes[*end as usize])
            .collect::<BTreeSet<_>>()
    };
    let by_set: Vec<BTreeSet<Class>> = (0..graph.sets()).map(classes).collect();
    let mut caused: BTreeMap<(Class, Class), Cause> = BTreeMap::new();
    for world in space.live() {
        let from = space.classes[world];
        for one in graph.moves(world) {
            let by = match (one.mover, space.choices[world].effect()) {
                (Mover::Effect, Some(effect)) => Actor::Effect(effect),
                (mover, _) => Actor::Other(mover),
            };
            for to in by_set[one.to].iter().filter(|to| **to != from) {
                let cause = caused.entry((from, *to)).or_insert_with(|| Cause {
                    by: BTreeSet::new(),
                    worlds: Vec::new(),
                });
                cause.by.insert(by);
                if cause.worlds.last() != Some(&world) {
                    cause.worlds.push(world);
                }
            }
        }
    }
    caused
}
