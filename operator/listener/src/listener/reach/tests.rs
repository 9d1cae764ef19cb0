//! Addresses over types of Service and preferences, as the contract's table has them.

use lifecycle_specs_listener::listener::ListenerSpec;
use lifecycle_specs_listener::listener_class::{ListenerClassSpec, PreferredAddressType};
use serde_json::{Value, json};

use super::*;

fn listener() -> Listener {
    let mut listener = Listener::new("web", ListenerSpec::default());
    listener.metadata.namespace = Some("apps".into());
    listener
}

fn class(service_type: ServiceType, preferred: PreferredAddressType) -> ListenerClass {
    let mut class = ListenerClass::new("c", ListenerClassSpec::new(service_type));
    class.spec.preferred_address_type = preferred;
    class
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn service(service_type: &str) -> Service {
    from(json!({
        "spec": {
            "type": service_type,
            "clusterIP": "10.96.0.7",
            "clusterIPs": ["10.96.0.7", "fd00::7"],
            "ports": [{ "name": "http", "port": 80, "nodePort": 30080 }],
        },
        "status": { "loadBalancer": { "ingress": [
            { "ip": "192.0.2.10" },
            { "hostname": "lb.example" },
            { "ip": "192.0.2.11", "hostname": "both.example" },
            {},
        ] } },
    }))
}

fn node(name: &str, addresses: Value) -> Node {
    from(json!({ "metadata": { "name": name }, "status": { "addresses": addresses } }))
}

fn nodes() -> Vec<Node> {
    vec![
        node(
            "n1",
            json!([{ "type": "InternalIP", "address": "10.0.0.1" }, { "type": "Hostname", "address": "n1.example" }]),
        ),
        node(
            "n2",
            json!([{ "type": "ExternalIP", "address": "192.0.2.2" }, { "type": "InternalIP", "address": "10.0.0.2" }]),
        ),
    ]
}

fn slice(endpoints: Value) -> EndpointSlice {
    from(json!({ "metadata": { "name": "s" }, "addressType": "IPv4", "endpoints": endpoints }))
}

fn volume(name: &str, operator: &str, nodes: &[&str]) -> PersistentVolume {
    from(json!({
        "metadata": { "name": name },
        "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "listeners.stackable.tech/hostname", "operator": operator, "values": nodes },
            { "key": "kubernetes.io/hostname", "operator": "In", "values": ["not-this"] },
        ] }] } } },
    }))
}

fn reached(class: &ListenerClass, service: &Service, backing: &Backing, nodes: &[Node]) -> Reach {
    let nodes: Vec<_> = nodes.iter().collect();
    reach(
        This::new(&listener()),
        class,
        service,
        backing,
        &nodes,
        "cluster.local",
    )
}

fn lines(reach: &Reach) -> Vec<String> {
    let line = |i: &lifecycle_specs_listener::listener::ListenerIngress| {
        format!("{:?} {} {:?}", i.address_type, i.address, i.ports)
    };
    reach.addresses.iter().map(line).collect()
}

fn on(names: &[&str]) -> Backing {
    names
        .iter()
        .map(|name| ((*name).to_owned(), None))
        .collect()
}

fn check(service_type: ServiceType, preferred: PreferredAddressType, expected: &[&str]) {
    let class = class(service_type, preferred);
    let reach = reached(
        &class,
        &service(service_type.as_str()),
        &on(&["n2", "n1"]),
        &nodes(),
    );
    assert_eq!(lines(&reach), expected, "{service_type:?} {preferred:?}");
    assert_eq!(address(This::new(&listener()), &reach).value, Address::Full);
}

#[test]
fn m17_b59_addresses_follow_type_and_preference() {
    use PreferredAddressType::{Hostname, HostnameConservative, IP};
    let inside = ["Hostname web.apps.svc.cluster.local {\"http\": 80}"];
    check(ServiceType::ClusterIP, HostnameConservative, &inside);
    check(ServiceType::ClusterIP, Hostname, &inside);
    check(
        ServiceType::ClusterIP,
        IP,
        &["IP 10.96.0.7 {\"http\": 80}", "IP fd00::7 {\"http\": 80}"],
    );
    let by_name = [
        "IP 192.0.2.10 {\"http\": 80}",
        "Hostname lb.example {\"http\": 80}",
        "Hostname both.example {\"http\": 80}",
    ];
    check(ServiceType::LoadBalancer, HostnameConservative, &by_name);
    check(ServiceType::LoadBalancer, Hostname, &by_name);
    check(
        ServiceType::LoadBalancer,
        IP,
        &[
            "IP 192.0.2.10 {\"http\": 80}",
            "Hostname lb.example {\"http\": 80}",
            "IP 192.0.2.11 {\"http\": 80}",
        ],
    );
    let by_ip = [
        "IP 10.0.0.1 {\"http\": 30080}",
        "IP 192.0.2.2 {\"http\": 30080}",
    ];
    check(ServiceType::NodePort, HostnameConservative, &by_ip);
    check(ServiceType::NodePort, IP, &by_ip);
    check(
        ServiceType::NodePort,
        Hostname,
        &[
            "Hostname n1.example {\"http\": 30080}",
            "IP 192.0.2.2 {\"http\": 30080}",
        ],
    );
}

