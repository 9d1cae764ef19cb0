//! `Listener`: a routing key of the network, offered as a Service of this namespace.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Status;

/// Where a routing key is offered.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "Listener",
    plural = "listeners",
    singular = "listener",
    shortname = "lnr",
    namespaced,
    status = "ListenerStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Offers a routing key of the network as a Service of its namespace.",
    printcolumn = r#"{"name": "Routing Key", "type": "string", "jsonPath": ".spec.routingKey"}"#,
    printcolumn = r#"{"name": "Port", "type": "integer", "jsonPath": ".spec.port"}"#,
    printcolumn = r#"{"name": "Host", "type": "string", "jsonPath": ".spec.host"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Has Matching Connector", "type": "boolean", "jsonPath": ".status.hasMatchingConnector"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct ListenerSpec {
    /// Connectors with the same key serve its connections.
    pub routing_key: String,

    /// Name of the Service; outside Kubernetes the host name or address to listen at.
    pub host: String,

    /// Port of the Service.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,

    /// Name of the Secret whose certificate clients see (`tls.crt`, `tls.key`, `ca.crt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Clients must show a certificate that `ca.crt` of the credentials verifies. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_client_cert: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// How traffic is looked at. Goes before `settings.observer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observer: Option<Observer>,

    /// Each Pod of a Connector that exposes its Pods is offered as a Service of its own, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose_pods_by_name: Option<bool>,

    /// Further settings by name, of which `observer` is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// How traffic is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Observer {
    /// By what it looks like.
    Auto,
    /// Not at all.
    None,
    /// As HTTP/1.
    Http1,
    /// As HTTP/2.
    Http2,
}

/// What is known of a Listener.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while a Connector with its routing key can be reached; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_connector: Option<bool>,
}
