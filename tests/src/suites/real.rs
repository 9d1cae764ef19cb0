//! Real API servers as clusters of the generated suites: as many as runs go on at the same time, each lent to one run after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::future::try_join_all;
use http::Request;
use kube::Client;
use lifecycle_suite::resources::{Cluster, Later, Opened};
use serde_json::Value;

use crate::api_server::{self, ApiServer, Options};
use crate::eventually::Deadline;

/// A definition is served a moment after it is accepted.
const SERVED_WITHIN: Duration = Duration::from_secs(120);
const AGAIN: Duration = Duration::from_millis(50);
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A few API servers without controllers.
pub struct Real {
    /// Kubeconfigs that are not in use.
    free: Arc<Mutex<Vec<PathBuf>>>,
    servers: Vec<ApiServer>,
}

/// The use of one, given back when it is dropped.
struct LeasedKubeconfig {
    kubeconfig: PathBuf,
    free: Arc<Mutex<Vec<PathBuf>>>,
}

impl Drop for LeasedKubeconfig {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.kubeconfig.clone());
    }
}

impl Real {
    /// Starts them.
    ///
    /// # Errors
    /// One of them does not start.
    pub async fn start(count: usize) -> Result<Self> {
        // Nodes would get a taint that a controller takes away again.
        let options = Options::default().flag("--disable-admission-plugins=TaintNodesByCondition");
        let start = |_| ApiServer::start_with(options.clone());
        let servers = try_join_all((0..count).map(start)).await?;
        let free = servers.iter().map(|s| s.admin_kubeconfig().to_owned());
        Ok(Self {
            free: Arc::new(Mutex::new(free.collect())),
            servers,
        })
    }

    fn lend(&self) -> Option<LeasedKubeconfig> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        Some(LeasedKubeconfig {
            kubeconfig: free.pop()?,
            free: Arc::clone(&self.free),
        })
    }
}

impl Cluster for Real {
    fn is_simulated(&self) -> bool {
        false
    }

    fn at_once(&self) -> usize {
        self.servers.len()
    }

    fn open<'a>(&'a self, _: u64, definitions: &'a [Value]) -> Later<'a, Result<Opened, String>> {
        Box::pin(async move {
            let lent = self.lend().ok_or("more runs than servers")?;
            let client = opened(&lent.kubeconfig, definitions).await;
            let client = client.map_err(|error| format!("{error:#}"))?;
            Ok(Opened::exclusive(client, lent))
        })
    }
}

async fn opened(kubeconfig: &Path, definitions: &[Value]) -> Result<Client> {
    let client = api_server::client::client(kubeconfig).await?;
    for definition in definitions {
        let name = definition.pointer("/metadata/name").and_then(Value::as_str);
        let name = name.context("a definition has no name")?;
        let path = format!("{DEFINITIONS}/{name}");
        if get(&client, &path).await?.is_none() {
            let request = Request::post(DEFINITIONS)
                .header("content-type", "application/json")
                .body(definition.to_string().into_bytes())?;
            client.request::<Value>(request).await?;
        }
        is_served(&client, definition)
            .await
            .with_context(|| format!("the kind {name} is not served"))?;
    }
    Ok(client)
}

/// Waits until a kind can be listed.
async fn is_served(client: &Client, definition: &Value) -> Result<()> {
    let text = |pointer: &str| {
        let text = definition.pointer(pointer).and_then(Value::as_str);
        text.with_context(|| format!("a definition has no {pointer}"))
    };
    let (group, plural) = (text("/spec/group")?, text("/spec/names/plural")?);
    let version = text("/spec/versions/0/name")?;
    let path = format!("/apis/{group}/{version}/{plural}");
    let mut deadline = Deadline::new(SERVED_WITHIN);
    while get(client, &path).await?.is_none() {
        if deadline.is_over() {
            bail!("{path} is not there");
        }
        tokio::time::sleep(AGAIN).await;
    }
    Ok(())
}

async fn get(client: &Client, path: &str) -> Result<Option<Value>> {
    let request = Request::get(path).body(Vec::new())?;
    match client.request::<Value>(request).await {
        Ok(object) => Ok(Some(object)),
        // 429 while the storage of a new kind is made.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 429) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
