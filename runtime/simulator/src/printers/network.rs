//! Rows of Services, and of the kinds behind and in front of them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::PrinterRow;
use super::cells::{
    age, first_three, given, items, joined, labels, name, number, selector, text, text_or,
};

pub(super) const PRINTERS: &[PrinterRow] = &[
    (
        "",
        "Service",
        "Name|Type|Cluster-IP|External-IP|Port(s)|Age|+Selector",
        service,
    ),
    ("", "Endpoints", "Name|Endpoints|Age", endpoints),
    (
        "discovery.k8s.io",
        "EndpointSlice",
        "Name|AddressType|Ports|Endpoints|Age",
        endpoint_slice,
    ),
    (
        "networking.k8s.io",
        "Ingress",
        "Name|Class|Hosts|Address|Ports|Age",
        ingress,
    ),
    (
        "networking.k8s.io",
        "IngressClass",
        "Name|Controller|Parameters|Age",
        ingress_class,
    ),
    (
        "networking.k8s.io",
        "NetworkPolicy",
        "Name|Pod-Selector|Age",
        network_policy,
    ),
];

fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let ports: Vec<String> = items(object, "/spec/ports")
        .iter()
        .map(service_port)
        .collect();
    vec![
        name(object),
        text(object, "/spec/type").into(),
        text_or(object, "/spec/clusterIPs/0", "<none>").into(),
        external(object).into(),
        if ports.is_empty() {
            "<none>".into()
        } else {
            ports.join(",").into()
        },
        age(object, now),
        labels(object, "/spec/selector"),
    ]
}

fn service_port(port: &Value) -> String {
    let (number, protocol) = (number(port, "/port"), text(port, "/protocol"));
    match self::number(port, "/nodePort") {
        0 => format!("{number}/{protocol}"),
        node_port => format!("{number}:{node_port}/{protocol}"),
    }
}

fn external(object: &Value) -> String {
    let given = items(object, "/spec/externalIPs")
        .iter()
        .filter_map(Value::as_str);
    let (balanced, none) = match text(object, "/spec/type") {
        "ClusterIP" | "NodePort" => (BTreeSet::new(), "<none>"),
        "LoadBalancer" => (balanced(object), "<pending>"),
        "ExternalName" => return text(object, "/spec/externalName").to_owned(),
        _ => return "<unknown>".to_owned(),
    };
    match joined(balanced.into_iter().chain(given)) {
        all if all.is_empty() => none.to_owned(),
        all => all,
    }
}

fn balanced(object: &Value) -> BTreeSet<&str> {
    let ingress = items(object, "/status/loadBalancer/ingress").iter();
    ingress
        .map(|one| text_or(one, "/ip", text(one, "/hostname")))
        .filter(|address| !address.is_empty())
        .collect()
}

fn endpoints(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in items(object, "/subsets") {
        let addresses = items(subset, "/addresses")
            .iter()
            .map(|address| text(address, "/ip"));
        let ports: Vec<i64> = items(subset, "/ports")
            .iter()
            .map(|port| number(port, "/port"))
            .collect();
        if ports.is_empty() {
            all.extend(addresses.map(str::to_owned));
        } else {
            let dialled = |port: &i64| {
                addresses
                    .clone()
                    .map(|address| host_and_port(address, *port))
                    .collect::<Vec<_>>()
            };
            all.extend(ports.iter().flat_map(dialled));
        }
    }
    let said = match (items(object, "/subsets").len(), all.len()) {
        (0, _) => "<none>".into(),
        (_, 0) => "".into(),
        _ => first_three(&all),
    };
    vec![name(object), said, age(object, now)]
}

fn host_and_port(host: &str, port: i64) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn endpoint_slice(object: &Value, now: Timestamp) -> Vec<Value> {
    let ports = items(object, "/ports")
        .iter()
        .map(|port| match port["port"].as_i64() {
            Some(number) => number.to_string(),
            None => port["name"].as_str().unwrap_or("*").to_owned(),
        });
    let addresses = items(object, "/endpoints")
        .iter()
        .flat_map(|endpoint| items(endpoint, "/addresses"));
    let addresses: Vec<String> = addresses
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    vec![
        name(object),
        text(object, "/addressType").into(),
        first_three(&ports.collect::<Vec<_>>()),
        first_three(&addresses),
        age(object, now),
    ]
}

fn ingress(object: &Value, now: Timestamp) -> Vec<Value> {
    let rules = items(object, "/spec/rules");
    let hosts = rules
        .iter()
        .take(3)
        .map(|rule| text(rule, "/host"))
        .filter(|host| !host.is_empty());
    let hosts = match joined(hosts) {
        hosts if hosts.is_empty() => "*".to_owned(),
        hosts if rules.len() > 3 => format!("{hosts} + {} more...", rules.len() - 3),
        hosts => hosts,
    };
    let ports = if items(object, "/spec/tls").is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        name(object),
        text_or(object, "/spec/ingressClassName", "<none>").into(),
        hosts.into(),
        joined(balanced(object)).into(),
        ports.into(),
        age(object, now),
    ]
}

fn ingress_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let parameters = match given(&object["spec"], "parameters") {
        None => "<none>".to_owned(),
        Some(parameters) => {
            let group = text(parameters, "/apiGroup");
            let dot = if group.is_empty() { "" } else { "." };
            format!(
                "{}{dot}{group}/{}",
                text(parameters, "/kind"),
                text(parameters, "/name")
            )
        }
    };
    let name =
        super::storage::name_of_default(object, "ingressclass.kubernetes.io/is-default-class");
    vec![
        name,
        text(object, "/spec/controller").into(),
        parameters.into(),
        age(object, now),
    ]
}

fn network_policy(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        selector(object, "/spec/podSelector", "<none>"),
        age(object, now),
    ]
}
