//! Calls of a volume as data: the requirements of the Container Storage Interface, and the answers
//! of the declaration.

use super::{Pred, StateId};

/// Answer to one call.
#[derive(Debug)]
pub struct Call {
    /// Call that it answers.
    pub rpc: Rpc,
    /// Its doc comment.
    pub doc: &'static str,
    /// It is to the node, where something local can be probed.
    pub on_node: bool,
    /// Fields of its request.
    pub fields: &'static [RequestField],
    /// Fields by which calls exclude each other.
    pub key: &'static [&'static str],
    /// Preconditions that it checks first, in order: only those that may apply.
    pub preconditions: &'static [Precondition],
    /// Target that it brings about; if that holds already, the answer is OK.
    pub target: Target,
    /// Refusals, checked next. The first that fits counts.
    pub refusals: &'static [Refusal],
    /// Effects that lead to the target: the first that is enabled runs.
    pub by: &'static [usize],
    /// Upper bound on the wait for promises.
    pub within: Option<Within>,
    /// The call that undoes this one, or that this one undoes; it ends this one's waiting.
    pub opposite: Option<usize>,
    /// Inputs that its request cannot find: they are not there.
    pub unseen_inputs: &'static [usize],
    /// Variables that its request cannot answer: they have their first value.
    pub unseen_vars: &'static [usize],
}

/// One field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestField {
    /// As the interface spells it.
    pub name: &'static str,
    /// True if a request without the field is refused before anything is read.
    pub required: bool,
    /// How many bytes it may have.
    pub limit: Option<usize>,
}

/// A precondition of the interface that may apply.
#[derive(Debug)]
pub struct Precondition {
    /// As it is written: `unknown`.
    pub name: &'static str,
    /// The code that the interface demands.
    pub code: Code,
    /// When it applies.
    pub when: Pred,
}

/// Target of a call.
#[derive(Debug)]
pub enum Target {
    /// Nothing.
    Nothing,
    /// A state.
    State(StateId),
    /// All worlds in which this predicate holds.
    Pred(Pred),
}

/// Refusal of a call.
#[derive(Debug)]
pub struct Refusal {
    /// The worlds.
    pub when: Pred,
    /// Status code of the refusal.
    pub code: Code,
    /// The author's sentence.
    pub why: Option<&'static str>,
}

/// Upper bound on the wait of a call, and the answer after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Milliseconds.
    pub time: u64,
    /// The answer after that.
    pub code: Code,
}

/// A call of the Container Storage Interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rpc {
    /// Makes a volume.
    CreateVolume,
    /// Takes it away.
    DeleteVolume,
    /// Reports whether a volume supports the requested capabilities.
    ValidateVolumeCapabilities,
    /// Prepares a volume on a node.
    NodeStageVolume,
    /// Takes that back.
    NodeUnstageVolume,
    /// Gives a volume to a Pod.
    NodePublishVolume,
    /// Takes it from the Pod.
    NodeUnpublishVolume,
}

/// A status code of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The caller gave up.
    Cancelled,
    /// The result is unknown.
    Unknown,
    /// The request is wrong.
    InvalidArgument,
    /// It took too long.
    DeadlineExceeded,
    /// It is not there.
    NotFound,
    /// The volume exists and differs.
    AlreadyExists,
    /// The caller may not.
    PermissionDenied,
    /// No space is left.
    ResourceExhausted,
    /// Something else must happen first.
    FailedPrecondition,
    /// The same call is under way.
    Aborted,
    /// Too small or too large.
    OutOfRange,
    /// The call is not implemented.
    Unimplemented,
    /// Something broke.
    Internal,
    /// Not now.
    Unavailable,
    /// Something is lost.
    DataLoss,
    /// The caller is not authenticated.
    Unauthenticated,
}
