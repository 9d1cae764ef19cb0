//! Node service: stages and publishes volumes, reverts both, and reports usage.

use std::path::Path;
use std::sync::Arc;

use lifecycle_proto::csi;
use lifecycle_proto::csi::node_server::Node;
use lifecycle_proto::csi::volume_usage::Unit;
use tonic::{Request, Response, Status};

use super::capability;
use crate::call::deadline::of_request;
use crate::call::request::{CallRequest, invalid_path};
use crate::call::runner::CallRunner;
use crate::code::RpcError;
use crate::driver::NodeOptions;
use lifecycle_runtime::lifecycle::{Observation, Requested};
use lifecycle_runtime::machine::ir::{Code, Rpc};

const MAX_ID_BYTES: usize = 128;
const MAX_PATH_BYTES: usize = 4096;

pub(crate) struct NodeService {
    pub(crate) runner: Arc<CallRunner>,
    pub(crate) options: NodeOptions,
    pub(crate) has_topology: bool,
}

impl NodeService {
    async fn run<R>(&self, rpc: Rpc, request: Request<R>) -> Result<(), Status>
    where
        CallRequest: From<R>,
    {
        let deadline = of_request(&request);
        let request = CallRequest::from(request.into_inner());
        self.runner.run(rpc, request, deadline).await?;
        Ok(())
    }

    /// Returns true if the lifecycle reports the volume as published or staged at the path.
    async fn is_at(&self, volume: &str, path: &str) -> Result<bool, RpcError> {
        let published = Requested {
            volume_id: volume.to_owned(),
            target_path: path.to_owned(),
            ..Requested::default()
        };
        let staged = Requested {
            volume_id: volume.to_owned(),
            staging_target_path: path.to_owned(),
            ..Requested::default()
        };
        let ways = [
            (Rpc::NodePublishVolume, published),
            (Rpc::NodeStageVolume, staged),
        ];
        for (rpc, requested) in ways {
            let observed = self.runner.observe(rpc, requested).await?;
            let is_there = |(call, observation): (usize, Arc<Observation>)| {
                let ir = self.runner.context.ir();
                ir.is_at_target(&observation.world, call)
            };
            if observed.is_some_and(is_there) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn usage(
        &self,
        request: csi::NodeGetVolumeStatsRequest,
    ) -> Result<csi::VolumeUsage, RpcError> {
        let (volume, path) = (&request.volume_id, &request.volume_path);
        let missing = [
            ("volume_id", volume, MAX_ID_BYTES),
            ("volume_path", path, MAX_PATH_BYTES),
        ];
        for (field, text, limit) in missing {
            if text.is_empty() {
                return Err(RpcError::invalid(format!("`{field}` is missing")));
            }
            if text.len() > limit {
                let message = format!("`{field}` has more than {limit} bytes");
                return Err(RpcError::invalid(message));
            }
        }
        let not_there = || RpcError::new(Code::NotFound, "the volume is not at this path");
        if invalid_path("volume_path", path).is_some() || !self.is_at(volume, path).await? {
            return Err(not_there());
        }
        let Some(source) = self.options.usage.clone() else {
            let message = "this driver does not report volume usage";
            return Err(RpcError::new(Code::Unimplemented, message));
        };
        let path = path.clone();
        // The file system may be slow, or gone.
        let asked = tokio::task::spawn_blocking(move || source.usage(Path::new(&path))).await;
        let failed = |why: String| RpcError::new(Code::Internal, why);
        let usage = asked.map_err(|_| failed("the question ended unexpectedly".to_owned()))?;
        let usage =
            usage.map_err(|error| failed(format!("the volume usage cannot be read: {error}")))?;
        let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        Ok(csi::VolumeUsage {
            available: bytes(usage.available_bytes),
            total: bytes(usage.total_bytes),
            used: bytes(usage.used_bytes),
            unit: Unit::Bytes.into(),
        })
    }
}

#[tonic::async_trait]
impl Node for NodeService {
    async fn node_stage_volume(
        &self,
        request: Request<csi::NodeStageVolumeRequest>,
    ) -> Result<Response<csi::NodeStageVolumeResponse>, Status> {
        self.run(Rpc::NodeStageVolume, request).await?;
        Ok(Response::new(csi::NodeStageVolumeResponse {}))
    }

    async fn node_unstage_volume(
        &self,
        request: Request<csi::NodeUnstageVolumeRequest>,
    ) -> Result<Response<csi::NodeUnstageVolumeResponse>, Status> {
        self.run(Rpc::NodeUnstageVolume, request).await?;
        Ok(Response::new(csi::NodeUnstageVolumeResponse {}))
    }

    async fn node_publish_volume(
        &self,
        request: Request<csi::NodePublishVolumeRequest>,
    ) -> Result<Response<csi::NodePublishVolumeResponse>, Status> {
        self.run(Rpc::NodePublishVolume, request).await?;
        Ok(Response::new(csi::NodePublishVolumeResponse {}))
    }

    async fn node_unpublish_volume(
        &self,
        request: Request<csi::NodeUnpublishVolumeRequest>,
    ) -> Result<Response<csi::NodeUnpublishVolumeResponse>, Status> {
        self.run(Rpc::NodeUnpublishVolume, request).await?;
        Ok(Response::new(csi::NodeUnpublishVolumeResponse {}))
    }

    async fn node_get_volume_stats(
        &self,
        request: Request<csi::NodeGetVolumeStatsRequest>,
    ) -> Result<Response<csi::NodeGetVolumeStatsResponse>, Status> {
        let usage = self.usage(request.into_inner()).await?;
        Ok(Response::new(csi::NodeGetVolumeStatsResponse {
            usage: vec![usage],
            volume_condition: None,
        }))
    }

    async fn node_get_capabilities(
        &self,
        _: Request<csi::NodeGetCapabilitiesRequest>,
    ) -> Result<Response<csi::NodeGetCapabilitiesResponse>, Status> {
        let tells_usage = self.options.usage.is_some();
        let capabilities = capability::of_node(self.runner.context.ir(), tells_usage);
        Ok(Response::new(csi::NodeGetCapabilitiesResponse {
            capabilities,
        }))
    }

    async fn node_get_info(
        &self,
        _: Request<csi::NodeGetInfoRequest>,
    ) -> Result<Response<csi::NodeGetInfoResponse>, Status> {
        let segments = self.options.topology_segments.clone();
        let topology = self.has_topology.then_some(csi::Topology { segments });
        Ok(Response::new(csi::NodeGetInfoResponse {
            node_id: self.options.id.clone(),
            max_volumes_per_node: self.options.max_volumes.into(),
            accessible_topology: topology,
        }))
    }
}
