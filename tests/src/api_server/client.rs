//! Clients of a test API server, and its readiness check. This module knows kubeconfig files, not
//! processes.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use http::Request;
use k8s_openapi::api::core::v1::Namespace;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use crate::audit;
use crate::eventually::{Deadline, run_within};

/// How long the entry of an answered request may take to reach the audit log.
const AUDITED_WITHIN: Duration = Duration::from_secs(60);

/// A client that sends each request once.
pub(crate) async fn client(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    // A hidden second try would be counted as one request by its sender and as two by the server.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// A request for any path.
fn get(path: &str) -> Request<Vec<u8>> {
    let request = Request::get(path).body(Vec::new());
    request.expect("a path with a query is a URI")
}

/// Returns true if `/readyz` reports ok and the namespace `default` exists.
// Connecting can hang while the server starts, so each look has an end of its own.
pub(crate) async fn is_ready(client: &Client) -> bool {
    let look = async {
        let ready = client.request_text(get("/readyz")).await?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let default = namespaces.get_opt("default").await?;
        Ok::<bool, kube::Error>(ready == "ok" && default.is_some())
    };
    let seen = run_within(Duration::from_secs(5), look).await;
    matches!(seen, Some(Ok(true)))
}

/// Returns all requests so far to the API server that writes this audit log. They include every
/// request that was answered before this call.
pub(crate) async fn audited(client: &Client, path: &Path) -> Result<audit::Log> {
    static MARKERS: AtomicU64 = AtomicU64::new(0);
    let marker = format!(
        "/version?marker={}",
        MARKERS.fetch_add(1, Ordering::Relaxed)
    );
    let asked = client.request_text(get(&marker)).await;
    asked.context("cannot ask the API server for a marker in its audit log")?;
    let mut deadline = Deadline::new(AUDITED_WITHIN);
    // Entries are written after answers. The marker is requested last, so its entry follows those
    // of interest.
    loop {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        if text.contains(&marker) {
            return audit::Log::parse(&text);
        }
        if deadline.is_over() {
            bail!("the audit log has no entry of {marker}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
