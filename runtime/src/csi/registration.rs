//! Registration with kubelet: a second socket, in the folder that it watches, that says who we are and hears whether we were taken in.

use std::path::Path;
use std::sync::Arc;

use lifecycle_proto::registration as wire;
use lifecycle_proto::registration::registration_server::Registration;
use tokio::sync::watch;
use tonic::{Request, Response, Status};

/// What kubelet takes of a driver that speaks any 1.x.
const VERSION: &str = "1.0.0";

/// What kubelet said.
pub(crate) type Answer = Result<(), String>;

pub(crate) struct RegistrationService {
    pub(crate) name: String,
    /// Where kubelet finds the driver, on the host.
    pub(crate) endpoint: String,
    /// Whether kubelet has taken the driver in, or why not.
    pub(crate) answer: Arc<watch::Sender<Option<Answer>>>,
}

impl RegistrationService {
    pub(crate) fn new(name: &str, endpoint: &Path) -> (Self, watch::Receiver<Option<Answer>>) {
        let (answer, receiver) = watch::channel(None);
        let service = Self {
            name: name.to_owned(),
            endpoint: endpoint.display().to_string(),
            answer: Arc::new(answer),
        };
        (service, receiver)
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
            supported_versions: vec![VERSION.to_owned()],
        }))
    }

    async fn notify_registration_status(
        &self,
        request: Request<wire::RegistrationStatus>,
    ) -> Result<Response<wire::RegistrationStatusResponse>, Status> {
        let status = request.into_inner();
        if status.plugin_registered {
            tracing::info!(driver = self.name, "kubelet has registered the driver");
            self.answer.send_replace(Some(Ok(())));
        } else {
            tracing::error!(
                driver = self.name,
                "kubelet refuses the driver: {}",
                status.error
            );
            self.answer.send_replace(Some(Err(status.error)));
        }
        Ok(Response::new(wire::RegistrationStatusResponse {}))
    }
}
