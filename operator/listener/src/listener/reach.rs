//! The current reachability of a Service: the nodes behind it, its published addresses, and the
//! remedy for missing ones.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs_listener::listener::{
    Address, AddressType, BackingNode, Listener, NodeReachability, Reach, TOPOLOGY,
};
use lifecycle_specs_listener::listener_class::{ListenerClass, NodeAddressType, ServiceType};

use super::{addresses, external};

/// Names of nodes behind a Service, each with the volume that reserves it.
pub(super) type Backing = BTreeMap<String, Option<String>>;

/// Nodes reserved by volumes, so that they stay while a Pod is down, and nodes where Pods run.
pub(super) fn backing(volumes: &[&PersistentVolume], slices: &[&EndpointSlice]) -> Backing {
    let endpoints = slices.iter().flat_map(|slice| &slice.endpoints);
    let ready = endpoints.filter(|e| {
        let conditions = e.conditions.as_ref();
        conditions.and_then(|c| c.ready) != Some(false)
    });
    let running = ready.filter_map(|e| e.node_name.clone());
    let mut backing: Backing = running.map(|node| (node, None)).collect();
    for volume in volumes {
        for node in reserved_nodes(volume) {
            backing.insert(node, Some(volume.name_any()));
        }
    }
    backing
}

fn reserved_nodes(volume: &PersistentVolume) -> Vec<String> {
    let affinity = volume.spec.as_ref().and_then(|s| s.node_affinity.as_ref());
    let terms = affinity.and_then(|a| a.required.as_ref());
    let terms = terms.into_iter().flat_map(|r| &r.node_selector_terms);
    let rules = terms.flat_map(|term| term.match_expressions.iter().flatten());
    let by_name = rules.filter(|rule| rule.key == TOPOLOGY && rule.operator == "In");
    by_name
        .flat_map(|rule| rule.values.clone().unwrap_or_default())
        .collect()
}

/// Returns the addresses and ports that are published now.
pub(super) fn reach(
    this: This<'_, Listener>,
    class: &ListenerClass,
    service: &Service,
    backing: &Backing,
    nodes: &[&Node],
    cluster_domain: &str,
) -> Reach {
    let service_type = addresses::type_of(service).unwrap_or(class.spec.service_type);
    let wanted = addresses::resolve_address_type(class.spec.preferred_address_type, service_type);
    let ports = addresses::service_ports(service);
    let (found, ports, nodes) = match service_type {
        ServiceType::ClusterIP => {
            let name = cluster_name(this, cluster_domain);
            (addresses::inside(service, &name, wanted), ports, Vec::new())
        }
        ServiceType::LoadBalancer => (addresses::balanced(service, wanted), ports, Vec::new()),
        ServiceType::NodePort => {
            let added = class.spec.additional_node_address_types.as_deref();
            let (found, nodes) = on_nodes(backing, nodes, wanted, added.unwrap_or_default());
            (found, addresses::node_ports(service), nodes)
        }
    };
    Reach {
        service_type,
        addresses: addresses::published(external::joined(found, this.spec, class), &ports),
        nodes,
    }
}

fn cluster_name(this: This<'_, Listener>, cluster_domain: &str) -> String {
    let name = this.meta.name.as_deref().unwrap_or_default();
    let namespace = this.meta.namespace.as_deref().unwrap_or_default();
    format!("{name}.{namespace}.svc.{cluster_domain}")
}

fn on_nodes(
    backing: &Backing,
    nodes: &[&Node],
    wanted: AddressType,
    added: &[NodeAddressType],
) -> (Vec<addresses::Typed>, Vec<BackingNode>) {
    let (mut found, mut behind) = (Vec::new(), Vec::new());
    for (name, volume) in backing {
        let node = nodes
            .iter()
            .find(|node| node.metadata.name.as_ref() == Some(name));
        let own = node.map(|node| addresses::of_node(node, wanted, added));
        let reachability = match &own {
            None => NodeReachability::Gone,
            Some(own) if own.is_empty() => NodeReachability::Unaddressed,
            Some(_) => NodeReachability::Published,
        };
        found.extend(own.into_iter().flatten());
        behind.push(BackingNode {
            name: name.clone(),
            volume: volume.clone(),
            reachability,
        });
    }
    (found, behind)
}

/// The answer to the fact `address`.
pub(super) fn address(this: This<'_, Listener>, reach: &Reach) -> Because<Address> {
    let service = service_of(this);
    match reach.service_type {
        ServiceType::ClusterIP => Because::plain(Address::Full),
        ServiceType::LoadBalancer if reach.addresses.is_empty() => Because::new(
            Address::NoBalancer,
            format!(
                "Service `{}` has no address from a load balancer yet; check its events, and whether a load balancer controller runs",
                service.name
            ),
        )
        .with_object(service),
        ServiceType::LoadBalancer => Because::plain(Address::Full).with_object(service),
        ServiceType::NodePort => by_nodes(&reach.nodes),
    }
}

fn by_nodes(nodes: &[BackingNode]) -> Because<Address> {
    let lost: Vec<_> = nodes
        .iter()
        .filter(|n| n.reachability != NodeReachability::Published)
        .collect();
    let value = match (nodes.len(), lost.len()) {
        (0, _) => {
            return Because::new(
                Address::NoPod,
                "no Pod has mounted the Listener yet, so no node can be named; start a Pod that mounts it as a volume",
            );
        }
        (_, 0) => return Because::plain(Address::Full),
        (all, lost) if all == lost => Address::NodeGone,
        _ => Address::Partial,
    };
    // A node with Pods that are deleted by themselves is named only if no other exists.
    let stays =
        |node: &&&BackingNode| node.volume.is_some() || node.reachability != NodeReachability::Gone;
    let named = lost.iter().find(stays).or(lost.first());
    let sentence = named.map(|node| loss(node)).unwrap_or_default();
    let more = match lost.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    lost.iter().fold(
        Because::new(value, format!("{sentence}{more}")),
        |because, node| because.with_object(ObjectRef::new::<Node>(None, &node.name)),
    )
}

fn loss(node: &BackingNode) -> String {
    let name = &node.name;
    match (node.reachability, &node.volume) {
        (NodeReachability::Published, _) => String::new(),
        (NodeReachability::Unaddressed, _) => {
            format!(
                "Node `{name}` has no address that can be published; give it an ExternalIP, InternalIP or Hostname"
            )
        }
        (NodeReachability::Gone, None) => format!("Node `{name}` is gone and its Pods will follow"),
        (NodeReachability::Gone, Some(volume)) => {
            format!(
                "Node `{name}` is gone and PersistentVolume `{volume}` ties a Pod to it; bring the node back, or delete the claim and the Pod"
            )
        }
    }
}

fn service_of(this: This<'_, Listener>) -> ObjectRef {
    ObjectRef::new::<Service>(
        this.meta.namespace.as_deref(),
        this.meta.name.as_deref().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests;
