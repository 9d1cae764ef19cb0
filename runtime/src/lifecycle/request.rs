//! Request of a caller of the Container Storage Interface, as plain data that facts and builders
//! read; and the reply that has content. Knows no wire format. Secrets are left out: no fact may
//! depend on them, and no code may log them.

use std::collections::BTreeMap;

/// The request of one call. A field that the call does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requested {
    /// Requested name of the volume.
    pub name: String,
    /// Id of the volume.
    pub volume_id: String,
    /// Path at which it is staged on the node.
    pub staging_target_path: String,
    /// Path at which the Pod finds it.
    pub target_path: String,
    /// From the StorageClass.
    pub parameters: BTreeMap<String, String>,
    /// Content of the answer that created the volume, and the node's information about the Pod.
    pub volume_context: BTreeMap<String, String>,
    /// Required capabilities. All of them apply, and a call to the node has exactly one.
    pub capabilities: Vec<Capability>,
    /// The Pod may not write.
    pub readonly: bool,
    /// Lower bound on the size in bytes. Zero means no bound.
    pub required_bytes: u64,
    /// Upper bound on the size in bytes. Zero means no bound.
    pub limit_bytes: u64,
    /// The volume must be reachable from one of these.
    pub requisite: Vec<Segments>,
    /// Topology segments in order of preference.
    pub preferred: Vec<Segments>,
}

/// Location of a node: names and values of its topology.
pub type Segments = BTreeMap<String, String>;

/// Usage of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Form of access.
    pub access: Access,
    /// By how many.
    pub mode: AccessMode,
}

/// Form in which a volume is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// A directory.
    Mount {
        /// File system. Empty if any will do.
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
    /// The access mode is not specified.
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
    /// Wraps the parts of a request that methods may read.
    pub fn new(requested: &'a Requested) -> Self {
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

    /// Returns the requested name of the volume.
    pub fn name(self) -> Option<&'a str> {
        self.text("name")
    }

    /// Returns the id of the volume.
    pub fn volume_id(self) -> Option<&'a str> {
        self.text("volume_id")
    }

    /// Returns the path at which it is staged on the node.
    pub fn staging_target_path(self) -> Option<&'a str> {
        self.text("staging_target_path")
    }

    /// Returns the path at which the Pod finds it.
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

    /// Returns a value from the answer that created the volume, or from the node's information
    /// about the Pod.
    pub fn context(self, key: &str) -> Option<&'a str> {
        self.0.volume_context.get(key).map(String::as_str)
    }

    /// All that was answered when the volume was made, and that the node knows about the Pod.
    pub fn volume_context(self) -> &'a BTreeMap<String, String> {
        &self.0.volume_context
    }

    /// Returns the required capabilities of the volume. All of them apply.
    pub fn capabilities(self) -> &'a [Capability] {
        &self.0.capabilities
    }

    /// Returns true if the Pod may not write.
    pub fn is_readonly(self) -> bool {
        self.0.readonly
    }

    /// Returns the lower and upper bounds on the size in bytes. Zero means no bound.
    pub fn bytes(self) -> (u64, u64) {
        (self.0.required_bytes, self.0.limit_bytes)
    }

    /// Returns the topology segments from which the volume must be reachable: one of these.
    pub fn requisite(self) -> &'a [Segments] {
        &self.0.requisite
    }

    /// Returns the topology segments in order of preference.
    pub fn preferred(self) -> &'a [Segments] {
        &self.0.preferred
    }
}

/// The volume that `CreateVolume` answers with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedVolume {
    /// At most 128 bytes, and enough to find the volume by.
    pub volume_id: String,
    /// Size in bytes. Zero if unknown.
    pub capacity_bytes: u64,
    /// Comes back with every call to a node; never changes.
    pub context: BTreeMap<String, String>,
    /// Topology segments from which it is reachable: one of these; empty if reachable from
    /// everywhere.
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
