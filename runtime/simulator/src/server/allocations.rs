//! Owners of cluster IPs and node ports, and the fields in which a Service names them. Allocates
//! none.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde_json::Value;

use super::object::{list, text};
use super::store::StoreKey;

/// Owners of addresses and ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocations {
    pub(crate) ips: BTreeMap<u32, StoreKey>,
    pub(crate) ports: BTreeMap<u16, StoreKey>,
}

impl Allocations {
    pub(crate) fn release(&mut self, key: &StoreKey) {
        self.ips.retain(|_, owner| owner != key);
        self.ports.retain(|_, owner| owner != key);
    }

    /// Records the addresses and ports that the Service names, and releases its previous ones.
    pub(crate) fn settle(&mut self, key: &StoreKey, service: &Value) {
        self.release(key);
        if let Some(ip) = cluster_ip(service) {
            self.ips.insert(ip, key.clone());
        }
        for port in node_ports(service) {
            self.ports.insert(port, key.clone());
        }
    }
}

/// Its address, if it names one.
pub(crate) fn cluster_ip(service: &Value) -> Option<u32> {
    let ip: Ipv4Addr = text(&service["spec"], "clusterIP").parse().ok()?;
    Some(ip.into())
}

/// The number of a port, if it names one.
pub(crate) fn port_number(port: &Value, field: &str) -> Option<u16> {
    let number = port[field].as_u64()?;
    u16::try_from(number).ok().filter(|number| *number > 0)
}

/// All node ports of a Service, that of the health check included.
pub(crate) fn node_ports(service: &Value) -> BTreeSet<u16> {
    let ports = list(&service["spec"], "ports").iter();
    ports
        .filter_map(|port| port_number(port, "nodePort"))
        .chain(port_number(&service["spec"], "healthCheckNodePort"))
        .collect()
}
