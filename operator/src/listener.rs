//! How a Listener is carried out: the pure answers and builders that its lifecycle asks for, one file per concern.
//! Knows no client: every method looks only at what it is given.

mod addresses;
mod overrides;
mod ports;
mod reach;
mod service;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lifecycle_runtime::{Because, Desired, This};
use lifecycle_specs::listener::{Listener, ListenerIngress, Reach};
use lifecycle_specs::listener_class::ListenerClass;

/// What a Listener's Service cannot be made of, or that it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A Service can be made.
    Fine,
    /// There is nothing to expose.
    NoPorts,
    /// Ports that cannot be in one Service.
    PortClash,
    /// A name that Kubernetes does not accept.
    BadName,
    /// An override that reaches for what is not its to change.
    BadOverride,
}

/// Whether addresses are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// No node is known to have a Pod.
    NoPod,
    /// The load balancer has not answered.
    NoBalancer,
    /// No node of ours has an address any more.
    NodeGone,
    /// Some nodes have no address any more.
    Partial,
    /// All addresses are known.
    Full,
}

/// Carries out Listeners.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// The domain below which Services have their names, without the leading dot: `cluster.local`.
    pub cluster_domain: String,
}

impl Exposure {
    /// Whether a Service can be made, and what to do where it cannot.
    pub fn shape(&self, this: This<'_, Listener>, class: &ListenerClass) -> Because<Shape> {
        shape::verdict(this, class)
    }

    /// What the Service should be; empty, which the API server refuses, where none can be made.
    pub fn service(&self, this: This<'_, Listener>, class: &ListenerClass) -> Desired<Service> {
        Desired::from_json(service::build(this, class).unwrap_or_default())
    }

    /// How the Service can be reached as things are now.
    pub fn reach(
        &self,
        this: This<'_, Listener>,
        class: &ListenerClass,
        service: &Service,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
        nodes: &[&Node],
    ) -> Reach {
        let backing = reach::backing(volumes, slices);
        reach::reach(this, class, service, &backing, nodes, &self.cluster_domain)
    }

    /// Whether addresses are known, and who must act where they are not.
    pub fn address(&self, this: This<'_, Listener>, reach: &Reach) -> Because<Address> {
        reach::address(this, reach)
    }

    /// The nodes whose addresses matter.
    pub fn nodes(
        &self,
        _: This<'_, Listener>,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
    ) -> BTreeSet<String> {
        reach::backing(volumes, slices).into_keys().collect()
    }

    /// The Service that is there.
    pub fn service_name(&self, _: This<'_, Listener>, service: Option<&Service>) -> Option<String> {
        service?.metadata.name.clone()
    }

    /// Everything under which the Listener can be reached; empty while there is nothing.
    pub fn ingress_addresses(&self, _: This<'_, Listener>, reach: &Reach) -> Vec<ListenerIngress> {
        reach.addresses.clone()
    }

    /// Node ports by port name, only of a NodePort Service.
    pub fn node_ports(
        &self,
        _: This<'_, Listener>,
        service: Option<&Service>,
    ) -> Option<BTreeMap<String, i32>> {
        addresses::published_node_ports(service?)
    }
}
