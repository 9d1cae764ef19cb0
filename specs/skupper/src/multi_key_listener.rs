//! `MultiKeyListener`: several routing keys of the network, offered as one Service of this namespace.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fragments::{managed, routed, site_room};
use super::listener::Observer;
use super::site::Site;
use super::status::Status;

lifecycle! {
    /// Offers several routing keys of the network as one Service of its namespace, or outside
    /// Kubernetes at its host and port themselves. A strategy selects the key for each connection.
    /// The Site allocates its host and port, and the port of the router behind them.
    resource MultiKeyListener;

    lock "multi_key_listener.lock";

    allow LC162 service "its Site deletes the Service of a host that is no longer requested";

    use managed;
    use site_room;
    use routed;

    observe {
        templates:         [ConfigMap]             by refs of controller_config;
        secret:            Secret                  by name spec.tls_credentials?;
        service:           owned Service of site without controller by name spec.host exclusive spec.ports given site && validity == Fine && !binds_host;
    }
    facts {
        /// True outside Kubernetes: the router listens at the host and port itself, and there is no Service.
        binds_host:       bool                                            from sites given site;
        /// First mistake in the spec, if there is one.
        validity:         { Fine, Incomplete, BadPort, BadHost, BadStrategy, NoCredentials } from sites given site;
        /// The decision of the Site about its host and port.
        allocation:       { None, Lost, Full, Held }                      from router_config given site && validity == Fine && router_config else None;
        /// `Current` once the router has applied the newest configuration.
        sync:             { Behind, Current }                             from site, router_config, report given allocation == Held && report;
        /// The state of its entries in the router.
        health:           { Idle, Up, Failed }                            from site, router_config, report given sync == Current;
        /// True if the state of its socket is unknown.
        socket_unknown:   bool                                            from report given health == Up else false;
        /// It is not served.
        unserved  = allocation == None || silent;
        /// The API server does not accept its Service.
        rejected  = refused(apply_service);
        never sync == Current && health == Idle && matched;
        never sync == Current && health == Up && !matched;
    }
    states {
        use managed;
        use site_room::NoSite;
        /// The spec requests something that cannot be offered.
        Invalid         when validity != Fine                              => Error   wakes self;
        /// Another controller or user has a Service of its host, which is never touched: remove that Service, or take another host.
        Conflict        when service == Foreign                            => Error   wakes service, self;
        /// Another Listener holds the host and port, or the router has no free port: use another
        /// host or port, or delete unneeded Listeners.
        Taken           when allocation in { Lost, Full }                  => Error   wakes router_config, self;
        /// The Secret with its certificate is missing: create it, with `tls.crt`, `tls.key` and `ca.crt`.
        NoSecret        when secret == Absent                              => Error   wakes secret, self;
        /// The API server rejects the Service: change the rejected part.
        Rejected        when rejected                                      => Error   wakes self, router_config, service;
        use site_room::Blocked;
        /// The Site has not allocated a router port yet: if this persists, check the status of the
        /// Site.
        Claiming        when allocation == None                            => Pending overdue 10s;
        /// The Service has to be written.
        Serving         when !binds_host && service != Current             => Pending;
        use routed;
        /// The router reports a failure with its reason: fix the cause, and the router retries by
        /// itself.
        Failed          when health == Failed                              => Error   wakes report, self;
        /// Nothing serves any of its routing keys: a Connector with one of them is missing here and at all linked sites, its Pods do not run, or the Link to its site is down.
        Unmatched       when health == Idle                                => Pending wakes report;
        /// Connections reach the Connectors of the routing keys, by the strategy.
        goal Ready      when health == Up                                  => Ready;
    }
    effects {
        apply service from router_config, templates when allocation == Held && !binds_host;
    }
    promises {
        allocated claimed by Site in Tidying | Starting | Ready | Unsupported | Unresolved: allocation == None && site && validity == Fine sets { router_config = Present, allocation = Held } or { router_config = Present, allocation = Lost } or { router_config = Present, allocation = Full };
        follows: sync == Behind && allocation == Held && report sets { sync = Current };
    }
    transitions {
        Blocked | Claiming -> Serving;
        Claiming | Serving -> Unreachable;
        Claiming | Serving | Unreachable -> Configuring;
        Claiming | Serving | Unreachable | Configuring -> Unmatched | Ready;
        _ -> Taken | Rejected | Failed;
    }
    properties {
        // In Ready, the router has read the declared configuration, and a Connector serves one of
        // the routing keys.
        always allocation == Held && sync == Current && matched && (binds_host || service == Current) in Ready;
        // Nothing is written before the Site has decided, so no two Listeners fight over a Service.
        never apply_service while allocation != Held || binds_host;
        // Configured entries end as served, as failed, or as not matched.
        reaches Ready | Failed | Unmatched from Configuring;
    }
    status {
        condition Configured {
            use site_room;
            False "Error" when validity != Fine;
            False "Error" "Service {spec.host} already exists in namespace" when service == Foreign;
            False "Error" when allocation in { Lost, Full };
            False "Error" "TLS credentials secret \"{spec.tls_credentials}\" not found" when secret == Absent;
            False "Error" when rejected;
            False "Error" when blocked;
            False "Pending" "Its Site has not configured the router for it yet" when allocation == None;
            False "Pending" when !binds_host && service != Current;
            use routed;
        }
        condition Operational {
            True "Ready" "OK" when matched;
            False "Pending" "No matching connectors" otherwise;
        }
        /// Reported besides the roll-up and not required by it, if the router is the existing one.
        condition SocketOpen {
            Unknown "Pending" when socket_unknown;
            Omit otherwise;
        }
        ready "Ready" "OK" from Configured, Operational;
        field has_destination: Option<bool> from report;
        field strategy: Option<StrategyStatus> from report;
    }
}

