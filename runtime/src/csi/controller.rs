//! The Controller service: makes volumes, takes them away, and says what they can do.

use std::sync::Arc;

use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_server::Controller;
use tonic::{Request, Response, Status};

use super::caller::{Asked, Caller};
use super::capability;
use super::code::Refused;
use super::deadline::of_request;
use super::request::Arrived;
use crate::lifecycle::CreatedVolume;
use crate::machine::ir::{Code, Rpc};

/// What the interface allows of an id and of a context.
const LONGEST_ID: usize = 128;
const LONGEST_CONTEXT: usize = 4096;

pub(crate) struct ControllerService {
    pub(crate) caller: Arc<Caller>,
}

#[tonic::async_trait]
impl Controller for ControllerService {
    async fn create_volume(
        &self,
        request: Request<csi::CreateVolumeRequest>,
    ) -> Result<Response<csi::CreateVolumeResponse>, Status> {
        let limit = of_request(&request);
        let arrived = Arrived::from(request.into_inner());
        let asked = Asked { arrived, limit };
        let board = self.caller.carry_out(Rpc::CreateVolume, asked).await?;
        let created = self.caller.machine().created(&board);
        let volume = checked(created)?;
        Ok(Response::new(csi::CreateVolumeResponse {
            volume: Some(on_wire(volume)),
        }))
    }

    async fn delete_volume(
        &self,
        request: Request<csi::DeleteVolumeRequest>,
    ) -> Result<Response<csi::DeleteVolumeResponse>, Status> {
        let limit = of_request(&request);
        let arrived = Arrived::from(request.into_inner());
        let asked = Asked { arrived, limit };
        self.caller.carry_out(Rpc::DeleteVolume, asked).await?;
        Ok(Response::new(csi::DeleteVolumeResponse {}))
    }

    async fn validate_volume_capabilities(
        &self,
        request: Request<csi::ValidateVolumeCapabilitiesRequest>,
    ) -> Result<Response<csi::ValidateVolumeCapabilitiesResponse>, Status> {
        let limit = of_request(&request);
        let request = request.into_inner();
        let arrived = Arrived::from(&request);
        let asked = Asked { arrived, limit };
        let rpc = Rpc::ValidateVolumeCapabilities;
        let board = self.caller.carry_out(rpc, asked).await?;
        let unfit = self.caller.ir().unfit(&board.world);
        let confirmed = csi::validate_volume_capabilities_response::Confirmed {
            volume_context: request.volume_context,
            volume_capabilities: request.volume_capabilities,
            parameters: request.parameters,
            mutable_parameters: request.mutable_parameters,
        };
        let message = if unfit {
            "a capability is not supported".to_owned()
        } else {
            String::new()
        };
        Ok(Response::new(csi::ValidateVolumeCapabilitiesResponse {
            confirmed: Some(confirmed).filter(|_| !unfit),
            message,
        }))
    }

    async fn controller_get_capabilities(
        &self,
        _: Request<csi::ControllerGetCapabilitiesRequest>,
    ) -> Result<Response<csi::ControllerGetCapabilitiesResponse>, Status> {
        let capabilities = capability::of_controller(self.caller.ir());
        Ok(Response::new(csi::ControllerGetCapabilitiesResponse {
            capabilities,
        }))
    }
}

/// What the interface demands of a reply: otherwise every later call would fail.
fn checked(created: Option<CreatedVolume>) -> Result<CreatedVolume, Refused> {
    let Some(volume) = created else {
        let said = "the volume is there and cannot be described";
        return Err(Refused::new(Code::Internal, said));
    };
    let context = volume.context.iter();
    let context: usize = context.map(|(key, value)| key.len() + value.len()).sum();
    let fits = (1..=LONGEST_ID).contains(&volume.volume_id.len()) && context <= LONGEST_CONTEXT;
    if !fits {
        let said = "the id or the context of the volume is longer than the interface allows";
        return Err(Refused::new(Code::Internal, said));
    }
    Ok(volume)
}

fn on_wire(volume: CreatedVolume) -> csi::Volume {
    let topology = |segments| csi::Topology { segments };
    csi::Volume {
        capacity_bytes: i64::try_from(volume.capacity_bytes).unwrap_or(i64::MAX),
        volume_id: volume.volume_id,
        volume_context: volume.context,
        content_source: None,
        accessible_topology: volume.accessible.into_iter().map(topology).collect(),
    }
}
