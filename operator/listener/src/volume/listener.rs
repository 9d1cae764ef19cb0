//! The Listener that is made for a claim.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ContainerPort, PersistentVolume};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::Because;
use lifecycle_specs_listener::listener::{Listener, ListenerPort};
use lifecycle_specs_listener::listener_mount::Namesake;
use serde_json::{Value, json};

use super::claim;

/// Labels that tie a product together; a claim made by a Pod lacks them.
const PRODUCT: &str = "app.kubernetes.io/";
/// Says who made an object, which is never handed on from a Pod.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// What the Listener of a claim should be.
pub(super) fn build(
    class: Option<&str>,
    volume: &PersistentVolume,
    claim: &PersistentVolumeClaim,
    pod: &Pod,
    ports: &[ListenerPort],
) -> Value {
    json!({
        "apiVersion": Listener::api_version(&()),
        "kind": Listener::kind(&()),
        "metadata": {
            "name": claim.metadata.name,
            "namespace": claim.metadata.namespace,
            "labels": labels(claim, pod),
            "ownerReferences": [{
                "apiVersion": PersistentVolume::api_version(&()),
                "kind": PersistentVolume::kind(&()),
                "name": volume.metadata.name,
                "uid": volume.metadata.uid,
            }],
        },
        "spec": {
            "className": class,
            "publishNotReadyAddresses": true,
            "ports": ports,
        },
    })
}

/// The answer to the fact `namesake`: the Listener of the claim's name is not the claim's.
pub(super) fn namesake(
    volume: &PersistentVolume,
    claim: &PersistentVolumeClaim,
    known: Option<&Listener>,
) -> Because<Namesake> {
    let name = claim.metadata.name.as_deref().unwrap_or_default();
    if let Some(earlier) = known.and_then(|known| earlier_volume(volume, known)) {
        let sentence = format!(
            "Listener `{name}` belongs to the earlier volume `{earlier}`, and goes with it: wait, or delete that volume"
        );
        return Because::new(Namesake::Earlier, sentence);
    }
    let sentence = format!(
        "Listener `{name}` exists and is not of this claim: rename the claim, or name the Listener in `{}`",
        claim::NAME
    );
    Because::new(Namesake::Other, sentence)
}

/// The volume that the Listener was made for, where that was for an earlier claim of this name.
fn earlier_volume<'a>(volume: &PersistentVolume, known: &'a Listener) -> Option<&'a str> {
    let owners = known.owner_references();
    let is_volume = |owner: &&OwnerReference| {
        owner.kind == PersistentVolume::kind(&())
            && owner.api_version == PersistentVolume::api_version(&())
    };
    let is_this = |owner: &OwnerReference| Some(&owner.uid) == volume.metadata.uid.as_ref();
    let is_other = owners
        .iter()
        .any(|owner| owner.controller == Some(true) || is_this(owner));
    let earlier = owners.iter().find(is_volume).filter(|_| !is_other);
    earlier.map(|owner| owner.name.as_str())
}

/// Those of the claim; what a product is found by comes from the Pod where the claim does not say it.
fn labels(claim: &PersistentVolumeClaim, pod: &Pod) -> BTreeMap<String, String> {
    let mut labels = claim.metadata.labels.clone().unwrap_or_default();
    for (key, value) in pod.metadata.labels.iter().flatten() {
        if key.starts_with(PRODUCT) && key != MANAGED_BY {
            let free = labels.entry(key.clone());
            free.or_insert_with(|| value.clone());
        }
    }
    labels
}

/// What the Pod listens on, after what others have declared that mount the same claim. In whatever order they come, all have the same.
pub(super) fn ports(known: Option<&Listener>, pod: &Pod) -> Vec<ListenerPort> {
    let mut ports = of_pod(pod);
    let before = known.and_then(|known| known.spec.ports.clone());
    for port in before.into_iter().flatten() {
        let protocol = |port: &ListenerPort| port.protocol.clone().unwrap_or("TCP".to_owned());
        let taken = ports.iter().any(|own| {
            own.name == port.name || own.port == port.port && protocol(own) == protocol(&port)
        });
        if !taken {
            ports.push(port);
        }
    }
    ports.sort_by(|a, b| (&a.name, a.port, &a.protocol).cmp(&(&b.name, b.port, &b.protocol)));
    ports
}

fn of_pod(pod: &Pod) -> Vec<ListenerPort> {
    let Some(spec) = &pod.spec else {
        return Vec::new();
    };
    let sidecar = |container: &&Container| container.restart_policy.as_deref() == Some("Always");
    let sidecars = spec.init_containers.iter().flatten().filter(sidecar);
    let containers = spec.containers.iter().chain(sidecars);
    let all = containers.flat_map(|container| container.ports.iter().flatten());
    all.map(port).collect()
}

fn port(port: &ContainerPort) -> ListenerPort {
    let number = port.container_port;
    let name = port.name.clone().filter(|name| !name.is_empty());
    ListenerPort {
        name: name.unwrap_or_else(|| format!("port-{number}")),
        port: number,
        protocol: port.protocol.clone(),
    }
}
