//! The names of the specification: its calls, the preconditions that a lifecycle decides, and its codes.

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
    /// Field of a request that a fact can read by itself, as a declaration spells it.
    RequestField {
        Name = "name",
        VolumeId = "volume_id",
        StagingTargetPath = "staging_target_path",
        TargetPath = "target_path",
        Parameters = "parameters",
        VolumeContext = "volume_context",
        /// All requested capabilities; a call to the node requests one.
        Capabilities = "capabilities",
        Readonly = "readonly",
        CapacityRange = "capacity_range",
        /// Topologies from which the volume must be reachable.
        Requisite = "requisite",
        /// Topologies in order of preference.
        Preferred = "preferred",
    }
}

named! {
    /// Relation of a volume to a call, in the order in which a call checks it.
    Precondition {
        /// The requested capability is not supported.
        Unfit = "unfit",
        /// The volume does not exist.
        Unknown = "unknown",
        /// The volume is published and cannot be deleted.
        InUse = "in_use",
        /// The volume is published at another target, and may be at one only.
        Elsewhere = "elsewhere",
        /// The volume was not staged.
        Unstaged = "unstaged",
        /// The volume already exists with other arguments.
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
