//! The one place of the router that builds a client of Kubernetes.

use std::time::Duration;

use kube::config::InferConfigError;
use kube::{Client, Config};
use thiserror::Error;

/// How long connecting may take, and sending a request.
const CONNECT: Duration = Duration::from_secs(5);

/// Reason why the client cannot be created.
#[derive(Debug, Error)]
pub enum Error {
    /// No configuration names an API server.
    #[error("no API server is configured: set KUBECONFIG, or run in a Pod with a service account")]
    Infer(#[source] Box<InferConfigError>),
    /// The configuration that names the API server is unusable.
    #[error("cannot make a client for {url}")]
    Build {
        /// The API server.
        url: String,
        /// Why.
        source: Box<kube::Error>,
    },
}

/// A client of the API server of KUBECONFIG, or of the service account of the Pod. Nothing is sent yet.
pub(crate) async fn connect() -> Result<Client, Error> {
    let config = Config::infer().await;
    let mut config = config.map_err(|source| Error::Infer(Box::new(source)))?;
    // Watches have a pause of their own.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.write_timeout = Some(CONNECT);
    let url = config.cluster_url.to_string();
    Client::try_from(config).map_err(|source| Error::Build {
        url,
        source: Box::new(source),
    })
}
