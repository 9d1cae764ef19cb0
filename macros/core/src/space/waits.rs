//! Worlds in which an object waits only for other lifecycles: only promises that others claim lead
//! out of them.

use std::collections::BTreeSet;

use crate::model::StateId;
use crate::space::graph::Graph;
use crate::space::promised::Mover;
use crate::space::{Class, Space};

/// Returns, for each such world, its state and the promises that are due there. If fewer are due in
/// another world of the state, only that world counts, because a keeper of one of them suffices to
/// lead out.
pub fn find_waits(space: &Space<'_>, graph: &Graph) -> BTreeSet<(StateId, Vec<usize>)> {
    if space
        .lifecycle
        .promises
        .iter()
        .all(|promise| promise.claim.is_none())
    {
        return BTreeSet::new();
    }
    let all: BTreeSet<(StateId, Vec<usize>)> = space
        .live()
        .filter_map(|world| match space.classes[world] {
            Class::State(state) => Some((state, awaited(space, graph, world)?)),
            Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere => None,
        })
        .collect();
    let is_least = |(state, due): &&(StateId, Vec<usize>)| {
        let mut others = all.iter().filter(|(other, _)| other == state);
        !others.any(|(_, fewer)| fewer != due && fewer.iter().all(|one| due.contains(one)))
    };
    all.iter().filter(is_least).cloned().collect()
}

/// The promises that lead out of a world, if nothing else does and each of them is claimed.
fn awaited(space: &Space<'_>, graph: &Graph, world: usize) -> Option<Vec<usize>> {
    let mut due = BTreeSet::new();
    for one in graph.moves(world) {
        let Mover::Promise(promise) = one.mover else {
            return None;
        };
        space.lifecycle.promises[promise].claim.as_ref()?;
        due.insert(promise);
    }
    (!due.is_empty()).then(|| due.into_iter().collect())
}
