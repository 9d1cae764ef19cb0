//! `AttachedConnectorBinding`: what the namespace of a site accepts from another.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::CustomResource;
use lifecycle_runtime::{Readable, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attached::AttachedConnector;
use super::router::{RouterState, SITE};
use super::site::Site;
use super::status::Status;

lifecycle! {
    /// Accepts the AttachedConnector of the same name of another namespace, and binds it to a routing key. The Site puts it into the configuration of the router.
    resource AttachedConnectorBinding;

    observe {
        controller_config: ConfigMap         by ref;
        sites:             [Readable<Site>]            by namespace;
        router_config:     ConfigMap         by ref;
        site:              Site              by ref from sites, router_config;
        attached:          AttachedConnector by ref;
        secret:            Secret            by ref from attached;
        routers:           [Pod]             by labels { SITE = site.meta.uid };
        report:            poll RouterState  by routers every 500ms given running;
    }
    facts {
        /// Whether another controller manages the namespace.
        managed_by_other: bool                   from controller_config;
        /// Whether it says what it must.
        validity:         { Fine, Incomplete }   from sites given site;
        /// Whether the Site's router can be asked.
        running:          bool                   from routers given site;
        /// Whether what bears its name in the other namespace means this one, and can be served.
        offer:            { None, Broken, Fine } from attached given site && attached;
        /// Whether the Secret with its certificates is there, where it needs one.
        secured:          { Fine, Missing }      from attached, secret given offer == Fine;
        /// The Pods that serve it.
        chosen:           { Some, None }         from attached given offer == Fine;
        /// Whether its Site says that something is in its way, where no router answers.
        blocked:          bool                   from site given site && silent else false;
        /// Whether the router has applied what is declared.
        sync:             { Behind, Current }    from site, attached, report given offer == Fine && chosen == Some && report;
        /// What the router does with it.
        health:           { Up, Failed }         from site, attached, report given sync == Current;
        /// Whether anything in the network offers its routing key.
        matched:          bool                   from report given report else false;
        /// No router runs, or none answers.
        silent = !running || !report;
        /// What it accepts is not there, or means another.
        unoffered = !attached || offer == None;
    }
    states {
        /// Another controller manages the namespace.
        OtherController when managed_by_other           => Ignored;
        /// The namespace has no Site.
        NoSite          when !site                      => Error   wakes site;
        /// It does not say what it must.
        Incomplete      when validity != Fine           => Error   wakes self;
        /// Nobody offers what it accepts.
        Unoffered       when unoffered                  => Error   wakes attached, self;
        /// What is offered cannot be served.
        Invalid         when offer == Broken            => Error   wakes attached;
        /// The selector means no Pod that runs.
        Unselected      when chosen == None             => Error   wakes attached;
        /// The Secret with its certificates is missing.
        NoSecret        when secured == Missing         => Error   wakes secret, attached;
        /// Its Site cannot serve it.
        Blocked         when blocked                    => Error   wakes site;
        /// No router runs, or none answers.
        Unreachable     when silent                     => Pending overdue 30s;
        /// The router has not read the newest configuration yet.
        Configuring     when sync == Behind             => Pending overdue 10s;
        /// The router cannot do it.
        Failed          when health == Failed           => Error   wakes report, attached, self;
        /// Nothing offers its routing key.
        Unmatched       when !matched                   => Pending wakes report;
        /// Listeners lead there.
        goal Ready      when matched                    => Ready;
    }
    promises {
        arises:  site && !running sets { running = true };
        decides: site && !router_config sets { router_config = Present };
        follows: router_config && sync == Behind && offer == Fine && chosen == Some && report sets { sync = Current };
    }
    transitions {
        Unreachable -> Configuring;
        Unreachable | Configuring -> Failed | Unmatched | Ready;
    }
    status {
        condition Configured {
            False "Error" "No active site in namespace" when !site;
            False "Error" when validity != Fine;
            False "Error" "No matching AttachedConnector" when unoffered;
            False "Error" when offer == Broken;
            False "Error" "No matches for selector" when chosen == None;
            False "Error" when secured == Missing;
            False "Error" when blocked;
            False "Pending" when silent;
            False "Pending" when sync == Behind;
            False "Error" when health == Failed;
            True "Ready" "OK" otherwise;
        }
        condition Matched {
            True "Ready" "OK" when matched;
            False "Pending" "No matching listeners" otherwise;
        }
        ready "Ready" "OK" from Configured, Matched;
        implicit in Configured "Error";
        field status = reason;
        field message = message;
        field has_matching_listener: Option<bool> from report;
        column Status ".status.status";
    }
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
// What is missing is told on the object; the schema asks for it all the same.
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
