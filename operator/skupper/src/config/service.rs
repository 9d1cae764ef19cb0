//! The Service of a host: one port a Listener of it. Every Listener of the host builds the same one from the Site's ConfigMap, so that they agree.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use lifecycle_runtime::Desired;
use lifecycle_specs_skupper::router::{LISTENER, ROUTER};
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::ports::{Holder, PortAllocation};

/// On Services that we manage; any value counts.
pub const CONTROLLED: &str = "internal.skupper.io/controlled";
/// Of the router's Pods.
pub const SELECTOR: [(&str, &str); 2] =
    [("application", ROUTER), ("skupper.io/component", "router")];
/// Labels of the Pods to which other routers link, as set by the existing controller.
pub const LINKED: [(&str, &str); 2] = [
    ("skupper.io/component", "router"),
    ("skupper.io/group", ROUTER),
];
const LONGEST: usize = 63;
/// Number of characters of a hash that distinguish names.
const TELLING: usize = 5;

/// The Service of a host.
pub fn of_host(host: &str, allocations: &[PortAllocation]) -> Desired<Service> {
    let selector: serde_json::Map<_, _> = SELECTOR
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    let ports: Vec<_> = allocations
        .iter()
        .map(|allocation| {
            json!({
                "name": port_name(&display_name(allocation)), "port": allocation.port, "protocol": "TCP",
                "targetPort": allocation.router_port,
            })
        })
        .collect();
    // A fixed choice, so that it does not change by itself: labels are values of 63 characters.
    let listener = allocations.iter().map(|a| label(&display_name(a))).min();
    Desired::from_json(json!({
        "metadata": {
            "name": host,
            "annotations": { CONTROLLED: "true" },
            "labels": { LISTENER: listener.unwrap_or_default() },
        },
        "spec": { "type": "ClusterIP", "selector": selector, "ports": ports },
    }))
}

/// Returns the router ports that Services of this operator target, by host and port of the Service.
pub fn offered(services: &[&Service]) -> BTreeMap<(String, u16), u16> {
    let ours = services
        .iter()
        .filter(|service| service.annotations().contains_key(CONTROLLED));
    let ports = ours.flat_map(|service| {
        let ports = service.spec.iter().flat_map(|spec| &spec.ports).flatten();
        ports.filter_map(|port| {
            let target = match port.target_port.as_ref()? {
                IntOrString::Int(target) => u16::try_from(*target).ok()?,
                IntOrString::String(_) => return None,
            };
            Some(((service.name_any(), u16::try_from(port.port).ok()?), target))
        })
    });
    ports.collect()
}

/// Returns the name of a Listener as Services show it. The name of one with several keys has a
/// prefix, as in the existing implementation.
fn display_name(allocation: &PortAllocation) -> String {
    match allocation.holder {
        Holder::Listener => allocation.name.clone(),
        Holder::MultiKeyListener => format!("multiaddress-{}", allocation.name),
    }
}

/// The name of a Listener's port: its own, where a port can have it.
fn port_name(listener: &str) -> String {
    if listener.len() <= LONGEST && !listener.contains('.') {
        return listener.to_owned();
    }
    shortened(&listener.replace('.', "-"), listener)
}

fn label(listener: &str) -> String {
    match listener.len() {
        ..=LONGEST => listener.to_owned(),
        _ => shortened(listener, listener),
    }
}

fn shortened(text: &str, whole: &str) -> String {
    let hash = digest(&SHA256, whole.as_bytes());
    let hash: String = hash
        .as_ref()
        .iter()
        .take(3)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = text.chars().take(LONGEST - TELLING - 1).collect();
    format!("{}-{}", kept.trim_end_matches(['-', '.']), &hash[..TELLING])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(name: &str, port: u16, router_port: u16) -> PortAllocation {
        PortAllocation {
            holder: Holder::Listener,
            uid: name.to_owned(),
            name: name.to_owned(),
            pod: None,
            host: "db".to_owned(),
            port,
            router_port,
        }
    }

    #[test]
    fn a_host_has_a_port_for_each_listener() {
        let service = of_host(
            "db",
            &[
                allocation("sql", 5432, 1024),
                allocation("metrics", 9187, 1025),
            ],
        );
        assert_eq!(
            *service.as_json(),
            json!({
                "metadata": {
                    "name": "db",
                    "annotations": { "internal.skupper.io/controlled": "true" },
                    "labels": { "internal.skupper.io/listener": "metrics" },
                },
                "spec": {
                    "type": "ClusterIP",
                    "selector": { "application": "skupper-router", "skupper.io/component": "router" },
                    "ports": [
                        { "name": "sql", "port": 5432, "protocol": "TCP", "targetPort": 1024 },
                        { "name": "metrics", "port": 9187, "protocol": "TCP", "targetPort": 1025 },
                    ],
                },
            })
        );
    }

    #[test]
    fn only_numbers_of_our_services_are_ports_of_the_router() {
        let check = |service: serde_json::Value, expected: &[((&str, u16), u16)]| {
            let service: Service = serde_json::from_value(service).expect("it is a Service");
            let offered = offered(&[&service]);
            let offered: Vec<_> = offered
                .iter()
                .map(|((host, port), target)| ((host.as_str(), *port), *target))
                .collect();
            assert_eq!(offered, expected);
        };
        let ours = json!({ "name": "db", "annotations": { CONTROLLED: "true" } });
        let ports = json!([{ "port": 80, "targetPort": 1024 }, { "port": 81, "targetPort": "sql" }, { "port": 82 }]);
        let spec = json!({ "ports": ports });
        check(
            json!({ "metadata": ours, "spec": spec }),
            &[(("db", 80), 1024)],
        );
        check(json!({ "metadata": ours }), &[]);
        check(json!({ "metadata": { "name": "db" }, "spec": spec }), &[]);
    }

    #[test]
    fn names_that_a_port_cannot_have_are_told_apart_by_a_hash() {
        assert_eq!(port_name("backend"), "backend");
        let (dotted, dashed) = (port_name("a.b"), port_name("a-b"));
        assert_eq!((dotted.len(), dashed.as_str()), (9, "a-b"));
        assert!(dotted.starts_with("a-b-"), "{dotted}");
        let long = [port_name(&"a".repeat(64)), port_name(&"a".repeat(65))];
        assert!(long[0].len() == 63 && long[1].len() == 63 && long[0] != long[1]);
    }
}