/// The desired state of a MultiKeyListener.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "MultiKeyListener",
    plural = "multikeylisteners",
    singular = "multikeylistener",
    namespaced,
    status = "MultiKeyListenerStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Offers several routing keys of the network as one Service of its namespace.",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#,
    printcolumn = r#"{"name": "HasDestination", "type": "boolean", "jsonPath": ".status.hasDestination"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct MultiKeyListenerSpec {
    /// Name of the Service. Outside Kubernetes, the host name or address to listen at.
    pub host: String,

    /// Port of the Service.
    // Wide enough for any number that was stored under another definition.
    #[schemars(with = "i32", range(min = 1, max = 65535))]
    pub port: i64,

    /// The routing keys, and which of them a connection goes to.
    pub strategy: Strategy,

    /// Name of the Secret whose certificate clients see (`tls.crt`, `tls.key`, `ca.crt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Clients must show a certificate that `ca.crt` of the credentials verifies, which must be named for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_client_cert: Option<bool>,

    /// Protocol observation, which has no effect here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observer: Option<Observer>,

    /// Further settings by name. None is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Routing keys, and which of them a connection goes to. One of the two; it cannot be changed into the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {
        "message": "strategy is immutable",
        "rule": "(!has(oldSelf.priority) || has(self.priority)) && (!has(oldSelf.weighted) || has(self.weighted))",
    },
    {
        "message": "exactly one of the fields in [priority weighted] must be set",
        "rule": "[has(self.priority),has(self.weighted)].filter(x,x==true).size() == 1",
    },
])))]
pub struct Strategy {
    /// All connections go to the first key that can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,

    /// Each key that can be reached gets its part of the connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted: Option<Weighted>,
}

impl Strategy {
    /// The routing keys that connections may go to: all but those of weight 0.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let priority = self.priority.iter().flat_map(|p| &p.routing_keys);
        let weighted = self.weighted.iter().flat_map(|w| &w.routing_keys);
        let weighted = weighted.filter(|(_, weight)| **weight > 0);
        priority
            .map(String::as_str)
            .chain(weighted.map(|(key, _)| key.as_str()))
    }
}

/// Routing keys in an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Priority {
    /// The keys, the highest priority first.
    #[schemars(length(min = 1, max = 256), extend("x-kubernetes-list-type" = "set"))]
    pub routing_keys: Vec<String>,
}

/// Routing keys with weights.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Weighted {
    /// The weight of each key: its part of the connections is its part of the weights of all keys that can be reached. A key of weight 0 gets none.
    #[schemars(extend("maxProperties" = 256, "minProperties" = 1, "x-kubernetes-map-type" = "granular"))]
    pub routing_keys: BTreeMap<String, i64>,
}

/// The observed state of a MultiKeyListener.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MultiKeyListenerStatus {
    /// The status fields that all kinds share.
    #[serde(flatten)]
    pub common: Status,

    /// True while a Connector with one of its routing keys can be reached; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_destination: Option<bool>,

    /// The routing keys that can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<StrategyStatus>,
}

/// Routing keys that can be reached, under the strategy of the spec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = json!([{
    "message": "exactly one of the fields in [priority weighted] must be set",
    "rule": "[has(self.priority),has(self.weighted)].filter(x,x==true).size() == 1",
}])))]
pub struct StrategyStatus {
    /// Of the strategy `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<PriorityStatus>,

    /// Of the strategy `weighted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedStatus>,
}

/// Of the strategy `priority`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriorityStatus {
    /// The keys with a Connector that can be reached, the highest priority first.
    pub routing_keys_reachable: Vec<String>,
}

/// Of the strategy `weighted`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WeightedStatus {
    /// The weights of the keys with a Connector that can be reached.
    #[schemars(extend("x-kubernetes-map-type" = "granular"))]
    pub routing_keys_reachable: BTreeMap<String, i64>,
}
