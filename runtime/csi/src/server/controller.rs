//! Controller service: creates and deletes volumes, and reports their capabilities.

use std::sync::Arc;

use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_server::Controller;
use tonic::{Request, Response, Status};

use super::capability;
use crate::call::deadline::of_request;
use crate::call::request::CallRequest;
use crate::call::runner::CallRunner;
use crate::code::RpcError;
use lifecycle_runtime::lifecycle::CreatedVolume;
use lifecycle_runtime::machine::ir::{Code, Rpc};

/// Limits of the interface on the sizes of an id and of a context, in bytes.
const MAX_ID_BYTES: usize = 128;
const MAX_CONTEXT_BYTES: usize = 4096;

pub(crate) struct ControllerService {
    pub(crate) runner: Arc<CallRunner>,
}

#[tonic::async_trait]
impl Controller for ControllerService {
    async fn create_volume(
        &self,
        request: Request<csi::CreateVolumeRequest>,
    ) -> Result<Response<csi::CreateVolumeResponse>, Status> {
        let deadline = of_request(&request);
        let request = CallRequest::from(request.into_inner());
        let observation = self
            .runner
            .run(Rpc::CreateVolume, request, deadline)
            .await?;
        let created = self.runner.context.machine().created(&observation);
        let volume = checked(created)?;
        Ok(Response::new(csi::CreateVolumeResponse {
            volume: Some(on_wire(volume)),
        }))
    }

    async fn delete_volume(
        &self,
        request: Request<csi::DeleteVolumeRequest>,
    ) -> Result<Response<csi::DeleteVolumeResponse>, Status> {
        let deadline = of_request(&request);
        let request = CallRequest::from(request.into_inner());
        self.runner
            .run(Rpc::DeleteVolume, request, deadline)
            .await?;
        Ok(Response::new(csi::DeleteVolumeResponse {}))
    }

    async fn validate_volume_capabilities(
        &self,
        request: Request<csi::ValidateVolumeCapabilitiesRequest>,
    ) -> Result<Response<csi::ValidateVolumeCapabilitiesResponse>, Status> {
        let deadline = of_request(&request);
        let request = request.into_inner();
        let (rpc, call) = (Rpc::ValidateVolumeCapabilities, CallRequest::from(&request));
        let observation = self.runner.run(rpc, call, deadline).await?;
        let unfit = self.runner.context.ir().unfit(&observation.world);
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
        let capabilities = capability::of_controller(self.runner.context.ir());
        Ok(Response::new(csi::ControllerGetCapabilitiesResponse {
            capabilities,
        }))
    }
}

/// Checks that a reply meets the requirements of the interface. Otherwise every later call would
/// fail.
fn checked(created: Option<CreatedVolume>) -> Result<CreatedVolume, RpcError> {
    let Some(volume) = created else {
        let message = "the volume is there and cannot be described";
        return Err(RpcError::new(Code::Internal, message));
    };
    let context = volume.context.iter();
    let context: usize = context.map(|(key, value)| key.len() + value.len()).sum();
    let fits = (1..=MAX_ID_BYTES).contains(&volume.volume_id.len()) && context <= MAX_CONTEXT_BYTES;
    if !fits {
        let message = "the id or the context of the volume is longer than the interface allows";
        return Err(RpcError::new(Code::Internal, message));
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
