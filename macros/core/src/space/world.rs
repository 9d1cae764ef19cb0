//! One world, and a change of it: the two things that are written as one byte for each variable.

use crate::model::{Lifecycle, Origin, Pred, PredKind, VarId};

/// Set in a cell whose variable is not asked in this world.
pub(super) const NOT_ASKED: u8 = 0x80;

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

    /// What a predicate says by what is asked here alone; nothing where that does not decide it. How a write of ours went is always known.
    pub fn says(self, pred: &Pred, lifecycle: &Lifecycle) -> Option<bool> {
        pred.decided(&|var, values| {
            let given = &lifecycle.vars[var.0].given;
            let asked = given.iter().all(|guard| self.holds(&guard.pred));
            asked.then(|| values.contains(self.value(var)))
        })
    }
}

/// What a change does to each variable: keeps a value, or lets it be anything; a byte each, so that equal changes are found by comparing bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change(pub(super) Box<[u8]>);

/// The variable may have any value.
pub(super) const ANY: u8 = 0x80;
pub(super) const STAYS_FREE: u8 = 0x40;
/// Beside `ANY`: but not the first, which says that nothing is there.
pub(super) const THERE: u8 = 0x01;

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

    /// The variable may have any value but the first.
    pub fn stay_there(&mut self, var: VarId) {
        self.free(var);
        self.0[var.0] |= THERE;
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
