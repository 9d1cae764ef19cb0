//! Every world of a lifecycle, kept in a tree along the order of `given` that is walked to find which worlds a change may lead to.
//! Knows nothing of states and moves.

use std::ops::ControlFlow;

use crate::model::{ValueSet, VarId};
use crate::space::world::{ANY, COMPARED, Change, NOT_ASKED, STAYS_FREE, World};

/// No world below this branch.
pub(super) const DEAD: u32 = u32::MAX;
/// A combination that no `never` rules out and that is still impossible: something is held without
/// our claim.
pub(super) const IMPOSSIBLE: u32 = u32::MAX - 1;
/// Everything below is one world: a state of the root holds, and the region rests.
pub(super) const CLOSED: u32 = u32::MAX - 2;

/// All worlds, sorted along the order of evaluation.
#[derive(Debug)]
pub struct Worlds {
    pub(super) width: usize,
    pub(super) cells: Vec<u8>,
    pub(super) order: Vec<VarId>,
    /// For each variable, the values that do not mean that something is ours.
    pub(super) free: Vec<ValueSet>,
    /// For each variable, the verdicts that the comparison of an object can have.
    pub(super) compared: Vec<ValueSet>,
    pub(super) nodes: Vec<Node>,
    /// The branches of all nodes: a node, at the end of the order a world, or one of the two constants.
    pub(super) kids: Vec<u32>,
    pub(super) root: u32,
    /// The world in which a region rests, whatever else there is.
    pub(super) closed: Option<u32>,
}

/// One variable on one path through the order: its branches, or the one value that it has if it is
/// not evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) first: u32,
    pub(super) otherwise: Option<u8>,
}

impl Worlds {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(1)
    }

    /// Returns true if a `never` rules out all worlds.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their indexes.
    pub fn indexes(&self) -> std::ops::Range<usize> {
        0..self.len()
    }

    /// The world with this index.
    pub fn get(&self, index: usize) -> World<'_> {
        World(&self.cells[index * self.width..(index + 1) * self.width])
    }

    /// The variables in order of evaluation.
    pub fn order(&self) -> &[VarId] {
        &self.order
    }

    /// The indexes of the worlds that a change may lead to, ascending.
    pub fn reached(&self, change: &Change) -> Vec<u32> {
        let mut reached = Vec::new();
        let _ = self.walk(change, &mut |index, _| {
            reached.extend(index);
            ControlFlow::Continue(())
        });
        if self.closed.is_some() {
            reached.sort_unstable();
            reached.dedup();
        }
        reached
    }

    /// Visits every combination that a change may lead to and that no `never` rules out; without an index it is one that cannot be.
    pub fn walk(
        &self,
        change: &Change,
        visit: &mut impl FnMut(Option<u32>, World<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut cells = vec![0; self.width];
        self.walk_below(0, self.root, change, &mut cells, visit)
    }

    fn walk_below(
        &self,
        depth: usize,
        at: u32,
        change: &Change,
        cells: &mut [u8],
        visit: &mut impl FnMut(Option<u32>, World<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if at == DEAD {
            return ControlFlow::Continue(());
        }
        if at == CLOSED {
            return visit(self.closed, World(cells));
        }
        let Some(&var) = self.order.get(depth) else {
            return visit((at != IMPOSSIBLE).then_some(at), World(cells));
        };
        let node = self.nodes[at as usize];
        let wanted = change.0[var.0];
        let is_in = |set: &[ValueSet], value: u8| set[var.0].contains(usize::from(value));
        let allowed = |value: u8| wanted & STAYS_FREE == 0 || is_in(&self.free, value);
        let kid = |branch: usize| self.kids[node.first as usize + branch];
        if let Some(value) = node.otherwise {
            if !allowed(value) {
                return ControlFlow::Continue(());
            }
            cells[var.0] = value | NOT_ASKED;
            return self.walk_below(depth + 1, kid(0), change, cells, visit);
        }
        let branches = if wanted & ANY == 0 {
            let value = wanted & !STAYS_FREE;
            value..value + 1
        } else {
            0..self.branches(at)
        };
        let only_compared = wanted & ANY != 0 && wanted & COMPARED != 0;
        let fits = |value: &u8| !only_compared || is_in(&self.compared, *value);
        for value in branches.filter(|value| allowed(*value) && fits(value)) {
            cells[var.0] = value;
            self.walk_below(depth + 1, kid(usize::from(value)), change, cells, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// How many branches a node has.
    fn branches(&self, at: u32) -> u8 {
        let first = self.nodes[at as usize].first;
        let end = self
            .nodes
            .get(at as usize + 1)
            .map_or(self.kids.len(), |next| next.first as usize);
        u8::try_from(end - first as usize).expect("a domain has at most 64 values")
    }
}
