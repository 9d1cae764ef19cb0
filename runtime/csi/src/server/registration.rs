//! Registration with the kubelet: a second socket in the folder that the kubelet watches. It names
//! the driver and receives the kubelet's acceptance or refusal.

use std::path::Path;
use std::sync::Arc;

use lifecycle_proto::registration as wire;
use lifecycle_proto::registration::registration_server::Registration;
use tokio::sync::watch;
use tonic::{Request, Response, Status};

/// The version that kubelet accepts of a driver that speaks any 1.x.
const SUPPORTED_VERSION: &str = "1.0.0";

/// Registration result: `Ok` if kubelet accepts the driver, or the reason if it does not.
pub(crate) type RegistrationStatus = Result<(), String>;

pub(crate) struct RegistrationService {
    pub(crate) name: String,
    /// Path on the host at which kubelet finds the driver.
    pub(crate) endpoint: String,
    /// `None` before kubelet has reported.
    pub(crate) status: Arc<watch::Sender<Option<RegistrationStatus>>>,
}

impl RegistrationService {
    pub(crate) fn new(name: &str, endpoint: &Path) -> Self {
        Self {
            name: name.to_owned(),
            endpoint: endpoint.display().to_string(),
            status: Arc::new(watch::channel(None).0),
        }
    }
}

#[tonic::async_trait]
impl Registration for RegistrationService {
    async fn get_info(
        &self,
        _: Request<wire::InfoRequest>,
    ) -> Result<Response<wire::PluginInfo>, Status> {
        Ok(Response::new(wire::PluginInfo {
            r#type: "CSIPlugin".to_owned(),
            name: self.name.clone(),
            endpoint: self.endpoint.clone(),
            supported_versions: vec![SUPPORTED_VERSION.to_owned()],
        }))
    }

    async fn notify_registration_status(
        &self,
        request: Request<wire::RegistrationStatus>,
    ) -> Result<Response<wire::RegistrationStatusResponse>, Status> {
        let status = request.into_inner();
        if status.plugin_registered {
            tracing::info!(driver = self.name, "kubelet has registered the driver");
            self.status.send_replace(Some(Ok(())));
        } else {
            tracing::error!(
                driver = self.name,
                "kubelet refuses the driver: {}",
                status.error
            );
            self.status.send_replace(Some(Err(status.error)));
        }
        Ok(Response::new(wire::RegistrationStatusResponse {}))
    }
}
