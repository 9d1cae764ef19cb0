//! Every world of a lifecycle: enumerated along the order of `given`, kept in a tree that is walked to find which worlds a change may lead to.
//! Knows nothing of states and moves.

use std::ops::ControlFlow;

use crate::model::{Held, Lifecycle, Origin, Pred, PredKind, ValueSet, VarId};
use crate::space::permission::Permissions;

/// More worlds than this are not checked; counted after `never`.
pub const LIMIT: usize = 32_768;
/// Beyond this many worlds they are not even counted.
const COUNTED: usize = 1 << 20;
/// Nor is more than this looked at, for `never` may leave few of very many.
const VISITED: usize = 1 << 22;

/// Set in a cell whose variable is not asked in this world.
const NOT_ASKED: u8 = 0x80;
/// No world below this branch.
const DEAD: u32 = u32::MAX;
/// A combination that no `never` rules out and that still cannot be: something is held without our claim.
const IMPOSSIBLE: u32 = u32::MAX - 1;

/// One combination of values, a cell for each variable.
#[derive(Clone, Copy, Debug)]
pub struct World<'a>(pub(super) &'a [u8]);

impl World<'_> {
    /// Index into the values of the variable.
    pub fn value(self, var: VarId) -> usize {
        usize::from(self.0[var.0] & !NOT_ASKED)
    }

    /// Whether the variable's `given` holds here.
    pub fn asked(self, var: VarId) -> bool {
        self.0[var.0] & NOT_ASKED == 0
    }

    /// Whether a predicate holds here.
    pub fn holds(self, pred: &Pred) -> bool {
        match &pred.kind {
            PredKind::Is { var, values } => values.contains(self.value(*var)),
            PredKind::All(parts) => parts.iter().all(|part| self.holds(part)),
            PredKind::Any(parts) => parts.iter().any(|part| self.holds(part)),
            PredKind::Not(part) => !self.holds(part),
        }
    }
}

/// There are too many worlds to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How many were counted.
    pub counted: usize,
    /// How many combinations were looked at.
    pub visited: usize,
    /// Whether that was all of them.
    pub complete: bool,
}

/// What a change does to each variable: keeps a value, or lets it be anything; a byte each, so that equal changes are found by comparing bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change(pub(super) Box<[u8]>);

const ANY: u8 = 0x80;
const STAYS_FREE: u8 = 0x40;

impl Change {
    /// Everything stays; only what becomes asked anew may have any value.
    pub fn from(world: World<'_>, lifecycle: &Lifecycle) -> Self {
        let cell = |(var, cell): (usize, &u8)| match lifecycle.vars[var].origin {
            Origin::Refused(_) => cell & !NOT_ASKED,
            Origin::Input(_) | Origin::Fact { .. } | Origin::Deleting | Origin::Claimed => {
                if cell & NOT_ASKED == 0 { *cell } else { ANY }
            }
        };
        Self(world.0.iter().enumerate().map(cell).collect())
    }

    /// The variable may have any value.
    pub fn free(&mut self, var: VarId) {
        self.0[var.0] = ANY | (self.0[var.0] & STAYS_FREE);
    }

    /// The variable gets this value, where it is asked.
    pub fn force(&mut self, var: VarId, value: usize) {
        let value = u8::try_from(value).expect("a domain has at most 64 values");
        self.0[var.0] = value | (self.0[var.0] & STAYS_FREE);
    }

    /// The held fact may not become ours.
    pub fn stay_free(&mut self, var: VarId) {
        self.0[var.0] |= STAYS_FREE;
    }
}

/// All worlds, sorted along the order of evaluation.
#[derive(Debug)]
pub struct Worlds {
    width: usize,
    cells: Vec<u8>,
    order: Vec<VarId>,
    /// For each variable the values that do not say that something is ours.
    free: Vec<ValueSet>,
    nodes: Vec<Node>,
    kids: Vec<u32>,
    root: u32,
}

/// One variable on one path through the order: its branches, or the one value that it has where it is not asked.
#[derive(Clone, Copy, Debug)]
struct Node {
    first: u32,
    otherwise: Option<u8>,
}

