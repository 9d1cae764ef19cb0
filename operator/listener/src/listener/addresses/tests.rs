//! Tests of the addresses that survive: tables for the odd ones, and the promise for all.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn service(value: Value) -> Service {
    serde_json::from_value(value).unwrap()
}

fn node(addresses: Value) -> Node {
    serde_json::from_value(
        json!({ "metadata": { "name": "n" }, "status": { "addresses": addresses } }),
    )
    .unwrap()
}

fn on_node(addresses: Value, wanted: AddressType) -> Option<String> {
    on_node_with(addresses, wanted, &[]).into_iter().next()
}

fn on_node_with(addresses: Value, wanted: AddressType, added: &[NodeAddressType]) -> Vec<String> {
    let all = of_node(&node(addresses), wanted, added).into_iter();
    all.map(|(address, kind)| format!("{kind:?} {address}"))
        .collect()
}

#[test]
fn primary_address_of_a_node_is_its_first_external_else_internal_ip() {
    let all = json!([
        { "type": "InternalIP", "address": "10.0.0.1" },
        { "type": "Hostname", "address": "n.example" },
        { "type": "ExternalIP", "address": "2001:db8::1" },
        { "type": "ExternalIP", "address": "192.0.2.1" },
        { "type": "InternalDNS", "address": "no" },
        { "type": "Hostname", "address": "second" },
    ]);
    assert_eq!(
        on_node(all.clone(), AddressType::IP).unwrap(),
        "IP 2001:db8::1"
    );
    assert_eq!(
        on_node(all, AddressType::Hostname).unwrap(),
        "Hostname n.example"
    );
    let internal = json!([{ "type": "Hostname", "address": "h" }, { "type": "InternalIP", "address": "10.0.0.1" }]);
    assert_eq!(on_node(internal, AddressType::IP).unwrap(), "IP 10.0.0.1");
}

#[test]
fn kinds_that_are_added_stand_behind_the_primary_address_each_with_all_of_its_addresses() {
    use NodeAddressType::{ExternalDNS, ExternalIP, Hostname, InternalDNS, InternalIP};
    let all = json!([
        { "type": "InternalIP", "address": "10.0.0.1" },
        { "type": "Hostname", "address": "192.0.2.9" },
        { "type": "InternalIP", "address": "fd00::1" },
        { "type": "InternalIP", "address": "no-ip" },
        { "type": "InternalDNS", "address": "n.internal" },
        { "type": "ExternalDNS", "address": "n.example.org" },
        { "type": "ExternalDNS", "address": "../x" },
    ]);
    for (added, expected) in [
        (&[][..], &["IP 10.0.0.1"][..]),
        (&[ExternalIP], &["IP 10.0.0.1"]),
        (&[InternalIP], &["IP 10.0.0.1", "IP 10.0.0.1", "IP fd00::1"]),
        (&[Hostname], &["IP 10.0.0.1", "IP 192.0.2.9"]),
        (
            &[ExternalDNS, InternalDNS],
            &[
                "IP 10.0.0.1",
                "Hostname n.example.org",
                "Hostname n.internal",
            ],
        ),
    ] {
        let found = on_node_with(all.clone(), AddressType::IP, added);
        assert_eq!(found, expected, "{added:?}");
    }
    let only = json!([{ "type": "InternalDNS", "address": "n.internal" }]);
    let found = on_node_with(only, AddressType::IP, &[InternalDNS]);
    assert_eq!(found, ["Hostname n.internal"]);
}

#[test]
fn the_other_kind_steps_in_for_a_missing_or_unusable_one() {
    let only_name =
        json!([{ "type": "Hostname", "address": "h" }, { "type": "InternalIP", "address": "" }]);
    assert_eq!(on_node(only_name, AddressType::IP).unwrap(), "Hostname h");
    let only_ip = json!([{ "type": "Hostname", "address": "../x" }, { "type": "InternalIP", "address": "10.0.0.1" }]);
    assert_eq!(
        on_node(only_ip, AddressType::Hostname).unwrap(),
        "IP 10.0.0.1"
    );
    assert_eq!(
        on_node(
            json!([{ "type": "InternalDNS", "address": "d" }]),
            AddressType::IP
        ),
        None
    );
    assert_eq!(on_node(json!([]), AddressType::IP), None);
}

