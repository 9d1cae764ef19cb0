//! One world, and a change of it: the two things that are written as one byte for each variable.

use crate::model::{Lifecycle, Origin, Pred, PredKind, ValueSet, VarId};

/// Set in a cell if its variable is not evaluated in this world.
pub(super) const NOT_ASKED: u8 = 0x80;

/// One combination of values, a cell for each variable.
#[derive(Clone, Copy, Debug)]
pub struct World<'a>(pub(super) &'a [u8]);

impl World<'_> {
    /// Index into the values of the variable.
    pub fn value(self, var: VarId) -> usize {
        usize::from(self.0[var.0] & !NOT_ASKED)
    }

    /// Returns true if the variable's `given` holds here.
    pub fn is_asked(self, var: VarId) -> bool {
        self.0[var.0] & NOT_ASKED == 0
    }

    /// Returns true if a predicate holds here.
    pub fn holds(self, pred: &Pred) -> bool {
        match &pred.kind {
            PredKind::Is { var, values } => values.contains(self.value(*var)),
            PredKind::All(parts) => parts.iter().all(|part| self.holds(part)),
            PredKind::Any(parts) => parts.iter().any(|part| self.holds(part)),
            PredKind::Not(part) => !self.holds(part),
        }
    }

    /// Evaluates a predicate from only those facts that are evaluated here. Returns `None` if they
    /// do not decide it. The outcome of our own writes is always known.
    pub fn try_evaluate(self, pred: &Pred, lifecycle: &Lifecycle) -> Option<bool> {
        pred.decided(&|var, values| {
            let given = &lifecycle.vars[var.0].given;
            let asked = given.iter().all(|guard| self.holds(&guard.pred));
            asked.then(|| values.contains(self.value(var)))
        })
    }
}

/// Change of each variable: it keeps a value, or may take any value. Uses one byte each, so that a
/// comparison of bytes finds equal changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change(pub(super) Box<[u8]>);

/// The variable may have any value.
pub(super) const ANY: u8 = 0x80;
pub(super) const STAYS_FREE: u8 = 0x40;
/// Used with `ANY`: limits a verdict to the values that the comparison of an object can have.
pub(super) const COMPARED: u8 = 0x01;

impl Change {
    /// Returns a change that keeps every value. Only a variable that becomes evaluated may have any
    /// value.
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

    /// The verdict may become another value of the comparison if it is one. Otherwise it stays.
    pub fn compare(&mut self, var: VarId, compared: ValueSet) {
        let cell = self.0[var.0];
        let is_any = cell & ANY != 0;
        if !is_any && compared.contains(usize::from(cell & !STAYS_FREE)) {
            self.free(var);
            self.0[var.0] |= COMPARED;
        }
    }

    /// Sets the variable to this value, if it is evaluated.
    pub fn force(&mut self, var: VarId, value: usize) {
        let value = u8::try_from(value).expect("a domain has at most 64 values");
        self.0[var.0] = value | (self.0[var.0] & STAYS_FREE);
    }

    /// Keeps the held fact from becoming ours.
    pub fn stay_free(&mut self, var: VarId) {
        self.0[var.0] |= STAYS_FREE;
    }
}
