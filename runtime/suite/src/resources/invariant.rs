//! Invariants of every run, each with a name under which failures are reported.

use std::fmt;

/// A rule that runs are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// A disturbed run ends in the same worlds as the undisturbed one.
    SameEnd,
    /// No write happens once settled.
    QuietAtRest,
    /// Objects that other controllers or users made are neither changed nor deleted nor adopted.
    HandsOff,
    /// Every transition of a quiet run is declared.
    DeclaredTransition,
    /// Every observed world is a world: no `never` holds, and a state takes it.
    KnownWorld,
    /// The successor of an effect is among its declared outcomes.
    DeclaredOutcome,
    /// A promise has the declared results.
    DeclaredPromise,
    /// A process sends the API server only requests that the rights generated from its lifecycle
    /// allow.
    Granted,
    /// An effect runs only where the declaration permits it.
    Permitted,
    /// An effect that is enabled is accepted, or reported refused, which is remembered.
    Accepted,
    /// A reconciliation makes one write, and a call makes one change.
    OneWrite,
    /// Co-owners of an object want the same values in the fields that they share.
    CoOwners,
    /// A list whose elements are all ours has no other element once its object is as desired.
    ExclusiveLists,
    /// Our written fields are as we left them if their object is reported to be as desired. No one
    /// else has them, or set another value in them.
    OursAgain,
    /// Retained and adopted objects have no owner reference and stay when their owner goes; all
    /// others go.
    Kept,
    /// The status at the end is the projection of the world.
    Projection,
    /// Nothing is left of an object that was deleted.
    NoLeak,
    /// When an object goes, the steps of its teardown are over one after the other.
    InOrder,
    /// Work ends.
    NoHotLoop,
    /// Every run settles: at a goal, in a state where a person must act, or in a state that awaits
    /// a promise.
    Settles,
    /// A process that has run for long observes the same as one that was just started.
    SeesAll,
    /// Nothing is written while another holds the Lease.
    OnlyTheLeader,
    /// An answer that depends on the clock holds until its stated time, and is evaluated again
    /// then.
    HoldsUntil,
    /// Minted values are read back from a keeper that is reported to be as desired.
    ReadBack,
    /// An object that is created once is not created again once the run has settled, whatever
    /// became of the object.
    MadeOnce,
    /// No promise between lifecycles that run together is open once they have settled, unless its
    /// keeper waits for a person.
    ClaimsKept,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::SameEnd,
        Self::QuietAtRest,
        Self::HandsOff,
        Self::DeclaredTransition,
        Self::KnownWorld,
        Self::DeclaredOutcome,
        Self::DeclaredPromise,
        Self::Granted,
        Self::Permitted,
        Self::Accepted,
        Self::OneWrite,
        Self::CoOwners,
        Self::ExclusiveLists,
        Self::OursAgain,
        Self::Kept,
        Self::Projection,
        Self::NoLeak,
        Self::InOrder,
        Self::NoHotLoop,
        Self::Settles,
        Self::SeesAll,
        Self::OnlyTheLeader,
        Self::HoldsUntil,
        Self::ReadBack,
        Self::MadeOnce,
        Self::ClaimsKept,
    ];
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameEnd => "same end",
            Self::QuietAtRest => "quiet at rest",
            Self::HandsOff => "hands off",
            Self::DeclaredTransition => "declared transition",
            Self::KnownWorld => "known world",
            Self::DeclaredOutcome => "declared outcome",
            Self::DeclaredPromise => "declared promise",
            Self::Granted => "within its rights",
            Self::Permitted => "permitted",
            Self::Accepted => "accepted or refused",
            Self::OneWrite => "one write",
            Self::CoOwners => "co-owners agree",
            Self::ExclusiveLists => "exclusive lists",
            Self::OursAgain => "ours again",
            Self::Kept => "kept as declared",
            Self::Projection => "status is the projection",
            Self::NoLeak => "no leak",
            Self::InOrder => "in order",
            Self::NoHotLoop => "no hot loop",
            Self::Settles => "settles",
            Self::SeesAll => "sees all",
            Self::OnlyTheLeader => "only the leader",
            Self::HoldsUntil => "holds until",
            Self::ReadBack => "read back",
            Self::MadeOnce => "made once",
            Self::ClaimsKept => "claims kept",
        })
    }
}

/// A rule that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub invariant: Invariant,
    /// Description of the observation.
    pub text: String,
}

impl Finding {
    pub(crate) fn new(invariant: Invariant, text: impl Into<String>) -> Self {
        Self {
            invariant,
            text: text.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.invariant, self.text)
    }
}
