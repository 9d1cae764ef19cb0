//! What the Container Storage Interface 1.12 demands of the calls that a volume can declare: their names, codes and words, and one table of all demands.
//! Knows the specification and nothing of lifecycles.

mod table;

/// The version of the specification that the table is taken from.
pub const VERSION: &str = "1.12";

macro_rules! named {
    ($(#[$doc:meta])* $kind:ident { $($(#[$what:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $kind { $($(#[$what])* $variant),* }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// As it is written.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The one with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

named! {
    /// A call that a volume answers by its declaration.
    Rpc {
        CreateVolume = "CreateVolume",
        DeleteVolume = "DeleteVolume",
        ValidateVolumeCapabilities = "ValidateVolumeCapabilities",
        NodeStageVolume = "NodeStageVolume",
        NodeUnstageVolume = "NodeUnstageVolume",
        NodePublishVolume = "NodePublishVolume",
        NodeUnpublishVolume = "NodeUnpublishVolume",
    }
}

named! {
    /// What a volume can be to a call, in the order in which a call asks for it.
    Word {
        /// The capability that is asked for is not supported.
        Unfit = "unfit",
        /// There is no such volume.
        Unknown = "unknown",
        /// The volume is published and cannot be deleted.
        InUse = "in_use",
        /// The volume is published at another target, and may be at one only.
        Elsewhere = "elsewhere",
        /// The volume was not staged.
        Unstaged = "unstaged",
        /// It is there already, with other arguments.
        Differs = "differs",
    }
}

named! {
    /// A status code of gRPC that an error may have.
    Code {
        Cancelled = "CANCELLED",
        Unknown = "UNKNOWN",
        InvalidArgument = "INVALID_ARGUMENT",
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        NotFound = "NOT_FOUND",
        AlreadyExists = "ALREADY_EXISTS",
        PermissionDenied = "PERMISSION_DENIED",
        ResourceExhausted = "RESOURCE_EXHAUSTED",
        FailedPrecondition = "FAILED_PRECONDITION",
        Aborted = "ABORTED",
        OutOfRange = "OUT_OF_RANGE",
        Unimplemented = "UNIMPLEMENTED",
        Internal = "INTERNAL",
        Unavailable = "UNAVAILABLE",
        DataLoss = "DATA_LOSS",
        Unauthenticated = "UNAUTHENTICATED",
    }
}

/// The method that makes the reply of `CreateVolume`, the one reply with content.
pub const REPLY_OF_CREATE: &str = "created_volume";

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
            Self::Message | Self::Flag => None,
        }
    }

    /// Whether a lookup can go by it: `by request.volume_id`.
    pub fn is_key(self) -> bool {
        match self {
            Self::Text | Self::Path => true,
            Self::Map | Self::Secrets | Self::Message | Self::Flag => false,
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
    /// The words that it asks, in order, with the code of each.
    pub words: &'static [(Word, Code)],
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

impl Rpc {
    /// What the specification says about it.
    pub fn demands(self) -> &'static Demands {
        match self {
            Self::CreateVolume => &table::CREATE_VOLUME,
            Self::DeleteVolume => &table::DELETE_VOLUME,
            Self::ValidateVolumeCapabilities => &table::VALIDATE_VOLUME_CAPABILITIES,
            Self::NodeStageVolume => &table::NODE_STAGE_VOLUME,
            Self::NodeUnstageVolume => &table::NODE_UNSTAGE_VOLUME,
            Self::NodePublishVolume => &table::NODE_PUBLISH_VOLUME,
            Self::NodeUnpublishVolume => &table::NODE_UNPUBLISH_VOLUME,
        }
    }
}

impl Demands {
    /// The code with which it answers a word, if it asks for it.
    pub fn code_of(&self, word: Word) -> Option<Code> {
        let mut words = self.words.iter();
        words
            .find(|(asked, _)| *asked == word)
            .map(|(_, code)| *code)
    }

    /// Every code that it may answer, in the order of the codes.
    pub fn listed(&self) -> Vec<Code> {
        let of_word = |code: &Code| self.words.iter().any(|(_, answer)| answer == code);
        let lists =
            |code: &Code| GENERAL.contains(code) || self.codes.contains(code) || of_word(code);
        Code::ALL.iter().copied().filter(lists).collect()
    }

    /// Whether its request has this field.
    pub fn carries(&self, field: &str) -> bool {
        self.fields.iter().any(|one| one.name == field)
    }
}

/// The fields that a lookup can go by, of all calls, each once.
pub fn key_fields() -> Vec<&'static str> {
    let mut names = Vec::new();
    let fields = Rpc::ALL.iter().flat_map(|rpc| rpc.demands().fields);
    for field in fields.filter(|field| field.content.is_key()) {
        if !names.contains(&field.name) {
            names.push(field.name);
        }
    }
    names
}

/// Other calls of the specification, and why none of them is declared.
pub fn why_undeclared(name: &str) -> Option<&'static str> {
    const GENERATED: &[&str] = &[
        "GetPluginInfo",
        "GetPluginCapabilities",
        "Probe",
        "ControllerGetCapabilities",
        "NodeGetCapabilities",
        "NodeGetInfo",
    ];
    const OTHERS: &[&str] = &[
        "ControllerPublishVolume",
        "ControllerUnpublishVolume",
        "ControllerGetVolume",
        "ControllerExpandVolume",
        "ControllerModifyVolume",
        "ListVolumes",
        "GetCapacity",
        "CreateSnapshot",
        "DeleteSnapshot",
        "ListSnapshots",
        "GetSnapshot",
        "NodeGetVolumeStats",
        "NodeExpandVolume",
    ];
    if GENERATED.contains(&name) {
        Some("answered without being declared: from what is declared, and from the driver's name")
    } else if OTHERS.contains(&name) {
        Some("a call that no volume declares yet")
    } else {
        None
    }
}
