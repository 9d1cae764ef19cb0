//! Clients of a test API server, and the question whether it is ready.
//! Knows kubeconfig files, not processes.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use http::Request;
use k8s_openapi::api::core::v1::Namespace;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

/// A client that sends each request once.
pub(super) async fn client(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    // A hidden second try would be counted as one request by its sender and as two by the server.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// A request for any path.
pub(super) fn get(path: &str) -> Request<Vec<u8>> {
    let request = Request::get(path).body(Vec::new());
    request.expect("a path with a query is a URI")
}

/// Whether `/readyz` says ok and the namespace `default` exists.
// Connecting can hang while the server starts, so each look has an end of its own.
pub(super) async fn is_ready(client: &Client) -> bool {
    let look = async {
        let ready = client.request_text(get("/readyz")).await?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let default = namespaces.get_opt("default").await?;
        Ok::<bool, kube::Error>(ready == "ok" && default.is_some())
    };
    let seen = tokio::time::timeout(Duration::from_secs(5), look).await;
    matches!(seen, Ok(Ok(true)))
}
