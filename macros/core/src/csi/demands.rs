//! What the specification can demand of a call: fields, preconditions and codes. What it does demand is in the table.

use super::names::{Code, Precondition, RequestField, Rpc};

/// One field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub content: Content,
    /// Whether a request without it, or with it empty, is refused before anything is looked at.
    pub required: bool,
}

/// What a field holds, hence how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A string.
    Text,
    /// A path: its own limit, that of the operating system.
    Path,
    /// A map of strings.
    Map,
    /// The context of a volume, which a PersistentVolume keeps for ever: a driver that served the name before may have stored more than an answer may have.
    Context,
    /// A map of strings that no fact sees and no log shows.
    Secrets,
    /// A message, or a list of messages, with a structure of its own.
    Message,
    /// A bool.
    Flag,
}

impl Content {
    /// How many bytes it may have, where the specification bounds it.
    pub fn limit(self) -> Option<usize> {
        match self {
            Self::Text => Some(128),
            Self::Path | Self::Map | Self::Secrets => Some(4096),
            Self::Context | Self::Message | Self::Flag => None,
        }
    }

    /// Whether a lookup can go by it: `by request.volume_id`.
    pub fn is_key(self) -> bool {
        match self {
            Self::Text | Self::Path => true,
            Self::Map | Self::Context | Self::Secrets | Self::Message | Self::Flag => false,
        }
    }
}

/// Everything that the specification says about one call.
#[derive(Debug)]
pub struct Demands {
    pub rpc: Rpc,
    /// The heading under which the specification lists its errors.
    pub section: &'static str,
    pub fields: &'static [Field],
    /// The fields that tell one call from another: calls with equal ones exclude each other.
    pub key: &'static [&'static str],
    /// Whether the request says what is wanted: a capability and a context. What is asked of a request that does not has the first value.
    pub describes: bool,
    /// Whether it is a call to the node, where something local can be probed.
    pub on_node: bool,
    /// The preconditions that it asks, in order, with the code of each.
    pub preconditions: &'static [(Precondition, Code)],
    /// What else it may answer, apart from what every call may.
    pub codes: &'static [Code],
    /// What the specification lists and a caller cannot bear, with why.
    pub shunned: &'static [(Code, &'static str)],
    /// The call that gives back what this one makes.
    pub undone_by: Option<Rpc>,
}

/// What every call may answer: the error scheme of the specification, and what gRPC itself answers where a server or its time is short.
pub const GENERAL: &[Code] = &[
    Code::InvalidArgument,
    Code::PermissionDenied,
    Code::Unauthenticated,
    Code::Aborted,
    Code::Internal,
    Code::Unavailable,
    Code::DeadlineExceeded,
];

impl Demands {
    /// The code with which it answers a precondition, if it asks for it.
    pub fn code_of(&self, precondition: Precondition) -> Option<Code> {
        let mut preconditions = self.preconditions.iter();
        preconditions
            .find(|(asked, _)| *asked == precondition)
            .map(|(_, code)| *code)
    }

    /// Every code that it may answer, in the order of the codes.
    pub fn listed(&self) -> Vec<Code> {
        let of_precondition =
            |code: &Code| self.preconditions.iter().any(|(_, answer)| answer == code);
        let lists = |code: &Code| {
            GENERAL.contains(code) || self.codes.contains(code) || of_precondition(code)
        };
        Code::ALL.iter().copied().filter(lists).collect()
    }

    /// Whether its request says this.
    pub fn says(&self, field: RequestField) -> bool {
        field.carried_as().iter().any(|name| self.carries(name))
    }

    /// Whether its request has this field.
    pub fn carries(&self, field: &str) -> bool {
        self.fields.iter().any(|one| one.name == field)
    }
}

impl RequestField {
    /// The fields of requests that carry it.
    fn carried_as(self) -> &'static [&'static str] {
        match self {
            Self::Name => &["name"],
            Self::VolumeId => &["volume_id"],
            Self::StagingTargetPath => &["staging_target_path"],
            Self::TargetPath => &["target_path"],
            Self::Parameters => &["parameters"],
            Self::VolumeContext => &["volume_context"],
            Self::Capabilities => &["volume_capabilities", "volume_capability"],
            Self::Readonly => &["readonly"],
            Self::CapacityRange => &["capacity_range"],
            Self::Requisite | Self::Preferred => &["accessibility_requirements"],
        }
    }

    /// The calls whose requests say it.
    pub fn callers(self) -> Vec<Rpc> {
        let calls = Rpc::ALL.iter().copied();
        calls.filter(|rpc| rpc.demands().says(self)).collect()
    }
}
