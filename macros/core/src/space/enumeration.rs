//! The enumeration of all worlds along the order of `given`, bounded in time and memory. Each
//! `never` is evaluated as soon as it is decided.

use std::ops::ControlFlow;

use crate::model::{FreeValues, Lifecycle, Origin, Pred, ValueSet, Var, VarId, Verdict};
use crate::space::decisive::decisive;
use crate::space::permission::Permissions;
use crate::space::world::{NOT_ASKED, World};
use crate::space::worlds::{CLOSED, DEAD, IMPOSSIBLE, Node, Worlds};

/// More worlds than this are not checked; counted after `never`.
pub const LIMIT: usize = 32_768;
/// Beyond this many worlds they are not even counted.
const COUNTED: usize = 1 << 20;
/// Upper bound on the visited combinations. A `never` may leave few of very many.
const VISITED: usize = 1 << 22;

/// There are too many worlds to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How many were counted.
    pub counted: usize,
    /// Number of visited combinations.
    pub visited: usize,
    /// True if these are all combinations.
    pub complete: bool,
}

/// All worlds of a lifecycle.
///
/// # Errors
/// If there are more than the limit; memory and time are bounded then too.
pub fn enumerate(lifecycle: &Lifecycle, permissions: &Permissions<'_>) -> Result<Worlds, TooMany> {
    let mut search = Search::new(lifecycle, permissions);
    let (root, complete) = match search.search_from(0) {
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
    Ok(Worlds {
        root,
        ..search.found
    })
}

/// The enumeration under way.
struct Search<'a> {
    lifecycle: &'a Lifecycle,
    permissions: &'a Permissions<'a>,
    /// By depth: the predicates that are decided once the variables above are.
    nevers: Vec<Vec<&'a Pred>>,
    /// The same of the states of the root in which a region rests.
    closed: Vec<Vec<&'a Pred>>,
    /// In a region: for each variable, true if a deletion can depend on it.
    decisive: Option<Vec<bool>>,
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
            compared: lifecycle.vars.iter().map(Var::compared).collect(),
            nodes: Vec::new(),
            kids: Vec::new(),
            root: DEAD,
            closed: None,
        };
        Self {
            lifecycle,
            permissions,
            nevers: by_depth(lifecycle, lifecycle.nevers.iter().map(|never| &never.pred)),
            closed: by_depth(lifecycle, lifecycle.closed.iter().map(|state| &state.when)),
            decisive: lifecycle.region.is_some().then(|| decisive(lifecycle)),
            cells: vec![0; width],
            counted: 0,
            visited: 0,
            found,
        }
    }

    /// Everything below a depth; the node, or the index of the world, or `DEAD`. Breaks off when it is hopeless.
    fn search_from(&mut self, depth: usize) -> ControlFlow<(), u32> {
        self.visited += 1;
        if self.visited > VISITED {
            return ControlFlow::Break(());
        }
        let world = World(&self.cells);
        if self.nevers[depth].iter().any(|never| world.holds(never)) {
            return ControlFlow::Continue(DEAD);
        }
        let is_closed = self.closed[depth].iter().any(|when| world.holds(when));
        if is_closed && !self.permissions.deleting(world) {
            return ControlFlow::Continue(self.rest());
        }
        let Some(&var) = self.lifecycle.order.get(depth) else {
            return self.leaf();
        };
        // An effect that queries its own refusal is evaluated as if it was not refused.
        self.cells[var.0] = 0;
        if let Some(otherwise) = self.otherwise(var) {
            self.cells[var.0] = otherwise | NOT_ASKED;
            let kid = self.search_from(depth + 1)?;
            return ControlFlow::Continue(self.node(Some(otherwise), &[kid]));
        }
        let answers = self.lifecycle.vars[var.0].answers;
        let mut kids = [DEAD; 64];
        for (value, kid) in kids.iter_mut().enumerate().take(answers) {
            self.cells[var.0] = u8::try_from(value).expect("a domain has at most 64 values");
            *kid = self.search_from(depth + 1)?;
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

    /// Everything below is the one world in which a region rests.
    fn rest(&mut self) -> u32 {
        if self.counted <= LIMIT && self.found.closed.is_none() {
            self.counted += 1;
            let index = self.found.cells.len() / self.found.width.max(1);
            self.found.cells.extend_from_slice(&self.cells);
            self.found.closed = u32::try_from(index).ok();
        }
        CLOSED
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

    /// Returns the value of a variable that is not evaluated here.
    fn otherwise(&self, var: VarId) -> Option<u8> {
        let world = World(&self.cells);
        let declared = &self.lifecycle.vars[var.0];
        let decisive = self.decisive.as_ref();
        if decisive.is_some_and(|all| !all[var.0]) && self.permissions.deleting(world) {
            return Some(0);
        }
        if let Origin::Refused(effect) = declared.origin {
            return (!self.permissions.would_run(effect, world)).then_some(0);
        }
        let guard = declared
            .given
            .iter()
            .find(|guard| !world.holds(&guard.pred))?;
        Some(u8::try_from(guard.otherwise).expect("a domain has at most 64 values"))
    }

    /// Returns true if the combination is possible. Only our own effects acquire: without our claim
    /// a held fact is free or not observed. An object that is being deleted and is not claimed is
    /// gone.
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

/// Returns the values of a variable that do not mean that something is ours. These are the free
/// ones, and those of an unobserved fact, which are `Unknown` or given by an `else` alone.
fn unowned(lifecycle: &Lifecycle, var: VarId) -> ValueSet {
    let var = &lifecycle.vars[var.0];
    let Some(FreeValues { free, .. }) = var.held else {
        return ValueSet(u64::MAX);
    };
    let is_unknown = |value: usize| var.verdict(value) == Some(Verdict::Unknown);
    let unseen = (0..var.values.len()).filter(|value| *value >= var.answers || is_unknown(*value));
    ValueSet(unseen.fold(free.0, |set, value| set | ValueSet::from_value(value).0))
}

/// Returns each predicate at the first depth at which all its variables are decided.
fn by_depth<'a>(
    lifecycle: &'a Lifecycle,
    preds: impl Iterator<Item = &'a Pred>,
) -> Vec<Vec<&'a Pred>> {
    let mut by_depth = vec![Vec::new(); lifecycle.order.len() + 1];
    for pred in preds {
        let vars = pred.vars();
        let last = lifecycle.order.iter().rposition(|var| vars.contains(var));
        by_depth[last.map_or(0, |last| last + 1)].push(pred);
    }
    by_depth
}
