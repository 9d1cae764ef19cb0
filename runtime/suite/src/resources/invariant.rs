//! What must hold in every run, each rule by a name that failures are reported under.

use std::fmt;

/// A rule that runs are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// A disturbed run ends in the same worlds as the undisturbed one.
    SameEnd,
    /// Nothing is written at rest.
    QuietAtRest,
    /// What others made is neither changed nor deleted nor adopted.
    HandsOff,
    /// Every transition of a quiet run is declared.
    DeclaredTransition,
    /// Every observed world is a world: no `never` holds, and a state takes it.
    KnownWorld,
    /// The successor of an effect is among its declared outcomes.
    DeclaredOutcome,
    /// A promise brings about what it declares.
    DeclaredPromise,
    /// A process asks the API server only for what the rights allow that are generated from its lifecycle.
    Granted,
    /// An effect runs only where the declaration permits it.
    Permitted,
    /// An effect that is enabled is accepted, or reported refused, which is remembered.
    Accepted,
    /// A pass makes one write, and a call one change.
    OneWrite,
    /// Co-owners of an object want the same of what they share.
    CoOwners,
    /// A list of which we own every element has no other once its object is as wanted.
    ExclusiveLists,
    /// What we wrote is as we left it where its object is said to be as wanted: nobody else has it, or another value in it.
    OursAgain,
    /// What is retained or was taken over has no owner reference and stays when its owner goes; all else goes.
    Kept,
    /// The status at the end is the projection of the world.
    Projection,
    /// Nothing is left of an object that was deleted.
    NoLeak,
    /// When an object goes, the steps of its teardown are over one after the other.
    InOrder,
    /// Work ends.
    NoHotLoop,
    /// Every run comes to rest: at a goal, where somebody must act, or where a promise is awaited.
    Settles,
    /// A process that has run for long sees what one sees that was just started.
    SeesAll,
    /// Nothing is written while another holds the Lease.
    OnlyTheLeader,
    /// An answer that is made from the clock holds until it says, and is looked at again then.
    HoldsUntil,
    /// What is minted is read back from a keeper that is said to be as wanted.
    ReadBack,
    /// What is created once is not created again after a rest, whatever became of it.
    MadeOnce,
    /// Where lifecycles that run together rest, no promise between them is open, unless whoever is to keep it waits for a person.
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
    /// What was seen.
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
