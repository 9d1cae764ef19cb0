//! Why an object waits.

/// Reason for not sending a request although an action is, or may be, due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitReason {
    /// A cache or an answer is older than our last action.
    Unseen,
    /// Another object of ours is writing the target at the moment.
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
    /// The result contradicts the declaration.
    Undeclared,
    /// A query has no answer yet, so no new status is reported.
    Unanswered,
    /// The status is reported with the pending change, or a moment later.
    Report,
    /// The object is reported as overdue at that time.
    Overdue,
    /// An answer holds until then.
    Time,
}
