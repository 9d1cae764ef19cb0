//! Networks of a test cluster: a switch with a place outside the cluster, the nodes on it, and a
//! network of Pods behind each node. Pure except for `connect`. This module knows no Kubernetes
//! programs.

use anyhow::Result;

use super::inside::script_in_network;

/// Of Services.
pub(super) const SERVICES: &str = "10.96.0.0/16";

/// Of all Pods.
pub(super) const PODS: &str = "10.85.0.0/16";

/// Address of clients outside the cluster. They are on the network of the nodes, without a route to
/// the Pods.
pub(super) const OUTSIDE: &str = "10.86.0.254";

/// Of a node, counted from 1.
pub(super) fn node_address(node: usize) -> String {
    format!("10.86.0.{node}")
}

/// Of the Pods of a node.
pub(super) fn pod_subnet(node: usize) -> String {
    format!("10.85.{node}.0/24")
}

/// Connects the nodes with the switch in the network namespace of `outside`. Each node is given by
/// the pid that holds its network namespace.
pub(super) fn connect(outside: u32, nodes: &[u32]) -> Result<()> {
    script_in_network("set up the switch", outside, &switch(nodes))?;
    for (index, pid) in nodes.iter().enumerate() {
        let script = node(index + 1, nodes.len());
        script_in_network("set up the network of a node", *pid, &script)?;
    }
    Ok(())
}

fn switch(nodes: &[u32]) -> String {
    let mut lines = vec![
        "ip link set lo up".to_owned(),
        "ip link add lan type bridge".to_owned(),
        format!("ip addr add {OUTSIDE}/24 dev lan"),
        "ip link set lan up".to_owned(),
        // Cluster IPs are routed through the first node, as through a configured router.
        format!("ip route add {SERVICES} via {}", node_address(1)),
    ];
    for (index, pid) in nodes.iter().enumerate() {
        let port = format!("node{}", index + 1);
        lines.push(format!(
            "ip link add {port} type veth peer name eth0 netns {pid}"
        ));
        lines.push(format!("ip link set {port} master lan up"));
    }
    lines.join("\n")
}

fn node(number: usize, count: usize) -> String {
    let mut lines = vec![
        "ip link set lo up".to_owned(),
        format!("ip addr add {}/24 dev eth0", node_address(number)),
        "ip link set eth0 up".to_owned(),
        // Without a default route, cluster IPs would be unreachable before kube-proxy's rules see them.
        format!("ip route add default via {OUTSIDE}"),
        "echo 1 >/proc/sys/net/ipv4/ip_forward".to_owned(),
        // Traffic between Pods of one node must pass kube-proxy's rules.
        "if [ -e /proc/sys/net/bridge ]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi".to_owned(),
    ];
    for other in (1..=count).filter(|other| *other != number) {
        lines.push(format!(
            "ip route add {} via {}",
            pod_subnet(other),
            node_address(other)
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_the_way_to_the_pods_of_the_others_and_the_outside_does_not() {
        assert!(node(1, 2).contains("ip route add 10.85.2.0/24 via 10.86.0.2"));
        assert!(node(2, 2).contains("ip route add 10.85.1.0/24 via 10.86.0.1"));
        assert!(!node(1, 1).contains("10.85."));
        assert!(!switch(&[7, 8]).contains("10.85."));
    }
}
