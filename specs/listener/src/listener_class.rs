//! `ListenerClass`: the administrator's rules for exposing something in this cluster.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How Listeners of this class are exposed. An application only names the class; where its traffic enters the cluster is decided here.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "listeners.stackable.tech",
    version = "v1alpha1",
    kind = "ListenerClass",
    plural = "listenerclasses",
    singular = "listenerclass",
    derive = "PartialEq",
    doc = "Defines how Listeners are exposed in this cluster. An administrator creates it, and an application references it in a Listener.",
    printcolumn(
        name = "Service Type",
        type_ = "string",
        json_path = ".spec.serviceType"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ListenerClassSpec {
    /// Type of the Service that is made for each Listener of this class.
    pub service_type: ServiceType,

    /// True if a LoadBalancer Service also reserves node ports. Set it to false if the load
    /// balancer reaches Pods directly.
    #[serde(default = "allocate_node_ports")]
    pub load_balancer_allocate_node_ports: bool,

    /// Load balancer implementation that handles the Service; the cluster's default if unset. It
    /// cannot be changed on an existing Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancer_class: Option<String>,

    /// Annotations that each Service gets.
    #[serde(default)]
    pub service_annotations: BTreeMap<String, String>,

    /// `Local` keeps traffic on the node where it enters and preserves the client's address; `Cluster` spreads it over all Pods.
    /// Only for NodePort and LoadBalancer. Leave it out for the cluster's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_external_traffic_policy: Option<ExternalTrafficPolicy>,

    /// Kind of address that is published if there is a choice. The other kind is used if the
    /// preferred one is missing.
    #[serde(default)]
    pub preferred_address_type: PreferredAddressType,

    /// Only for NodePort: a Pod that mounts a Listener of this class stays on its node, so that the address stays valid.
    #[serde(default)]
    pub pinned_node_ports: bool,

    /// Fields of a Service that are merged over the one that is made for each Listener.
    #[serde(default = "no_service_overrides")]
    #[schemars(schema_with = "free_object")]
    pub service_overrides: Map<String, Value>,

    /// Namespaces whose Listeners may use this class: names, or prefixes of names followed by `*`.
    /// If it is left out, all namespaces may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "namespaces")]
    pub allowed_namespaces: Option<Vec<String>>,

    /// Fields of the Service that Listeners of this class may override, each with all that is below it, such as `spec.sessionAffinity`,
    /// `spec.ports[*].nodePort` or `metadata.annotations['example.org/a']`. All may be, if it is left out; none, if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "field_paths")]
    pub allowed_overrides: Option<Vec<String>>,

    /// DNS names below which Listeners of this class may have external names; each allows itself, too. None may be, if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "dns_names")]
    pub allowed_external_name_suffixes: Option<Vec<String>>,

    /// Only for NodePort: kinds of node addresses that are published in addition to the address
    /// that is published anyway. With `InternalIP` or `ExternalIP`, a dual-stack node is reachable
    /// by both families.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "node_address_types")]
    pub additional_node_address_types: Option<Vec<NodeAddressType>>,
}

impl ListenerClassSpec {
    /// A class of this type with every default.
    pub fn new(service_type: ServiceType) -> Self {
        Self {
            service_type,
            load_balancer_allocate_node_ports: allocate_node_ports(),
            load_balancer_class: None,
            service_annotations: BTreeMap::new(),
            service_external_traffic_policy: None,
            preferred_address_type: PreferredAddressType::default(),
            pinned_node_ports: false,
            service_overrides: no_service_overrides(),
            allowed_namespaces: None,
            allowed_overrides: None,
            allowed_external_name_suffixes: None,
            additional_node_address_types: None,
        }
    }
}

/// Type of a Service that can be chosen for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ServiceType {
    /// A port on nodes of the cluster.
    NodePort,
    /// A load balancer in front of the cluster.
    LoadBalancer,
    /// Only reachable inside the cluster.
    ClusterIP,
}

