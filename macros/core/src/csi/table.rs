//! The table: one entry for each call, taken from the specification's messages and lists of errors.

use super::demands::{Content, Demands, Field};
use super::names::{Code, Precondition, Rpc};

const fn required(name: &'static str, content: Content) -> Field {
    Field {
        name,
        content,
        required: true,
    }
}

const fn optional(name: &'static str, content: Content) -> Field {
    Field {
        name,
        content,
        required: false,
    }
}

const FOR_EVER: &str = "its caller repeats the call forever: a volume that does not exist counts as released, so answer OK";

pub(super) const CREATE_VOLUME: Demands = Demands {
    rpc: Rpc::CreateVolume,
    section: "CreateVolume Errors",
    fields: &[
        required("name", Content::Text),
        optional("capacity_range", Content::Message),
        required("volume_capabilities", Content::Message),
        optional("parameters", Content::Map),
        optional("secrets", Content::Secrets),
        optional("volume_content_source", Content::Message),
        optional("accessibility_requirements", Content::Message),
        optional("mutable_parameters", Content::Map),
    ],
    key: &["name"],
    describes: true,
    on_node: false,
    preconditions: &[
        (Precondition::Unfit, Code::InvalidArgument),
        (Precondition::Differs, Code::AlreadyExists),
    ],
    codes: &[Code::NotFound, Code::ResourceExhausted, Code::OutOfRange],
    shunned: &[],
    undone_by: Some(Rpc::DeleteVolume),
};

pub(super) const DELETE_VOLUME: Demands = Demands {
    rpc: Rpc::DeleteVolume,
    section: "DeleteVolume Errors",
    fields: &[
        required("volume_id", Content::Text),
        optional("secrets", Content::Secrets),
    ],
    key: &["volume_id"],
    describes: false,
    on_node: false,
    preconditions: &[(Precondition::InUse, Code::FailedPrecondition)],
    codes: &[],
    shunned: &[],
    undone_by: None,
};

pub(super) const VALIDATE_VOLUME_CAPABILITIES: Demands = Demands {
    rpc: Rpc::ValidateVolumeCapabilities,
    section: "ValidateVolumeCapabilities Errors",
    fields: &[
        required("volume_id", Content::Text),
        optional("volume_context", Content::Context),
        required("volume_capabilities", Content::Message),
        optional("parameters", Content::Map),
        optional("secrets", Content::Secrets),
        optional("mutable_parameters", Content::Map),
    ],
    key: &["volume_id"],
    describes: true,
    on_node: false,
    preconditions: &[(Precondition::Unknown, Code::NotFound)],
    codes: &[],
    shunned: &[],
    undone_by: None,
};

pub(super) const NODE_STAGE_VOLUME: Demands = Demands {
    rpc: Rpc::NodeStageVolume,
    section: "NodeStageVolume Errors",
    fields: &[
        required("volume_id", Content::Text),
        optional("publish_context", Content::Map),
        required("staging_target_path", Content::Path),
        required("volume_capability", Content::Message),
        optional("secrets", Content::Secrets),
        optional("volume_context", Content::Context),
    ],
    key: &["volume_id", "staging_target_path"],
    describes: true,
    on_node: true,
    preconditions: &[
        (Precondition::Unfit, Code::FailedPrecondition),
        (Precondition::Unknown, Code::NotFound),
        (Precondition::Differs, Code::AlreadyExists),
    ],
    codes: &[],
    shunned: &[],
    undone_by: Some(Rpc::NodeUnstageVolume),
};

pub(super) const NODE_UNSTAGE_VOLUME: Demands = Demands {
    rpc: Rpc::NodeUnstageVolume,
    section: "NodeUnstageVolume Errors",
    fields: &[
        required("volume_id", Content::Text),
        required("staging_target_path", Content::Path),
    ],
    key: &["volume_id", "staging_target_path"],
    describes: false,
    on_node: true,
    preconditions: &[],
    // That the volume is published still is a precondition, though no list of errors names it.
    codes: &[Code::FailedPrecondition],
    shunned: &[(Code::NotFound, FOR_EVER)],
    undone_by: None,
};

pub(super) const NODE_PUBLISH_VOLUME: Demands = Demands {
    rpc: Rpc::NodePublishVolume,
    section: "NodePublishVolume Errors",
    fields: &[
        required("volume_id", Content::Text),
        optional("publish_context", Content::Map),
        // Required where the volume is staged.
        optional("staging_target_path", Content::Path),
        required("target_path", Content::Path),
        required("volume_capability", Content::Message),
        optional("readonly", Content::Flag),
        optional("secrets", Content::Secrets),
        optional("volume_context", Content::Context),
    ],
    key: &["volume_id", "target_path"],
    describes: true,
    on_node: true,
    preconditions: &[
        (Precondition::Unfit, Code::FailedPrecondition),
        (Precondition::Unknown, Code::NotFound),
        (Precondition::Elsewhere, Code::FailedPrecondition),
        (Precondition::Unstaged, Code::FailedPrecondition),
        (Precondition::Differs, Code::AlreadyExists),
    ],
    codes: &[],
    shunned: &[],
    undone_by: Some(Rpc::NodeUnpublishVolume),
};

pub(super) const NODE_UNPUBLISH_VOLUME: Demands = Demands {
    rpc: Rpc::NodeUnpublishVolume,
    section: "NodeUnpublishVolume Errors",
    fields: &[
        required("volume_id", Content::Text),
        required("target_path", Content::Path),
    ],
    key: &["volume_id", "target_path"],
    describes: false,
    on_node: true,
    preconditions: &[],
    codes: &[],
    shunned: &[(Code::NotFound, FOR_EVER)],
    undone_by: None,
};
