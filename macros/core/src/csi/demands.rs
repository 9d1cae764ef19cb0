//! Kinds of demands that the specification can make on a call: fields, preconditions and codes. The
//! table holds the actual demands.

use super::names::{Code, Precondition, RequestField, Rpc};

/// One field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub content: Content,
    /// True if a request without the field, or with an empty one, is refused before any other
    /// check.
    pub required: bool,
}

/// Content of a field, which bounds its length.
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

    /// Returns true if a lookup can use the field as a key: `by request.volume_id`.
    pub fn is_key(self) -> bool {
        match self {
            Self::Text | Self::Path => true,
            Self::Map | Self::Context | Self::Secrets | Self::Message | Self::Flag => false,
        }
    }
}

/// All demands of the specification on one call.
#[derive(Debug)]
pub struct Demands {
    pub rpc: Rpc,
    /// The heading under which the specification lists its errors.
    pub section: &'static str,
    pub fields: &'static [Field],
    /// Fields that identify a call: calls with equal ones exclude each other.
    pub key: &'static [&'static str],
    /// True if the request describes the wanted volume with a capability and a context. A fact that
    /// is evaluated from a request without them has its first value.
    pub describes: bool,
    /// True if it is a call to the node, on which local state can be probed.
    pub on_node: bool,
    /// Preconditions that the call evaluates, in order, with the code of each.
    pub preconditions: &'static [(Precondition, Code)],
    /// Other codes that the call may answer, apart from those that every call may answer.
    pub codes: &'static [Code],
    /// Codes that the specification lists and that a caller cannot handle, each with the reason.
    pub shunned: &'static [(Code, &'static str)],
    /// The call that undoes this one.
    pub undone_by: Option<Rpc>,
}

/// Codes that every call may answer. They are the error scheme of the specification, and the codes
/// that gRPC itself answers if a server is unavailable or out of time.
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
    /// Returns the code with which the call answers a precondition, if it evaluates it.
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

    /// Returns true if the request of the call carries this value.
    pub fn has_field(&self, field: RequestField) -> bool {
        field.carried_as().iter().any(|name| self.carries(name))
    }

    /// Returns true if the request of the call has this field.
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

    /// Returns the calls whose requests carry the field.
    pub fn callers(self) -> Vec<Rpc> {
        let calls = Rpc::ALL.iter().copied();
        calls.filter(|rpc| rpc.demands().has_field(self)).collect()
    }
}