#[test]
fn b59_what_a_class_adds_stands_behind_the_addresses_of_before() {
    let mut class = class(ServiceType::NodePort, PreferredAddressType::IP);
    class.spec.allowed_external_name_suffixes = Some(vec!["example.org".into()]);
    class.spec.additional_node_address_types = Some(vec![NodeAddressType::Hostname]);
    let mut listener = listener();
    listener.spec.external_names = Some(vec!["web.example.org".into(), "web.example.net".into()]);
    let reached = |service_type: &str, backing: &Backing| {
        let nodes = nodes();
        let nodes: Vec<_> = nodes.iter().collect();
        let service = service(service_type);
        let this = This::new(&listener);
        lines(&reach(
            this,
            &class,
            &service,
            backing,
            &nodes,
            "cluster.local",
        ))
    };
    assert_eq!(
        reached("NodePort", &on(&["n2", "n1"])),
        [
            "IP 10.0.0.1 {\"http\": 30080}",
            "Hostname n1.example {\"http\": 30080}",
            "IP 192.0.2.2 {\"http\": 30080}",
            "Hostname web.example.org {\"http\": 30080}",
        ]
    );
    assert_eq!(reached("NodePort", &on(&[])), [""; 0]);
    assert_eq!(
        reached("ClusterIP", &on(&[])).last().unwrap(),
        "Hostname web.example.org {\"http\": 80}"
    );
}

#[test]
fn b34_addresses_follow_the_service_as_it_is_and_not_the_class() {
    let class = class(
        ServiceType::NodePort,
        PreferredAddressType::HostnameConservative,
    );
    let reach = reached(&class, &service("ClusterIP"), &on(&["n1"]), &nodes());
    assert_eq!(
        lines(&reach),
        ["Hostname web.apps.svc.cluster.local {\"http\": 80}"]
    );
}

#[test]
fn a_headless_service_is_reached_by_name() {
    let mut headless = service("ClusterIP");
    let spec = headless.spec.as_mut().unwrap();
    spec.cluster_ip = Some("None".into());
    spec.cluster_ips = Some(vec!["None".into()]);
    let class = class(ServiceType::ClusterIP, PreferredAddressType::IP);
    let reach = reached(&class, &headless, &on(&[]), &[]);
    assert_eq!(
        lines(&reach),
        ["Hostname web.apps.svc.cluster.local {\"http\": 80}"]
    );
}

#[test]
fn m20_the_cluster_domain_is_taken_as_it_is_written() {
    let class = class(ServiceType::ClusterIP, PreferredAddressType::Hostname);
    let reach = reach(
        This::new(&listener()),
        &class,
        &service("ClusterIP"),
        &on(&[]),
        &[],
        "Example.ORG.",
    );
    assert_eq!(reach.addresses[0].address, "web.apps.svc.Example.ORG.");
}

#[test]
fn nodes_come_from_ready_endpoints_and_from_reserving_volumes() {
    let slices = [
        slice(json!([
            { "addresses": ["10.1.0.1"], "nodeName": "ready", "conditions": { "ready": true } },
            { "addresses": ["10.1.0.2"], "nodeName": "unknown" },
            { "addresses": ["10.1.0.3"], "nodeName": "down", "conditions": { "ready": false } },
            { "addresses": ["10.1.0.4"] },
        ])),
        slice(json!([{ "addresses": ["10.1.0.5"], "nodeName": "ready", "conditions": {} }])),
        from(json!({ "metadata": { "name": "empty" }, "addressType": "IPv4", "endpoints": null })),
    ];
    let volumes = [
        volume("pv-1", "In", &["pinned", "ready"]),
        volume("pv-2", "NotIn", &["other"]),
    ];
    let backing = backing(
        &volumes.iter().collect::<Vec<_>>(),
        &slices.iter().collect::<Vec<_>>(),
    );
    let expected: Backing = [
        ("pinned".to_owned(), Some("pv-1".to_owned())),
        ("ready".to_owned(), Some("pv-1".to_owned())),
        ("unknown".to_owned(), None),
    ]
    .into();
    assert_eq!(backing, expected);
}

