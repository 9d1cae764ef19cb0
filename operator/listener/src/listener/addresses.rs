//! Addresses and ports that a Service or a node offers. A client can dial every address that leaves
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Node, Service, ServicePort};
use lifecycle_specs_listener::listener::{AddressType, ListenerIngress};
use lifecycle_specs_listener::listener_class::{
    NodeAddressType, PreferredAddressType, ServiceType,
};

/// The longest name that DNS knows, without the dot at its end.
const LONGEST_HOSTNAME: usize = 253;

/// An address with how to read it.
pub(crate) type Typed = (String, AddressType);

/// Reads an address; `None` for one that no client can dial.
type Read = fn(&str) -> Option<Typed>;

/// Returns the kind of address that is wanted for a type of Service.
pub(crate) fn resolve_address_type(
    preferred: PreferredAddressType,
    service_type: ServiceType,
) -> AddressType {
    match (preferred, service_type) {
        (PreferredAddressType::IP, _)
        | (PreferredAddressType::HostnameConservative, ServiceType::NodePort) => AddressType::IP,
        (PreferredAddressType::Hostname, _)
        | (
            PreferredAddressType::HostnameConservative,
            ServiceType::ClusterIP | ServiceType::LoadBalancer,
        ) => AddressType::Hostname,
    }
}

/// Inside the cluster: the name that cluster DNS gives the Service, or its virtual addresses.
pub(super) fn inside(service: &Service, name: &str, wanted: AddressType) -> Vec<Typed> {
    let by_name = || hostname(name).into_iter().collect();
    if wanted == AddressType::Hostname {
        return by_name();
    }
    let spec = service.spec.as_ref();
    let all = spec.and_then(|s| s.cluster_ips.clone()).unwrap_or_default();
    let first = spec.and_then(|s| s.cluster_ip.clone());
    let ips: Vec<_> = all.iter().chain(&first).filter_map(|a| ip(a)).collect();
    if ips.is_empty() { by_name() } else { ips }
}

/// Returns the answer of a load balancer, one address for each of its entries.
pub(super) fn balanced(service: &Service, wanted: AddressType) -> Vec<Typed> {
    let status = service.status.as_ref();
    let balancer = status.and_then(|s| s.load_balancer.as_ref());
    let entries = balancer.and_then(|b| b.ingress.as_ref());
    let address = |entry: &k8s_openapi::api::core::v1::LoadBalancerIngress| {
        let by_ip = entry.ip.as_deref().and_then(ip);
        let by_name = entry.hostname.as_deref().and_then(hostname);
        choose(wanted, by_ip, by_name)
    };
    entries.into_iter().flatten().filter_map(address).collect()
}

/// The primary address of a node, and after it each one of the kinds that are added.
pub(crate) fn of_node(node: &Node, wanted: AddressType, added: &[NodeAddressType]) -> Vec<Typed> {
    use NodeAddressType::{ExternalDNS, ExternalIP, Hostname, InternalDNS, InternalIP};
    let first = |kind: NodeAddressType, read: Read| of_kind(node, kind, read).next();
    let by_ip = first(ExternalIP, ip).or_else(|| first(InternalIP, ip));
    let primary = choose(wanted, by_ip, first(Hostname, hostname));
    let added = added.iter().flat_map(|kind| match kind {
        InternalIP | ExternalIP => of_kind(node, *kind, ip),
        Hostname | InternalDNS | ExternalDNS => of_kind(node, *kind, ip_or_hostname),
    });
    primary.into_iter().chain(added).collect()
}

/// The addresses of a kind that can be read as such, in the order of the node.
fn of_kind(node: &Node, kind: NodeAddressType, read: Read) -> impl Iterator<Item = Typed> {
    let addresses = node
        .status
        .iter()
        .flat_map(|s| s.addresses.iter().flatten());
    let of_kind = addresses.filter(move |address| address.type_ == kind.as_str());
    of_kind.filter_map(move |address| read(&address.address))
}

/// The same ports at each of these addresses; of equal addresses only the first.
pub(crate) fn published(
    addresses: Vec<Typed>,
    ports: &BTreeMap<String, i32>,
) -> Vec<ListenerIngress> {
    let mut seen = BTreeSet::new();
    let new = |(address, _): &Typed| {
        let canonical = address.parse::<IpAddr>().map(|ip| ip.to_string());
        seen.insert(canonical.unwrap_or_else(|_| address.to_ascii_lowercase()))
    };
    let ingress = |(address, address_type)| ListenerIngress {
        address,
        address_type,
        ports: ports.clone(),
    };
    addresses.into_iter().filter(new).map(ingress).collect()
}

/// Port name to the number at which the Service itself listens.
pub(super) fn service_ports(service: &Service) -> BTreeMap<String, i32> {
    by_name(service, |port| Some(port.port))
}

/// Port name to the number at which nodes listen.
pub(super) fn node_ports(service: &Service) -> BTreeMap<String, i32> {
    by_name(service, |port| port.node_port.filter(|number| *number != 0))
}

/// Node ports where clients are meant to use them: of a NodePort Service.
pub(super) fn published_node_ports(service: &Service) -> Option<BTreeMap<String, i32>> {
    (type_of(service) == Some(ServiceType::NodePort)).then(|| node_ports(service))
}

/// The type of a Service as it is; `None` for one that does not lead to Pods.
pub(super) fn type_of(service: &Service) -> Option<ServiceType> {
    match service.spec.as_ref()?.type_.as_deref() {
        None | Some("ClusterIP") => Some(ServiceType::ClusterIP),
        Some("NodePort") => Some(ServiceType::NodePort),
        Some("LoadBalancer") => Some(ServiceType::LoadBalancer),
        Some(_) => None,
    }
}

fn by_name(service: &Service, number: fn(&ServicePort) -> Option<i32>) -> BTreeMap<String, i32> {
    let ports = service.spec.as_ref().and_then(|s| s.ports.as_deref());
    let named = |port: &ServicePort| Some((port.name.clone()?, number(port)?));
    ports.into_iter().flatten().filter_map(named).collect()
}

fn choose(wanted: AddressType, by_ip: Option<Typed>, by_name: Option<Typed>) -> Option<Typed> {
    match wanted {
        AddressType::IP => by_ip.or(by_name),
        AddressType::Hostname => by_name.or(by_ip),
    }
}

fn ip(address: &str) -> Option<Typed> {
    address.parse::<IpAddr>().ok()?;
    Some((address.to_owned(), AddressType::IP))
}

/// The name of a node may be an address.
fn ip_or_hostname(address: &str) -> Option<Typed> {
    ip(address).or_else(|| hostname(address))
}

pub(super) fn hostname(name: &str) -> Option<Typed> {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let label = |label: &str| !label.is_empty() && label.chars().all(inner);
    let labels = name.strip_suffix('.').unwrap_or(name);
    let valid = labels.len() <= LONGEST_HOSTNAME && labels.split('.').all(label) && name != "None";
    valid.then(|| (name.to_owned(), AddressType::Hostname))
}

#[cfg(test)]
mod tests;
