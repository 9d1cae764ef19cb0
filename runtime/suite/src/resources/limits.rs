//! How much of their providers the processes of a suite may ask for.

use lifecycle_runtime::operator::Operator;
use lifecycle_runtime::provider::Limit;

use super::{Core, Suite};

impl Suite {
    /// Sets the limit of a provider for each process, as `Operator::provider` does. Without this
    /// there is no limit.
    #[must_use]
    pub fn provider(mut self, name: &str, limit: Limit) -> Self {
        let mut inputs = self.core.ir.inputs.iter();
        if !inputs.any(|input| input.provider == Some(name)) {
            self.problems
                .push(format!("no poll names the provider `{name}`"));
        }
        self.core.limits.push((name.to_owned(), limit));
        self
    }
}

impl Core {
    /// Returns the operator with the provider limits of the suite.
    pub(super) fn limited(operator: Operator, limits: &[(String, Limit)]) -> Operator {
        let limits = limits.iter();
        limits.fold(operator, |operator, (name, limit)| {
            operator.provider(name, *limit)
        })
    }
}
