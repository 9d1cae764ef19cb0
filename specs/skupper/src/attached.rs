//! `AttachedConnector`: a workload of its namespace, offered to the site of another.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attached_binding::AttachedConnectorBinding;
use super::fragments::managed;
use super::status::{SelectedPod, Status};

lifecycle! {
    /// Offers a workload of its namespace to the site of another namespace. It creates nothing: the
    /// binding that accepts it there adds it to the router configuration.
    resource AttachedConnector;

    lock "attached.lock";

    use managed;

    observe {
        binding:           AttachedConnectorBinding by ref;
        pods:              [Pod]                    by namespace;
    }
    facts {
        /// Validity of the specification: `Fine` if it can be served.
        validity:         { Fine, Incomplete, BadSelector, BadPort, BadType } from pods;
        /// `Yes` if the object of its name in the namespace of the site refers to it.
        allowed:          { Yes, Other }                                      from binding given binding;
        /// The Pods that serve it.
        chosen:           { Some, None }                                      from pods given validity == Fine;
    }
    states {
        use managed;
        /// The spec requests something that cannot be served.
        Invalid         when validity != Fine => Error   wakes self;
        /// No binding accepts the connector: the Site's namespace needs an AttachedConnectorBinding
        /// of its name, with this namespace as `connectorNamespace`.
        Unbound         when !binding         => Error   wakes binding, self;
        /// It is the one of another namespace that is accepted: change `connectorNamespace` of the binding, or give this one another name and a binding of its own.
        Denied          when allowed == Other => Error   wakes binding, self;
        /// Its selector means no Pod that runs: start one, or change the selector.
        Unselected      when chosen == None   => Error   wakes pods, self;
        /// It is accepted, and its Pods are known.
        goal Ready      when chosen == Some   => Ready;
    }
    status {
        condition Configured {
            False "Error" when validity != Fine;
            False "Error" "No matching AttachedConnectorBinding in site namespace" when !binding;
            False "Error" when allowed == Other;
            False "Error" "No matches for selector" when chosen == None;
            True "Ready" "OK" otherwise;
        }
        ready "Ready" "OK" from Configured;
        field selected_pods: Option<Vec<SelectedPod>> from pods;
    }
}

/// Workload that a namespace offers to the site of another namespace.
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
    printcolumn = r#"{"name": "Port", "type": "integer", "jsonPath": ".spec.port"}"#,
    printcolumn = r#"{"name": "Selector", "type": "string", "jsonPath": ".spec.selector"}"#,
    printcolumn = r#"{"name": "Site Namespace", "type": "string", "jsonPath": ".spec.siteNamespace"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct AttachedConnectorSpec {
    /// The namespace of the site.
    pub site_namespace: String,

    /// Labels of the Pods that are the workload.
    pub selector: String,

    /// Port of the workload.
    // Wide enough for any number that was stored under another definition.
    #[schemars(with = "i32", range(min = 1, max = 65535))]
    pub port: i64,

    /// Name of the Secret, in the namespace of the site, whose `ca.crt` verifies the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// True if the certificate of the credentials is presented to the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_client_cert: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// True if Pods that are not ready count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_not_ready_pods: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of an AttachedConnector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// The Pods that connections are led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_pods: Option<Vec<SelectedPod>>,
}
