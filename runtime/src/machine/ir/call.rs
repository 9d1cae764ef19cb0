//! The calls of a volume as data: what the Container Storage Interface demands of each, and what the declaration answers.

use super::Pred;

/// What answers one call.
#[derive(Debug)]
pub struct Call {
    /// Which call.
    pub rpc: Rpc,
    /// Its doc comment.
    pub doc: &'static str,
    /// It is to the node, where something local can be probed.
    pub on_node: bool,
    /// What its request carries.
    pub fields: &'static [RequestField],
    /// The fields by which calls exclude each other.
    pub key: &'static [&'static str],
    /// What it asks first, in order: only those that may apply.
    pub preconditions: &'static [Precondition],
    /// What it is to bring about; where that holds already, it is OK.
    pub target: Target,
    /// Asked next: the first that fits counts.
    pub refusals: &'static [Refusal],
    /// Effects that lead to the target: the first that is enabled runs.
    pub by: &'static [usize],
    /// For how long it waits for what is promised.
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
    /// A request without it is refused before anything is looked at.
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

/// What a call is to bring about.
#[derive(Debug)]
pub enum Target {
    /// Nothing.
    Nothing,
    /// A state.
    State(usize),
    /// Worlds in which this holds.
    Pred(Pred),
}

/// Where a call is refused.
#[derive(Debug)]
pub struct Refusal {
    /// The worlds.
    pub when: Pred,
    /// With which code.
    pub code: Code,
    /// The author's sentence.
    pub why: Option<&'static str>,
}

/// How long a call waits, and what it answers then.
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
    /// Tells whether a volume can do what is asked.
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
    /// Nobody knows what happened.
    Unknown,
    /// The request is wrong.
    InvalidArgument,
    /// It took too long.
    DeadlineExceeded,
    /// It is not there.
    NotFound,
    /// It is there, and differs.
    AlreadyExists,
    /// The caller may not.
    PermissionDenied,
    /// There is no room.
    ResourceExhausted,
    /// Something else must happen first.
    FailedPrecondition,
    /// The same call is under way.
    Aborted,
    /// Too small or too large.
    OutOfRange,
    /// There is no such call.
    Unimplemented,
    /// Something broke.
    Internal,
    /// Not now.
    Unavailable,
    /// Something is lost.
    DataLoss,
    /// Nobody knows who asks.
    Unauthenticated,
}