impl ServiceType {
    /// The word that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodePort => "NodePort",
            Self::LoadBalancer => "LoadBalancer",
            Self::ClusterIP => "ClusterIP",
        }
    }
}

/// Allowed destinations of traffic from outside the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExternalTrafficPolicy {
    /// To all Pods, by way of another node if need be.
    Cluster,
    /// To Pods of the node that it enters.
    Local,
}

impl ExternalTrafficPolicy {
    /// The word that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "Cluster",
            Self::Local => "Local",
        }
    }
}

/// Kind of address that is published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PreferredAddressType {
    /// IP addresses for NodePort, because host names of nodes seldom resolve outside the cluster.
    /// Host names for all other types.
    #[default]
    HostnameConservative,
    /// Host names.
    Hostname,
    /// IP addresses.
    IP,
}

/// A kind of address that a node may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NodeAddressType {
    /// A name that the node uses for itself.
    Hostname,
    /// An IP address inside the cluster.
    InternalIP,
    /// An IP address outside the cluster.
    ExternalIP,
    /// A name that DNS resolves inside the cluster.
    InternalDNS,
    /// A name that DNS resolves outside the cluster.
    ExternalDNS,
}

impl NodeAddressType {
    /// The word that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hostname => "Hostname",
            Self::InternalIP => "InternalIP",
            Self::ExternalIP => "ExternalIP",
            Self::InternalDNS => "InternalDNS",
            Self::ExternalDNS => "ExternalDNS",
        }
    }
}

pub(crate) fn free_object(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

fn namespaces(_: &mut SchemaGenerator) -> Schema {
    let message = "must be the name of a namespace, or the beginning of one followed by `*`";
    let pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?|([a-z0-9][-a-z0-9]*)?\*)$";
    set_of(1024, 63, &[(&matches(pattern), message)])
}

fn field_paths(_: &mut SchemaGenerator) -> Schema {
    let message = "must be the path of a field of a Service, such as `spec.sessionAffinity`, `spec.ports[*].nodePort` or `metadata.annotations['example.org/a']`";
    let pattern = r"^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*|\[\*\]|\['[^']+'\])*$";
    let list = "`spec.ports` is a list: write `spec.ports[*].` before a field of its items";
    let rules = [
        (&*matches(pattern), message),
        ("!self.startsWith('spec.ports.')", list),
    ];
    set_of(64, 512, &rules)
}

/// Names as DNS has them, at most 64. The last label begins with a letter, so that none is an IP address.
pub(crate) fn dns_names(_: &mut SchemaGenerator) -> Schema {
    let message = "must be a DNS name such as `web.example.com`: lower-case letters, digits, `-` and `.`, with a letter at the beginning of its last label";
    let pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)*[a-z]([-a-z0-9]*[a-z0-9])?$";
    set_of(64, 253, &[(&matches(pattern), message)])
}

fn node_address_types(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "array",
        "nullable": true,
        "x-kubernetes-list-type": "set",
        "items": { "type": "string", "enum": ["Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS"] },
    })
}

/// Rule of the API server for a text that matches an expression without double quotes.
fn matches(pattern: &str) -> String {
    format!("self.matches(r\"{pattern}\")")
}

/// A set of texts with bounds on its size and theirs. Each rule comes with the message of the API server for a text that breaks it.
fn set_of(items: u32, length: u32, rules: &[(&str, &str)]) -> Schema {
    let rules = rules
        .iter()
        .map(|(rule, message)| json!({ "rule": rule, "message": message }));
    schemars::json_schema!({
        "type": "array",
        "nullable": true,
        "maxItems": items,
        "x-kubernetes-list-type": "set",
        "items": {
            "type": "string",
            "maxLength": length,
            "x-kubernetes-validations": rules.collect::<Vec<_>>(),
        },
    })
}

fn allocate_node_ports() -> bool {
    true
}

fn no_service_overrides() -> Map<String, Value> {
    let Value::Object(empty) = json!({ "apiVersion": "v1", "kind": "Service", "metadata": {} })
    else {
        unreachable!("the literal is an object")
    };
    empty
}
