//! `Connector`: a workload of this namespace that serves a routing key of the network.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SelectedPod, Status};

/// What serves a routing key.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "Connector",
    plural = "connectors",
    singular = "connector",
    shortname = "cnr",
    namespaced,
    status = "ConnectorStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Binds a workload of its namespace to a routing key of the network.",
    printcolumn = r#"{"name": "Routing Key", "type": "string", "jsonPath": ".spec.routingKey"}"#,
    printcolumn = r#"{"name": "Port", "type": "integer", "jsonPath": ".spec.port"}"#,
    printcolumn = r#"{"name": "Host", "type": "string", "jsonPath": ".spec.host"}"#,
    printcolumn = r#"{"name": "Selector", "type": "string", "jsonPath": ".spec.selector"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Has Matching Listener", "type": "boolean", "jsonPath": ".status.hasMatchingListener"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
// Of host and selector exactly one.
#[schemars(extend("oneOf" = [{ "required": ["host"] }, { "required": ["selector"] }]))]
pub struct ConnectorSpec {
    /// Listeners with the same key lead here.
    pub routing_key: String,

    /// Port of the workload.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,

    /// Name or address of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,

    /// Labels of the Pods that are the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,

    /// Name of the Secret whose `ca.crt` verifies the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Whether the certificate of the credentials is shown to the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_client_cert: Option<bool>,

    /// Whether the name in the certificate of the workload must be the host. Without it: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_hostname: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// Whether Pods count that are not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_not_ready_pods: Option<bool>,

    /// Each Pod can be reached by its name, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose_pods_by_name: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What is known of a Connector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while there is a Listener with its routing key; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_listener: Option<bool>,

    /// The Pods that connections are led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_pods: Option<Vec<SelectedPod>>,
}
