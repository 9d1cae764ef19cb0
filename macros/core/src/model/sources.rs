//! What kind of source something is read from.

use super::{InputId, Lifecycle, Mode, Origin, Source, Var};

impl Lifecycle {
    /// What is created once, by the record of it.
    pub fn noted_in(&self, record: InputId) -> Option<InputId> {
        let mut inputs = self.inputs.iter();
        inputs
            .position(|input| input.noted == Some(record))
            .map(InputId)
    }

    /// Whether a source is what time it is.
    pub fn is_clock(&self, source: Source) -> bool {
        matches!(source, Source::Input(input) if self.inputs[input.0].mode == Mode::Clock)
    }

    /// Whether the method of a fact is told what time it is, so that it says until when its answer holds.
    pub fn is_timed(&self, var: &Var) -> bool {
        match &var.origin {
            Origin::Fact { from, .. } => from.iter().any(|one| self.is_clock(one.source)),
            Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
        }
    }
}