#[test]
fn an_unusable_external_ip_is_passed_over_for_the_next() {
    let addresses = json!([{ "type": "ExternalIP", "address": "[::1]" }, { "type": "ExternalIP", "address": "192.0.2.1" }]);
    assert_eq!(on_node(addresses, AddressType::IP).unwrap(), "IP 192.0.2.1");
}

#[test]
fn m19_equal_addresses_are_published_once_in_the_order_of_the_first() {
    let typed = |address: &str| ip(address).or_else(|| hostname(address)).unwrap();
    let all = ["b", "::1", "a", "0:0::1", "B", "10.0.0.1"]
        .map(typed)
        .to_vec();
    let published = published(all, &BTreeMap::new());
    let addresses: Vec<_> = published.iter().map(|i| i.address.as_str()).collect();
    assert_eq!(addresses, ["b", "::1", "a", "10.0.0.1"]);
}

#[test]
fn node_ports_are_published_for_node_port_services_only() {
    let with = |service_type: &str| {
        service(
            json!({ "spec": { "type": service_type, "ports": [{ "name": "a", "port": 1, "nodePort": 30001 }, { "name": "b", "port": 2 }] } }),
        )
    };
    assert_eq!(
        published_node_ports(&with("NodePort")),
        Some([("a".to_owned(), 30001)].into())
    );
    assert_eq!(published_node_ports(&with("LoadBalancer")), None);
    assert_eq!(published_node_ports(&with("ClusterIP")), None);
}

/// Good and bad addresses as they have been seen in the wild.
fn address() -> impl Strategy<Value = String> {
    let seen = [
        "",
        "None",
        "10.0.0.1",
        "::1",
        "0:0:0:0:0:0:0:1",
        "[::1]",
        "fe80::1%eth0",
        "a.example.",
        "A.example.",
        "../x",
        "a..b",
    ];
    prop_oneof![
        prop::sample::select(seen.to_vec()).prop_map(str::to_owned),
        "[a-zA-Z0-9./:_-]{0,12}",
        any::<String>(),
    ]
}

fn check_all(addresses: Vec<Typed>) -> Result<(), TestCaseError> {
    let published = published(addresses, &BTreeMap::new());
    let mut seen = BTreeSet::new();
    for ingress in &published {
        let address = &ingress.address;
        prop_assert!(!address.is_empty() && address != "None");
        prop_assert!(!address.contains('/') && address != "." && address != "..");
        match ingress.address_type {
            AddressType::IP => prop_assert!(address.parse::<IpAddr>().is_ok()),
            AddressType::Hostname => prop_assert!(!address.contains(':')),
        }
        prop_assert!(seen.insert(address.clone()));
    }
    Ok(())
}

proptest! {
    #[test]
    fn m30_b35_nothing_empty_unparsable_or_duplicate_is_ever_published(
        ips in prop::collection::vec(address(), 0..4),
        first in prop::option::of(address()),
        ingress in prop::collection::vec((prop::option::of(address()), prop::option::of(address())), 0..4),
        on_nodes in prop::collection::vec((prop::sample::select(vec!["ExternalIP", "InternalIP", "Hostname"]), address()), 0..6),
        by_ip in any::<bool>(),
    ) {
        let wanted = if by_ip { AddressType::IP } else { AddressType::Hostname };
        let ingress: Vec<_> = ingress.iter().map(|(ip, hostname)| json!({ "ip": ip, "hostname": hostname })).collect();
        let service = service(json!({
            "spec": { "clusterIPs": ips, "clusterIP": first },
            "status": { "loadBalancer": { "ingress": ingress } },
        }));
        check_all(inside(&service, "web.apps.svc.cluster.local", wanted))?;
        check_all(balanced(&service, wanted))?;
        let nodes = on_nodes.chunks(2).map(|some| {
            let some: Vec<_> = some.iter().map(|(kind, address)| json!({ "type": kind, "address": address })).collect();
            node(json!(some))
        });
        let added = [NodeAddressType::Hostname, NodeAddressType::InternalIP, NodeAddressType::ExternalIP];
        check_all(nodes.flat_map(|node| of_node(&node, wanted, &added)).collect())?;
    }
}
