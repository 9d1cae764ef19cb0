//! `AttachedConnector` and `AttachedConnectorBinding`: a workload of another namespace, offered there and accepted in the namespace of the site.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SelectedPod, Status};

/// What a namespace offers to the site of another.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "AttachedConnector",
    plural = "attachedconnectors",
    singular = "attachedconnector",
    shortname = "acnr",
    namespaced,
    status = "AttachedConnectorStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Offers a workload of its namespace to the site of another, which accepts it by an AttachedConnectorBinding of the same name.",
    printcolumn = r#"{"name": "Site Namespace", "type": "string", "jsonPath": ".spec.siteNamespace"}"#,
    printcolumn = r#"{"name": "Port", "type": "integer", "jsonPath": ".spec.port"}"#,
    printcolumn = r#"{"name": "Selector", "type": "string", "jsonPath": ".spec.selector"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorSpec {
    /// The namespace of the site.
    pub site_namespace: String,

    /// Labels of the Pods that are the workload.
    pub selector: String,

    /// Port of the workload.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,

    /// Name of the Secret, in the namespace of the site, whose `ca.crt` verifies the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Whether the certificate of the credentials is shown to the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_client_cert: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// Whether Pods count that are not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_not_ready_pods: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What is known of an AttachedConnector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// The Pods that connections are led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_pods: Option<Vec<SelectedPod>>,
}

/// What the namespace of a site accepts from another.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "AttachedConnectorBinding",
    plural = "attachedconnectorbindings",
    singular = "attachedconnectorbinding",
    shortname = "acnrb",
    namespaced,
    status = "AttachedConnectorBindingStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Accepts the AttachedConnector of the same name of another namespace, and binds it to a routing key.",
    printcolumn = r#"{"name": "Routing Key", "type": "string", "jsonPath": ".spec.routingKey"}"#,
    printcolumn = r#"{"name": "Connector Namespace", "type": "string", "jsonPath": ".spec.connectorNamespace"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Has Matching Listener", "type": "boolean", "jsonPath": ".status.hasMatchingListener"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorBindingSpec {
    /// The namespace of the workload.
    pub connector_namespace: String,

    /// Listeners with the same key lead to the workload.
    pub routing_key: String,

    /// Each Pod can be reached by its name, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose_pods_by_name: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What is known of an AttachedConnectorBinding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorBindingStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while there is a Listener with its routing key; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_listener: Option<bool>,
}
