//! A lifecycle of the version that replays, by the names under which it runs, but for what only the process of its operator knows.

use std::sync::Arc;

use lifecycle_runtime::Machine;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::operator::{Naming, Operator};

/// A lifecycle that a recording is held against.
#[derive(Clone)]
pub struct Replayed {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) naming: Naming,
    /// Inputs that only the operator can compare with what it wants, and why.
    pub(crate) apart: Vec<(&'static str, &'static str)>,
}

impl std::fmt::Debug for Replayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayed")
            .field("lifecycle", &self.ir().path)
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}

impl Replayed {
    /// A lifecycle under the names by which its operator runs it.
    pub fn new(machine: Arc<dyn Machine>, naming: Naming) -> Self {
        let apart = Vec::new();
        Self {
            machine,
            naming,
            apart,
        }
    }

    /// All lifecycles of an operator.
    pub fn all_of(operator: &Operator) -> Vec<Self> {
        let lifecycles = operator.lifecycles();
        lifecycles
            .map(|(machine, naming)| Self::new(Arc::clone(machine), naming.clone()))
            .collect()
    }

    /// What is wanted of an input only the process of the operator knows, and why: whether it is as wanted is taken as it was recorded.
    #[must_use]
    pub fn not_compared(mut self, input: &'static str, why: &'static str) -> Self {
        self.apart.push((input, why));
        self
    }

    /// What tells its lifecycle from all others: the module where it is declared, and its name.
    pub fn path(&self) -> &'static str {
        self.ir().path
    }

    pub(crate) fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }
}
