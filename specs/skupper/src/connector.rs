//! `Connector`: a workload of this namespace that serves a routing key of the network.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::{managed, routed, site_room};
use super::site::Site;
use super::status::{SelectedPod, Status};

lifecycle! {
    /// Binds a workload of its namespace to a routing key of the network. It makes nothing: the Site puts it into the configuration of the router.
    resource Connector;

    lock "connector.lock";

    use managed;
    use site_room;
    use routed;

    observe {
        pods:              [Pod]            by namespace;
        secret:            Secret           by name spec.tls_credentials?;
    }
    facts {
        /// Validity of the specification: `Fine` if it can be served.
        validity:         { Fine, Incomplete, NoTarget, BadSelector, BadPort, BadType } from sites given site;
        /// Target that serves it: a host, or Pods.
        chosen:           { Host, Some, None }                                          from pods given site && validity == Fine;
        /// `Current` if the router has applied the declared configuration.
        sync:             { Behind, Current }                                           from site, pods, report given site && validity == Fine && chosen != None && report;
        /// Health that the router reports for it.
        health:           { Up, Failed }                                                from site, pods, report given sync == Current;
        /// It is not served.
        unserved  = silent;
    }
    states {
        use managed;
        use site_room::NoSite;
        /// The spec requests something that cannot be served.
        Invalid         when validity != Fine    => Error   wakes self;
        /// Its selector means no Pod that runs: start one, or change the selector.
        Unselected      when chosen == None      => Error   wakes pods, self;
        /// The Secret with its certificates is missing: create it, with `ca.crt`, and with `tls.crt` and `tls.key` for `useClientCert`.
        NoSecret        when secret == Absent    => Error   wakes secret, self;
        use site_room::Blocked;
        use routed;
        /// The router reports a failure with its reason: fix the cause, and the router retries by
        /// itself.
        Failed          when health == Failed    => Error   wakes report, self;
        /// Nothing offers its routing key: a Listener with the same one is missing.
        Unmatched       when !matched            => Pending wakes report;
        /// Listeners lead here.
        goal Ready      when matched             => Ready;
    }
    promises {
        decides claimed by Site in Tidying | Starting | Ready | Unsupported | Unresolved: site && !router_config sets { router_config = Present };
        follows: router_config && sync == Behind && site && validity == Fine && chosen != None && report sets { sync = Current };
    }
    transitions {
        Unreachable -> Configuring;
        Unreachable | Configuring -> Failed | Unmatched | Ready;
    }
    status {
        condition Configured {
            use site_room;
            False "Error" when validity != Fine;
            False "Error" "No matches for selector" when chosen == None;
            False "Error" "TLS credentials secret \"{spec.tls_credentials}\" not found" when secret == Absent;
            False "Error" when blocked;
            use routed;
        }
        condition Matched {
            True "Ready" "OK" when matched;
            False "Pending" "No matching listeners" otherwise;
        }
        ready "Ready" "OK" from Configured, Matched;
        field has_matching_listener: Option<bool> from report;
        field selected_pods: Option<Vec<SelectedPod>> from pods;
    }
}

/// Workload that serves a routing key.
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
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
// Of host and selector exactly one.
#[schemars(extend("oneOf" = [{ "required": ["host"] }, { "required": ["selector"] }]))]
pub struct ConnectorSpec {
    /// Listeners with the same key lead here.
    pub routing_key: String,

    /// Port of the workload.
    // Wide enough for any number that was stored under another definition.
    #[schemars(with = "i32", range(min = 1, max = 65535))]
    pub port: i64,

    /// Name or address of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,

    /// Labels of the Pods that are the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,

    /// Name of the Secret whose `ca.crt` verifies the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// True if the certificate of the credentials is presented to the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_client_cert: Option<bool>,

    /// True if the name in the certificate of the workload must be the host. The default is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_hostname: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// True if Pods that are not ready count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_not_ready_pods: Option<bool>,

    /// Each Pod can be reached by its name, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose_pods_by_name: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of a Connector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while there is a Listener with its routing key. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_listener: Option<bool>,

    /// The Pods that connections are led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_pods: Option<Vec<SelectedPod>>,
}
