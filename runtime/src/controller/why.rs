//! Why an object waits.

/// Why nothing leaves although something is to be done, or may have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A cache or an answer is older than what we did last.
    Unseen,
    /// Another object of ours writes the same one at this moment.
    Writing,
    /// Our Lease ends before a call would.
    Lease,
    /// Others are before us at the provider that a call would ask, or it wants to be left alone.
    Provider,
    /// The last try failed.
    Failed,
    /// The last try was refused.
    Refused,
    /// It was done again and again.
    Repeated,
    /// It led where the declaration does not say.
    Undeclared,
    /// A question has no answer yet, so the status says nothing new.
    Unanswered,
    /// The status is told with what is about to change it, or a moment later.
    Report,
    /// It is told when it has taken too long.
    Overdue,
    /// An answer holds until then.
    Time,
}
