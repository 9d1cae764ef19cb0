//! `Listener`: one thing that is exposed, possibly load-balanced, and the addresses under which it can be reached.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::crds::conditions;
use lifecycle_runtime::lifecycle;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::listener_class::{ListenerClass, NodeAddressType, ServiceType, dns_names};

/// On a PersistentVolume: namespace of the Listener that its node is reserved for.
pub const LISTENER_NAMESPACE: &str = "listeners.stackable.tech/listener-namespace";
/// On a PersistentVolume: name of the Listener that its node is reserved for.
pub const LISTENER_NAME: &str = "listeners.stackable.tech/listener-name";
/// Topology key that ties a PersistentVolume to a node: the Kubernetes name of the node.
pub const TOPOLOGY: &str = "listeners.stackable.tech/hostname";
/// On an EndpointSlice: name of its Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

lifecycle! {
    /// Exposes the Pods that mount it, by the rules of its ListenerClass.
    resource Listener;

    lock "listener.lock";

    observe {
        class:   ListenerClass      by name spec.class_name?;
        service: owned Service      by name meta.name exclusive spec.ports;
        volumes: [PersistentVolume] by labels { LISTENER_NAMESPACE = meta.namespace, LISTENER_NAME = meta.name };
        slices:  [EndpointSlice]    by labels { SERVICE_NAME = meta.name };
        nodes:   [Node]             by names of volumes, slices;
    }
    facts {
        /// Permission of the class for the Listener's request.
        permission: { Granted, NamespaceNotAllowed, OverrideNotAllowed } from class given class;
        /// Validity of the declaration: `Fine` if a Service can be created from it.
        validity: { Fine, NoPorts, PortClash, BadPort, BadName, BadOverride } from class given class;
        /// `Matched` if each override of the Listener concerns its Service.
        overrides: { Matched, Unmatched } from self;
        /// The class allows each external name of the Listener, or it does not.
        external_names: { Allowed, NotAllowed } from class given class else Allowed;
        /// Addresses that can be published in the current state.
        let reach: Reach from class, service, volumes, slices, nodes given class && service in { Stale, Current };
        /// Availability of an address for clients.
        address: { NoPod, NoBalancer, NodeGone, Partial, Full } from reach given class && service in { Stale, Current };
    }
    states {
        /// It names no class.
        NoName       when class == Unnamed               => Error   wakes self;
        /// It names a class that is not there.
        NoClass      when class == Absent                => Error   wakes class, self;
        /// Its class does not allow its namespace or its overrides. Objects that were created
        /// before stay.
        NotAllowed   when permission != Granted          => Error   wakes self, class;
        /// No Service can be made of it.
        Invalid      when validity != Fine               => Error   wakes self, class;
        /// Another controller or user has a Service of its name, which is never touched.
        Conflict     when service == Foreign             => Error   wakes service, self;
        /// The API server does not accept the Service.
        Rejected     when refused(apply_service)         => Error   wakes self, class, service;
        /// The Service of before is still going away.
        Draining     when service == Terminating         => Pending overdue 1min;
        /// The Service has to be written.
        Applying     when service in { Absent, Stale }   => Pending;
        /// No node behind it has an address any more.
        Stranded     when address == NodeGone            => Error   wakes nodes, volumes;
        /// No Pod has mounted it yet.
        Idle         when address == NoPod               => Pending wakes slices, volumes;
        /// The load balancer has not answered yet.
        Provisioning when address == NoBalancer          => Pending overdue 10min;
        /// It can be reached.
        goal Ready   when address in { Partial, Full }   => Ready;
    }
    effects {
        apply service from class when permission == Granted && validity == Fine;
    }
    promises {
        balanced: service == Current && address == NoBalancer sets { address = Full };
    }
    transitions {
        Draining -> Applying;
        Applying -> Provisioning | Idle | Stranded | Ready | Rejected;
        Provisioning -> Ready;
    }
    properties {
        // In Ready, the Service matches the request of the class, and clients can get an address.
        always class && permission == Granted && validity == Fine && service == Current && address in { Partial, Full } in Ready;
        // A Service that the class does not allow is never written, even while something else is
        // wrong.
        never apply_service while permission != Granted || validity != Fine;
        // Work never stops half way: it ends with clients served, or in a state that reports the
        // missing part.
        reaches Ready | Idle | Stranded | Rejected from Draining, Applying, Provisioning;
    }
    status {
        /// True if the Listener and its class request something that can be created, and that the
        /// class allows.
        condition Accepted {
            True when class && permission == Granted && validity == Fine;
            False "NoListenerClass" when class == Unnamed;
            False "ListenerClassNotFound" event "GetObject" when class == Absent;
            False "NamespaceNotAllowed" when permission == NamespaceNotAllowed;
            False "OverrideNotAllowed"  when permission == OverrideNotAllowed;
            False "NoPorts"         when validity == NoPorts;
            False "PortClash"       when validity == PortClash;
            False "InvalidPort"     when validity == BadPort;
            False "InvalidName"     when validity == BadName;
            False "InvalidOverride" otherwise;
        }
        /// True if the Service is as it should be.
        condition Programmed {
            False "ForeignService" event "RefuseToOverwriteForeignService" when service == Foreign;
            False "Refused" event "ApplyService" when refused(apply_service);
            True when service == Current;
            Unknown "NotAccepted"   when !class || permission != Granted || validity != Fine;
            Unknown "ServiceTerminating" when service == Terminating;
            Unknown "Applying"      otherwise;
        }
        /// True if an address for clients is available.
        condition Addressed {
            Unknown "NotAccepted"   when !class;
            Unknown "NoService"     when service not in { Stale, Current };
            True when address == Full;
            True "PinnedNodeGone"   when address == Partial;
            False "PinnedNodeGone"  when address == NodeGone;
            Unknown "NoPod"         when address == NoPod;
            Unknown "WaitingForLoadBalancer" otherwise;
        }
        /// False if an override of the Listener has no effect. The condition is present only while
        /// one has none, and `Ready` does not depend on it.
        condition OverridesMatched {
            False "OverrideNotMatched" when overrides == Unmatched;
            Omit otherwise;
        }
        /// Reports external names that the class does not allow. The condition is present only
        /// while there is such a name, and `Ready` does not depend on it.
        condition ExternalNamesAllowed {
            False "ExternalNameNotAllowed" when external_names == NotAllowed;
            Omit otherwise;
        }
        ready from Accepted, Programmed, Addressed;
        kstatus;
        field service_name: String from service;
        field ingress_addresses: Vec<ListenerIngress> from reach last_reported;
        field phase = phase;
        field observed_class: Option<ObservedClass> from class;
        field node_ports: Option<BTreeMap<String, i32>> from service;
        column Class ".spec.className";
        column Address ".status.ingressAddresses[0].address";
    }
}

