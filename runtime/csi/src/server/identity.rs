//! Identity service: reports the identity and the readiness of the driver.

use lifecycle_proto::csi;
use lifecycle_proto::csi::identity_server::Identity;
use tonic::{Request, Response, Status};

use super::capability;
use crate::driver::plugin::Plugin;
use lifecycle_runtime::shutdown::Shutdown;

pub(crate) struct IdentityService {
    pub(crate) plugin: Plugin,
    pub(crate) shutdown: Shutdown,
}

#[tonic::async_trait]
impl Identity for IdentityService {
    async fn get_plugin_info(
        &self,
        _: Request<csi::GetPluginInfoRequest>,
    ) -> Result<Response<csi::GetPluginInfoResponse>, Status> {
        Ok(Response::new(csi::GetPluginInfoResponse {
            name: self.plugin.name.clone(),
            vendor_version: self.plugin.version.clone(),
            manifest: Default::default(),
        }))
    }

    async fn get_plugin_capabilities(
        &self,
        _: Request<csi::GetPluginCapabilitiesRequest>,
    ) -> Result<Response<csi::GetPluginCapabilitiesResponse>, Status> {
        let capabilities = capability::of_plugin(&self.plugin);
        Ok(Response::new(csi::GetPluginCapabilitiesResponse {
            capabilities,
        }))
    }

    async fn probe(
        &self,
        _: Request<csi::ProbeRequest>,
    ) -> Result<Response<csi::ProbeResponse>, Status> {
        let ready = Some(!self.shutdown.is_due());
        Ok(Response::new(csi::ProbeResponse { ready }))
    }
}
