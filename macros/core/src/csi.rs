//! Demands of the Container Storage Interface 1.12 on the calls that a volume can declare: their
//! names, codes and preconditions, and one table of all. Covers the specification and nothing of
//! lifecycles.

mod demands;
mod names;
mod table;

pub use demands::{Content, Demands, Field, GENERAL};
pub use names::{Code, Precondition, RequestField, Rpc};

/// The version of the specification that the table is taken from.
pub const VERSION: &str = "1.12";

/// The method that makes the reply of `CreateVolume`, the one reply with content.
pub const REPLY_OF_CREATE: &str = "created_volume";

impl Rpc {
    /// Returns the demands of the specification on this call.
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
