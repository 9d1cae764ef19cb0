//! Requests of callers, and the values that methods read from them.

use std::collections::BTreeMap;

use lifecycle_csi::in_process::CsiRequest;
use lifecycle_proto::csi;
use lifecycle_proto::csi::volume_capability::{AccessMode, AccessType, MountVolume, access_mode};
use lifecycle_runtime::lifecycle::Request;
use lifecycle_runtime::machine::ir::Rpc;
use serde_json::{Value, json};

/// Key under which requests carry the answers to questions about them.
const ANSWERS: &str = "answers";

/// One call as its caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// Kind of the call.
    pub rpc: Rpc,
    /// Id of the volume; also the name under which it is requested.
    pub volume: String,
    /// Path at which the Pod finds it.
    pub target: String,
    /// Answer of the request to each question.
    pub answers: BTreeMap<String, u64>,
    /// True if the request lacks the field that identifies the volume.
    pub is_broken: bool,
}

impl CallRequest {
    fn staging(&self) -> String {
        format!("/staged/{}", self.volume)
    }

    fn answers_json(&self) -> String {
        json!(self.answers).to_string()
    }

    /// Returns true if the request describes more than the volume and its location.
    fn describes(&self) -> bool {
        match self.rpc {
            Rpc::CreateVolume
            | Rpc::ValidateVolumeCapabilities
            | Rpc::NodeStageVolume
            | Rpc::NodePublishVolume => true,
            Rpc::DeleteVolume | Rpc::NodeUnstageVolume | Rpc::NodeUnpublishVolume => false,
        }
    }

    /// On the wire.
    pub fn request(&self) -> CsiRequest {
        let volume_id = if self.is_broken {
            String::new()
        } else {
            self.volume.clone()
        };
        let context = BTreeMap::from([(ANSWERS.to_owned(), self.answers_json())]);
        match self.rpc {
            Rpc::CreateVolume => CsiRequest::Create(csi::CreateVolumeRequest {
                name: volume_id,
                volume_capabilities: vec![capability()],
                parameters: context,
                ..Default::default()
            }),
            Rpc::DeleteVolume => CsiRequest::Delete(csi::DeleteVolumeRequest {
                volume_id,
                ..Default::default()
            }),
            Rpc::ValidateVolumeCapabilities => {
                CsiRequest::Validate(csi::ValidateVolumeCapabilitiesRequest {
                    volume_id,
                    volume_context: context,
                    volume_capabilities: vec![capability()],
                    ..Default::default()
                })
            }
            Rpc::NodeStageVolume => CsiRequest::Stage(csi::NodeStageVolumeRequest {
                volume_id,
                staging_target_path: self.staging(),
                volume_capability: Some(capability()),
                volume_context: context,
                ..Default::default()
            }),
            Rpc::NodeUnstageVolume => CsiRequest::Unstage(csi::NodeUnstageVolumeRequest {
                volume_id,
                staging_target_path: self.staging(),
            }),
            Rpc::NodePublishVolume => CsiRequest::Publish(csi::NodePublishVolumeRequest {
                volume_id,
                staging_target_path: self.staging(),
                target_path: self.target.clone(),
                volume_capability: Some(capability()),
                volume_context: context,
                ..Default::default()
            }),
            Rpc::NodeUnpublishVolume => CsiRequest::Unpublish(csi::NodeUnpublishVolumeRequest {
                volume_id,
                target_path: self.target.clone(),
            }),
        }
    }

    /// As methods read it, by the lists of the interface alone.
    pub fn document(&self) -> Value {
        let fields: &[&str] = match self.rpc {
            Rpc::CreateVolume => &["name"],
            Rpc::DeleteVolume | Rpc::ValidateVolumeCapabilities => &["volume_id"],
            Rpc::NodeStageVolume | Rpc::NodeUnstageVolume => &["volume_id", "staging_target_path"],
            Rpc::NodePublishVolume => &["volume_id", "staging_target_path", "target_path"],
            Rpc::NodeUnpublishVolume => &["volume_id", "target_path"],
        };
        let text = |field: &str| match field {
            "staging_target_path" => self.staging(),
            "target_path" => self.target.clone(),
            _ => self.volume.clone(),
        };
        let fields = fields.iter().map(|field| (*field, text(field)));
        let said = if self.describes() {
            json!(self.answers)
        } else {
            json!({})
        };
        render_document(fields.collect(), &said)
    }
}

fn capability() -> csi::VolumeCapability {
    csi::VolumeCapability {
        access_type: Some(AccessType::Mount(MountVolume::default())),
        access_mode: Some(AccessMode {
            mode: access_mode::Mode::SingleNodeWriter.into(),
        }),
    }
}

/// A request of the driver, as methods read it.
pub fn document(request: Request<'_>) -> Value {
    let names = ["name", "volume_id", "staging_target_path", "target_path"];
    let fields = names
        .into_iter()
        .filter_map(|name| Some((name, request.text(name)?.to_owned())));
    let said = request
        .context(ANSWERS)
        .or_else(|| request.parameter(ANSWERS));
    let said = said.and_then(|text| serde_json::from_str(text).ok());
    render_document(fields.collect(), &said.unwrap_or_else(|| json!({})))
}

fn render_document(fields: BTreeMap<&str, String>, answers: &Value) -> Value {
    json!({ "request": fields, "spec": { "answers": answers } })
}
