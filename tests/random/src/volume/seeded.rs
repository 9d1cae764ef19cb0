//! Mistakes put into the driver of volumes on purpose: runs that cannot find them prove nothing.

use lifecycle_runtime::machine::ir::{Call, Code};

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeededCall {
    /// The first precondition of each call is not asked.
    Preconditions,
    /// The first refusal of each call is not asked.
    Refusals,
    /// Of the effects of a call the last is tried first.
    Order,
    /// A call that gives up says that its request was wrong.
    Patience,
    /// Nothing tells a call that waits that something has changed.
    Deafness,
    /// A refused write is another one each time.
    Memory,
    /// A call does not know which other one undoes it.
    Opposites,
    /// Written is what is wanted without what it is built from.
    Building,
}

impl SeededCall {
    /// Each of them.
    pub const ALL: [Self; 8] = [
        Self::Preconditions,
        Self::Refusals,
        Self::Order,
        Self::Patience,
        Self::Deafness,
        Self::Memory,
        Self::Opposites,
        Self::Building,
    ];

    /// What is answered.
    pub(crate) fn call(self, call: &mut Call) {
        match self {
            Self::Preconditions => {
                call.preconditions = call.preconditions.get(1..).unwrap_or_default();
            }
            Self::Refusals => call.refusals = call.refusals.get(1..).unwrap_or_default(),
            Self::Order => {
                let mut by = call.by.to_vec();
                by.reverse();
                call.by = Vec::leak(by);
            }
            Self::Patience => {
                if let Some(within) = &mut call.within {
                    within.code = Code::InvalidArgument;
                }
            }
            Self::Opposites => call.opposite = None,
            Self::Deafness | Self::Memory | Self::Building => {}
        }
    }
}
