//! What a caller of the Container Storage Interface asks, as plain data that facts and builders read; and the reply that has content.
//! Knows no wire format. Secrets are left out: no fact may depend on them, and nothing may log them.

use std::collections::BTreeMap;

/// The request of one call. A field that the call does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requested {
    /// The name under which a volume is asked for.
    pub name: String,
    /// Which volume.
    pub volume_id: String,
    /// Where it is staged on the node.
    pub staging_target_path: String,
    /// Where the Pod finds it.
    pub target_path: String,
    /// From the StorageClass.
    pub parameters: BTreeMap<String, String>,
    /// What was answered when the volume was made, and what the node knows about the Pod.
    pub volume_context: BTreeMap<String, String>,
    /// All of them are asked for; of a call to the node there is one.
    pub capabilities: Vec<Capability>,
    /// The Pod may not write.
    pub readonly: bool,
    /// At least so many bytes; zero if nobody minds.
    pub required_bytes: u64,
    /// At most so many; zero if nobody minds.
    pub limit_bytes: u64,
    /// The volume must be reachable from one of these.
    pub requisite: Vec<Segments>,
    /// In the order in which they are to be tried.
    pub preferred: Vec<Segments>,
}

/// Where a node is: names and values of its topology.
pub type Segments = BTreeMap<String, String>;

/// How a volume is to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// As what.
    pub access: Access,
    /// By how many.
    pub mode: AccessMode,
}

/// As what a volume is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// A directory.
    Mount {
        /// The file system; empty if nobody minds.
        fs_type: String,
        /// Options of `mount`, which may be secret.
        flags: Vec<String>,
    },
    /// A block device.
    Block,
}

/// By how many a volume is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// Nobody said.
    Unknown,
    /// One node reads and writes.
    SingleNodeWriter,
    /// One node reads.
    SingleNodeReaderOnly,
    /// Many nodes read.
    MultiNodeReaderOnly,
    /// One node writes, many read.
    MultiNodeSingleWriter,
    /// Many nodes write.
    MultiNodeMultiWriter,
    /// One Pod on one node writes.
    SingleNodeSingleWriter,
    /// Many Pods on one node write.
    SingleNodeMultiWriter,
}

/// A request as methods get it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a>(&'a Requested);

impl<'a> Request<'a> {
    /// What methods may read of a request.
    pub fn of(requested: &'a Requested) -> Self {
        Self(requested)
    }

    /// A field that lookups go by; `None` if the request does not have it.
    pub fn text(self, field: &str) -> Option<&'a str> {
        let text = match field {
            "name" => self.0.name.as_str(),
            "volume_id" => &self.0.volume_id,
            "staging_target_path" => &self.0.staging_target_path,
            "target_path" => &self.0.target_path,
            _ => "",
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// The name under which a volume is asked for.
    pub fn name(self) -> Option<&'a str> {
        self.text("name")
    }

    /// Which volume.
    pub fn volume_id(self) -> Option<&'a str> {
        self.text("volume_id")
    }

    /// Where it is staged on the node.
    pub fn staging_target_path(self) -> Option<&'a str> {
        self.text("staging_target_path")
    }

    /// Where the Pod finds it.
    pub fn target_path(self) -> Option<&'a str> {
        self.text("target_path")
    }

    /// A parameter of the StorageClass.
    pub fn parameter(self, key: &str) -> Option<&'a str> {
        self.0.parameters.get(key).map(String::as_str)
    }

    /// All parameters of the StorageClass.
    pub fn parameters(self) -> &'a BTreeMap<String, String> {
        &self.0.parameters
    }

    /// What was answered when the volume was made, or what the node knows about the Pod.
    pub fn context(self, key: &str) -> Option<&'a str> {
        self.0.volume_context.get(key).map(String::as_str)
    }

    /// All that was answered when the volume was made, and that the node knows about the Pod.
    pub fn volume_context(self) -> &'a BTreeMap<String, String> {
        &self.0.volume_context
    }

    /// How the volume is to be used: all of these.
    pub fn capabilities(self) -> &'a [Capability] {
        &self.0.capabilities
    }

    /// Whether the Pod may not write.
    pub fn is_readonly(self) -> bool {
        self.0.readonly
    }

    /// The least and the greatest number of bytes that will do; zero if nobody minds.
    pub fn bytes(self) -> (u64, u64) {
        (self.0.required_bytes, self.0.limit_bytes)
    }

    /// Where the volume must be reachable from: one of these.
    pub fn requisite(self) -> &'a [Segments] {
        &self.0.requisite
    }

    /// The same in the order in which they are to be tried.
    pub fn preferred(self) -> &'a [Segments] {
        &self.0.preferred
    }
}

/// The volume that `CreateVolume` answers with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedVolume {
    /// At most 128 bytes, and enough to find the volume by.
    pub volume_id: String,
    /// Zero if nobody knows.
    pub capacity_bytes: u64,
    /// Comes back with every call to a node; never changes.
    pub context: BTreeMap<String, String>,
    /// Where it can be reached from: one of these; empty if from everywhere.
    pub accessible: Vec<Segments>,
}

impl CreatedVolume {
    /// A volume with nothing but an id.
    pub fn new(volume_id: impl Into<String>) -> Self {
        Self {
            volume_id: volume_id.into(),
            ..Self::default()
        }
    }

    /// Can be reached from there, too.
    #[must_use]
    pub fn accessible_from(mut self, segments: Segments) -> Self {
        self.accessible.push(segments);
        self
    }

    /// Every call to a node gets this back.
    #[must_use]
    pub fn with_context(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.context.insert(key.into(), value.into());
        self
    }
}
