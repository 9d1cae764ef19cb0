//! `Listener`: a routing key of the network, offered as a Service of this namespace.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::{managed, routed, site_room};
use super::site::Site;
use super::status::Status;

lifecycle! {
    /// Offers a routing key of the network as a Service of its namespace, or outside Kubernetes at
    /// its host and port themselves. The Site allocates its host and port, and the port of the
    /// router behind them.
    resource Listener;

    lock "listener.lock";

    use managed;
    use site_room;
    use routed;

    observe {
        templates:         [ConfigMap]             by refs of controller_config;
        secret:            Secret                  by name spec.tls_credentials?;
        service:           owned Service of site without controller by name spec.host exclusive spec.ports given site && validity == Fine && !binds_host;
        // Services of its Pods, for any owner. Only the owner observes an owned object.
        pod_services:      [Service]               by refs of router_config;
        pods:              owned [Service] of site without controller by names of router_config exclusive spec.ports;
    }
    facts {
        /// True if the router itself listens at its host and port, outside Kubernetes, so that it
        /// has no Service.
        binds_host:       bool                                            from sites given site;
        /// Validity of the specification: `Fine` if it can be offered.
        validity:         { Fine, Unfit }                                 from sites given site;
        /// Result of the allocation by the Site.
        allocation:       { None, Lost, Full, Held }                      from router_config given site && validity == Fine && router_config else None;
        /// `Free` if its Pods can have their names. Another controller, user or Listener may own an
        /// object with one of these names.
        pod_names:         { Free, Taken }                                 from site, router_config, pod_services given allocation == Held;
        /// `Current` if the router has applied the declared configuration.
        sync:             { Behind, Current }                             from site, router_config, report given allocation == Held && report;
        /// Health that the router reports for it.
        health:           { Idle, Up, Failed }                            from site, router_config, report given sync == Current;
        /// True if the state of its socket is unknown.
        socket_unknown:   bool                                            from report given health == Up else false;
        /// It is not served.
        unserved  = allocation == None || silent;
        /// The API server does not accept a Service of it.
        rejected  = refused(apply_service) || refused(apply_pods);
        /// The Services have to be written.
        unwritten = !binds_host && service != Current || pods in { Behind, Surplus, Draining };
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
        /// The API server rejects a Service of the Listener: change the rejected part.
        Rejected        when rejected                                      => Error   wakes self, router_config, service, pods;
        use site_room::Blocked;
        /// The Site has not allocated a router port yet: if this persists, check the status of the
        /// Site.
        Claiming        when allocation == None                            => Pending overdue 10s;
        /// The Services have to be written.
        Serving         when unwritten                                     => Pending;
        /// Another controller, user or Listener holds the Service name of one of the Pods: remove
        /// that Service, or rename the Pod. The other Pods are reachable.
        PodConflict     when pods == Foreign || pod_names == Taken         => Error   wakes pods, pod_services, router_config, self;
        use routed;
        /// The router reports a failure with its reason: fix the cause, and the router retries by
        /// itself.
        Failed          when health == Failed                              => Error   wakes report, self;
        /// Nothing serves its routing key: a Connector with the same one is missing here and at all linked sites, its Pods do not run, or the Link to its site is down.
        Unmatched       when health == Idle                                => Pending wakes report;
        /// Connections reach the Connectors of the routing key.
        goal Ready      when health == Up                                  => Ready;
    }
    effects {
        apply service from router_config, templates when allocation == Held && !binds_host;
        apply each pods from router_config, templates when allocation == Held;
        delete each pods when allocation == Held;
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
        _ -> Taken | Rejected | PodConflict | Failed;
    }
    properties {
        // In Ready, the router has read the declared configuration, and a Connector serves the
        // routing key.
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
            False "Pending" when unwritten;
            False "Error" when pod_names == Taken;
            False "Error" when pods == Foreign;
            use routed;
        }
        condition Matched {
            True "Ready" "OK" when matched;
            False "Pending" "No matching connectors" otherwise;
        }
        /// Reported besides the roll-up and not required by it, if the router is the existing one.
        condition SocketOpen {
            Unknown "Pending" when socket_unknown;
            Omit otherwise;
        }
        ready "Ready" "OK" from Configured, Matched;
        field has_matching_connector: Option<bool> from report;
    }
}

/// Host and port that offer a routing key.
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
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct ListenerSpec {
    /// Connectors with the same key serve its connections.
    pub routing_key: String,

    /// Name of the Service. Outside Kubernetes, the host name or address to listen at.
    pub host: String,

    /// Port of the Service.
    // Wide enough for any number that was stored under another definition.
    #[schemars(with = "i32", range(min = 1, max = 65535))]
    pub port: i64,

    /// Name of the Secret whose certificate clients see (`tls.crt`, `tls.key`, `ca.crt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Clients must show a certificate that `ca.crt` of the credentials verifies, which must be named for that. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_client_cert: Option<bool>,

    /// Kind of traffic: nothing or `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// Protocol observation of the traffic. Takes precedence over `settings.observer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observer: Option<Observer>,

    /// Each Pod of a Connector that exposes its Pods is offered as a Service of its own, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose_pods_by_name: Option<bool>,

    /// Further settings by name. Only `observer` is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Protocol observation of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Observer {
    /// Detects the protocol from the traffic.
    Auto,
    /// Not at all.
    None,
    /// As HTTP/1.
    Http1,
    /// As HTTP/2.
    Http2,
}

/// Observed state of a Listener.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True while a Connector with its routing key can be reached; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_connector: Option<bool>,
}