#[test]
fn b22_more_than_a_thousand_endpoints_in_many_slices_all_count() {
    let slices: Vec<_> = (0..15)
        .map(|slice_number| {
            let endpoint = |n: u32| json!({ "addresses": ["10.1.0.1"], "nodeName": format!("node-{}", slice_number * 100 + n) });
            slice(Value::Array((0..100).map(endpoint).collect()))
        })
        .collect();
    assert_eq!(backing(&[], &slices.iter().collect::<Vec<_>>()).len(), 1500);
}

fn resolve_address(
    service_type: ServiceType,
    backing: &Backing,
    nodes: &[Node],
) -> Because<Address> {
    let class = class(service_type, PreferredAddressType::HostnameConservative);
    let mut service = service(service_type.as_str());
    service.status = None;
    let reach = reached(&class, &service, backing, nodes);
    address(This::new(&listener()), &reach)
}

#[test]
fn a_node_port_without_a_pod_waits_for_one() {
    let because = resolve_address(ServiceType::NodePort, &on(&[]), &[]);
    assert_eq!(because.value, Address::NoPod);
    assert_eq!(
        because.sentence,
        "no Pod has mounted the Listener yet, so no node can be named; start a Pod that mounts it as a volume"
    );
}

#[test]
fn b39_a_pending_load_balancer_names_the_service_to_look_at() {
    let because = resolve_address(ServiceType::LoadBalancer, &on(&[]), &[]);
    assert_eq!(because.value, Address::NoBalancer);
    assert_eq!(
        because.sentence,
        "Service `web` has no address from a load balancer yet; check its events, and whether a load balancer controller runs"
    );
    assert_eq!(because.objects[0].name, "web");
}

#[test]
fn a_cluster_ip_is_reached_without_any_pod() {
    assert_eq!(
        resolve_address(ServiceType::ClusterIP, &on(&[]), &[]).value,
        Address::Full
    );
}

#[test]
fn b24_a_vanished_node_takes_only_its_own_address_along() {
    let class = class(
        ServiceType::NodePort,
        PreferredAddressType::HostnameConservative,
    );
    let mut backing = on(&["n1", "n2"]);
    backing.insert("n9".into(), Some("pv-9".into()));
    let reach = reached(&class, &service("NodePort"), &backing, &nodes());
    assert_eq!(reach.addresses.len(), 2);
    let because = address(This::new(&listener()), &reach);
    assert_eq!(because.value, Address::Partial);
    assert_eq!(
        because.sentence,
        "Node `n9` is gone and PersistentVolume `pv-9` ties a Pod to it; bring the node back, or delete the claim and the Pod"
    );
    assert_eq!(because.objects, [ObjectRef::new::<Node>(None, "n9")]);
}

#[test]
fn of_several_lost_nodes_one_that_does_not_go_by_itself_is_named() {
    let mut backing = on(&["n7", "n8"]);
    backing.insert("n9".into(), Some("pv-9".into()));
    let because = resolve_address(ServiceType::NodePort, &backing, &[]);
    assert_eq!(
        because.sentence,
        "Node `n9` is gone and PersistentVolume `pv-9` ties a Pod to it; bring the node back, or delete the claim and the Pod (and 2 more)"
    );
    assert_eq!(because.objects.len(), 3);
    let because = resolve_address(ServiceType::NodePort, &on(&["n7", "n8"]), &[]);
    assert_eq!(
        because.sentence,
        "Node `n7` is gone and its Pods will follow (and 1 more)"
    );
}

#[test]
fn a_listener_whose_nodes_are_all_gone_says_so() {
    let because = resolve_address(ServiceType::NodePort, &on(&["n8"]), &[]);
    assert_eq!(because.value, Address::NodeGone);
    assert_eq!(
        because.sentence,
        "Node `n8` is gone and its Pods will follow"
    );
    let silent = resolve_address(
        ServiceType::NodePort,
        &on(&["n1"]),
        &[node("n1", json!([]))],
    );
    assert_eq!(silent.value, Address::NodeGone);
    assert_eq!(
        silent.sentence,
        "Node `n1` has no address that can be published; give it an ExternalIP, InternalIP or Hostname"
    );
}
