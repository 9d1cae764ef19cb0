//! Maintenance of etcd: frees a full storage. Uses the JSON form of etcd's API, version 3
//! (<https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/>).

use anyhow::{Context, Result};
use http::Request;
use kube::{Client, Config};
use serde_json::{Value, json};

use super::ApiServer;

impl ApiServer {
    /// Compacts and defragments etcd, and takes back its alarm, after it had no space left and something was deleted.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn free_storage(&self) -> Result<()> {
        let etcd = Client::try_from(Config::new(self.ports.etcd_url().parse()?))?;
        let status = call_etcd(&etcd, "maintenance/status", &json!({})).await?;
        let header = &status["header"];
        let revision = json!({ "revision": header["revision"], "physical": true });
        call_etcd(&etcd, "kv/compaction", &revision).await?;
        call_etcd(&etcd, "maintenance/defragment", &json!({})).await?;
        let alarm =
            json!({ "action": "DEACTIVATE", "memberID": header["member_id"], "alarm": "NOSPACE" });
        call_etcd(&etcd, "maintenance/alarm", &alarm)
            .await
            .map(drop)
    }
}

async fn call_etcd(etcd: &Client, method: &str, body: &Value) -> Result<Value> {
    let request = Request::post(format!("/v3/{method}")).body(serde_json::to_vec(body)?)?;
    let answer = etcd.request(request).await;
    answer.with_context(|| format!("etcd refuses {method}"))
}
