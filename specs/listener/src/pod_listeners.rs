//! `PodListeners`: what each Listener volume of one Pod resolved to. The Secret Operator reads it to issue certificates.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::listener::ListenerIngress;

/// Label: the node of the Pod, so that what mounts volumes there watches no other node's. A name that is too long for a label is cut and hashed.
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
    doc = "What each Listener volume of one Pod resolved to. Written when the Pod mounts them, not meant to be edited."
)]
pub struct PodListenersSpec {
    /// By name of the Pod's volume.
    pub listeners: BTreeMap<String, PodListener>,
}

/// What one volume resolved to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodListener {
    /// Which Pods the addresses reach.
    pub scope: PodListenerScope,
    /// Addresses under which this Pod can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_addresses: Option<Vec<ListenerIngress>>,
}

/// Which Pods an address reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PodListenerScope {
    /// Only Pods of one node.
    Node,
    /// Pods anywhere in the cluster.
    Cluster,
}
