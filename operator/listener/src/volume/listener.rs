//! The Listener that is made for a claim.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ContainerPort, PersistentVolume};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::Because;
use lifecycle_specs_listener::listener::{Listener, ListenerPort};
use lifecycle_specs_listener::listener_mount::{ClaimPorts, Namesake};
use serde_json::{Value, json};

use super::claim;

/// Labels that tie a product together; a claim made by a Pod lacks them.
const PRODUCT: &str = "app.kubernetes.io/";
/// Annotation with the Pod that decides the names of ports: its creation time and its uid.
const NAMED_BY: &str = "listeners.stackable.tech/ports-named-by";
/// Label with the creator of an object, which is never copied from a Pod.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Returns the desired Listener of a claim.
pub(super) fn build(
    class: Option<&str>,
    volume: &PersistentVolume,
    claim: &PersistentVolumeClaim,
    pod: &Pod,
    ports: &ClaimPorts,
) -> Value {
    let mut listener = json!({
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
            "ports": ports.ports,
        },
    });
    if let Some(pod) = &ports.named_by {
        listener["metadata"]["annotations"] = json!({ NAMED_BY: pod });
    }
    listener
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

/// Returns the labels of the claim. Labels that identify a product come from the Pod if the claim
/// does not set them.
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

/// Returns the ports on which the Pod listens, and the declared ports of other Pods that mount the
/// claim. The result does not depend on the order of the Pods: if two name a port differently, the
/// last created one decides. Therefore a change of the containers takes effect, and no two Pods
/// overwrite each other.
pub(super) fn ports(known: Option<&Listener>, pod: &Pod) -> ClaimPorts {
    let own = of_pod(pod);
    let before = known.and_then(|known| known.spec.ports.clone());
    let before = before.unwrap_or_default();
    let recorded = known.and_then(|known| known.annotations().get(NAMED_BY).cloned());
    let is_own = |port: &ListenerPort| own.iter().any(|one| is_same(one, port));
    let mut others = before.iter().filter(|port| !is_own(port));
    let differ = others.any(|port| own.iter().any(|one| clash(one, port)));
    let this = stamp(pod);
    let stays = recorded.as_ref().is_some_and(|newest| *newest > this);
    let (mut ports, more) = match differ && stays {
        true => (before, own),
        false => (own, before),
    };
    for port in more {
        if !ports.iter().any(|one| clash(one, &port)) {
            ports.push(port);
        }
    }
    ports.sort_by(|a, b| (&a.name, a.port, &a.protocol).cmp(&(&b.name, b.port, &b.protocol)));
    let named_by = match differ && !stays {
        true => Some(this),
        false => recorded,
    };
    ClaimPorts { ports, named_by }
}

fn protocol(port: &ListenerPort) -> &str {
    port.protocol.as_deref().unwrap_or("TCP")
}

fn is_same(a: &ListenerPort, b: &ListenerPort) -> bool {
    a.name == b.name && a.port == b.port && protocol(a) == protocol(b)
}

/// No Service has both.
fn clash(a: &ListenerPort, b: &ListenerPort) -> bool {
    a.name == b.name || a.port == b.port && protocol(a) == protocol(b)
}

/// A text that is greater for a Pod that was created later, and different for each Pod.
fn stamp(pod: &Pod) -> String {
    let meta = &pod.metadata;
    let created = meta.creation_timestamp.as_ref();
    let created = created.map(|at| at.0.to_string()).unwrap_or_default();
    format!("{created} {}", meta.uid.as_deref().unwrap_or_default())
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
