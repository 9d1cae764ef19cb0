//! `AttachedConnectorBinding`: the connector of another namespace that the namespace of a site
//! accepts.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attached::AttachedConnector;
use super::fragments::{managed, routed, site_room};
use super::site::Site;
use super::status::Status;

lifecycle! {
    /// Accepts the AttachedConnector of the same name of another namespace, and binds it to a routing key. The Site puts it into the configuration of the router.
    resource AttachedConnectorBinding;

    lock "attached_binding.lock";

    use managed;
    use site_room;
    use routed;

    observe {
        attached:          AttachedConnector by ref;
        secret:            Secret            by ref from attached;
    }
    facts {
        /// Validity of the required fields.
        validity:         { Fine, Incomplete }   from sites given site;
        /// State of the offer: `Fine` if the object of its name in the other namespace refers to
        /// this one and can be served.
        offer:            { None, Broken, Fine } from attached given site && attached;
        /// `Fine` if the Secret with its certificates exists, or if it needs none.
        secured:          { Fine, Missing }      from attached, secret given offer == Fine;
        /// The Pods that serve it.
        chosen:           { Some, None }         from attached given offer == Fine;
        /// `Current` if the router has applied the declared configuration.
        sync:             { Behind, Current }    from site, attached, report given offer == Fine && chosen == Some && report;
        /// Health that the router reports for it.
        health:           { Up, Failed }         from site, attached, report given sync == Current;
        /// It is not served.
        unserved  = silent;
        /// True if the object that it accepts is missing, or refers to another one.
        unoffered = !attached || offer == None;
    }
    states {
        use managed;
        use site_room::NoSite;
        /// The spec lacks a required field or has an invalid one.
        Incomplete      when validity != Fine           => Error   wakes self;
        /// No connector matches the binding: the other namespace needs an AttachedConnector of its
        /// name, with this namespace as `siteNamespace`.
        Unoffered       when unoffered                  => Error   wakes attached, self;
        /// The offer cannot be served: change the AttachedConnector.
        Invalid         when offer == Broken            => Error   wakes attached;
        /// The selector of the offered connector matches no running Pod: start one, or change that
        /// selector.
        Unselected      when chosen == None             => Error   wakes attached;
        /// The Secret with its certificates is missing here, in the namespace of the Site: create it, with `ca.crt`, and with `tls.crt` and `tls.key` for `useClientCert`.
        NoSecret        when secured == Missing         => Error   wakes secret, attached;
        use site_room::Blocked;
        use routed;
        /// The router reports a failure with its reason: fix the cause, and the router retries by
        /// itself.
        Failed          when health == Failed           => Error   wakes report, attached, self;
        /// Nothing offers its routing key: a Listener with the same one is missing.
        Unmatched       when !matched                   => Pending wakes report;
        /// Listeners lead there.
        goal Ready      when matched                    => Ready;
    }
    promises {
        decides claimed by Site in Tidying | Starting | Ready | Unsupported | Unresolved: site && !router_config sets { router_config = Present };
        follows: router_config && sync == Behind && offer == Fine && chosen == Some && report sets { sync = Current };
    }
    transitions {
        Unreachable -> Configuring;
        Unreachable | Configuring -> Failed | Unmatched | Ready;
    }
    status {
        condition Configured {
            use site_room;
            False "Error" when validity != Fine;
            False "Error" "No matching AttachedConnector" when unoffered;
            False "Error" when offer == Broken;
            False "Error" "No matches for selector" when chosen == None;
            False "Error" when secured == Missing;
            False "Error" when blocked;
            use routed;
        }
        condition Matched {
            True "Ready" "OK" when matched;
            False "Pending" "No matching listeners" otherwise;
        }
        ready "Ready" "OK" from Configured, Matched;
        field has_matching_listener: Option<bool> from report;
    }
}

/// Workload that the namespace of a site accepts from another namespace.
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
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
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

/// Observed state of an AttachedConnectorBinding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedConnectorBindingStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while there is a Listener with its routing key. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_listener: Option<bool>,
}