impl Worlds {
    /// Enumerates the worlds.
    ///
    /// # Errors
    /// If there are more than [`LIMIT`]; memory and time are bounded then too.
    pub fn of(lifecycle: &Lifecycle, permissions: &Permissions<'_>) -> Result<Self, TooMany> {
        let mut search = Search::new(lifecycle, permissions);
        let (root, complete) = match search.below(0) {
            ControlFlow::Continue(root) => (root, true),
            ControlFlow::Break(()) => (DEAD, false),
        };
        if search.counted > LIMIT || !complete {
            return Err(TooMany {
                counted: search.counted,
                visited: search.visited,
                complete,
            });
        }
        Ok(Self {
            root,
            ..search.found
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(1)
    }

    /// Whether a `never` rules out everything.
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
        let Some(&var) = self.order.get(depth) else {
            return visit((at != IMPOSSIBLE).then_some(at), World(cells));
        };
        let node = self.nodes[at as usize];
        let wanted = change.0[var.0];
        let allowed =
            |value: u8| wanted & STAYS_FREE == 0 || self.free[var.0].contains(usize::from(value));
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
        for value in branches.filter(|value| allowed(*value)) {
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

/// The enumeration under way.
struct Search<'a> {
    lifecycle: &'a Lifecycle,
    permissions: &'a Permissions<'a>,
    /// By depth: what is decided once the variables above are.
    nevers: Vec<Vec<&'a Pred>>,
    cells: Vec<u8>,
    counted: usize,
    visited: usize,
    found: Worlds,
}

impl<'a> Search<'a> {
    fn new(lifecycle: &'a Lifecycle, permissions: &'a Permissions<'a>) -> Self {
        let width = lifecycle.vars.len();
        let found = Worlds {
            width,
            cells: Vec::new(),
            order: lifecycle.order.clone(),
            free: (0..width)
                .map(|var| unowned(lifecycle, VarId(var)))
                .collect(),
            nodes: Vec::new(),
            kids: Vec::new(),
            root: DEAD,
        };
        Self {
            lifecycle,
            permissions,
            nevers: nevers_by_depth(lifecycle),
            cells: vec![0; width],
            counted: 0,
            visited: 0,
            found,
        }
    }

    /// Everything below a depth; the node, or the index of the world, or `DEAD`. Breaks off when it is hopeless.
    fn below(&mut self, depth: usize) -> ControlFlow<(), u32> {
        self.visited += 1;
        if self.visited > VISITED {
            return ControlFlow::Break(());
        }
        let world = World(&self.cells);
        if self.nevers[depth].iter().any(|never| world.holds(never)) {
            return ControlFlow::Continue(DEAD);
        }
        let Some(&var) = self.lifecycle.order.get(depth) else {
            return self.leaf();
        };
        // An effect that asks for its own refusal is asked as if there were none.
        self.cells[var.0] = 0;
        if let Some(otherwise) = self.otherwise(var) {
            self.cells[var.0] = otherwise | NOT_ASKED;
            let kid = self.below(depth + 1)?;
            return ControlFlow::Continue(self.node(Some(otherwise), &[kid]));
        }
        let answers = self.lifecycle.vars[var.0].answers;
        let mut kids = [DEAD; 64];
        for (value, kid) in kids.iter_mut().enumerate().take(answers) {
            self.cells[var.0] = u8::try_from(value).expect("a domain has at most 64 values");
            *kid = self.below(depth + 1)?;
        }
        ControlFlow::Continue(self.node(None, &kids[..answers]))
    }

    fn node(&mut self, otherwise: Option<u8>, kids: &[u32]) -> u32 {
        if self.counted > LIMIT || kids.iter().all(|kid| *kid == DEAD) {
            return DEAD;
        }
        let first = u32::try_from(self.found.kids.len()).expect("bounded by the limit");
        self.found.kids.extend_from_slice(kids);
        self.found.nodes.push(Node { first, otherwise });
        u32::try_from(self.found.nodes.len() - 1).expect("bounded by the limit")
    }

    fn leaf(&mut self) -> ControlFlow<(), u32> {
        self.counted += 1;
        if self.counted > COUNTED {
            return ControlFlow::Break(());
        }
        if self.counted > LIMIT {
            self.found.cells = Vec::new();
            self.found.nodes = Vec::new();
            self.found.kids = Vec::new();
            return ControlFlow::Continue(DEAD);
        }
        if !self.possible() {
            return ControlFlow::Continue(IMPOSSIBLE);
        }
        let index = self.found.cells.len() / self.found.width.max(1);
        self.found.cells.extend_from_slice(&self.cells);
        ControlFlow::Continue(u32::try_from(index).expect("bounded by the limit"))
    }

    /// The value of a variable that is not asked here.
    fn otherwise(&self, var: VarId) -> Option<u8> {
        let world = World(&self.cells);
        let declared = &self.lifecycle.vars[var.0];
        if let Origin::Refused(effect) = declared.origin {
            return (!self.permissions.would_run(effect, world)).then_some(0);
        }
        let guard = declared
            .given
            .iter()
            .find(|guard| !world.holds(&guard.pred))?;
        Some(u8::try_from(guard.otherwise).expect("a domain has at most 64 values"))
    }

    /// Nobody but us acquires: without our claim a held fact is free or cannot be seen. An object that is being deleted and is not claimed is gone.
    fn possible(&self) -> bool {
        let world = World(&self.cells);
        if self.permissions.claimed(world) {
            return true;
        }
        !self.permissions.deleting(world)
            && self
                .lifecycle
                .vars
                .iter()
                .enumerate()
                .all(|(var, declared)| {
                    declared.held.is_none()
                        || self.found.free[var].contains(world.value(VarId(var)))
                })
    }
}

/// The values of a variable that do not say that something is ours: the free ones, and those that say that it cannot be seen, for they are `Unknown` or
/// given by an `else` alone.
fn unowned(lifecycle: &Lifecycle, var: VarId) -> ValueSet {
    let var = &lifecycle.vars[var.0];
    let Some(Held { free, .. }) = var.held else {
        return ValueSet(u64::MAX);
    };
    let values = var.values.iter().enumerate();
    let unseen = values.filter(|(value, name)| *value >= var.answers || *name == "Unknown");
    ValueSet(unseen.fold(free.0, |set, (value, _)| set | ValueSet::one(value).0))
}

/// Each `never` at the first depth at which all that it asks is decided.
fn nevers_by_depth(lifecycle: &Lifecycle) -> Vec<Vec<&Pred>> {
    let mut by_depth = vec![Vec::new(); lifecycle.order.len() + 1];
    for never in &lifecycle.nevers {
        let vars = never.pred.vars();
        let last = lifecycle.order.iter().rposition(|var| vars.contains(var));
        by_depth[last.map_or(0, |last| last + 1)].push(&never.pred);
    }
    by_depth
}
