//! Mistakes put into the driver of volumes on purpose: runs that cannot find them prove nothing.

use lifecycle_runtime::machine::ir::{Call, Code, Implicit, Lifecycle, RollUp, Target};

/// Location of a seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeededCall {
    /// The first precondition of each call is not evaluated.
    Preconditions,
    /// The first refusal of each call is not evaluated.
    Refusals,
    /// Of the effects of a call the last is tried first.
    Order,
    /// A call that gives up reports an invalid request.
    Patience,
    /// A waiting call is not notified of changes.
    Deafness,
    /// A refused write is another one each time.
    Memory,
    /// A call does not know which other one undoes it.
    Opposites,
    /// The desired content is written without the sources that it is built from.
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

    /// The mistake in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Preconditions => "the first precondition of each call is not asked",
            Self::Refusals => "the first refusal of each call is not asked",
            Self::Order => "of the effects of a call the last is tried first",
            Self::Patience => "a call that gives up says that its request was wrong",
            Self::Deafness => "nothing tells a call that waits that something has changed",
            Self::Memory => "a refused write is another one each time",
            Self::Opposites => "a call does not know which other one undoes it",
            Self::Building => "written is what is wanted without what it is built from",
        }
    }

    /// Returns a volume with this bug, if it is a bug of the declaration and the volume has the
    /// necessary parts.
    pub fn declared(self, ir: &'static Lifecycle) -> Option<&'static Lifecycle> {
        let has = |has: fn(&Call) -> bool| ir.calls.iter().any(has);
        let can = match self {
            Self::Preconditions => has(|call| !call.preconditions.is_empty()),
            Self::Refusals => has(|call| !call.refusals.is_empty()),
            Self::Order => has(|call| call.by.len() > 1),
            Self::Patience => has(|call| call.within.is_some()),
            Self::Opposites => has(|call| call.opposite.is_some()),
            Self::Deafness | Self::Memory | Self::Building => false,
        };
        let changed = |call: &Call| {
            let target = match &call.target {
                Target::Nothing => Target::Nothing,
                Target::State(state) => Target::State(*state),
                Target::Pred(pred) => Target::Pred(pred.clone()),
            };
            let mut call = Call { target, ..*call };
            self.call(&mut call);
            call
        };
        let other = || Lifecycle {
            calls: Vec::leak(ir.calls.iter().map(changed).collect()),
            ready: RollUp { ..ir.ready },
            implicit: ir.implicit.as_ref().map(|one| Implicit { ..*one }),
            ..*ir
        };
        can.then(|| &*Box::leak(Box::new(other())))
    }

    /// Seeds the bug into the declaration of a call.
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
