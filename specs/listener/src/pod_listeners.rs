//! `PodListeners`: resolved addresses of each Listener volume of one Pod. The Secret Operator reads
//! it to issue certificates.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::listener::ListenerIngress;

/// Label with the node of the Pod. The volume driver of a node watches only the objects of its own
/// node by it. A name that is too long for a label is cut and hashed.
pub const NODE: &str = "listeners.stackable.tech/node";

/// The Listener volumes of one Pod. The object is named `pod-<uid of the Pod>`.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "listeners.stackable.tech",
    version = "v1alpha1",
    kind = "PodListeners",
    plural = "podlisteners",
    singular = "podlisteners",
    namespaced,
    derive = "PartialEq",
    doc = "Records how each Listener volume of one Pod was resolved. It is written when the Pod mounts them; do not edit it."
)]
pub struct PodListenersSpec {
    /// By name of the Pod's volume.
    pub listeners: BTreeMap<String, PodListener>,
}

/// Result of the resolution of one volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodListener {
    /// Pods that the addresses reach.
    pub scope: PodListenerScope,
    /// Addresses under which this Pod can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_addresses: Option<Vec<ListenerIngress>>,
}

/// Pods that an address reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PodListenerScope {
    /// Only Pods of one node.
    Node,
    /// Pods anywhere in the cluster.
    Cluster,
}
