//! Services that are offered at one socket, with their health and reflection. Knows no calls.

use std::path::PathBuf;

use lifecycle_proto::DESCRIPTORS;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::kept_socket::{BeforeMaking, KeptSocket};
use super::listening::ListeningSocket;
use crate::driver::plugin::Plugin;
use crate::error::Error;

/// Services that are offered at one socket.
pub(crate) struct SocketServices {
    pub(crate) path: PathBuf,
    pub(crate) plugin: Plugin,
    pub(crate) before_making: Option<BeforeMaking>,
    routes: Routes,
    names: Vec<&'static str>,
}

impl SocketServices {
    pub(crate) fn new(path: PathBuf, plugin: Plugin) -> Self {
        Self {
            path,
            plugin,
            before_making: None,
            routes: Routes::default(),
            names: Vec::new(),
        }
    }

    pub(crate) fn add<S>(&mut self, service: S)
    where
        S: tower::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<tonic::body::Body>,
                Error = std::convert::Infallible,
            > + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        self.names.push(S::NAME);
        self.routes = std::mem::take(&mut self.routes).add_service(service);
    }

    /// Adds health and reflection for the offered services, and listens.
    ///
    /// # Errors
    /// The services cannot be described, or the process cannot listen at the socket.
    pub(crate) async fn listen(mut self) -> Result<ListeningSocket, Error> {
        let health = HealthReporter::new();
        for name in &self.names {
            health
                .set_service_status(name, ServingStatus::Serving)
                .await;
        }
        let service = HealthService::from_health_reporter(health);
        self.add(HealthServer::new(service));
        let mut reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        for name in &self.names {
            reflection = reflection.with_service_name(*name);
        }
        let reflection = reflection.build_v1().map_err(|error| Error::Driver {
            driver: self.plugin.name.clone(),
            why: format!("its services cannot be described: {error}"),
        })?;
        self.add(reflection);
        let socket = KeptSocket::bind(&self.path, self.before_making)?;
        tracing::info!(path = %self.path.display(), services = ?self.names, "listens");
        Ok(ListeningSocket {
            socket,
            routes: self.routes,
        })
    }
}
