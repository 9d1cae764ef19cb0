//! The Pod that mounts a volume: the volume in its spec, and the recorded entry about it.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Volume};
use kube::Resource;
use lifecycle_runtime::ObjectRef;
use lifecycle_specs_listener::listener_mount::{Aim, PodAddresses};
use lifecycle_specs_listener::pod_listeners::{NODE, PodListener, PodListeners};
use serde_json::{Value, json};

/// The volume of the Pod that uses the claim: by its name, or made for the Pod.
pub(super) fn volume_of<'a>(pod: &'a Pod, claim: &PersistentVolumeClaim) -> Option<&'a str> {
    let wanted = claim.metadata.name.as_deref()?;
    let pod_name = pod.metadata.name.as_deref()?;
    let uses = |volume: &&Volume| {
        let by_name = volume.persistent_volume_claim.as_ref();
        let named = by_name.is_some_and(|source| source.claim_name == wanted);
        let made = format!("{pod_name}-{}", volume.name);
        named || volume.ephemeral.is_some() && made == wanted
    };
    let volumes = pod.spec.as_ref()?.volumes.as_ref()?;
    volumes.iter().find(uses).map(|volume| volume.name.as_str())
}

/// Returns the label that the Pod should carry, so that the Service of the Listener finds it.
pub(super) fn label(aim: &Aim) -> Value {
    let key = format!("listener.stackable.tech/mnt.{}", aim.uid);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "labels": { key: aim.name } },
    })
}

/// Returns the object that lists the addresses to which the volumes of a Pod resolved.
pub(super) fn listed(pod: &Pod) -> Option<ObjectRef> {
    let namespace = pod.metadata.namespace.as_deref();
    Some(ObjectRef::new::<PodListeners>(namespace, &list_name(pod)?))
}

/// Returns the entry for one volume of the Pod, which runs on this node, with the addresses to
/// which it resolved.
pub(super) fn entry(pod: &Pod, node: &str, (volume, told): (&str, &PodAddresses)) -> Value {
    let entry = PodListener {
        scope: told.scope,
        ingress_addresses: Some(told.addresses.clone()),
    };
    json!({
        "apiVersion": PodListeners::api_version(&()),
        "kind": PodListeners::kind(&()),
        "metadata": {
            "name": list_name(pod),
            "namespace": pod.metadata.namespace,
            "labels": { NODE: node_label(node) },
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "Pod",
                "name": pod.metadata.name,
                "uid": pod.metadata.uid,
            }],
        },
        "spec": { "listeners": { volume: entry } },
    })
}

fn list_name(pod: &Pod) -> Option<String> {
    Some(format!("pod-{}", pod.metadata.uid.as_deref()?))
}

/// The most bytes that the value of a label has.
const LONGEST_LABEL: usize = 63;

/// The name of a node as the value of a label: names of nodes are valid ones but for their length.
pub(super) fn node_label(node: &str) -> String {
    if node.len() <= LONGEST_LABEL {
        return node.to_owned();
    }
    // FNV-1a: the same in every release, for the label stays.
    let hash = node.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let kept: String = node.chars().take(LONGEST_LABEL - 17).collect();
    format!("{kept}-{hash:016x}")
}