/// Exposure of Pods by a ListenerClass. Only Pods that mount the Listener as a volume get its
/// traffic.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "listeners.stackable.tech",
    version = "v1alpha1",
    kind = "Listener",
    plural = "listeners",
    singular = "listener",
    namespaced,
    status = "ListenerStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Exposes the Pods that mount it, by the rules of its ListenerClass, and reports the addresses where they can be reached.",
    printcolumn = r#"{"name": "Class", "type": "string", "jsonPath": ".spec.className"}"#,
    printcolumn = r#"{"name": "Address", "type": "string", "jsonPath": ".status.ingressAddresses[0].address"}"#,
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct ListenerSpec {
    /// Name of the ListenerClass. Without it nothing is exposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_name: Option<String>,

    /// Labels that a Pod must carry, besides mounting the Listener, to get traffic.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub extra_pod_selector_labels: BTreeMap<String, String>,

    /// Ports that are exposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxItems" = 1000))]
    pub ports: Option<Vec<ListenerPort>>,

    /// True if Pods get traffic before they are ready. Null means true.
    #[serde(default = "publish_not_ready_addresses")]
    #[schemars(default = "publish_not_ready_addresses")]
    pub publish_not_ready_addresses: Option<bool>,

    /// Annotations that the Service gets, as far as the ListenerClass allows it. Those of the ListenerClass win over them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub service_annotations: BTreeMap<String, String>,

    /// Names of an external DNS under which clients reach the Listener, in lower case. Each name
    /// that the ListenerClass allows is added after all other addresses. Nothing makes the names
    /// resolve: that is up to the administrator of this DNS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "dns_names")]
    pub external_names: Option<Vec<String>>,

    /// Partial objects that are merged over the objects created for this Listener. Only a `v1`
    /// `Service` of this name and namespace has an effect, as far as the ListenerClass allows it.
    #[serde(default)]
    #[schemars(schema_with = "free_objects")]
    pub object_overrides: Vec<ObjectOverride>,
}

