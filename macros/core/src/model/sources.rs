//! Kinds of sources.

use super::{InputId, Lifecycle, Mode, Origin, Source, Var};

impl Lifecycle {
    /// Returns the input that is created once and has this record.
    pub fn noted_in(&self, record: InputId) -> Option<InputId> {
        let mut inputs = self.inputs.iter();
        inputs
            .position(|input| input.noted == Some(record))
            .map(InputId)
    }

    /// Returns true if a source is the current time.
    pub fn is_clock(&self, source: Source) -> bool {
        matches!(source, Source::Input(input) if self.inputs[input.0].mode == Mode::Clock)
    }

    /// Returns true if the method of a fact receives the current time, and therefore reports the
    /// time until which its answer holds.
    pub fn is_timed(&self, var: &Var) -> bool {
        match &var.origin {
            Origin::Fact { from, .. } => from.iter().any(|one| self.is_clock(one.source)),
            Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
        }
    }
}
