//! Lifecycle of the replaying version, under the names by which it runs. It lacks data known only
//! to the operator's process.

use std::sync::Arc;

use lifecycle_runtime::Machine;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::operator::{Naming, Operator};

/// Lifecycle with which a recording is compared.
#[derive(Clone)]
pub struct Replayed {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) naming: Naming,
    /// Inputs that only the operator can compare with the desired object, and the reason.
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
    /// Returns a lifecycle under the names by which its operator runs it.
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

    /// Excludes an input from the comparison, and notes why. Only the process of the operator knows
    /// the desired value of such an input. Its comparison with the live value is taken as recorded.
    #[must_use]
    pub fn not_compared(mut self, input: &'static str, why: &'static str) -> Self {
        self.apart.push((input, why));
        self
    }

    /// Returns the unique path of its lifecycle: the module of the declaration, and the name.
    pub fn path(&self) -> &'static str {
        self.ir().path
    }

    pub(crate) fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }
}