impl ListenerSpec {
    /// Returns true if Pods get traffic before they are ready.
    pub fn publishes_not_ready_addresses(&self) -> bool {
        self.publish_not_ready_addresses.unwrap_or(true)
    }
}

/// A partial object, stored as text. Parsed values may take forty times as much memory, and any
/// user may write one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOverride(Box<str>);

impl ObjectOverride {
    /// Its fields.
    pub fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<Map<String, Value>> for ObjectOverride {
    fn from(fields: Map<String, Value>) -> Self {
        Self(Value::Object(fields).to_string().into())
    }
}

impl Serialize for ObjectOverride {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectOverride {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// One port that is exposed. Its number may differ from the one that clients use: see the addresses in the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerPort {
    /// Name of the port, under which the status lists its actual number.
    pub name: String,
    /// Number on which the Pods listen.
    pub port: i32,
    /// `TCP` (the default), `UDP` or `SCTP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// Addresses at which the Listener can be reached, and its health.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// Name of the Service behind the Listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,

    /// Every address with the ports that a client dials there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_addresses: Option<Vec<ListenerIngress>>,

    /// Node ports by port name, only for Services of type NodePort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_ports: Option<BTreeMap<String, i32>>,

    /// Generation of the Listener that the rest of the status is about. A lower value than the
    /// Listener's own, including -1, means that the Listener has not been reconciled yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Conditions of the Listener with their reasons; `Ready` summarizes the others. `Reconciling`
    /// and `Stalled` are present only while they are True.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Option<Vec<Condition>>,

    /// `Pending`, `Ready` or `Error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,

    /// Class from which the addresses were determined. A newer class may change them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_class: Option<ObservedClass>,
}

/// Properties of its class that determine the addresses of a Listener, as observed when the
/// addresses were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservedClass {
    /// The uid of the class.
    pub uid: String,
    /// Type of Service that the class requests.
    pub service_type: String,
    /// The kind of address that it prefers for that type.
    pub address_type: AddressType,
    /// The suffixes below which it allows external names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_external_name_suffixes: Option<Vec<String>>,
    /// The kinds of addresses of nodes that it adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_node_address_types: Option<Vec<NodeAddressType>>,
}

/// One address with its ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerIngress {
    /// Host name or IP address; IPv6 without brackets.
    pub address: String,
    /// How to read `address`.
    pub address_type: AddressType,
    /// Port name to the number that a client dials.
    pub ports: BTreeMap<String, i32>,
}

/// Kind of an address.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum AddressType {
    /// A name that clients must resolve.
    Hostname,
    /// A literal IPv4 or IPv6 address.
    IP,
}

/// How the Service of a Listener can be reached as things are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Type of the Service as it is, which an override may have set apart from the class.
    pub service_type: ServiceType,
    /// Published addresses: valid, without duplicates, in a stable order.
    pub addresses: Vec<ListenerIngress>,
    /// The nodes behind a NodePort Service, by name; empty for other types.
    pub nodes: Vec<BackingNode>,
}

/// A node on which Pods of the Listener run, or that is reserved for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackingNode {
    /// Name of the node.
    pub name: String,
    /// The PersistentVolume that keeps Pods there, if one does.
    pub volume: Option<String>,
    /// Reachability of the node for clients.
    pub reachability: NodeReachability,
}

/// Reachability of a node for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeReachability {
    /// Its address is published.
    Published,
    /// The node does not exist.
    Gone,
    /// The node lists no address of a kind that can be published.
    Unaddressed,
}

fn publish_not_ready_addresses() -> Option<bool> {
    Some(true)
}

fn free_objects(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 64,
        "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    })
}
