//! The Node service: stages and publishes volumes, takes them back, and says how full they are.

use std::path::Path;
use std::sync::Arc;

use lifecycle_proto::csi;
use lifecycle_proto::csi::node_server::Node;
use lifecycle_proto::csi::volume_usage::Unit;
use tonic::{Request, Response, Status};

use super::caller::{Asked, Caller};
use super::capability;
use super::code::Refused;
use super::deadline::of_request;
use super::request::{Arrived, wrong_path};
use crate::lifecycle::Requested;
use crate::machine::ir::{Code, Rpc};

const LONGEST_ID: usize = 128;
const LONGEST_PATH: usize = 4096;

pub(crate) struct NodeService {
    pub(crate) caller: Arc<Caller>,
    pub(crate) node: super::Node,
    pub(crate) has_topology: bool,
}

impl NodeService {
    async fn carry_out<R>(&self, rpc: Rpc, request: Request<R>) -> Result<(), Status>
    where
        Arrived: From<R>,
    {
        let limit = of_request(&request);
        let arrived = Arrived::from(request.into_inner());
        let asked = Asked { arrived, limit };
        self.caller.carry_out(rpc, asked).await?;
        Ok(())
    }

    /// Whether the volume is published or staged there, by what the lifecycle says.
    async fn is_at(&self, volume: &str, path: &str) -> Result<bool, Refused> {
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
            let seen = self.caller.look_at(rpc, requested).await?;
            let is_there = |(call, board): (usize, Arc<crate::lifecycle::Board>)| {
                self.caller.ir().is_at_target(&board.world, call)
            };
            if seen.is_some_and(is_there) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn usage(
        &self,
        request: csi::NodeGetVolumeStatsRequest,
    ) -> Result<csi::VolumeUsage, Refused> {
        let (volume, path) = (&request.volume_id, &request.volume_path);
        let missing = [
            ("volume_id", volume, LONGEST_ID),
            ("volume_path", path, LONGEST_PATH),
        ];
        for (field, text, limit) in missing {
            if text.is_empty() {
                return Err(Refused::invalid(format!("`{field}` is missing")));
            }
            if text.len() > limit {
                let said = format!("`{field}` has more than {limit} bytes");
                return Err(Refused::invalid(said));
            }
        }
        let not_there = || Refused::new(Code::NotFound, "the volume is not at this path");
        if wrong_path("volume_path", path).is_some() || !self.is_at(volume, path).await? {
            return Err(not_there());
        }
        let Some(usages) = self.node.usage.clone() else {
            let said = "this driver does not tell how full volumes are";
            return Err(Refused::new(Code::Unimplemented, said));
        };
        let path = path.clone();
        // The file system may be slow, or gone.
        let asked = tokio::task::spawn_blocking(move || usages.usage(Path::new(&path))).await;
        let failed = |why: String| Refused::new(Code::Internal, why);
        let usage = asked.map_err(|_| failed("the question ended unexpectedly".to_owned()))?;
        let usage = usage.map_err(|error| failed(format!("the system does not tell: {error}")))?;
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
        self.carry_out(Rpc::NodeStageVolume, request).await?;
        Ok(Response::new(csi::NodeStageVolumeResponse {}))
    }

    async fn node_unstage_volume(
        &self,
        request: Request<csi::NodeUnstageVolumeRequest>,
    ) -> Result<Response<csi::NodeUnstageVolumeResponse>, Status> {
        self.carry_out(Rpc::NodeUnstageVolume, request).await?;
        Ok(Response::new(csi::NodeUnstageVolumeResponse {}))
    }

    async fn node_publish_volume(
        &self,
        request: Request<csi::NodePublishVolumeRequest>,
    ) -> Result<Response<csi::NodePublishVolumeResponse>, Status> {
        self.carry_out(Rpc::NodePublishVolume, request).await?;
        Ok(Response::new(csi::NodePublishVolumeResponse {}))
    }

    async fn node_unpublish_volume(
        &self,
        request: Request<csi::NodeUnpublishVolumeRequest>,
    ) -> Result<Response<csi::NodeUnpublishVolumeResponse>, Status> {
        self.carry_out(Rpc::NodeUnpublishVolume, request).await?;
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
        let tells_usage = self.node.usage.is_some();
        let capabilities = capability::of_node(self.caller.ir(), tells_usage);
        Ok(Response::new(csi::NodeGetCapabilitiesResponse {
            capabilities,
        }))
    }

    async fn node_get_info(
        &self,
        _: Request<csi::NodeGetInfoRequest>,
    ) -> Result<Response<csi::NodeGetInfoResponse>, Status> {
        let segments = self.node.segments.clone();
        let topology = self.has_topology.then_some(csi::Topology { segments });
        Ok(Response::new(csi::NodeGetInfoResponse {
            node_id: self.node.id.clone(),
            max_volumes_per_node: self.node.most_volumes.into(),
            accessible_topology: topology,
        }))
    }
}
