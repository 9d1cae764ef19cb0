//! Sets of values of one variable.

/// A set of values of one variable, a bit each; a domain has at most 64 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ValueSet(pub u64);

impl ValueSet {
    pub fn from_value(value: usize) -> Self {
        Self(1 << value)
    }

    pub fn contains(self, value: usize) -> bool {
        self.0 >> value & 1 == 1
    }
}
